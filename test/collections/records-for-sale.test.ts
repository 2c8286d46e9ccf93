// Records put up for sale: listings that name them, sales that take copies out, refunds that return them, and all of it at once on two nodes.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { OwnListing } from '#market/marketplace-types.ts'
import { ask as askGraphql } from '../graphql/client.ts'
import { orderId, published } from '../market/kit.ts'
import { type Reply, send, startTwoNodes, type TestNode } from '../support/node.ts'
import { type CollectionRecord, collector, makeCollection, makeItems, operator } from './kit.ts'
import { runs } from '../support/runs.ts'

let node: TestNode
let other: TestNode
let close: () => Promise<void>
let items: Record<string, number>
let collection: number
let mine: ReturnType<typeof collector>

beforeAll(async () => {
  ;({ here: node, there: other, close } = await startTwoNodes())
  items = await makeItems(node, [
    { ref: 'char', name: 'Charizard', code: '4/102' },
    { ref: 'pika', name: 'Pikachu', code: '58/102' },
  ])
  mine = collector(node, node.keys.plus)
  await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake: { quota: 5_000 } })
})
afterAll(() => close())
beforeEach(async () => {
  collection = await makeCollection(node, node.accounts.plus)
})

type Listed = OwnListing & { record_id: number | null }

const add = async (fields: object = {}) => (await mine.add(collection, { item_id: items.char, ...fields })).body.data.id
const list = (rows: unknown, at = node, key = node.keys.plus): Promise<Reply<Listed[]>> =>
  send<Listed[]>(`${at.publicUrl}/api/v1/plus/collections/${collection}/list`, key, { method: 'POST', json: { rows } })
const record = async (id: number) => (await mine.ask<CollectionRecord & { for_trade: number }>('GET', `/${collection}/items/${id}`)).body.data
const approve = (id: number) => operator(node, 'POST', `/listings/${id}/approve`)
const sell = (lines: [listing: number, quantity: number, price?: number][], order = orderId(), at = node) =>
  operator<object>(at, 'POST', '/orders', {
    order_id: order,
    lines: lines.map(([listing_id, quantity, unit_price]) => ({ listing_id, quantity, ...(unit_price && { unit_price }) })),
  })
const refund = (order: number, lines?: number[], at = node) => operator(at, 'POST', `/orders/${order}/cancel`, { reason: 'returned', lines })
const disposals = (recordId: number) =>
  node.db.kysely
    .selectFrom('collection_disposals')
    .select(['quantity', 'gross', 'fees', 'order_id', 'line', 'returned_at'])
    .where('record_id', '=', recordId)
    .orderBy('id')
    .execute()
const problemOf = ({ status, body }: Reply<unknown>) => [status, body.error?.code, body.error?.details?.[0]?.field ?? body.error?.rule]

/** A record with a listing of its copies that buyers can see. */
async function onSale(quantity: number, price = 100) {
  const recordId = await add({ quantity })
  const { body } = await list([{ record_id: recordId, quantity, price }])
  const listingId = body.data[0]!.id
  await approve(listingId)
  return { recordId, listingId }
}

describe('listing records', () => {
  test('makes pending listings of item and grade of the records, which name them', async () => {
    const ungraded = await add({ quantity: 3 })
    const graded = await add({ item_id: items.pika, quantity: 1, item_group_type_id: await gradeId('PSA 10') })
    const { status, body } = await list([
      { record_id: ungraded, quantity: 2, price: 90.5, sku: 'C-1' },
      { record_id: graded, price: 400, title: 'My Pikachu' },
    ])
    expect([status, body.data.length]).toEqual([201, 2])
    expect(body.data[0]).toMatchObject({
      record_id: ungraded,
      item_id: items.char,
      status: 'pending',
      quantity: 2,
      price: 90.5,
      sku: 'C-1',
      grade: null,
    })
    expect(body.data[1]).toMatchObject({ record_id: graded, item_id: items.pika, title: 'My Pikachu', grade: { label: 'PSA 10' }, quantity: 1 })
    expect((await operator<Listed>(node, 'GET', `/listings/${body.data[0]!.id}`)).body.data.record_id).toBe(ungraded)
  })

  test('refuses more copies than owned, with the numbers, and then makes none', async () => {
    const recordId = await add({ quantity: 3 })
    const half = [{ record_id: recordId, quantity: 2, price: 5 }]
    expect((await list(half)).status).toBe(201)
    const refused = await list([{ record_id: recordId, quantity: 1, price: 5 }, ...half])
    expect([problemOf(refused), refused.body.error!.params]).toEqual([
      [409, 'NOT_ENOUGH_OWNED', 'copies_in_listings'],
      { id: recordId, wanted: 2, owned: 3, listed: 3 },
    ])
    expect((await list([{ record_id: recordId, quantity: 1, price: 5 }])).status).toBe(201)
  })

  test('names the row and the field of what is wrong, and is not for other accounts, plans or a closed intake', async () => {
    const id = await add()
    const wrong: [unknown, string][] = [
      [[], 'rows'],
      [[{ record_id: id }], 'rows.0.price'],
      [[{ record_id: id, price: 0 }], 'rows.0.price'],
      [[{ record_id: 999_999_999, price: 5 }], 'rows.0.record_id'],
      [[{ record_id: id, price: 5, title: 'a\u202eb' }], 'rows.0.title'],
      [[{ record_id: id, price: 5, item_id: 1 }], 'rows.0.item_id'],
      [[{ record_id: id, price: 5, quantity: 0 }], 'rows.0.quantity'],
      [Array.from({ length: 501 }, () => ({ record_id: id, price: 5 })), 'rows'],
    ]
    for (const [rows, field] of wrong) expect(problemOf(await list(rows))).toEqual([422, 'PLUS_COLLECTION_ERROR', field])
    const row = [{ record_id: id, price: 5 }]
    expect((await list(row, node, node.keys.professional)).status).toBe(403)
    collection = await makeCollection(node, node.accounts.enterprise)
    expect(problemOf(await list(row))).toEqual([422, 'PLUS_COLLECTION_ERROR', 'not_owner'])
    expect(problemOf(await list(row, node, node.keys.enterprise))).toEqual([403, 'FORBIDDEN', 'intake_closed'])
  })

  test('works over GraphQL', async () => {
    const id = await add({ quantity: 2 })
    const mutation = `mutation ($collection: ID!, $rows: [ListedRecordInput!]!) {
      listCollectionRecords(collectionId: $collection, rows: $rows) { id status price } }`
    const put = (row: object) =>
      askGraphql<{ listCollectionRecords: object[] }>(node, mutation, { plan: 'plus', variables: { collection, rows: [{ recordId: id, ...row }] } })
    expect((await put({ price: 12, quantity: 2 })).data.listCollectionRecords).toMatchObject([{ status: 'pending', price: 12 }])
    expect((await put({ price: 12 })).errors![0]!.extensions).toMatchObject({ code: 'NOT_ENOUGH_OWNED', status: 409 })
  })
})

describe('a sale', () => {
  test('takes its copies out of the record with price and commission, and a refund returns them once', async () => {
    const { recordId, listingId } = await onSale(3, 120)
    await mine.change(collection, recordId, { for_trade: 3 })
    const order = orderId()
    expect((await sell([[listingId, 2, 110.25]], order)).status).toBe(201)
    expect(await record(recordId)).toMatchObject({ quantity: 1, for_trade: 1 })
    const [disposal] = await disposals(recordId)
    expect(disposal).toMatchObject({ quantity: 2, gross: '220.50', order_id: order, line: 1, returned_at: null })
    const { body } = await operator<{ lines: { commission: number }[] }>(node, 'GET', `/orders/${order}`)
    expect(Number(disposal!.fees)).toBe(body.data.lines[0]!.commission)
    expect((await refund(order)).status).toBe(200)
    expect((await refund(order)).status).toBe(409)
    expect(await record(recordId)).toMatchObject({ quantity: 3 })
    expect((await disposals(recordId))[0]!.returned_at).not.toBeNull()
  })

  test('of two listings of one record in one order takes from it in turn; what the record no longer has is sold without it', async () => {
    const { recordId, listingId } = await onSale(2)
    await mine.change(collection, recordId, { quantity: 5 })
    const second = (await list([{ record_id: recordId, quantity: 3, price: 10 }])).body.data[0]!.id
    await approve(second)
    await mine.change(collection, recordId, { quantity: 4 })
    await sell([
      [listingId, 2],
      [second, 3],
    ])
    expect((await record(recordId)).quantity).toBe(0)
    expect(await disposals(recordId)).toMatchObject([
      { quantity: 2, gross: '200.00', line: 1 },
      { quantity: 2, gross: '20.00', line: 2 },
    ])
  })

  test('of all copies leaves a record that is neither owned for completion nor shared', async () => {
    const { recordId, listingId } = await onSale(1)
    const { shared_url: url } = (await mine.ask<{ shared_url: string }>('PATCH', `/${collection}`, { visibility: 'unlisted' })).body.data
    const seen = async () => {
      const { body } = await mine.ask<{ owned: number }[]>('GET', `/${collection}/completion`)
      const shared = await send<{ items_count: number; items: object[] }>(`${node.publicUrl}/api/v1${new URL(url).pathname}`, '')
      return [body.data.reduce((sum, { owned }) => sum + owned, 0), shared.body.data.items_count, shared.body.data.items.length]
    }
    expect(await seen()).toEqual([1, 1, 1])
    await sell([[listingId, 1]])
    expect(await seen()).toEqual([0, 0, 0])
    expect((await record(recordId)).quantity).toBe(0)
  })

  test('of a listing whose record was deleted, and of one without a record, needs none', async () => {
    const { recordId, listingId } = await onSale(1)
    expect((await mine.remove(collection, recordId)).status).toBe(200)
    const order = orderId()
    expect((await sell([[listingId, 1]], order)).status).toBe(201)
    expect((await refund(order)).status).toBe(200)
    const plain = await published(node, items.char!)
    expect((await sell([[plain.id, 1]])).status).toBe(201)
  })
})

test('sold, refunded, edited, merged and deleted at once on two nodes, every copy is accounted for once', { tags: 'slow' }, async () => {
  const nodes = [node, other]
  for (let round = 0; round < runs(12); round += 1) {
    const { recordId, listingId } = await onSale(10)
    const kept = await onSale(10)
    const orders = Array.from({ length: 8 }, () => orderId())
    const sold = orders.map((order, i) =>
      sell(
        [
          [listingId, 1],
          [kept.listingId, 1],
        ],
        order,
        nodes[i % 2]!,
      ),
    )
    const edits = nodes.map((at, i) => collector(at, node.keys.plus).change(collection, kept.recordId, { note: `edit ${i}` }))
    const listings = nodes.map((at) => list([{ record_id: kept.recordId, price: 1 }], at))
    const refunds = orders.slice(0, 4).map((order, i) => refund(order, undefined, nodes[(i + 1) % 2]!))
    const removal = mine.remove(collection, recordId)
    const merge = operator<{ batch_id: number }>(other, 'POST', `/items/${items.char}/merge`, { into: items.pika })
    const replies = await Promise.all([...sold, ...edits, ...listings, ...refunds, removal, merge])
    expect(replies.filter(({ status }) => status >= 500)).toEqual([])
    expect((await Promise.all(sold)).map(({ status }) => status)).toEqual(orders.map(() => 201))
    const ended = await Promise.all(orders.map((order) => operator<{ lines: { cancellation: unknown }[] }>(node, 'GET', `/orders/${order}`)))
    const refunded = ended.filter(({ body }) => body.data.lines[1]!.cancellation !== null).length
    const rows = await disposals(kept.recordId)
    expect([rows.length, rows.filter((row) => row.returned_at !== null).length]).toEqual([8, refunded])
    expect((await record(kept.recordId)).quantity).toBe(10 - 8 + refunded)
    expect(await disposals(recordId)).toEqual([])
    await operator(node, 'POST', `/batches/${(await merge).body.data.batch_id}/revert`)
    expect((await record(kept.recordId)).item_id).toBe(items.char)
  }
})

test('copies for trade are at most the copies', async () => {
  const id = (await mine.add(collection, { item_id: items.char, quantity: 2, for_trade: 2 })).body.data.id
  expect((await record(id)).for_trade).toBe(2)
  expect((await mine.change(collection, id, { for_trade: 3 })).body.error?.details?.[0]?.field).toBe('for_trade')
  expect((await mine.add(collection, { item_id: items.char, for_trade: 2 })).status).toBe(422)
  await mine.change(collection, id, { quantity: 1 })
  expect((await record(id)).for_trade).toBe(1)
})

async function gradeId(name: string): Promise<number> {
  const { id } = await node.db.kysely
    .selectFrom('groups')
    .select('id')
    .where('name', '=', name)
    .where('parent_id', 'is not', null)
    .executeTakeFirstOrThrow()
  return id
}

describe('a price below the cost', () => {
  const cost = [['price_below_cost', { cost: 90 }]]
  type Warned = { forecast: { warnings: { rule: string; params: object }[] } }
  const told = (warnings: { rule: string; params: object }[]) => warnings.map(({ rule, params }) => [rule, params])

  /** Three copies in lira and one in dollars, which cost 90 each on average, and another one of unknown cost. */
  async function recordWithCosts(): Promise<number> {
    await operator(node, 'POST', '/rates', [
      { currency: 'USD', day: '2026-01-01', rate: 20 },
      { currency: 'USD', day: '2026-11-01', rate: 45 },
    ])
    const id = await add({ quantity: 3, purchase_price: 80, purchase_date: '2026-02-01' })
    const lot = (json: object) => mine.ask('POST', `/${collection}/items/${id}/lots`, json)
    expect((await lot({ quantity: 1, unit_cost: 5.9, fees: 0.1, currency: 'USD', acquired_at: '2026-03-01' })).status).toBe(201)
    expect((await lot({ quantity: 1, acquired_at: '2026-03-02' })).status).toBe(201)
    return id
  }

  test('is marked in a forecast of a new listing and of a change, in a plan and in a rule', async () => {
    const recordId = await recordWithCosts()
    const path = `${node.publicUrl}/api/v1/plus/collections/${collection}/list?dry_run=1`
    const rows = [90, 89.99].map((price) => ({ record_id: recordId, price }))
    const rehearsed = await send<(Listed & Warned)[]>(path, node.keys.plus, { method: 'POST', json: { rows } })
    expect(rehearsed.body.data.map(({ forecast }) => told(forecast.warnings))).toEqual([[], cost])
    const [{ id }] = (await list([{ record_id: recordId, quantity: 2, price: 100 }])).body.data as [Listed]
    await approve(id)
    const plusPath = `${node.publicUrl}/api/v1/plus`
    const write = <T>(method: string, to: string, json: object, key = node.keys.plus) => send<T>(`${plusPath}${to}`, key, { method, json })
    const changed = async (price: number) => {
      const answers = [
        await write<Warned>('PATCH', `/listings/${id}?dry_run=1`, { price }),
        await write<Warned>('PATCH', `/listings/${id}/price?dry_run=1`, { price }),
      ]
      return answers.map(({ body }) => told(body.data.forecast.warnings))
    }
    expect(await changed(90)).toEqual([[], []])
    expect(await changed(89)).toEqual([cost, cost])
    const graphql = await askGraphql<{ updateListingPrice: { forecast: { warnings: { message: string }[] } } }>(
      node,
      `mutation { updateListingPrice(listingId: ${id}, price: 89, dryRun: true) { forecast { warnings { message } } } }`,
      { plan: 'plus' },
    )
    const message = 'the price is below the 90 that a copy in your collection cost on average'
    expect(graphql.data.updateListingPrice.forecast.warnings).toEqual([{ message }])
    const plain = await published(node, items.char!, { price: 100 })
    const planned = await write<{ rows: Warned['forecast'][] }>('POST', '/price-jobs', {
      rows: [
        { listing_id: id, price: 89 },
        { listing_id: plain.id, price: 89 },
      ],
    })
    expect(planned.body.data.rows.map(({ warnings }) => told(warnings))).toEqual([cost, []])
    const foreign = await write<{ rows: { refused: object | null; warnings: object[] }[] }>(
      'POST',
      '/price-jobs',
      { rows: [{ listing_id: id, price: 89 }] },
      node.keys.enterprise,
    )
    expect(foreign.body.data.rows).toMatchObject([{ warnings: [] }])
    expect(foreign.body.data.rows[0]!.refused).not.toBe(null)
    await published(node, items.char!, { price: 90, seller_id: node.accounts.enterprise })
    const { data: rule } = (
      await write<{ id: number }>('POST', '/repricing-rules', {
        name: 'Below all',
        target: { kind: 'cheapest', amount: -1 },
        scope: { kind: 'listings', ids: [id, plain.id] },
        floor: { price: 10 },
        max_move_percent: null,
        min_comparables: 1,
      })
    ).body
    const simulated = await write<{ listings: (Warned['forecast'] & { new_price: number })[] }>('POST', `/repricing-rules/${rule.id}/simulate`, {})
    expect(simulated.body.data.listings.map((one) => [one.new_price, told(one.warnings)])).toEqual([
      [89, cost],
      [89, []],
    ])
  })

  test('is the cost of the copies left, by the method of the collection; unknown costs mark nothing', async () => {
    const recordId = await recordWithCosts()
    const forecastOf = async (price: number) => {
      const path = `${node.publicUrl}/api/v1/plus/collections/${collection}/list?dry_run=1`
      const { body } = await send<Warned[]>(path, node.keys.plus, { method: 'POST', json: { rows: [{ record_id: recordId, price }] } })
      return told(body.data[0]!.forecast.warnings)
    }
    expect((await mine.ask('POST', `/${collection}/items/${recordId}/disposals`, { quantity: 3, gross: 300, at: '2026-06-01' })).status).toBe(201)
    expect(await forecastOf(119)).toEqual([['price_below_cost', { cost: 120 }]])
    await mine.ask('PATCH', `/${collection}`, { method: 'average' })
    expect(await forecastOf(89)).toEqual(cost)
    const unknown = await add({ quantity: 1 })
    const path = `${node.publicUrl}/api/v1/plus/collections/${collection}/list?dry_run=1`
    const { body } = await send<Warned[]>(path, node.keys.plus, { method: 'POST', json: { rows: [{ record_id: unknown, price: 1 }] } })
    expect(told(body.data[0]!.forecast.warnings)).toEqual([])
  })
})
