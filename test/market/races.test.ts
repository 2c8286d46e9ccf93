// Concurrent writes to the same data: credits, the last unit, fields of one listing, a price; only one succeeds, and nothing is lost.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addCredits } from '#accounts/add-credits.ts'
import { approveListing } from '#market/approval/decide-listing.ts'
import { call } from '#core/verb.ts'
import { createCollection } from '#collections/create-collection.ts'
import { post } from '../graphql/client.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { found, makeCatalogue, operator, orderId, pending, plus, published } from './kit.ts'

let node: TestNode
let other: TestNode
let item: number

beforeAll(async () => {
  node = await startTestNode({ worker: true })
  other = await startTestNode({ databaseUrl: node.databaseUrl, worker: true })
  item = (await makeCatalogue(node)).items.char!
})

afterAll(async () => {
  await other.close()
  await node.close()
})

const nodes = () => [node, other]
const times = (count: number) => Array.from({ length: count }, (_, i) => i)
const credits = async () =>
  (await node.db.kysely.selectFrom('accounts').select('highlight_credits').where('id', '=', node.accounts.plus).executeTakeFirstOrThrow())
    .highlight_credits

/** Number of transactions that wrote the current rows. */
const transactionsOf = async (table: 'listings' | 'collection_items', column: 'id' | 'collection_id', values: number[]) => {
  const { rows } = await sql<{ count: number }>`
    select count(distinct xmin::text)::int as count from ${sql.table(table)} where ${sql.ref(column)} = any(${values})`.execute(node.db.kysely)
  return rows[0]!.count
}

test('of 50 concurrent highlights with 1 credit on two nodes, 1 succeeds', { tags: 'slow' }, async () => {
  const listings = await Promise.all(times(5).map(() => published(node, item)))
  const replies = await Promise.all(
    times(50).map((i) => plus(nodes()[i % 2]!, 'POST', '/make-highlight', { id: listings[i % 5]!.id }, { key: node.keys.plus })),
  )
  expect(replies.filter((reply) => reply.status === 200)).toHaveLength(1)
  for (const reply of replies.filter((one) => one.status !== 200)) {
    expect(reply).toMatchObject({ status: 422, body: { error: { code: 'PLUS_LISTING_ERROR', rule: 'no_credits' } } })
  }
  expect(await credits()).toBe(0)
  const ledger = await node.db.kysely
    .selectFrom('credit_entries')
    .select(['amount', 'balance'])
    .where('account_id', '=', node.accounts.plus)
    .execute()
  expect(ledger.at(-1)).toEqual({ amount: -1, balance: 0 })
})

test('highlights of one listing add up', async () => {
  await call(addCredits, node.ctx, { id: node.accounts.plus, amount: 6 })
  const { id } = await published(node, item)
  const replies = await Promise.all(times(6).map((i) => plus(nodes()[i % 2]!, 'POST', '/make-highlight', { id }, { key: node.keys.plus })))
  expect(replies.map((reply) => reply.status)).toEqual(Array(6).fill(200))
  const { highlighted_until: until } = (await operator(node, 'GET', `/listings/${id}`)).body.data
  expect(Math.round((Date.parse(until!) - node.clock.now().getTime()) / 86_400_000)).toBe(42)
})

test('of 12 concurrent orders for the last unit on two nodes, 1 succeeds', async () => {
  const { id } = await published(node, item, { title: 'Last unit' })
  const replies = await Promise.all(
    times(12).map((i) => operator(nodes()[i % 2]!, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: id, quantity: 1 }] })),
  )
  expect(replies.map((reply) => reply.status).sort((a, b) => a - b)).toEqual([201, ...Array(11).fill(409)])
  // The sale may have been recorded by the other node.
  await expect.poll(() => found(node, '?search=unit')).toEqual([])
  const sales = await node.db.kysely.selectFrom('sales').select('id').where('listing_id', '=', id).execute()
  expect(sales).toHaveLength(1)
})

test('with orders of the same listings in any order and concurrent price changes, none fails and the stock is correct', {
  tags: 'slow',
}, async () => {
  const listings = await Promise.all(times(4).map(() => published(node, item, { quantity: 100 })))
  const orders = times(24).map((i) => {
    const lines = listings.map(({ id }) => ({ listing_id: id, quantity: 1 }))
    return operator(nodes()[i % 2]!, 'POST', '/orders', { order_id: orderId(), lines: i % 3 === 0 ? lines.reverse() : lines })
  })
  const prices = times(48).map((i) =>
    plus(nodes()[i % 2]!, 'PATCH', `/listings/${listings[i % 4]!.id}/price`, { price: i + 1 }, { key: node.keys.plus }),
  )
  const edits = times(8).map((i) => operator(nodes()[i % 2]!, 'PATCH', `/listings/${listings[i % 4]!.id}`, { language: 'en' }))
  const replies = await Promise.all([...orders, ...prices, ...edits])
  expect(replies.filter((reply) => reply.status >= 300).map((reply) => reply.body)).toEqual([])
  for (const { id } of listings) expect((await operator(node, 'GET', `/listings/${id}`)).body.data.quantity).toBe(76)
})

test('concurrent PATCHes of different fields lose none', async () => {
  const { id } = await published(node, item, { price: 50 })
  const bodies = [
    { title: 'Raced' },
    { description: 'Text' },
    { shipping_payer: 'seller' },
    { offers_enabled: true },
    { min_offer_price: 10 },
    { price: 60 },
  ]
  const replies = await Promise.all(bodies.map((body, i) => plus(nodes()[i % 2]!, 'PATCH', `/listings/${id}`, body, { key: node.keys.plus })))
  expect(replies.map((reply) => reply.status)).toEqual(Array(6).fill(200))
  expect((await operator(node, 'GET', `/listings/${id}`)).body.data).toMatchObject({
    title: 'Raced',
    description: 'Text',
    shipping_payer: 'seller',
    offers_enabled: true,
    min_offer_price: 10,
    price: 60,
    status: 'pending',
  })
})

test('concurrent prices commit as one batch, each with its own result', async () => {
  const mine = await Promise.all(times(40).map(() => published(node, item)))
  const { id: theirs } = await published(node, item, { seller_id: node.accounts.enterprise })
  const offered = await published(node, item, { price: 50, min_offer_price: 40 })
  const one = (id: number, price: number) => plus(node, 'PATCH', `/listings/${id}/price`, { price })
  const replies = await Promise.all([
    ...mine.map(({ id }, i) => one(id, i + 1)),
    one(theirs, 5),
    one(offered.id, 39),
    one(999_999, 5),
    one(mine[0]!.id, 99),
  ])
  expect(replies.slice(0, 40).map((reply) => reply.body.data.price)).toEqual(times(40).map((i) => i + 1))
  expect(replies.slice(40).map((reply) => reply.status)).toEqual([422, 422, 422, 200])
  const versionOf = (reply: (typeof replies)[number]) => Number(/-(\d+)"$/.exec(reply.headers.get('etag')!)![1])
  const [, later] = [replies[0]!, replies.at(-1)!].sort((a, b) => versionOf(a) - versionOf(b))
  expect((await operator(node, 'GET', `/listings/${mine[0]!.id}`)).body.data.price, 'the later of two').toBe(later!.body.data.price)
  const ids = mine.map(({ id }) => id)
  expect(await transactionsOf('listings', 'id', ids)).toBeLessThan(10)
})

test('prices with an Idempotency-Key commit as one batch, over REST and GraphQL; a repeat writes nothing', async () => {
  const mine = await Promise.all(times(40).map(() => published(node, item)))
  const { id: theirs } = await published(node, item, { seller_id: node.accounts.enterprise })
  const answers = async () => {
    const rest = times(20).map((i) =>
      plus(node, 'PATCH', `/listings/${mine[i]!.id}/price`, { price: i + 1 }, { headers: { 'idempotency-key': `batch-${i}` } }),
    )
    const refused = plus(node, 'PATCH', `/listings/${theirs}/price`, { price: 5 }, { headers: { 'idempotency-key': 'batch-theirs' } })
    const graphql = times(20).map((i) => {
      const query = `mutation { done: updateListingPrice(listingId: ${mine[20 + i]!.id}, price: ${i + 21}) { price } }`
      const headers = { authorization: `Bearer ${node.keys.plus}`, 'idempotency-key': `batch-graphql-${i}` }
      return post<{ done: { price: number } }>(node, JSON.stringify({ query }), headers)
    })
    expect((await refused).status).toBe(422)
    return [...(await Promise.all(rest)).map((reply) => reply.body.data.price), ...(await Promise.all(graphql)).map((reply) => reply.data.done.price)]
  }
  expect(await answers()).toEqual(times(40).map((i) => i + 1))
  const ids = mine.map(({ id }) => id)
  expect(await transactionsOf('listings', 'id', ids)).toBeLessThan(10)
  await plus(node, 'PATCH', `/listings/${mine[0]!.id}/price`, { price: 99 })
  expect(await answers()).toEqual(times(40).map((i) => i + 1))
  expect((await operator(node, 'GET', `/listings/${mine[0]!.id}`)).body.data.price).toBe(99)
  const audits = await operator<object[]>(node, 'GET', `/audit?subject_type=listing&subject_id=${mine[1]!.id}&action=listing.reprice`)
  expect(audits.body.data).toMatchObject([{ actor: `account:${node.accounts.plus}`, before: { price: 100 }, after: { price: 2 } }])
})

test('collection records with an Idempotency-Key commit as one batch; a repeat adds none', async () => {
  const { id } = await call(createCollection, node.ctx, { account_id: node.accounts.plus, name: 'Raced' })
  const add = () =>
    Promise.all(
      times(40).map((i) =>
        plus<{ id: number }>(node, 'POST', `/collections/${id}/items`, { item_id: item }, { headers: { 'idempotency-key': `record-${i}` } }),
      ),
    )
  const first = await add()
  expect(await transactionsOf('collection_items', 'collection_id', [id])).toBeLessThan(10)
  expect(new Set(first.map((reply) => reply.body.data.id)).size).toBe(40)
  expect((await add()).map((reply) => reply.body.data.id)).toEqual(first.map((reply) => reply.body.data.id))
  const stored = await node.db.kysely.selectFrom('collection_items').select('id').where('collection_id', '=', id).execute()
  expect(stored).toHaveLength(40)
})

test('the same price change many times on one listing: the last one wins, and versions count all', async () => {
  const { id } = await published(node, item)
  const replies = await Promise.all(times(20).map((i) => plus(node, 'PATCH', `/listings/${id}/price`, { price: i + 1 })))
  expect(new Set(replies.map((reply) => reply.headers.get('etag'))).size).toBe(20)
})

test('of prices with the same If-Match on two nodes, one is written', async () => {
  const { id } = await published(node, item)
  const tag = (await plus(node, 'PATCH', `/listings/${id}/price`, { price: 50 })).headers.get('etag')!
  const headers = { 'if-match': tag }
  const replies = await Promise.all(
    times(20).map((i) => plus(nodes()[i % 2]!, 'PATCH', `/listings/${id}/price`, { price: i + 1 }, { key: node.keys.plus, headers })),
  )
  expect(replies.map((reply) => reply.status).sort((a, b) => a - b)).toEqual([200, ...Array(19).fill(412)])
  const written = replies.find((reply) => reply.status === 200)!.body.data.price
  expect((await operator(node, 'GET', `/listings/${id}`)).body.data.price).toBe(written)
})

test('concurrent approval and owner edits are serialised', async () => {
  for (const _round of times(5)) {
    const { id } = await pending(node, item)
    const [approved, edited] = await Promise.all([
      call(approveListing, node.ctx, { id }),
      plus(other, 'PATCH', `/listings/${id}`, { title: 'Changed' }, { key: node.keys.plus }),
    ])
    expect(edited.status).toBe(200)
    const { status, title, changed_since_approval: changed } = (await operator(node, 'GET', `/listings/${id}`)).body.data
    expect(title).toBe('Changed')
    if (approved.title === 'Changed') expect({ status, changed }).toEqual({ status: 'active', changed: [] })
    else expect({ status, changed: changed?.length }).toEqual({ status: 'pending', changed: 1 })
  }
})
