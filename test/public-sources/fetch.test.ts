// Fetches of public sources over the operator API and the command line: downloaded in the background, imported once, never twice at a time.
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { register as registerFetch } from '#cli/catalogue/fetch.ts'
import { failBrokenFetches } from '#public-sources/fetch-store.ts'
import type { ListedSource } from '#public-sources/list-public-sources.ts'
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

  const set = {
    id: 'base1',
    name: 'Base Set',
    serie: { id: 'base', name: 'Base' },
    cardCount: { official: 102, total: 102 },
    cards: [{ id: 'base1-4', localId: '4', name: 'Charizard' }],
  }
  server.on('/api.tcgdex.net/v2/en/sets', file(JSON.stringify([{ id: 'base1', name: 'Base Set', cardCount: set.cardCount }])))
  server.on('/api.tcgdex.net/v2/en/sets/base1', file(JSON.stringify(set)))
  expect(await run('tcgdex')).toMatchObject({ result: 'imported', import: { status: 'done', rows_read: 3, rejected: 0 } })
  server.on('/api.tcgdex.net/v2/en/sets', file('{"error":"moved"}'))
  expect(await run('tcgdex')).toMatchObject({ result: 'failed', message: expect.stringContaining('is not the document') })
  expect(await run('--list')).toEqual(expect.arrayContaining([expect.objectContaining({ name: 'punk-records', state: 'done', game: 'onepiece' })]))
})
