// Views of listings in searches: which responses count, once for each key and hour, by day, and how they are stored.
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { HOUR_MS } from '#core/duration.ts'
import { call } from '#core/verb.ts'
import { FirstViews } from '#market/views/first-views.ts'
import { forgetOldViews, ListingViews } from '#market/views/listing-views.ts'
import { runs } from '../support/runs.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'
import { DAY_MS, makeCatalogue, published } from './kit.ts'

interface Views {
  views_7_days: number
  days: { day: string; views: number }[]
}

let node: TestNode
let items: Record<string, number>

beforeAll(async () => {
  node = await startTestNode()
  ;({ items } = await makeCatalogue(node))
})

afterAll(() => node.close())

// Each test starts with an hour in which nothing was seen, and not at the end of a day.
beforeEach(() => {
  const sinceMidnight = node.clock.now().getTime() % DAY_MS
  node.clock.advance(sinceMidnight > DAY_MS - 6 * HOUR_MS ? DAY_MS - sinceMidnight + HOUR_MS : HOUR_MS)
})

const get = <Data>(path: string, key = node.keys.plus, headers: Record<string, string> = {}) =>
  send<Data>(`${node.publicUrl}/api/v1/plus${path}`, key, { headers })
const search = (query: string, key = node.keys.enterprise, headers: Record<string, string> = {}) => get(`/listings?${query}`, key, headers)
const viewsOf = async (id: number) => {
  await node.runTask('listing-views')
  return (await get<Views>(`/listings/${id}/views`)).body.data
}
const today = () => node.clock.now().toISOString().slice(0, 10)

describe('a view', () => {
  test('is a response of a search to another account, from the cache or not, by either path', async () => {
    const { id } = await published(node, items.char!, { title: 'Seen once' })
    const { id: other } = await published(node, items.char!, { title: 'Another title' })
    await search('search=seen+once', node.keys.plus)
    expect((await viewsOf(id)).views_7_days).toBe(0)
    for (const query of ['search=seen+once', 'search=seen+once', 'search=seen+once&with_details=1', 'search=seen+once&serch=1', 'search=seen']) {
      expect((await search(query)).body.data).toHaveLength(1)
    }
    expect((await viewsOf(id)).views_7_days).toBe(1)
    expect((await viewsOf(other)).views_7_days).toBe(0)
    const answers: [string, Record<string, string>][] = [
      ['search=seen+once', { 'accept-encoding': 'gzip' }],
      ['search=seen+once&with_details=1', {}],
      [`item_id=${items.char}`, {}],
    ]
    for (const [i, [query, headers]] of answers.entries()) {
      node.clock.advance(HOUR_MS)
      for (let repeated = 0; repeated < 3; repeated += 1) await search(query, node.keys.enterprise, headers)
      expect([query, (await viewsOf(id)).days.reduce((sum, { views }) => sum + views, 0)]).toEqual([query, 2 + i])
    }
    const plain = await startTestNode({ databaseUrl: node.databaseUrl, env: { MINTMARK_WITHOUT: 'fast-path,response-cache' } })
    await send(`${plain.publicUrl}/api/v1/plus/listings?search=seen+once`, node.keys.enterprise)
    // A node stores its counts when it stops.
    await plain.close()
    expect((await viewsOf(id)).views_7_days).toBe(2 + answers.length)
  })

  test('counts once for each key and hour', async () => {
    const { id } = await published(node, items.pika!, { title: 'By hour' })
    const { key } = await call(createKey, node.ctx, { account_id: node.accounts.enterprise })
    for (const one of [key, node.keys.enterprise, key]) await search('search=by+hour', one)
    expect((await viewsOf(id)).views_7_days).toBe(2)
    node.clock.advance(HOUR_MS)
    await search('search=by+hour', key)
    expect((await viewsOf(id)).views_7_days).toBe(3)
  })

  test('is neither a 304, a refused request, nor reading the listing itself', async () => {
    const { id } = await published(node, items.pika!, { title: 'Not modified' })
    const { headers } = await search('search=not+modified', node.keys.plus)
    expect((await search('search=not+modified', node.keys.enterprise, { 'if-none-match': headers.get('etag')! })).status).toBe(304)
    expect((await search('search=not+modified', node.keys.starter)).status).toBe(403)
    expect((await search('search=not+modified&serch=1', node.keys.enterprise, { prefer: 'handling=strict' })).status).toBe(422)
    await get(`/listings/${id}`, node.keys.enterprise)
    expect((await viewsOf(id)).views_7_days).toBe(0)
  })
})

test('the last 30 days are shown, oldest first, the last seven are summed, also in the list of own listings, and older ones are deleted', async () => {
  const { id } = await published(node, items.pika!, { title: 'Over days' })
  const { id: unseen } = await published(node, items.pika!, { title: 'Over days, unseen' })
  const ago = (days: number) => new Date(node.clock.now().getTime() - days * DAY_MS).toISOString().slice(0, 10)
  for (const [days, views] of [
    [0, 1],
    [6, 2],
    [7, 4],
    [29, 8],
    [30, 16],
  ] as const) {
    await sql`insert into listing_views values (${id}, ${ago(days)}, ${views})`.execute(node.db.kysely)
  }
  const { views_7_days: recent, days } = await viewsOf(id)
  expect(recent).toBe(3)
  expect(days).toHaveLength(30)
  expect([days[0], days[22], days[23], days[29]]).toEqual([
    { day: ago(29), views: 8 },
    { day: ago(7), views: 4 },
    { day: ago(6), views: 2 },
    { day: today(), views: 1 },
  ])
  const list = async (query: string) => (await get<{ id: number; views_7_days?: number }[]>(`/my-listings?search=over+days${query}`)).body.data
  expect((await list('&with_views=1')).map((row) => [row.id, row.views_7_days])).toEqual([
    [unseen, 0],
    [id, 3],
  ])
  expect((await list('')).every((row) => !('views_7_days' in row))).toBe(true)
  await forgetOldViews(node.db, node.clock.now())
  const { rows } = await sql`select day from listing_views where listing_id = ${id}`.execute(node.db.kysely)
  expect(rows).toHaveLength(4)
})

test('only the seller reads the views of a listing', async () => {
  const { id } = await published(node, items.pika!, { title: 'Not yours' })
  for (const [path, key] of [
    [`/listings/${id}/views`, node.keys.enterprise],
    ['/listings/999999/views', node.keys.plus],
  ] as const) {
    expect((await get(path, key)).body.error).toMatchObject({ code: 'NOT_FOUND' })
  }
})

describe('counts of nodes', () => {
  const viewer = (keyId: number) => ({ kind: 'account', accountId: 999, keyId, plan: 'plus' }) as const
  const shown = (...ids: number[]) => ({ ids: Int32Array.from(ids), owners: Int32Array.from(ids, () => node.accounts.plus) })

  test('are summed, whichever listing comes first, and a deleted listing stops none of them', async () => {
    const { id: first } = await published(node, items.pika!, { title: 'Node a' })
    const { id: second } = await published(node, items.pika!, { title: 'Node b' })
    const nodes = Array.from({ length: 4 }, () => new ListingViews({ db: node.db, now: node.clock.now }))
    for (const [i, views] of nodes.entries()) {
      for (let keyId = 1; keyId <= 50; keyId += 1) views.note(viewer(keyId), i % 2 ? shown(first, 2_000_000_000, second) : shown(second, first))
    }
    await Promise.all(nodes.map((views) => views.flush()))
    expect([(await viewsOf(first)).views_7_days, (await viewsOf(second)).views_7_days]).toEqual([200, 200])
  })

  test('are kept if they cannot be stored, and stored the next time', async () => {
    const { id } = await published(node, items.pika!, { title: 'Kept' })
    const views = new ListingViews({ db: node.db, now: node.clock.now })
    views.note(viewer(1), shown(id))
    await sql`alter table listing_views rename to listing_views_away`.execute(node.db.kysely)
    await expect(views.flush()).rejects.toThrow(/listing_views/)
    views.note(viewer(2), shown(id))
    await sql`alter table listing_views_away rename to listing_views`.execute(node.db.kysely)
    await views.flush()
    await views.flush()
    expect((await viewsOf(id)).views_7_days).toBe(2)
  })

  test('stay exact over many different pages between two flushes', async () => {
    const { id } = await published(node, items.pika!, { title: 'On many pages' })
    const views = new ListingViews({ db: node.db, now: node.clock.now })
    for (let keyId = 1; keyId <= 1_000; keyId += 1) for (let page = 0; page < 3; page += 1) views.note(viewer(keyId), shown(id))
    await views.flush()
    // Of pairs with the same place in the table, one may count again.
    expect((await viewsOf(id)).views_7_days).toBeGreaterThanOrEqual(1_000)
    expect((await viewsOf(id)).views_7_days).toBeLessThan(1_010)
  })
})

test('the first view of a pair in an hour always counts, and a repeated one does not', () => {
  const ids = fc.integer({ min: 1, max: 2_147_483_647 })
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(ids, ids), { minLength: 1, maxLength: 50, selector: String }), fc.nat(500_000), (pairs, hour) => {
      const views = new FirstViews()
      for (const [keyId, listingId] of pairs) {
        expect(views.isFirst(keyId, listingId, hour)).toBe(true)
        expect(views.isFirst(keyId, listingId, hour)).toBe(false)
      }
      expect(views.isFirst(...pairs.at(-1)!, hour + 1)).toBe(true)
    }),
    { numRuns: runs(20) },
  )
})
