// Lots, disposals and profit over HTTP: the sums are those that a reader of the listings computes, races lose nothing, and bad input is refused.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask as askGraphql } from '../graphql/client.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'
import { collector, makeCollection, makeItems, operator } from './kit.ts'

interface Lot {
  id: number | null
  acquired_at: string
  quantity: number
  unit_cost: number | null
  fees: number
  currency: string
  source: string
  cost: number | null
  rest: number
  rest_cost: number | null
  realised: number | null
  value: number | null
  gain: number | null
}
interface Disposal {
  id: number
  at: string
  quantity: number
  gross: number
  fees: number
  shipping: number
  currency: string
  returned_at: string | null
  net: number | null
  cost: number | null
  realised: number | null
  without_cost: number
}
interface Profit {
  method: string
  currency: string
  until: string
  realised: number
  unrealised: number | null
  fees: number
  cost: number
  value: number | null
  xirr: number | null
  basis: { kind: string; market: string; records: number; value: number }[]
  cpi_month: string | null
  priced: number
  unpriced: number
  disputed: number
  unproven: number
  stale: number
  without_cost: number
  without_rate: number
  best: Ranked[]
  worst: Ranked[]
  moneys: Omit<Profit, 'moneys'>[] | null
}
interface Ranked {
  record_id: number
  item_id: number
  item_name: string
  group_label: string | null
  quantity: number
  gain: number
}
type Money = 'TRY' | 'USD' | 'EUR' | 'TRY_REAL'

const MONEYS = ['TRY', 'USD', 'EUR', 'TRY_REAL'] as const
const RATES = [
  { currency: 'USD', day: '2026-01-01', rate: 40 },
  { currency: 'USD', day: '2026-03-01', rate: 42.5 },
  { currency: 'EUR', day: '2026-01-01', rate: 45.123456 },
  { currency: 'EUR', day: '2026-04-01', rate: 50 },
]
const CPI = [
  { index: 'TRY_CPI', month: '2026-01', value: 100 },
  { index: 'TRY_CPI', month: '2026-02', value: 103.5 },
  { index: 'TRY_CPI', month: '2026-04', value: 111.25 },
]

let node: TestNode
let other: TestNode
let ids: Record<string, number>
let plus: ReturnType<typeof collector>

beforeAll(async () => {
  node = await startTestNode()
  other = await startTestNode({ databaseUrl: node.databaseUrl })
  ids = await makeItems(node, [
    { ref: 'lira', name: 'Lira', prices: [['service', 'Near Mint', '100.10']] },
    { ref: 'euro', name: 'Euro', prices: [['source_b', 'Near Mint', '7.77']] },
    { ref: 'none', name: 'None' },
    { ref: 'twin', name: 'Lira', prices: [['service', 'Near Mint', '100.10']] },
    {
      ref: 'odd',
      name: 'Odd',
      prices: [
        ['source_c', 'Near Mint', '50.00'],
        ['source_c', 'PSA 10', '20.00'],
      ],
    },
  ])
  plus = collector(node, node.keys.plus)
  expect((await operator(node, 'POST', '/rates', RATES)).status).toBe(200)
  expect((await operator(node, 'POST', '/indices', CPI)).status).toBe(200)
})

afterAll(async () => {
  await other.close()
  await node.close()
})

const ask = (query: string) => askGraphql<Record<string, Record<string, unknown>>>(node, query, { plan: 'plus' })
const path = (collection: number, record: number) => `/${collection}/items/${record}`
const addLot = (collection: number, record: number, json: object, by = plus) => by.ask<Lot>('POST', `${path(collection, record)}/lots`, json)
const dispose = (collection: number, record: number, json: object, by = plus) =>
  by.ask<Disposal>('POST', `${path(collection, record)}/disposals`, json)
const lotsOf = async (collection: number, record: number, money: Money = 'TRY') =>
  (await plus.ask<Lot[]>('GET', `${path(collection, record)}/lots?currency=${money}`)).body.data
const disposalsOf = async (collection: number, record: number, money: Money = 'TRY') =>
  (await plus.ask<Disposal[]>('GET', `${path(collection, record)}/disposals?currency=${money}`)).body.data
const profitOf = async (collection: number, query = '') => (await plus.ask<Profit>('GET', `/${collection}/profit${query}`)).body.data
const quantityOf = async (collection: number, record: number) =>
  (await plus.ask<{ quantity: number }>('GET', path(collection, record))).body.data.quantity
const problemOf = ({ status, body }: { status: number; body: { error?: { code?: string; rule?: string; details?: { field: string }[] } } }) => [
  status,
  body.error?.code,
  body.error?.details?.[0]?.field ?? body.error?.rule,
]

async function newRecord(name: string, fields: object = {}): Promise<[collection: number, record: number]> {
  const collection = await makeCollection(node, node.accounts.plus, name)
  const { body } = await plus.add(collection, { item_id: ids.lira, purchase_date: '2026-01-10', ...fields })
  return [collection, body.data.id]
}

/** A refund as the market records it. */
async function refund(disposal: number, day: string, record: number, copies: number): Promise<void> {
  await node.db.kysely.updateTable('collection_disposals').set({ returned_at: day }).where('id', '=', disposal).execute()
  await node.db.kysely
    .updateTable('collection_items')
    .set((e) => ({ quantity: e('quantity', '+', copies) }))
    .where('id', '=', record)
    .execute()
}

const minor = (amount: number) => BigInt(Math.round(amount * 100))
const total = (amounts: (number | null)[]) => Number(amounts.reduce((sum, amount) => sum + minor(amount ?? 0), 0n)) / 100

/** The rate that applied on a day, in millionths of a lira. */
function lira(currency: string, day: string): bigint {
  const applies = RATES.filter((rate) => rate.currency === currency && rate.day <= day)
  return currency === 'TRY' ? 1_000_000n : BigInt(Math.round(applies.at(-1)!.rate * 1_000_000))
}
const level = (day: string) => BigInt(Math.round(CPI.filter(({ month }) => month <= day.slice(0, 7)).at(-1)!.value * 1_000_000))

/** An amount of a day in a money, half a unit rounded up, in minor units. */
function stated(amount: bigint, currency: string, day: string, money: Money): bigint {
  const real = money === 'TRY_REAL'
  const above = amount * lira(currency, day) * (real ? level('9999') : 1n)
  const below = lira(real ? 'TRY' : money, day) * (real ? level(day) : 1n)
  return (2n * above + below - ((((2n * above + below) % (2n * below)) + 2n * below) % (2n * below))) / (2n * below)
}

/** Cost and gain by FIFO from what was entered alone: every copy on its own. */
function recomputed(lots: Lot[], disposals: Disposal[], money: Money): { realised: bigint; rest: bigint } {
  const share = (amount: bigint, n: number, all: number) => (2n * amount * BigInt(n) + BigInt(all)) / (2n * BigInt(all))
  const copies = lots
    .toSorted((a, b) => a.acquired_at.localeCompare(b.acquired_at) || (a.id ?? 0) - (b.id ?? 0))
    .flatMap((lot) => {
      const cost = stated(minor(lot.unit_cost!) * BigInt(lot.quantity) + minor(lot.fees), lot.currency, lot.acquired_at, money)
      return Array.from({ length: lot.quantity }, (_, i) => share(cost, i + 1, lot.quantity) - share(cost, i, lot.quantity))
    })
  let realised = 0n
  for (const sale of disposals.filter(({ returned_at: returned }) => returned === null).toSorted((a, b) => a.at.localeCompare(b.at) || a.id - b.id)) {
    realised += stated(minor(sale.gross) - minor(sale.fees) - minor(sale.shipping), sale.currency, sale.at, money)
    for (const cost of copies.splice(0, sale.quantity)) realised -= cost
  }
  return { realised, rest: copies.reduce((sum, cost) => sum + cost, 0n) }
}

describe('the profit of a collection', () => {
  test('is what an independent reader of its lots and disposals computes, to the kuruş, in four moneys', async () => {
    const [collection, first] = await newRecord('Four moneys', { quantity: 3, purchase_price: 33.33 })
    const { body } = await plus.add(collection, { item_id: ids.euro, purchase_price: 10.01, purchase_date: '2026-02-03', quantity: 2 })
    const second = body.data.id
    expect((await addLot(collection, first, { acquired_at: '2026-02-14', quantity: 7, unit_cost: 1.37, fees: 0.55, currency: 'USD' })).status).toBe(
      201,
    )
    expect((await addLot(collection, first, { acquired_at: '2026-03-20', quantity: 4, source: 'pulled' })).body.data.unit_cost).toBeNull()
    await addLot(collection, second, { acquired_at: '2026-05-05', quantity: 5, unit_cost: 3.21, currency: 'EUR', fees: 1.01 })
    await dispose(collection, first, { at: '2026-03-02', quantity: 5, gross: 412.35, fees: 20.5, shipping: 15.25 })
    await dispose(collection, first, { at: '2026-06-02', quantity: 4, gross: 9.99, fees: 1, currency: 'USD' })
    await dispose(collection, second, { at: '2026-06-03', quantity: 3, gross: 20.02, currency: 'EUR' })
    // 0-cost lots as such for the independent computation.
    const entered = (lots: Lot[]) => lots.map((lot) => ({ ...lot, unit_cost: lot.unit_cost ?? 0 }))
    for (const money of MONEYS) {
      const profit = await profitOf(collection, `?currency=${money}`)
      const records = await Promise.all(
        [first, second].map(async (record) => ({
          lots: await lotsOf(collection, record, money),
          disposals: await disposalsOf(collection, record, money),
        })),
      )
      const own = records.map(({ lots, disposals }) => recomputed(entered(lots), disposals, money))
      expect(minor(profit.realised)).toBe(own.reduce((sum, { realised }) => sum + realised, 0n))
      expect(minor(profit.cost)).toBe(own.reduce((sum, { rest }) => sum + rest, 0n))
      const lots = records.flatMap((record) => record.lots)
      const disposals = records.flatMap((record) => record.disposals)
      expect(total(disposals.map(({ realised }) => realised))).toBe(profit.realised)
      expect(total(lots.map(({ realised }) => realised))).toBe(profit.realised)
      expect(total(lots.map(({ gain }) => gain))).toBe(total([profit.realised, profit.unrealised]))
      expect(total(lots.map(({ value }) => value))).toBe(profit.value)
      const today = profit.until
      const worth = stated(minor(100.1) * 5n, 'TRY', today, money) + stated(minor(7.77) * 4n, 'EUR', today, money)
      expect(minor(profit.value!)).toBe(worth)
      expect(profit).toMatchObject({
        method: 'fifo',
        priced: 2,
        without_cost: 0,
        without_rate: 0,
        cpi_month: money === 'TRY_REAL' ? '2026-04' : null,
        basis: [
          { kind: 'trusted_price', market: 'service', records: 1 },
          { kind: 'trusted_price', market: 'source_b', records: 1 },
        ],
      })
      expect(profit.xirr).toBeGreaterThan(0)
    }
    const byKind = await ask(
      `{ collectionProfit(collectionId: ${collection}, currency: "USD") { realised unrealised value basis { market value } } }`,
    )
    const inDollars = await profitOf(collection, '?currency=USD')
    expect(byKind.data).toEqual({
      collectionProfit: {
        realised: inDollars.realised,
        unrealised: inDollars.unrealised,
        value: inDollars.value,
        basis: inDollars.basis.map(({ market, value }) => ({ market, value })),
      },
    })
    expect(inDollars.moneys).toBeNull()
    const { moneys, ...inLira } = await profitOf(collection, `?until=${inDollars.until}&${MONEYS.map((money) => `moneys[]=${money}`).join('&')}`)
    const onTheirOwn = await Promise.all(MONEYS.map((money) => profitOf(collection, `?currency=${money}`)))
    expect(moneys).toEqual(onTheirOwn.map(({ moneys: _none, ...profit }) => profit))
    expect(inLira).toEqual(moneys![0])
    const twice = await profitOf(collection, '?currency=EUR&moneys[]=USD&moneys[]=TRY&moneys[]=USD')
    expect([twice.currency, twice.moneys!.map(({ currency }) => currency)]).toEqual(['EUR', ['USD', 'TRY']])
    const inSome = await ask(
      `{ collectionProfit(collectionId: ${collection}, moneys: ["USD", "TRY_REAL"]) { currency moneys { currency realised cpiMonth best { gain } } } }`,
    )
    const shown = [moneys![1]!, moneys![3]!].map(({ currency, realised, cpi_month: cpiMonth, best }) => {
      return { currency, realised, cpiMonth, best: best.map(({ gain }) => ({ gain })) }
    })
    expect(inSome.data).toEqual({ collectionProfit: { currency: 'TRY', moneys: shown } })
  })

  test('names the five records that gained most and the five that lost most, over REST and GraphQL alike', async () => {
    const collection = await makeCollection(node, node.accounts.plus, 'Ranked')
    const add = async (fields: object) => (await plus.add(collection, { item_id: ids.lira, purchase_date: '2026-01-10', ...fields })).body.data.id
    const costs = [10, 20, 30, 40, 50, 60, 100.1, 150, 160]
    const records: number[] = []
    for (const purchase_price of costs) records.push(await add({ purchase_price }))
    await add({})
    // A realised gain counts, also of a record without copies left.
    await dispose(collection, records[1]!, { at: '2026-03-01', gross: 400 })
    const { best, worst } = await profitOf(collection)
    expect(best.map(({ record_id: id, gain, quantity }) => [records.indexOf(id), gain, quantity])).toEqual([
      [1, 380, 0],
      [0, 90.1, 1],
      [2, 70.1, 1],
      [3, 60.1, 1],
      [4, 50.1, 1],
    ])
    expect(worst.map(({ record_id: id, gain }) => [records.indexOf(id), gain])).toEqual([
      [8, -59.9],
      [7, -49.9],
    ])
    expect(best[0]).toMatchObject({ item_id: ids.lira, item_name: 'Lira', group_label: 'Ungraded' })
    const ranked = '{ recordId itemId itemName groupLabel quantity gain }'
    const asGraphql = (rows: typeof best) =>
      rows.map((row) => ({
        recordId: String(row.record_id),
        itemId: String(row.item_id),
        itemName: row.item_name,
        groupLabel: row.group_label,
        quantity: row.quantity,
        gain: row.gain,
      }))
    const byGraphql = await ask(`{ collectionProfit(collectionId: ${collection}) { best ${ranked} worst ${ranked} } }`)
    expect(byGraphql.data).toEqual({ collectionProfit: { best: asGraphql(best), worst: asGraphql(worst) } })
  })

  test('is the checked example of the documentation', async () => {
    const [collection, record] = await newRecord('Example', { quantity: 2, purchase_price: 100 })
    await addLot(collection, record, { acquired_at: '2026-02-10', quantity: 2, unit_cost: 160, fees: 10 })
    await dispose(collection, record, { at: '2026-03-10', quantity: 3, gross: 600, fees: 60, shipping: 15 })
    // FIFO: 100 + 100 + 330/2 = 365. Average: 3/4 of 530 = 397.50.
    expect(await profitOf(collection)).toMatchObject({ realised: 160, unrealised: -64.9, fees: 85, cost: 165, value: 100.1 })
    const changed = await plus.ask<{ method: string }>('PATCH', `/${collection}`, { method: 'average' })
    expect([changed.status, changed.body.data.method]).toEqual([200, 'average'])
    expect(await profitOf(collection)).toMatchObject({ method: 'average', realised: 127.5, unrealised: -32.4, cost: 132.5 })
    // In dollars: 200/40 + 330/40 = 13.25 paid; 525/42.5 = 12.35 received.
    expect(await profitOf(collection, '?currency=USD')).toMatchObject({ realised: 2.41, fees: 2.01, cost: 3.31, value: 2.36, unrealised: -0.95 })
    // In lira of April: 200 × 111.25/100 = 222.50 and 330 × 111.25/103.5 = 354.71 paid; March has no index yet: 525 × 111.25/103.5 = 564.31.
    expect(await profitOf(collection, '?currency=TRY_REAL')).toMatchObject({
      realised: 131.4,
      fees: 91.37,
      cost: 144.3,
      value: 100.1,
      unrealised: -44.2,
    })
  })

  test('counts what it cannot know, instead of guessing', async () => {
    const [collection, record] = await newRecord('Unknown', { quantity: 2 })
    await plus.add(collection, { item_id: ids.none, purchase_price: 5 })
    await plus.add(collection, { item_id: ids.odd, purchase_price: 5 })
    // Bought before the first rate.
    await plus.add(collection, { item_id: ids.lira, purchase_price: 50, purchase_date: '2025-12-31' })
    await dispose(collection, record, { at: '2026-06-01', gross: 500 })
    expect(await disposalsOf(collection, record)).toMatchObject([{ net: 500, cost: null, realised: null, without_cost: 1 }])
    expect(await lotsOf(collection, record)).toMatchObject([{ cost: null, rest: 1, realised: null, value: 100.1, gain: null }])
    expect(await profitOf(collection)).toMatchObject({
      realised: 0,
      unrealised: 50.1,
      priced: 2,
      unpriced: 1,
      disputed: 1,
      without_cost: 1,
      without_rate: 0,
    })
    expect(await profitOf(collection, '?currency=USD')).toMatchObject({ without_cost: 1, without_rate: 1, unrealised: 0 })
  })

  test('of an earlier day has the flows until then, and no unrealised part', async () => {
    const [collection, record] = await newRecord('Earlier', { quantity: 2, purchase_price: 10 })
    await dispose(collection, record, { at: '2026-03-10', gross: 30 })
    expect(await profitOf(collection, '?until=2026-03-09')).toMatchObject({
      realised: 0,
      cost: 20,
      unrealised: null,
      value: null,
      xirr: null,
      priced: 0,
    })
    expect(await profitOf(collection, '?until=2026-03-10')).toMatchObject({ realised: 20, cost: 10, unrealised: null, until: '2026-03-10' })
    expect(problemOf(await plus.ask('GET', `/${collection}/profit?until=2999-01-01`))).toEqual([422, 'PLUS_COLLECTION_ERROR', 'until'])
  })

  test('takes a refunded sale back, and stays the same when items are merged and merges reverted', { tags: 'slow' }, async () => {
    const [collection, record] = await newRecord('Refunded', { item_id: ids.twin, quantity: 3, purchase_price: 10 })
    const sold = (await dispose(collection, record, { at: '2026-02-01', quantity: 2, gross: 50 })).body.data
    expect(sold).toMatchObject({ cost: 20, realised: 30 })
    const { body } = await operator<{ batch_id: number }>(node, 'POST', `/items/${ids.twin}/merge`, { into: ids.lira })
    expect(await profitOf(collection)).toMatchObject({ realised: 30, value: 100.1 })
    await refund(sold.id, '2026-03-01', record, 2)
    expect(await profitOf(collection)).toMatchObject({ realised: 0, value: 300.3, cost: 30 })
    expect(await profitOf(collection, '?until=2026-02-28')).toMatchObject({ realised: 30, cost: 10 })
    expect((await operator(node, 'POST', `/batches/${body.data.batch_id}/revert`)).status).toBe(200)
    expect(await profitOf(collection)).toMatchObject({ realised: 0, cost: 30 })
  })
})

describe('lots and disposals', () => {
  test('change the quantity of the record, and its entity tag', async () => {
    const [collection, record] = await newRecord('Changes', { quantity: 2 })
    const tagOf = async () => (await plus.ask('GET', path(collection, record))).headers.get('etag')!
    const before = await tagOf()
    const added = await plus.ask<Lot>('POST', `${path(collection, record)}/lots`, { quantity: 3 }, { 'if-match': before })
    expect([added.status, added.headers.get('etag'), await quantityOf(collection, record)]).toEqual([201, await tagOf(), 5])
    expect((await plus.ask('POST', `${path(collection, record)}/lots`, {}, { 'if-match': before })).status).toBe(412)
    const sold = await dispose(collection, record, { gross: 1, quantity: 4 })
    expect(await quantityOf(collection, record)).toBe(1)
    // The first lot has 2 copies, the added one 3: at least 3 were owned, and 4 are gone.
    expect(problemOf(await dispose(collection, record, { gross: 1, quantity: 2 }))).toEqual([409, 'NOT_ENOUGH_OWNED', 'not_enough_owned'])
    expect(problemOf(await plus.ask('DELETE', `${path(collection, record)}/lots/${added.body.data.id}`))).toEqual([
      409,
      'NOT_ENOUGH_OWNED',
      'not_enough_owned',
    ])
    expect((await plus.ask('DELETE', `${path(collection, record)}/disposals/${sold.body.data.id}`)).status).toBe(200)
    expect(problemOf(await plus.change(collection, record, { quantity: 2 }))).toEqual([422, 'PLUS_COLLECTION_ERROR', 'quantity'])
    expect((await plus.change(collection, record, { quantity: 3 })).status).toBe(200)
    expect((await lotsOf(collection, record)).map(({ id, quantity }) => [id === null, quantity])).toEqual([[false, 3]])
    expect((await plus.ask('DELETE', `${path(collection, record)}/lots/${added.body.data.id}`)).status).toBe(200)
    expect([await quantityOf(collection, record), await lotsOf(collection, record)]).toEqual([0, []])
    const dryRun = await plus.ask<Lot>('POST', `${path(collection, record)}/lots?dry_run=1`, { quantity: 3 })
    expect([dryRun.status, dryRun.body.data.rest, await quantityOf(collection, record)]).toEqual([201, 3, 0])
  })

  test('of an order cannot be removed, and lots of 100,000 copies are the limit', async () => {
    const [collection, record] = await newRecord('Limits', { quantity: 99_999 })
    const sold = (await dispose(collection, record, { gross: 1 })).body.data
    await node.db.kysely.updateTable('collection_disposals').set({ order_id: 1, line: 1 }).where('id', '=', sold.id).execute()
    const removed = await plus.ask('DELETE', `${path(collection, record)}/disposals/${sold.id}`)
    expect(problemOf(removed)).toEqual([422, 'PLUS_COLLECTION_ERROR', 'of_order'])
    expect((await addLot(collection, record, { quantity: 2 })).status).toBe(201)
    expect(problemOf(await addLot(collection, record, {}))).toEqual([422, 'PLUS_COLLECTION_ERROR', 'quantity'])
  })

  test('are refused with the field that is wrong, and never fail', async () => {
    const [collection, record] = await newRecord('Refused', { quantity: 100 })
    const numbers = [-1, 0, 1.5, 1e30, 100_001, '1', null, true, [], {}, Number.MAX_SAFE_INTEGER]
    const texts = ['', 'x', '2999-01-01', '2026-02-30', '0000-00-00', 'ABCD', 'ZZZ', '\u0000', 'order', 5, null, {}]
    const fields = {
      lots: {
        quantity: numbers,
        unit_cost: [...numbers, 0.001],
        fees: [...numbers, 1e10],
        acquired_at: texts,
        currency: texts,
        source: texts,
        other: [1],
      },
      disposals: {
        quantity: numbers,
        gross: [...numbers, 0.001],
        fees: numbers,
        shipping: [...numbers, 1e-7],
        at: texts,
        currency: texts,
        record_id: [1],
      },
    }
    for (const [kind, byField] of Object.entries(fields)) {
      for (const [field, values] of Object.entries(byField)) {
        for (const value of values as unknown[]) {
          const reply = await plus.ask('POST', `${path(collection, record)}/${kind}?dry_run=1`, {
            gross: 1,
            ...(kind === 'lots' && { gross: undefined }),
            [field]: value,
          })
          expect([201, 409, 422], `${kind} ${field} ${JSON.stringify(value)}`).toContain(reply.status)
          if (reply.status === 422) expect((reply.body as { error: { code: string } }).error.code).toBe('PLUS_COLLECTION_ERROR')
        }
      }
    }
    expect(await quantityOf(collection, record)).toBe(100)
    for (const id of ['0', '-1', '99999999999', 'x', '1.5']) {
      for (const kind of ['lots', 'disposals']) expect((await plus.ask('DELETE', `${path(collection, record)}/${kind}/${id}`)).status).toBe(422)
      expect((await plus.ask('GET', `/${id}/profit`)).status).toBe(422)
    }
    expect((await plus.ask('GET', `/${collection}/profit?currency=GBP`)).status).toBe(422)
    expect(problemOf(await plus.ask('GET', `/${collection}/profit?moneys[]=USD&moneys[]=GBP`))).toEqual([422, 'PLUS_COLLECTION_ERROR', 'moneys'])
    const five = Array.from({ length: 5 }, () => 'moneys[]=USD').join('&')
    expect(problemOf(await plus.ask('GET', `/${collection}/profit?${five}`))).toEqual([422, 'PLUS_COLLECTION_ERROR', 'moneys'])
    expect(problemOf(await plus.ask('PATCH', `/${collection}`, {}))).toEqual([422, 'PLUS_COLLECTION_ERROR', 'body'])
    expect(problemOf(await plus.ask('PATCH', `/${collection}`, { method: 'lifo' }))).toEqual([422, 'PLUS_COLLECTION_ERROR', 'method'])
    const lower = await send(`${node.publicUrl}/api/v1/plus/collections/${collection}/profit`, node.keys.professional)
    expect(lower.status).toBe(403)
  })

  test('of two nodes at once lose nothing, count nothing twice, and never leave fewer than no copies', { tags: 'slow' }, async () => {
    const [collection, record] = await newRecord('Race', { quantity: 10, purchase_price: 1 })
    const elsewhere = collector(other, node.keys.plus)
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, i) => {
        const by = i % 2 === 0 ? plus : elsewhere
        return i % 4 < 2 ? dispose(collection, record, { gross: 2, quantity: 1 + (i % 3) }, by) : addLot(collection, record, { unit_cost: 1 }, by)
      }),
    )
    expect(replies.filter(({ status }) => status !== 201 && status !== 409)).toEqual([])
    const lots = await lotsOf(collection, record)
    const disposals = await disposalsOf(collection, record)
    const bought = lots.reduce((sum, lot) => sum + lot.quantity, 0)
    const sold = disposals.reduce((sum, one) => sum + one.quantity, 0)
    expect(lots.length - 1 + disposals.length).toBe(replies.filter(({ status }) => status === 201).length)
    expect(bought).toBe(10 + 20)
    expect(await quantityOf(collection, record)).toBe(bought - sold)
    expect(lots.reduce((sum, { rest }) => sum + rest, 0)).toBe(bought - sold)
    expect(bought - sold).toBeGreaterThanOrEqual(0)
    const rest = bought - sold
    const last = await Promise.all(
      [plus, elsewhere].flatMap((by) => [1, 2, 3].map(() => dispose(collection, record, { gross: 1, quantity: Math.max(1, rest) }, by))),
    )
    expect(last.filter(({ status }) => status === 201)).toHaveLength(rest > 0 ? 1 : 0)
    expect(await quantityOf(collection, record)).toBe(0)
  })

  test('are the same over GraphQL', async () => {
    const [collection, record] = await newRecord('GraphQL', { quantity: 1, purchase_price: 5 })
    const at = `collectionId: ${collection}, itemId: ${record}`
    const added = await ask(`mutation { addCollectionLot(${at}, input: { quantity: 2, unitCost: 3.5, acquiredAt: "2026-02-01" }) { id cost rest } }`)
    const { id } = added.data.addCollectionLot!
    expect(added.data).toEqual({ addCollectionLot: { id, cost: 7, rest: 2 } })
    const sold = await ask(`mutation { addCollectionDisposal(${at}, input: { gross: 9, at: "2026-02-02" }) { id realised } }`)
    expect(sold.data).toMatchObject({ addCollectionDisposal: { realised: 4 } })
    const listed = await ask(`{ collectionLots(${at}) { id restCost } collectionDisposals(${at}) { withoutCost realised } }`)
    expect(listed.data).toEqual({
      collectionLots: [
        { id: null, restCost: 0 },
        { id, restCost: 7 },
      ],
      collectionDisposals: [{ withoutCost: 0, realised: 4 }],
    })
    const { id: disposal } = sold.data.addCollectionDisposal!
    const undone = await ask(
      `mutation { removeCollectionDisposal(${at}, disposalId: ${disposal}) { success } removeCollectionLot(${at}, lotId: ${id}) { success }
        updateCollection(collectionId: ${collection}, input: { method: "average" }) { method } }`,
    )
    expect(undone.data).toMatchObject({ removeCollectionDisposal: { success: true }, updateCollection: { method: 'average' } })
    expect(await quantityOf(collection, record)).toBe(1)
  })
})

test('indices are listed newest first, replaced, and refused with the row that is wrong', async () => {
  const set = (json: unknown) => operator<{ indices: number }>(node, 'POST', '/indices', json)
  expect((await set({ index: 'OTHER', month: '2026-01', value: 1.000001 })).body.data).toEqual({ indices: 1 })
  expect((await set({ index: 'OTHER', month: '2026-01', value: 2.5 })).status).toBe(200)
  expect((await operator(node, 'GET', '/indices?index=OTHER')).body.data).toEqual([{ index: 'OTHER', month: '2026-01', value: 2.5 }])
  expect((await operator<{ month: string }[]>(node, 'GET', '/indices?index=TRY_CPI')).body.data.map(({ month }) => month)).toEqual([
    '2026-04',
    '2026-02',
    '2026-01',
  ])
  const row = { index: 'OTHER', month: '2026-01', value: 1 }
  const wrong: [unknown, string][] = [
    [{ ...row, value: 0 }, 'indices.value'],
    [{ ...row, value: 1.0000001 }, 'indices.value'],
    [{ ...row, value: -1 }, 'indices.value'],
    [{ ...row, month: '2026-13' }, 'indices.month'],
    [{ ...row, month: '2026-1' }, 'indices.month'],
    [{ ...row, month: '2999-01' }, 'indices.month'],
    [{ ...row, index: 'try cpi' }, 'indices.index'],
    [[row, { ...row, value: 2 }], 'indices.1.value'],
  ]
  for (const [json, field] of wrong) expect(problemOf(await set(json))).toEqual([422, 'VALIDATION_ERROR', field])
})
