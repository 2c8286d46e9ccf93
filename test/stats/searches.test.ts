// The report of searches: terms of at least 20 people, with what they find now; people are told apart by account and address.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY_MS } from '#core/duration.ts'
import type { SearchReport } from '#stats/searches/list-searches.ts'
import { forgetSearches, SearchTerms, weekOf } from '#stats/searches/search-terms.ts'
import { operator } from '../collections/kit.ts'
import { OPERATOR_TOKEN, send, type TestNode } from '../support/node.ts'
import { startSampleNode } from '../support/sample-node.ts'

const PEOPLE = 20

let node: TestNode
let shown: number

beforeAll(async () => {
  node = await startSampleNode({ env: { TRUST_PROXY: '1' } })
  node.clock.stop()
  const { data } = (await operator<{ id: number }[]>(node, 'GET', '/items?search=mewtwo&per_page=1')).body
  const fields = { seller_id: node.accounts.plus, item_id: data[0]!.id, title: 'Mewtwo', price: 100, quantity: 1 }
  const { body } = await operator<{ id: number }>(node, 'POST', '/listings', fields)
  shown = (await operator(node, 'POST', `/listings/${body.data.id}/approve`, {})).status
})

afterAll(() => node.close())

const search = (path: string, address: string, key = node.keys.plus, headers: Record<string, string> = {}) =>
  fetch(`${node.publicUrl}/api/v1${path}`, { headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': address, ...headers } })

/** @param forged an address that the caller claims, before the one of the proxy */
async function searchBy(people: number, path: string, forged = ''): Promise<void> {
  for (let n = 1; n <= people; n += 1) expect((await search(path, forged === '' ? `198.51.100.${n}` : `${n}.1.1.1, ${forged}`)).status).toBe(200)
}

async function report(query = ''): Promise<SearchReport['terms']> {
  await node.runTask('search-terms')
  return (await operator<SearchReport>(node, 'GET', `/stats/searches${query}`)).body.data.terms
}

test('terms appear from 20 people on, whichever search they used, in one form', async () => {
  expect(shown).toBe(200)
  await searchBy(PEOPLE - 1, '/items/search?q=Mewtwo')
  expect(await report()).toEqual([])
  // The same person again, and an address that the caller made up.
  await searchBy(1, '/items/search?q=mewtwo')
  await searchBy(PEOPLE, '/items?search=mewtwo', '198.51.100.3')
  expect(await report()).toEqual([])
  await search('/plus/listings?search=%20M%C3%A9wtwo', '198.51.100.77')
  expect(await report()).toEqual([{ term: 'mewtwo', searches: 2 * PEOPLE + 1, items: expect.any(Number), listings: 1 }])
  // The next pages of a search, and responses that the caller has, are not searches.
  const etag = (await search('/items/search?q=mewtwo', '198.51.100.1')).headers.get('etag')!
  expect((await search('/items/search?q=mewtwo', '198.51.100.1', node.keys.plus, { 'if-none-match': etag })).status).toBe(304)
  await search('/items/search?q=mewtwo&page=2', '198.51.100.1')
  expect((await report())[0]!.searches).toBe(2 * PEOPLE + 2)
})

test('terms without items, and those whose items nobody offers, are lists of their own', async () => {
  await searchBy(PEOPLE, '/items/search?q=blastoise')
  await searchBy(PEOPLE, '/items/search?q=xqzzywx')
  const terms = async (kind: string) => (await report(`?kind=${kind}`)).map(({ term }) => term)
  expect(await terms('most')).toEqual(['mewtwo', 'blastoise', 'xqzzywx'])
  expect(await terms('nothing')).toEqual(['xqzzywx'])
  expect(await terms('not_offered')).toEqual(['blastoise'])
  expect(await report('?limit=1')).toHaveLength(1)
  // As many people at once leave no marks either.
  const stored = await node.db.kysely.selectFrom('search_terms').select(['people', 'marks']).where('term', '=', 'blastoise').executeTakeFirst()
  expect(stored).toEqual({ people: PEOPLE, marks: [] })
})

test('two nodes count the same people once, and add their searches', async () => {
  const parts = { db: node.db, now: () => node.clock.now(), secret: () => 'shared' }
  const nodes = [new SearchTerms(parts), new SearchTerms(parts)]
  const viewer = { kind: 'account', accountId: 1, keyId: 1, plan: 'plus' } as const
  for (const one of nodes) for (let n = 0; n < 12; n += 1) one.note(viewer, 'two nodes', `10.0.0.${n}`)
  await Promise.all(nodes.map((one) => one.flush()))
  const stored = () => node.db.kysely.selectFrom('search_terms').selectAll().where('term', '=', 'two nodes').executeTakeFirstOrThrow()
  expect(await stored()).toMatchObject({ searches: 24, people: 12 })
  for (let n = 8; n < 30; n += 1) nodes[n % 2]!.note(viewer, 'two nodes', `10.0.0.${n}`)
  await Promise.all(nodes.map((one) => one.flush()))
  // Marks of people are removed as soon as they are not needed.
  expect(await stored()).toMatchObject({ searches: 46, people: PEOPLE, marks: [] })
})

test('terms of few people are removed after their week, and those shown after a year; the report of a week stays', async () => {
  await searchBy(3, '/items/search?q=rarely')
  await report()
  const week = weekOf(node.clock.now())
  const next = new Date(node.clock.now().getTime() + 7 * DAY_MS)
  await forgetSearches(node.db, next)
  const terms = () => node.db.kysely.selectFrom('search_terms').select('term').orderBy('term').execute()
  expect((await terms()).map(({ term }) => term)).toEqual(['blastoise', 'mewtwo', 'two nodes', 'xqzzywx'])
  expect(await report(`?week=${week}`)).toHaveLength(4)
  expect(await report('?week=2020-01-01')).toEqual([])
  await forgetSearches(node.db, new Date(next.getTime() + 370 * DAY_MS))
  expect(await terms()).toEqual([])
})

test('bad input is refused by field, and callers of the public API have no report', async () => {
  for (const [query, field] of [
    ['kind=all', 'kind'],
    ['week=2026-13-01', 'week'],
    ['week=monday', 'week'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
  ] as const) {
    const refused = await operator(node, 'GET', `/stats/searches?${query}`)
    expect([refused.status, refused.body.error?.details?.map((one) => one.field)], query).toEqual([422, [field]])
  }
  expect((await send(`${node.operatorUrl}/operator/v1/stats/searches`, node.keys.enterprise)).status).toBe(401)
  expect((await send(`${node.publicUrl}/operator/v1/stats/searches`, OPERATOR_TOKEN)).status).toBe(404)
})

test('a caller who sends ever new terms is bounded, and very long ones are not counted', async () => {
  const terms = new SearchTerms({ db: node.db, now: () => node.clock.now(), secret: () => 'shared' })
  const viewer = { kind: 'account', accountId: 1, keyId: 1, plan: 'plus' } as const
  for (let n = 0; n < 6_000; n += 1) terms.note(viewer, `term ${n}`, '10.0.0.1')
  await terms.flush()
  await search(`/items/search?q=${'x'.repeat(150)}`, '10.0.0.1')
  await report()
  const { count } = await node.db.kysely
    .selectFrom('search_terms')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  expect(Number(count)).toBe(5_000)
})
