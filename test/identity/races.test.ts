// Merges and undos while others sell, list, collect, price and import the same items, on two nodes: nothing is lost or fails.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { collector, makeCollection } from '../collections/kit.ts'
import { orderId, published } from '../market/kit.ts'
import { importText, startTwoNodes, type TestNode, until } from '../support/node.ts'
import { current, item, makeTwins, merge, operator, stateOf, undo } from './kit.ts'

let here: TestNode
let there: TestNode
let close: () => Promise<void>

beforeAll(async () => {
  ;({ here, there, close } = await startTwoNodes())
})

afterAll(() => close())

const ROUNDS = 6
const times = (count: number) => Array.from({ length: count }, (_, i) => i)
const node = (i: number) => (i % 2 === 0 ? here : there)

/** Rows that refer to an item that does not exist. */
async function orphans(): Promise<string[]> {
  const tables = ['prices', 'price_points', 'hidden_points', 'held_prices', 'listings', 'sales', 'collection_items', 'item_foreign_ids']
  const counts = await Promise.all(
    tables.map(async (table) => {
      const { rows } = await sql<{
        n: number
      }>`select count(*)::int4 as n from ${sql.table(table)} where item_id not in (select id from items)`.execute(here.db.kysely)
      return `${table} ${rows[0]!.n}`
    }),
  )
  return counts.filter((count) => !count.endsWith(' 0'))
}

/** Everything that can happen to an item, many times on both nodes. @returns the unexpected responses */
function traffic(a: number, listings: number[], collection: number): Promise<string[]>[] {
  const failed = async (what: string, reply: Promise<{ status: number; body: unknown }>, expectedStatus: number) => {
    const { status, body } = await reply
    return status === expectedStatus ? [] : [`${what}: ${status} ${JSON.stringify(body)}`]
  }
  return times(12).flatMap((i) => [
    failed(
      'order',
      operator(node(i), 'POST', '/orders', {
        order_id: orderId(),
        lines: [{ listing_id: listings[i % listings.length]!, quantity: 1, unit_price: 100 + i }],
      }),
      201,
    ),
    failed(
      'price',
      operator(node(i), 'POST', '/prices', [
        {
          item_id: a,
          market: i % 3 === 0 ? 'source_a' : 'source_b',
          label: 'Near Mint',
          price: 10 + i / 100,
          updated_at: new Date(Date.UTC(2026, 9, 2, 0, i)).toISOString(),
        },
      ]),
      200,
    ),
    failed('listing', operator(node(i), 'POST', '/listings', { seller_id: here.accounts.plus, item_id: a, title: 'Raced', price: 10 }), 201),
    failed('edit', operator(node(i), 'PATCH', `/listings/${listings[i % listings.length]!}`, { item_id: a, language: 'en' }), 200),
    failed('record', collector(node(i), here.keys.plus).add(collection, { item_id: a }), 201),
    failed('item', operator(node(i), 'PATCH', `/items/${a}`, { code: `${i}/102` }), 200),
  ])
}

test('an item is merged and split during all other writes to it', { tags: 'slow' }, async () => {
  for (const round of times(ROUNDS)) {
    const ids = await makeTwins(here, [
      { ref: `race${round}:a`, market: 'source_a', prices: [['source_b', 'Near Mint', '10.00']] },
      { ref: `race${round}:b`, market: 'source_c', prices: [['source_b', 'Near Mint', '10.00']] },
    ])
    const [a, b] = [ids[`race${round}:a`]!, ids[`race${round}:b`]!]
    const listings = [await published(here, a, { quantity: 100 }), await published(here, b, { quantity: 100 })].map(({ id }) => id)
    const collection = await makeCollection(here, here.accounts.plus)
    await until('the other node has the items', async () => (await item(there, a)).status === 200 && (await item(there, b)).status === 200)
    const acts = traffic(a, listings, collection)
    const merging = merge(node(round), a, b)
    const splitting = merging.then(({ body }) => (round % 2 === 0 ? undo(node(round + 1), body.data.id) : null))
    expect((await merging).status).toBe(200)
    expect((await splitting)?.status ?? 200).toBe(200)
    expect((await Promise.all(acts)).flat()).toEqual([])
    expect(await orphans()).toEqual([])
    const { rows } = await sql<{ n: number }>`select count(*)::int4 as n from sales where item_id in (${a}, ${b})`.execute(here.db.kysely)
    expect(rows[0]!.n).toBe(12)
    // The service's price is the median of all sales, because they are of one seller to unknown buyers.
    for (const id of [a, b]) {
      const { body } = await operator<{ unit_price: number; label: string }[]>(here, 'GET', `/sales?item_id=${id}`)
      const last = body.data.map((sale) => sale.unit_price).sort((x, y) => x - y)
      const own = (await item(here, id)).body.data.id === id
      const price = (await current(here, id)).find(({ market }) => market === 'service')?.price
      if (own && last.length > 0) expect([id, price]).toEqual([id, (last[last.length >> 1]! + last[(last.length - 1) >> 1]!) / 2])
    }
    await until('both nodes agree', async () => (await item(there, a)).body.data.id === (await item(here, a)).body.data.id)
  }
})

test('of concurrent merges of one item into several, one succeeds', async () => {
  const refs = times(5).map((i) => `win:${i}`)
  const ids = await makeTwins(
    here,
    refs.map((ref) => ({ ref, market: 'source_a' })),
  )
  const replies = await Promise.all(times(4).map((i) => merge(node(i), ids['win:4']!, ids[`win:${i}`]!)))
  expect(replies.map((reply) => reply.status).sort((x, y) => x - y)).toEqual([200, 409, 409, 409])
})

test('of merges in a circle, one succeeds and the other is rejected', async () => {
  const ids = await makeTwins(here, [
    { ref: 'circle:a', market: 'source_a' },
    { ref: 'circle:b', market: 'source_a' },
  ])
  const [a, b] = [ids['circle:a']!, ids['circle:b']!]
  const replies = await Promise.all([merge(here, a, b), merge(there, b, a)])
  expect(replies.map((reply) => reply.status).sort((x, y) => x - y)).toEqual([200, 409])
})

test('of 8 concurrent undos of one merge, one succeeds', async () => {
  const ids = await makeTwins(here, [
    { ref: 'once:a', market: 'source_a' },
    { ref: 'once:b', market: 'source_a' },
  ])
  const before = await stateOf(here)
  const { body } = await merge(here, ids['once:a']!, ids['once:b']!)
  const replies = await Promise.all(times(8).map((i) => undo(node(i), body.data.id)))
  expect(replies.map((reply) => reply.status).sort((x, y) => x - y)).toEqual([200, ...Array(7).fill(409)])
  expect(await stateOf(here)).toEqual(before)
})

test('catalogue and price imports run while their items are merged', { tags: 'slow' }, async () => {
  const twins = times(40).flatMap((i) => [
    { ref: `file${i}:a`, market: 'source_a', foreignIds: [{ source: 'cardmarket', id: `file-${i}` }] },
    { ref: `file${i}:b`, market: 'source_c' },
  ])
  const ids = await makeTwins(here, twins)
  const prices = [
    'item_ref,market,label,price,updated_at',
    ...times(40).map((i) => `file${i}:a,source_b,Near Mint,${i + 1}.00,2026-10-05T00:00:00Z`),
  ].join('\n')
  // Each waits while holding a connection, and imports need two: run only a few at a time.
  const merges = times(4).map(async (lane) => {
    const replies = []
    for (let i = lane; i < 40; i += 4) replies.push(await merge(node(i), ids[`file${i}:a`]!, ids[`file${i}:b`]!))
    return replies
  })
  const imports = [
    importText(here, 'mintmark-prices-csv', prices),
    importText(
      there,
      'mintmark-ndjson',
      twins
        .map(({ ref, market }) =>
          JSON.stringify({
            type: 'item',
            market,
            ref,
            name: 'Charizard imported',
            code: '4/102',
            genre: 'single',
            game: 'pokemon',
            category: 'base',
            images: [],
            attributes: [],
            groups: [],
            details: {},
            foreign_ids: [],
            prices: [{ market, label: 'PSA 10', price: '5.00', updated_at: '2026-10-05T00:00:00Z' }],
          }),
        )
        .join('\n'),
    ),
  ]
  for (const reply of (await Promise.all(merges)).flat()) expect(reply.status).toBe(200)
  for (const report of await Promise.all(imports)) expect([report.status, report.counts.rejected]).toEqual(['done', 0])
  expect(await orphans()).toEqual([])
  for (const i of times(40)) {
    const paid = (await current(here, ids[`file${i}:b`]!)).map(({ market, label, price }) => `${market} ${label} ${price}`)
    expect(paid).toEqual(['source_a PSA 10 5', `source_b Near Mint ${i + 1}`, 'source_c PSA 10 5'])
  }
})
