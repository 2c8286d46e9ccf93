// The queue of matches, tested from outside: what is pending and why, decisions about one record or a whole set, and withdrawing them.
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { call } from '#core/verb.ts'
import { matchCatalogue } from '#identity/match-catalogue.ts'
import type { Match } from '#identity/review/matches.ts'
import type { SetMatch } from '#identity/review/set-matches.ts'
import { exported } from '../imports/one-card.ts'
import { pokemontcgFiles, tcgdexFiles } from '../imports/waiting-cards.ts'
import { importFiles, startTestNode, type TestNode } from '../support/node.ts'
import { item, operator, postPrices } from './kit.ts'

let node: TestNode

const importTcgdex = () => importFiles(node, 'tcgdex', tcgdexFiles)
const importPokemontcg = () => importFiles(node, 'pokemontcg', pokemontcgFiles)

beforeEach(async () => {
  node = await startTestNode()
  await importTcgdex()
  await importPokemontcg()
})
afterEach(() => node.close())

const list = async (query = '') => (await operator<Match[]>(node, 'GET', `/matches${query}`)).body
const ofName = async (name: string, query = '?per_page=100') => (await list(query)).data.find((match) => match.record.name === name)!
const decide = (id: number, how: string, body?: object) => operator<Match>(node, 'POST', `/matches/${id}/${how}`, body)
const sets = async (query = '') => (await operator<SetMatch[]>(node, 'GET', `/set-matches${query}`)).body.data
const decideSet = (id: number, how: string, body?: object) => operator<SetMatch>(node, 'POST', `/set-matches/${id}/${how}`, body)
const idOf = async (name: string, finish = 'Holo') => {
  const { rows } = await sql<{ id: number }>`
    select id from items where name = ${name} and attributes @> ${JSON.stringify([{ name: 'Finish', value: finish }])}::jsonb`.execute(node.db.kysely)
  return rows[0]!.id
}
const sourcesOf = async (id: number) =>
  (await operator<{ sources: { source: string; foreign_id: string; method: string; decided_by: string | null }[] }>(node, 'GET', `/items/${id}`)).body
    .data.sources
const itemCount = async () => (await operator<unknown[]>(node, 'GET', '/items')).body.pagination!.total

test('the list shows each record with its candidates, and is paged and filtered', async () => {
  const all = await list('?per_page=100')
  expect(all.pagination!.total).toBe(all.data.length)
  const charizard = await ofName('Charizard')
  expect(charizard).toMatchObject({
    state: 'waiting',
    game: 'pokemon',
    decision: null,
    record: {
      source: 'pokemontcg',
      foreign_id: 'base1-4',
      code: '4/102',
      finishes: [],
      category: { name: 'Base' },
      details: { hp: 999 },
      images: [],
      item_id: null,
    },
    reasons: [{ rule: 'hp', text: 'hit points differ: 999 and 80' }],
    candidates: [{ score: 90, item: { id: await idOf('Charizard'), name: 'Charizard', category: { name: 'Base Set' }, details: { hp: 80 } } }],
  })
  await postPrices(node, [{ item_id: await idOf('Charizard'), market: 'source_b', price: 300, updated_at: '2026-10-01T00:00:00Z' }])
  const { body } = await operator<Match>(node, 'GET', `/matches/${charizard.id}`)
  expect(body.data.candidates[0]!.item.prices).toMatchObject([{ market: 'source_b', label: 'Near Mint', price: 300 }])
  expect(body.data.candidates[0]!.item.foreign_ids).toContainEqual({ source: 'cardmarket', id: '1003', finish: 'holo' })

  const names = async (query: string) => (await list(query)).data.map((match) => match.record.name).sort()
  expect(await names('?reason=hp')).toEqual(['Blastoise', 'Charizard'])
  expect(await names('?set=base&source=pokemontcg&game=pokemon')).toEqual(['Blastoise', 'Charizard', 'Dark Gyarados'])
  expect(await names('?set=pokemontcg%3Aset%3Abase1&reason=loose')).toEqual(['Dark Gyarados'])
  expect(await names('?source=tcgdex')).toEqual([])
  expect(await names('?game=onepiece')).toEqual([])
  expect(await names('?state=postponed')).toEqual([])
  const second = await list('?per_page=1&page=2&reason=hp')
  expect([second.data.length, second.pagination]).toEqual([1, { current_page: 2, per_page: 1, total: 2, last_page: 2, has_more: false }])
})

test('an accepted record belongs to the item at once, with the author; later imports keep it', async () => {
  const [match, holo, before] = [await ofName('Charizard'), await idOf('Charizard'), await itemCount()]
  const { status, body } = await decide(match.id, 'accept', { item_id: holo })
  expect([status, body.message]).toEqual([200, 'Match accepted'])
  expect(body.data).toMatchObject({
    state: 'decided',
    decision: { kind: 'accepted', item_id: holo, author: expect.stringMatching(/^operator:/) as string },
  })
  const joined = { source: 'pokemontcg', foreign_id: 'base1-4', method: 'operator', decided_by: body.data.decision!.author }
  for (const id of [holo, await idOf('Charizard', 'Reverse')]) expect(await sourcesOf(id)).toContainEqual(expect.objectContaining(joined))
  expect(await itemCount()).toBe(before)
  expect((await item(node, holo)).body.data.name).toBe('Charizard')

  await importPokemontcg()
  await importTcgdex()
  expect(await sourcesOf(holo)).toContainEqual(expect.objectContaining(joined))
  expect(await ofName('Charizard')).toBeUndefined()
  expect((await list('?state=decided')).data.map(({ id }) => id)).toEqual([match.id])
  const audit = await operator<{ action: string; subject_id: string }[]>(node, 'GET', '/audit?action=match.accept')
  expect(audit.body.data).toMatchObject([{ subject_id: String(match.id) }])
})

test('a record can be matched to an item that is not one of its candidates', async () => {
  const [match, other] = [await ofName('Charizard'), await idOf('Scyther', 'Reverse')]
  expect((await decide(match.id, 'accept', { item_id: other })).status).toBe(200)
  expect(await sourcesOf(other)).toContainEqual(expect.objectContaining({ source: 'pokemontcg', foreign_id: 'base1-4', method: 'operator' }))
  expect((await sourcesOf(await idOf('Charizard'))).map(({ source }) => source)).toEqual(['tcgdex'])
})

test('a separated record stays a separate item, also after later imports', async () => {
  const [match, before] = [await ofName('Charizard'), await itemCount()]
  const { status, body } = await decide(match.id, 'separate')
  expect([status, body.data.state, body.data.decision!.kind]).toEqual([200, 'decided', 'separated'])
  expect(await itemCount()).toBe(before + 1)
  const own = body.data.decision!.item_id
  expect(await sourcesOf(own)).toMatchObject([{ source: 'pokemontcg', foreign_id: 'base1-4', method: 'own' }])
  await importPokemontcg()
  expect(await sourcesOf(own)).toMatchObject([{ source: 'pokemontcg', foreign_id: 'base1-4', method: 'own' }])
  expect(await ofName('Charizard')).toBeUndefined()
})

test('a postponed match is listed separately and can still be decided', async () => {
  const match = await ofName('Charizard')
  const { status, body } = await decide(match.id, 'postpone')
  expect([status, body.data.state]).toEqual([200, 'postponed'])
  expect(await ofName('Charizard')).toBeUndefined()
  await importPokemontcg()
  expect((await list('?state=postponed')).data.map(({ id }) => id)).toEqual([match.id])
  expect((await decide(match.id, 'postpone')).body.error).toMatchObject({ code: 'CONFLICT', message: 'The match is already postponed' })
  expect((await decide(match.id, 'withdraw')).body.data.state).toBe('waiting')
  expect((await ofName('Charizard')).id).toBe(match.id)
  await decide(match.id, 'postpone')
  expect((await decide(match.id, 'separate')).status).toBe(200)
  expect((await list('?state=postponed')).data).toEqual([])
})

test('a withdrawn decision restores the catalogue, and the match with its id', async () => {
  const [match, holo, before] = [await ofName('Charizard'), await idOf('Charizard'), await exported(node)]
  await decide(match.id, 'accept', { item_id: holo })
  // A price set by a person keeps an item in existence, but does not turn it into an item of the withdrawn record.
  await postPrices(node, [{ item_id: holo, market: 'source_b', price: 300, updated_at: '2026-10-01T00:00:00Z' }])
  const count = await itemCount()
  const withdrawn = await decide(match.id, 'withdraw')
  expect([withdrawn.status, withdrawn.body.data.state]).toEqual([200, 'waiting'])
  expect(await ofName('Charizard')).toMatchObject({ id: match.id, decision: null, reasons: [{ rule: 'hp' }] })
  expect((await sourcesOf(holo)).map(({ source }) => source)).toEqual(['tcgdex'])
  expect(await itemCount()).toBe(count)

  await decide(match.id, 'separate')
  await decide(match.id, 'withdraw')
  expect(await itemCount()).toBe(count)
  await sql`delete from prices`.execute(node.db.kysely)
  const priceless = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.includes('"type":"item"'))
      .map((line) => line.replace(/"prices":\[.*\]/, ''))
  expect(priceless(await exported(node))).toEqual(priceless(before))
  expect((await decide(match.id, 'withdraw')).body.error).toMatchObject({ code: 'CONFLICT', message: `Match ${match.id} is not decided` })
})

test('a pending record that already is an item is merged when accepted, and split when that is withdrawn', async () => {
  // A database from before source records: both sources have their own items.
  const match = await ofName('Charizard')
  const own = (await decide(match.id, 'separate')).body.data.decision!.item_id
  for (const table of ['source_records', 'source_statements', 'item_sources', 'match_decisions', 'match_queue', 'decided_matches']) {
    await sql`truncate ${sql.table(table)}`.execute(node.db.kysely)
  }
  await importPokemontcg()
  const waiting = await ofName('Charizard')
  expect(waiting.record.item_id).toBe(own)
  const holo = await idOf('Charizard')
  const accepted = await decide(waiting.id, 'accept', { item_id: holo })
  expect([accepted.status, accepted.body.data.decision!.item_id]).toEqual([200, holo])
  expect((await item(node, own)).body.data.id).toBe(holo)
  expect((await decide(waiting.id, 'withdraw')).status).toBe(200)
  expect((await item(node, own)).body.data.id).toBe(own)
  expect((await ofName('Charizard')).record.item_id).toBe(own)
})

test('of two concurrent decisions, the second is told who decided first', { tags: 'slow' }, async () => {
  const match = await ofName('Charizard')
  const holo = await idOf('Charizard')
  const replies = await Promise.all([
    decide(match.id, 'accept', { item_id: holo }),
    decide(match.id, 'separate'),
    decide(match.id, 'accept', { item_id: holo }),
  ])
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409])
  for (const { status, body } of replies) {
    if (status === 409)
      expect(body.error).toMatchObject({
        code: 'CONFLICT',
        message: expect.stringMatching(/^Match \d+ is already (accepted|separated) by operator:/) as string,
      })
  }
  expect((await decide(match.id, 'postpone')).status).toBe(409)
  const jungle = (await sets()).find(({ set }) => set.name === 'Jungle')!
  const both = await Promise.all([decideSet(jungle.id, 'accept', {}), decideSet(jungle.id, 'separate')])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
})

test('one decision matches the cards of a set; when it is withdrawn, they are pending again', async () => {
  const jungle = (await sets()).find(({ set }) => set.name === 'Jungle')!
  expect(jungle).toMatchObject({
    state: 'waiting',
    decision: null,
    set: { ref: 'pokemontcg:set:base2' },
    candidates: [{ set: { name: 'Jungle' }, agree: 3, of: 10, decided: false }],
  })
  const waiting = (await list('?set=jungle&per_page=100')).pagination!.total
  expect([waiting, jungle.waiting]).toEqual([10, 10])
  const { status, body } = await decideSet(jungle.id, 'accept', {})
  expect([status, body.data.state, body.data.decision!.set_ids, body.data.waiting]).toEqual([200, 'decided', [jungle.candidates[0]!.set.id], 0])
  expect(await sourcesOf(await idOf('Clefable'))).toContainEqual(
    expect.objectContaining({ source: 'pokemontcg', foreign_id: 'base2-1', method: 'set-map' }),
  )
  expect(await sourcesOf(await idOf('Scyther'))).toContainEqual(
    expect.objectContaining({ source: 'pokemontcg', foreign_id: 'base2-10', method: 'loose-decided' }),
  )
  await importPokemontcg()
  expect((await list('?set=jungle')).pagination!.total).toBe(0)
  expect((await sets('?state=decided')).map(({ id }) => id)).toEqual([jungle.id])
  const before = await itemCount()
  expect((await decideSet(jungle.id, 'withdraw')).body.data).toMatchObject({ state: 'waiting', waiting: 10, decision: null })
  expect(await itemCount()).toBe(before)
  expect((await decideSet(jungle.id, 'withdraw')).body.error).toMatchObject({ code: 'CONFLICT' })
})

test('a separate set has its own items', async () => {
  const [jungle, before] = [(await sets()).find(({ set }) => set.name === 'Jungle')!, await itemCount()]
  const { body } = await decideSet(jungle.id, 'separate')
  expect(body.data).toMatchObject({ state: 'decided', waiting: 0, decision: { set_ids: [] } })
  expect(await itemCount()).toBe(before + 10)
  await importPokemontcg()
  expect(await itemCount()).toBe(before + 10)
})

test('after decisions, matching the whole catalogue changes nothing', { tags: 'slow' }, async () => {
  const [first, second] = (await list('?reason=hp')).data as [Match, Match]
  await decide(first.id, 'accept', { item_id: first.candidates[0]!.item.id })
  await decide(second.id, 'separate')
  const state = async () => [await exported(node), (await list('?per_page=100')).data, await sets()]
  const check = async () => {
    const before = await state()
    const { worlds } = await call(matchCatalogue, node.ctx, {})
    expect(worlds).toMatchObject([{ created: 0, updated: 0, merged: 0, emptied: 0 }])
    expect(await state()).toEqual(before)
  }
  await check()
  await decide(first.id, 'withdraw')
  await decideSet((await sets()).find(({ set }) => set.name === 'Jungle')!.id, 'accept', {})
  await check()
})

test('invalid input is rejected by field', async () => {
  const match = await ofName('Charizard')
  const jungle = (await sets()).find(({ set }) => set.name === 'Jungle')!
  const details = async (reply: Promise<{ status: number; body: { error?: { code: string; details?: { field: string; message: string }[] } } }>) => {
    const { status, body } = await reply
    return [status, body.error!.details?.[0]?.field, body.error!.details?.[0]?.message]
  }
  expect(await details(operator(node, 'GET', '/matches?state=open'))).toEqual([422, 'state', 'must be one of waiting, postponed, decided'])
  expect(await details(operator(node, 'GET', '/matches?reason=bad'))).toEqual([422, 'reason', expect.stringContaining('must be one of')])
  expect(await details(decide(match.id, 'accept', {}))).toEqual([422, 'item_id', expect.stringMatching(/^is required/)])
  expect(await details(decide(match.id, 'accept', { item_id: 'x' }))).toEqual([422, 'item_id', expect.any(String)])
  expect(await details(decide(match.id, 'accept', { item_id: 999_999 }))).toEqual([
    422,
    'item_id',
    expect.stringMatching(/^must be the id of an existing item/),
  ])
  expect(await details(decide(match.id, 'accept', { item_id: 99_999_999_999 }))).toEqual([
    422,
    'item_id',
    expect.stringMatching(/^must be the id of an existing item/),
  ])
  expect(await details(decideSet(jungle.id, 'accept', { set_id: 999_999 }))).toEqual([
    422,
    'set_id',
    expect.stringMatching(/^must be the id of an existing set/),
  ])
  expect(await details(decideSet(jungle.id, 'accept', { set_id: jungle.id }))).toEqual([422, 'set_id', 'must be another set'])
  for (const id of [999_999, 0, -1, 99_999_999_999]) {
    for (const how of ['accept', 'separate', 'postpone', 'withdraw']) {
      expect((await decide(id, how, how === 'accept' ? { item_id: 1 } : undefined)).status, `${how} ${id}`).toBe(404)
      if (how !== 'postpone') expect((await decideSet(id, how, how === 'accept' ? {} : undefined)).status, `set ${how} ${id}`).toBe(404)
    }
    expect((await operator(node, 'GET', `/matches/${id}`)).status).toBe(404)
  }
  // What was rejected is still pending.
  expect((await ofName('Charizard')).id).toBe(match.id)
  // An item of another game or language family.
  const box = await operator<{ id: number }>(node, 'POST', '/items', {
    ref: 'box',
    name: 'Box',
    genre: 'sealed',
    game: 'pokemon',
    market: 'source_c',
    category_id: (await operator<{ category_id: number }>(node, 'GET', `/items/${await idOf('Charizard')}`)).body.data.category_id,
  })
  expect(box.status, JSON.stringify(box.body)).toBe(201)
  expect(await details(decide(match.id, 'accept', { item_id: box.body.data.id }))).toEqual([
    422,
    'item_id',
    'must be an item of the same game and language family as the record',
  ])
})
