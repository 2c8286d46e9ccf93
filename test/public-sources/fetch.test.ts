// Fetches of public sources over the operator API and the command line: downloaded in the background, imported once, never twice at a time.
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { register as registerFetch } from '#cli/catalogue/fetch.ts'
import { failBrokenFetches } from '#public-sources/fetch-store.ts'
import type { ListedSource } from '#public-sources/list-public-sources.ts'
import { PUBLIC_SOURCES } from '#public-sources/sources.ts'
import { TURKISH_SOURCE_NOTES } from '../../console/src/words/source-notes.ts'
import { runCommand } from '../support/command-line.ts'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode, until } from '../support/node.ts'
import { file, openSourceServer, type SourceServer } from './source-server.ts'

let server: SourceServer
let node: TestNode

const RAW = '/raw.githubusercontent.com/PokemonTCG/pokemon-tcg-data/master'
const SETS = [{ id: 'base1', name: 'Base', series: 'Base', printedTotal: 102, total: 102, images: {} }]
const card = (number: number) => ({
  id: `base1-${number}`,
  name: `Card ${number}`,
  supertype: 'Pokémon',
  number: String(number),
  rarity: 'Common',
  images: {},
})

beforeAll(async () => {
  server = await openSourceServer()
  server.on(`${RAW}/sets/en.json`, file(JSON.stringify(SETS)))
  server.on(`${RAW}/cards/en/base1.json`, file(JSON.stringify([card(1), card(2)])))
  node = await startTestNode({ env: { SOURCES_MIRROR_URL: server.url }, listeners: 'operator' })
})

afterAll(async () => {
  await node.close()
  await server.close()
})

const call = <T>(method: string, path: string) => send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method })
const start = (name: string) => call<ListedSource>('POST', `/public-sources/${name}/fetch`)

async function state(name: string): Promise<ListedSource> {
  const { body } = await call<ListedSource[]>('GET', '/public-sources')
  return body.data.find((source) => source.name === name)!
}

async function fetched(name: string): Promise<ListedSource> {
  expect(await start(name)).toMatchObject({ status: 202, body: { message: 'Fetch started' } })
  await until('the fetch is over', async () => !['downloading', 'importing'].includes((await state(name)).state))
  return state(name)
}

const importCount = async () => (await node.db.kysely.selectFrom('imports').select('id').execute()).length

test('a source is downloaded and imported in the background, and not again while it is unchanged', async () => {
  expect(await state('pokemontcg')).toMatchObject({ state: 'never', licence: expect.stringContaining('none stated'), files: 0, failure: null })
  const done = await fetched('pokemontcg')
  expect(done).toMatchObject({ state: 'done', files: 2, age_days: 0, failure: null, import_id: expect.any(Number) })
  const { body } = await call<object>('GET', `/imports/${done.import_id}`)
  expect(body.data).toMatchObject({
    format: 'pokemontcg',
    status: 'done',
    rows_read: 3,
    rejected: 0,
    file_name: 'pokemontcg (2 files)',
    author: expect.stringContaining('operator'),
  })
  const { body: audit } = await call<object[]>('GET', '/audit?action=source.fetch')
  expect(audit.data).toMatchObject([{ subject_id: 'pokemontcg', after: { terms: expect.any(String) } }])

  const imports = await importCount()
  const again = await fetched('pokemontcg')
  expect(again).toMatchObject({ state: 'done', import_id: done.import_id, fetched_at: done.fetched_at })
  expect(Date.parse(again.checked_at!)).toBeGreaterThan(Date.parse(done.checked_at!))
  expect(await importCount()).toBe(imports)

  // A reverted import is repeated, without a download.
  expect(await call('POST', `/imports/${done.import_id}/revert`)).toMatchObject({ status: 200 })
  expect((await fetched('pokemontcg')).import_id).toBeGreaterThan(done.import_id!)

  server.on(`${RAW}/cards/en/base1.json`, file(JSON.stringify([card(1), card(2), card(3)])))
  const changed = await fetched('pokemontcg')
  expect((await call<object>('GET', `/imports/${changed.import_id}`)).body.data).toMatchObject({ created: 1 })
})

test('a fetch can be repeated although nothing has changed', async () => {
  const before = await state('pokemontcg')
  const asked = server.asked.length
  const { status } = await send(`${node.operatorUrl}/operator/v1/public-sources/pokemontcg/fetch`, OPERATOR_TOKEN, { json: { again: true } })
  expect(status).toBe(202)
  await until('the fetch is over', async () => !['downloading', 'importing'].includes((await state('pokemontcg')).state))
  expect((await state('pokemontcg')).import_id).toBeGreaterThan(before.import_id!)
  expect(server.asked.slice(asked).map(({ path, ifNoneMatch }) => [path, ifNoneMatch])).toEqual([
    [`${RAW}/sets/en.json`, undefined],
    [`${RAW}/cards/en/base1.json`, undefined],
  ])
})

test('one fetch of a source runs at a time, on all nodes and commands together, and an interrupted one is marked', async () => {
  let held: ServerResponse | null = null
  server.on(`${RAW}/sets/en.json`, (_request, response) => {
    held = response
  })
  expect((await start('pokemontcg')).status).toBe(202)
  await until('the source is asked', () => held !== null)
  expect(await start('pokemontcg')).toMatchObject({ status: 409, body: { error: { rule: 'fetch_running' } } })
  await expect(runCommand(node, [registerFetch], ['fetch', 'pokemontcg'], node.config)).rejects.toMatchObject({ why: { rule: 'fetch_running' } })
  expect(await state('pokemontcg')).toMatchObject({ state: 'downloading', finished_at: null })
  // Its lock is held, so it is not taken for interrupted.
  await failBrokenFetches(node.db, new Date(Date.now() + 3_600_000))
  expect((await state('pokemontcg')).state).toBe('downloading')
  held!.writeHead(403).end()
  await until('the fetch has failed', async () => (await state('pokemontcg')).state === 'failed')
  expect((await state('pokemontcg')).failure).toMatchObject({ rule: 'source_status', message: expect.stringContaining('403') })

  await node.db.kysely.updateTable('source_fetches').set({ status: 'downloading' }).where('source', '=', 'pokemontcg').execute()
  await until('the lock is free', async () => {
    await failBrokenFetches(node.db, new Date(Date.now() + 3_600_000))
    return (await state('pokemontcg')).state === 'failed'
  })
  expect((await state('pokemontcg')).failure).toMatchObject({ rule: 'fetch_interrupted' })
})

test('each note of a source has a Turkish text in the console', () => {
  const noted = PUBLIC_SOURCES.filter(({ note }) => note !== null).map(({ name }) => name)
  expect(Object.keys(TURKISH_SOURCE_NOTES).sort()).toEqual(noted.sort())
})

test('an unknown source is an error that lists the known ones', async () => {
  expect(await start('none')).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND', message: expect.stringContaining('punk-records') } } })
})

test('the command fetches each shape of source: packs keyed by id, and sets of an API', async () => {
  const PUNK = '/raw.githubusercontent.com/buhbbl/punk-records/main/english'
  const pack = {
    id: '569101',
    raw_title: 'BOOSTER PACK -ROMANCE DAWN- [OP-01]',
    title_parts: { label: 'OP-01', prefix: 'BOOSTER PACK', title: 'ROMANCE DAWN' },
  }
  const cards = [
    { id: 'OP01-001', pack_id: '569101', name: 'Zoro', rarity: 'Leader', category: 'Leader', colors: ['Red'], cost: 5, types: [], attributes: [] },
  ]
  server.on(`${PUNK}/packs.json`, file(JSON.stringify({ 569101: pack })))
  server.on(`${PUNK}/data/569101.json`, file(JSON.stringify(cards)))
  const run = async (...args: string[]) =>
    JSON.parse((await runCommand(node, [registerFetch], ['fetch', ...args, '--json'], node.config)).text) as object
  expect(await run('punk-records')).toMatchObject({ result: 'imported', import: { status: 'done', rows_read: 2, created: 3, rejected: 0 } })
  expect(await run('punk-records')).toMatchObject({ result: 'unchanged', import: null })

  expect(await run('punk-records', '--again')).toMatchObject({ result: 'imported', import: { status: 'done', unchanged: 3 } })

  // Scryfall's migrations have pages.
  const API = '/api.scryfall.com'
  const list = (data: object[], more = {}) => file(JSON.stringify({ object: 'list', has_more: false, ...more, data }))
  const printing = (id: string) => ({
    object: 'card',
    id,
    scryfall_uri: `https://scryfall.example/${id}`,
    name: 'Test Bolt',
    lang: 'en',
    set: 'tst',
    set_name: 'Test Set',
    collector_number: id,
    rarity: 'common',
    finishes: ['nonfoil'],
    digital: false,
  })
  const migration = (from: string, to: string) => ({
    object: 'migration',
    id: `${from}-${to}`,
    migration_strategy: 'merge',
    old_scryfall_id: from,
    new_scryfall_id: to,
  })
  server.on(`${API}/bulk-data`, list([{ type: 'default_cards', download_uri: 'https://data.scryfall.io/default-cards.json' }]))
  server.on(`${API}/sets`, list([{ object: 'set', id: 'x', code: 'tst', name: 'Test Set', scryfall_uri: 'https://scryfall.example' }]))
  server.on('/data.scryfall.io/default-cards.json', file(JSON.stringify(['1', '2', '3', '4'].map(printing))))
  server.on(`${API}/migrations?page=1`, list([migration('1', '2')], { has_more: true }))
  server.on(`${API}/migrations?page=2`, list([migration('3', '4')]))
  expect(await run('scryfall')).toMatchObject({ result: 'imported', import: { status: 'done', rows_read: 7, rejected: 0 } })
  const merged = await node.db.kysely.selectFrom('items').select('ref').where('game', '=', 'magic').execute()
  expect(merged).toHaveLength(2)

  const FAB = '/raw.githubusercontent.com/the-fab-cube/flesh-and-blood-cards/main/json/english'
  const fabSet = { unique_id: 's', id: 'TST', name: 'Test Set', printings: [{ unique_id: 'p', edition: 'N', start_card_id: 'TST001' }] }
  const fabPrinting = { unique_id: 'q', id: 'TST001', set_id: 'TST', edition: 'N', foiling: 'S', rarity: 'C', artists: [], art_variations: [] }
  server.on(`${FAB}/set.json`, file(JSON.stringify([fabSet])))
  server.on(
    `${FAB}/card.json`,
    file(JSON.stringify([{ unique_id: 'c', name: 'Test Strike', color: 'Red', pitch: '1', type_text: 'Action', printings: [fabPrinting] }])),
  )
  expect(await run('fab-cube')).toMatchObject({ result: 'imported', import: { status: 'done', created: 2, rejected: 0 } })

  const set = {
    id: 'base1',
    name: 'Base Set',
    serie: { id: 'base', name: 'Base' },
    cardCount: { official: 102, total: 102 },
    cards: [{ id: 'base1-4', localId: '4', name: 'Charizard' }],
  }
  server.on('/api.tcgdex.net/v2/en/sets', file(JSON.stringify([{ id: 'base1', name: 'Base Set', cardCount: set.cardCount }])))
  server.on('/api.tcgdex.net/v2/en/sets/base1', file(JSON.stringify(set)))
  server.on('/api.tcgdex.net/v2/en/rarities', file('["Common","Rare Holo"]'))
  server.on('/api.tcgdex.net/v2/en/rarities/Common', file('{"name":"Common","cards":[]}'))
  server.on('/api.tcgdex.net/v2/en/rarities/Rare%20Holo', file(JSON.stringify({ name: 'Rare Holo', cards: set.cards })))
  expect(await run('tcgdex')).toMatchObject({ result: 'imported', import: { status: 'done', rows_read: 3, rejected: 0 } })
  const stated = await node.db.kysely.selectFrom('items').select('details').where('ref', '=', 'tcgdex:base1-4').executeTakeFirst()
  expect(stated).toMatchObject({ details: { rarity: 'Rare Holo' } })
  server.on('/api.tcgdex.net/v2/en/sets', file('{"error":"moved"}'))
  expect(await run('tcgdex')).toMatchObject({ result: 'failed', message: expect.stringContaining('is not the document') })
  expect(await run('--list')).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'punk-records', state: 'done', game: 'onepiece' })]))
})
