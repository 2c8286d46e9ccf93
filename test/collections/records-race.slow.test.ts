// Generated orders, refunds, edits, lots, merges and deletions of records at once on two nodes: every copy is accounted for once.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomNumbers } from '#core/random.ts'
import { orderId } from '../market/kit.ts'
import { startTwoNodes, type TestNode } from '../support/node.ts'
import { collector, makeCollection, makeItems, operator } from './kit.ts'

const ROUNDS = 10
const ORDERS = 16
const ENOUGH = 200
const random = randomNumbers(34)
const below = (n: number) => Math.floor(random() * n)

let nodes: TestNode[]
let close: () => Promise<void>
let items: Record<string, number>

beforeAll(async () => {
  const started = await startTwoNodes()
  ;({ close } = started)
  nodes = [started.here, started.there]
  items = await makeItems(started.here, [
    { ref: 'char', name: 'Charizard', code: '4/102' },
    { ref: 'pika', name: 'Pikachu', code: '58/102' },
  ])
  await operator(started.here, 'PATCH', `/accounts/${started.here.accounts.plus}`, { listing_intake: { quota: 100_000 } })
})
afterAll(() => close())

interface Offered {
  id: number
  listing: number
  copies: number
}

/** A record whose first 40 copies are on sale. */
async function offer(collection: number, copies: number): Promise<Offered> {
  const by = collector(nodes[0]!, nodes[0]!.keys.plus)
  const { id } = (await by.add(collection, { item_id: items.char, quantity: copies })).body.data
  const rows = [{ record_id: id, quantity: Math.min(copies, 40), price: 10 }]
  const listing = (await by.ask<{ id: number }[]>('POST', `/${collection}/list`, { rows })).body.data[0]!.id
  await operator(nodes[0]!, 'POST', `/listings/${listing}/approve`)
  // Fewer copies than are on sale, as after a sale elsewhere.
  if (copies < ENOUGH) await by.change(collection, id, { quantity: Math.ceil(copies / 2) })
  return { id, listing, copies: copies < ENOUGH ? Math.ceil(copies / 2) : copies }
}

const newOrder = (offered: readonly Offered[]) => ({
  order_id: orderId(),
  lines: offered
    .filter(() => below(3) > 0)
    .map(({ listing }) => ({ listing_id: listing, quantity: 1 + below(3), unit_price: 1 + below(5_000) / 100 }))
    .concat({ listing_id: offered[0]!.listing, quantity: 1, unit_price: 1 }),
})

test('sold, refunded, edited, merged and deleted at once on two nodes: no copy is lost, and none counts twice', async () => {
  const anyNode = () => nodes[below(nodes.length)]!
  const seen = { sold: 0, refunded: 0, short: 0 }
  for (let round = 0; round < ROUNDS; round += 1) {
    const collection = await makeCollection(nodes[0]!, nodes[0]!.accounts.plus)
    const [ample, other, scarce, removed] = [
      await offer(collection, ENOUGH),
      await offer(collection, ENOUGH),
      await offer(collection, 8),
      await offer(collection, ENOUGH),
    ]
    const kept = [ample, other, scarce]
    const orders = Array.from({ length: ORDERS }, () => newOrder([...kept, removed]))
    const sales = orders.map((order) => operator<object>(anyNode(), 'POST', '/orders', order))
    const refunds = orders
      .filter(() => below(2) === 0)
      .flatMap((order) => {
        // Some wait for the sale, some race it, and some are sent twice.
        const lines = below(2) === 0 ? undefined : [1 + below(order.lines.length)]
        const cancel = () => operator(anyNode(), 'POST', `/orders/${order.order_id}/cancel`, { reason: 'returned', lines })
        return [below(2) === 0 ? cancel() : sales[orders.indexOf(order)]!.then(cancel), ...(below(2) === 0 ? [cancel()] : [])]
      })
    const by = () => collector(anyNode(), nodes[0]!.keys.plus)
    const changes = kept.flatMap(({ id }) => [
      { id, by: 2, reply: by().ask('POST', `/${collection}/items/${id}/lots`, { quantity: 2, unit_cost: 1 }) },
      { id, by: -1, reply: by().ask('POST', `/${collection}/items/${id}/disposals`, { quantity: 1, gross: 1 }) },
      { id, by: 0, reply: by().change(collection, id, { note: `round ${round}`, for_trade: 0 }) },
      { id, by: 0, reply: by().ask('POST', `/${collection}/list`, { rows: [{ record_id: id, price: 1 }] }) },
    ])
    const removal = by().remove(collection, removed.id)
    const merge = operator<{ batch_id: number }>(anyNode(), 'POST', `/items/${items.char}/merge`, { into: items.pika })
    const replies = await Promise.all([...sales, ...refunds, ...changes.map(({ reply }) => reply), removal, merge])
    expect(replies.filter(({ status }) => status >= 500)).toEqual([])
    await operator(anyNode(), 'POST', `/batches/${(await merge).body.data.batch_id}/revert`)

    for (const [n, { order_id: order, lines }] of orders.entries()) {
      const isSold = (await sales[n]!).status === 201
      const rows = await nodes[0]!.db.kysely
        .selectFrom('collection_disposals')
        .select(['record_id', 'line', 'quantity', 'gross', 'returned_at'])
        .where('order_id', '=', order)
        .execute()
      expect(new Set(rows.map(({ line }) => line)).size).toBe(rows.length)
      if (!isSold) {
        expect(rows).toEqual([])
        continue
      }
      const { body } = await operator<{ lines: { cancellation: object | null }[] }>(anyNode(), 'GET', `/orders/${order}`)
      for (const [i, { listing_id: listing, quantity, unit_price: price }] of lines.entries()) {
        const { id } = [...kept, removed].find((one) => one.listing === listing)!
        const found = rows.filter(({ line }) => line === i + 1)
        const isRefunded = body.data.lines[i]!.cancellation !== null
        seen.sold += 1
        seen.refunded += Number(isRefunded)
        if (id === removed.id) expect(found).toEqual([])
        else if (id === scarce.id) seen.short += Number((found[0]?.quantity ?? 0) < quantity)
        else expect(found.map((row) => [row.record_id, row.quantity, row.gross])).toEqual([[id, quantity, (price * quantity).toFixed(2)]])
        for (const row of found) expect(row.returned_at !== null).toBe(isRefunded)
      }
    }
    for (const { id, copies } of kept) {
      const gone = await nodes[0]!.db.kysely
        .selectFrom('collection_disposals')
        .select('quantity')
        .where('record_id', '=', id)
        .where('order_id', 'is not', null)
        .where('returned_at', 'is', null)
        .execute()
      let expected = copies - gone.reduce((sum, { quantity }) => sum + quantity, 0)
      for (const one of changes) if (one.id === id && (await one.reply).status === 201) expected += one.by
      const { body } = await by().ask<{ quantity: number; item_id: number }>('GET', `/${collection}/items/${id}`)
      expect([body.data.quantity, body.data.item_id]).toEqual([expected, items.char])
      expect(expected).toBeGreaterThanOrEqual(0)
    }
  }
  // How many depends on the order in which requests arrive; none at all would leave something untested.
  expect(Math.min(seen.sold, seen.refunded, seen.short)).toBeGreaterThan(0)
})
