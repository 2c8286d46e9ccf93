// A seller's order lines and statements: totals equal the sums of the lines to the kuruş, in every month and after every cancellation.
import { randomNumbers } from '#core/random.ts'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseMinor } from '#core/money.ts'
import { ask } from '../graphql/client.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'
import { DAY_MS, makeCatalogue, operator, orderId, plus, published } from './kit.ts'
import { ALL_CASES } from '../support/runs.ts'

interface Line {
  kind: 'sale' | 'refund'
  at: string
  order_id: number
  line: number
  listing_id: number | null
  item: { id: number; name: string; code: string | null; slug: string }
  label: string
  quantity: number
  unit_price: number
  amount: number
  commission: number
  payout: number
}

interface Statement {
  month: string
  sales: number
  refunds: number
  commission: number
  payout: number
  lines: Line[]
}

interface OwnSale extends Omit<Line, 'kind' | 'at' | 'amount'> {
  sold_at: string
  cancelled_at: string | null
  refunded: number
}

/** A zone whose offset changes, and a commission with four decimals. */
const ZONE = 'Europe/Berlin'
const COMMISSION = '7.4321'
const PAYOUT_PER_MILLION = 925_679n

let node: TestNode
let items: Record<string, number>
let listings: { id: number; seller: 'plus' | 'enterprise' }[]

beforeAll(async () => {
  node = await startTestNode({ env: { TIME_ZONE: ZONE, COMMISSION_PERCENT: COMMISSION } })
  ;({ items } = await makeCatalogue(node))
  const years = new Date(node.clock.now().getTime() + 3_000 * DAY_MS)
  const list = async (seller: 'plus' | 'enterprise', item: string) => {
    const { id } = await published(node, items[item]!, { seller_id: node.accounts[seller], quantity: 900_000 }, years)
    return { id, seller }
  }
  listings = [await list('plus', 'char'), await list('plus', 'box'), await list('enterprise', 'char')]
})

afterAll(() => node.close())

const statement = async (month: string, query = '', key = node.keys.plus) => {
  const { status, body } = await plus<Statement>(node, 'GET', `/statement?month=${month}${query}`, undefined, { key })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return { ...body.data, pagination: body.pagination! }
}
const csv = async (month: string) => {
  const response = await fetch(`${node.publicUrl}/api/v1/plus/statement?month=${month}`, {
    headers: { authorization: `Bearer ${node.keys.plus}`, accept: 'text/csv' },
  })
  expect([response.status, response.headers.get('content-type'), response.headers.get('vary')]).toEqual([
    200,
    'text/csv; charset=utf-8',
    expect.stringContaining('accept'),
  ])
  return response.text()
}
const sell = (lines: object[], soldAt: Date) =>
  operator<{ order_id: number }>(node, 'POST', '/orders', { order_id: orderId(), lines, sold_at: soldAt.toISOString() })
const cancel = (id: number, lines?: number[]) => operator(node, 'POST', `/orders/${id}/cancel`, { reason: 'Returned', ...(lines && { lines }) })

/** Kuruş of an amount, which must have at most two decimals. */
function kurus(amount: number): bigint {
  const minor = parseMinor(String(Math.abs(amount)))
  if (minor === null) throw new Error(`${amount} is not an amount`)
  return BigInt(minor) * (amount < 0 ? -1n : 1n)
}
const sum = (lines: Line[], of: 'amount' | 'commission' | 'payout', kind?: Line['kind']) =>
  lines.filter((line) => kind === undefined || line.kind === kind).reduce((total, line) => total + kurus(line[of]), 0n)
const totalsOf = (lines: Line[]) => ({
  sales: sum(lines, 'amount', 'sale'),
  refunds: sum(lines, 'amount', 'refund'),
  commission: sum(lines, 'commission'),
  payout: sum(lines, 'payout'),
})
const told = ({ sales, refunds, commission, payout }: Statement) => ({
  sales: kurus(sales),
  refunds: kurus(refunds),
  commission: kurus(commission),
  payout: kurus(payout),
})

const FORMAT = new Intl.DateTimeFormat('en-CA', { timeZone: ZONE, year: 'numeric', month: '2-digit' })
const monthOf = (at: Date) => FORMAT.format(at)

/** Numbers below a bound, the same for the same seed. */
function seeded(seed: number): (below: number) => number {
  const random = randomNumbers(seed)
  return (below) => Math.floor(random() * below)
}

interface Sold {
  order: number
  line: number
  quantity: bigint
  unit: bigint
  payout: bigint
  soldAt: Date
  cancelledAt: Date | null
}

/** Sums of a month, computed from the sales and cancellations of the test. */
function expected(sold: Sold[], month: string) {
  const totals = { sales: 0n, refunds: 0n, commission: 0n, payout: 0n, lines: 0 }
  const add = (one: Sold, sign: bigint, of: 'sales' | 'refunds') => {
    const gross = one.unit * one.quantity
    totals[of] += sign * gross
    totals.commission += sign * (gross - one.payout)
    totals.payout += sign * one.payout
    totals.lines += 1
  }
  for (const one of sold) {
    if (monthOf(one.soldAt) === month) add(one, 1n, 'sales')
    if (one.cancelledAt && monthOf(one.cancelledAt) === month) add(one, -1n, 'refunds')
  }
  return totals
}

/** Enough for several months. */
const STEPS = ALL_CASES ? 220 : 70

test.each(ALL_CASES ? [1, 20_261_122] : [20_261_122])('statements of generated sales and cancellations (seed %d)', async (seed) => {
  const below = seeded(seed)
  const pick = <T>(from: readonly T[]) => from[below(from.length)]!
  // Statements of earlier tests end before the months of this one begin.
  node.clock.advance(70 * DAY_MS)
  const begun = node.clock.now()
  const sold: Sold[] = []
  const check = async (month: string) => {
    const read = await statement(month)
    const { lines: count, ...totals } = expected(sold, month)
    expect(told(read), month).toEqual(totals)
    expect(totalsOf(read.lines), month).toEqual(totals)
    expect([read.lines.length, read.pagination.total]).toEqual([count, count])
    expect(totals.payout).toBe(totals.sales + totals.refunds - totals.commission)
    return read
  }
  const momentOfSale = () => {
    const now = node.clock.now()
    const within = new Date(begun.getTime() + below(now.getTime() - begun.getTime() + 1))
    // Midnights on both sides of a month boundary in local time, and the milliseconds around them.
    if (below(3) > 0) return within
    const first = Temporal.PlainDate.from(`${monthOf(within)}-01`).toZonedDateTime(ZONE).epochMilliseconds
    return new Date(Math.min(Math.max(first + pick([-1, 0, 1, -3_600_000, 3_599_999]), begun.getTime()), now.getTime()))
  }
  for (let step = 0; step < STEPS; step += 1) {
    const turn = below(10)
    if (turn < 2) node.clock.advance(below(6 * DAY_MS))
    else if (turn < 7 || sold.every((one) => one.cancelledAt)) {
      const soldAt = momentOfSale()
      const lines = Array.from({ length: 1 + below(4) }, () => {
        const { id, seller } = pick(listings)
        return { id, seller, quantity: 1 + below(below(9) ? 3 : 999), unit: 1 + below(pick([5, 20_000, 99_999_999])) }
      })
      const reply = await sell(
        lines.map(({ id, quantity, unit }) => ({ listing_id: id, quantity, unit_price: unit / 100 })),
        soldAt,
      )
      expect(reply.status).toBe(201)
      lines.forEach(({ seller, quantity, unit }, i) => {
        const gross = BigInt(quantity) * BigInt(unit)
        const one = { order: reply.body.data.order_id, line: i + 1, quantity: BigInt(quantity), unit: BigInt(unit), soldAt, cancelledAt: null }
        if (seller === 'plus') sold.push({ ...one, payout: (gross * PAYOUT_PER_MILLION + 500_000n) / 1_000_000n })
      })
    } else {
      const { order } = pick(sold.filter((one) => !one.cancelledAt))
      const open = sold.filter((one) => one.order === order && !one.cancelledAt)
      const chosen = below(2) ? open : [pick(open)]
      // The whole order also has lines of the other seller.
      const reply = await cancel(order, chosen === open ? undefined : chosen.map(({ line }) => line))
      expect(reply.status).toBe(200)
      const { lines } = (reply.body as unknown as { data: { lines: { line: number; cancellation: { cancelled_at: string } | null }[] } }).data
      for (const one of chosen) one.cancelledAt = new Date(lines.find(({ line }) => line === one.line)!.cancellation!.cancelled_at)
      await check(monthOf(chosen[0]!.cancelledAt!))
      await check(monthOf(chosen[0]!.soldAt))
    }
  }
  const months = [...new Set(sold.flatMap((one) => [one.soldAt, ...(one.cancelledAt ? [one.cancelledAt] : [])]).map(monthOf))].sort()
  expect(months.length).toBeGreaterThan(1)
  for (const month of months) {
    const whole = await check(month)
    expect(whole.lines.map(({ at }) => Date.parse(at))).toEqual(whole.lines.map(({ at }) => Date.parse(at)).sort((a, b) => a - b))
    expect([...new Set(whole.lines.map(({ at }) => at.slice(0, 7)))], 'by local time').toEqual([month])
    const paged: Line[] = []
    for (let page = 1; page <= Math.ceil(whole.lines.length / 7); page += 1) {
      const read = await statement(month, `&per_page=7&page=${page}`)
      expect(told(read), 'totals of all pages').toEqual(told(whole))
      paged.push(...read.lines)
    }
    expect(paged).toEqual(whole.lines)
    const rows = parse(await csv(month), { columns: true }) as Record<string, string>[]
    expect(rows.map((row) => [row.kind, row.at, Number(row.order_id), Number(row.line), Number(row.amount), Number(row.payout)])).toEqual(
      whole.lines.map((line) => [line.kind, line.at, line.order_id, line.line, line.amount, line.payout]),
    )
  }
  const { rows } = await allOrders()
  const refunded = rows.filter((row) => row.cancelled_at !== null)
  const here = new Set(sold.map((one) => one.order))
  expect(refunded.filter((row) => here.has(row.order_id)).length).toBe(sold.filter((one) => one.cancelledAt).length)
  for (const row of rows) {
    expect(kurus(row.commission) + kurus(row.payout)).toBe(kurus(row.unit_price) * BigInt(row.quantity))
    expect(kurus(row.refunded)).toBe(row.cancelled_at ? kurus(row.unit_price) * BigInt(row.quantity) : 0n)
  }
})

async function allOrders(query = '', key = node.keys.plus): Promise<{ rows: OwnSale[]; total: number }> {
  const rows: OwnSale[] = []
  for (let page = 1; ; page += 1) {
    const { body } = await plus<OwnSale[]>(node, 'GET', `/orders?per_page=100&page=${page}${query}`, undefined, { key })
    rows.push(...body.data)
    if (!body.pagination!.has_more) return { rows, total: body.pagination!.total }
  }
}

describe('own sales', () => {
  // No month ends during these tests or those after them.
  beforeAll(() => {
    while (monthOf(new Date(node.clock.now().getTime() + 3 * DAY_MS)) !== monthOf(node.clock.now())) node.clock.advance(DAY_MS)
  })

  test('show sales and refunds, newest first, by order, listing and time', async () => {
    const [mine, foreign] = [listings[0]!, listings[2]!]
    node.clock.advance(DAY_MS)
    const soldAt = new Date(Math.floor(node.clock.now().getTime() / 1_000) * 1_000)
    const order = await sell(
      [
        { listing_id: mine.id, quantity: 2, unit_price: 33.35 },
        { listing_id: foreign.id, quantity: 1, unit_price: 5 },
        { listing_id: mine.id, quantity: 1, unit_price: 1 },
      ],
      soldAt,
    )
    const { order_id: id } = order.body.data
    await cancel(id, [3])
    const { rows } = await allOrders(`&order_id=${id}`)
    expect(rows).toEqual([
      {
        order_id: id,
        line: 3,
        listing_id: mine.id,
        item: { id: items.char, name: 'Charizard', code: '4/102', slug: expect.stringContaining('charizard') },
        label: 'Near Mint',
        quantity: 1,
        unit_price: 1,
        commission: 0.07,
        payout: 0.93,
        sold_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0[12]:00$/),
        cancelled_at: expect.stringMatching(/\+0[12]:00$/),
        refunded: 1,
      },
      expect.objectContaining({ line: 1, quantity: 2, unit_price: 33.35, commission: 4.96, payout: 61.74, cancelled_at: null, refunded: 0 }),
    ])
    expect(Date.parse(rows[0]!.sold_at)).toBe(soldAt.getTime())
    const later = new Date(soldAt.getTime() + 1).toISOString()
    expect((await allOrders(`&from=${soldAt.toISOString()}&to=${later}`)).rows).toEqual(rows)
    expect((await allOrders(`&from=${later}`)).rows).toEqual([])
    expect((await allOrders(`&listing_id=${mine.id}&order_id=${id}`)).total).toBe(2)
    const newest = (await allOrders()).rows.map((row) => Date.parse(row.sold_at))
    expect(newest).toEqual([...newest].sort((a, b) => b - a))
  })

  test("never contain another account's, with any filter", async () => {
    const foreign = listings.find(({ seller }) => seller === 'enterprise')!
    const sold = await sell([{ listing_id: foreign.id, quantity: 1 }], node.clock.now())
    const { order_id: id } = sold.body.data
    for (const filter of [`&order_id=${id}`, `&listing_id=${foreign.id}`]) expect((await allOrders(filter)).rows).toEqual([])
    expect((await allOrders(`&order_id=${id}`, node.keys.enterprise)).rows).toHaveLength(1)
    const month = monthOf(node.clock.now())
    expect((await statement(month)).lines.map((line) => line.order_id)).not.toContain(id)
    expect((await statement(month, '', node.keys.enterprise)).lines.map((line) => line.order_id)).toContain(id)
    for (const path of ['/orders', '/statement']) {
      expect((await plus(node, 'GET', path, undefined, { key: node.keys.professional })).body.error).toMatchObject({ code: 'PLAN_UPGRADE_REQUIRED' })
    }
  })

  test('of a deleted listing stay', async () => {
    const { id } = await published(node, items.pika!)
    const { body } = await sell([{ listing_id: id, quantity: 1 }], node.clock.now())
    await plus(node, 'DELETE', `/listings/${id}`)
    await cancel(body.data.order_id)
    expect((await allOrders(`&order_id=${body.data.order_id}`)).rows).toMatchObject([{ listing_id: null, refunded: 100 }])
    const { lines } = await statement(monthOf(node.clock.now()))
    expect(lines.filter((line) => line.order_id === body.data.order_id)).toMatchObject([
      { kind: 'sale', listing_id: null, amount: 100, commission: 7.43, payout: 92.57 },
      { kind: 'refund', listing_id: null, quantity: 1, unit_price: 100, amount: -100, commission: -7.43, payout: -92.57 },
    ])
  })

  test('a sale dated in the future is refunded after it, not before', async () => {
    const ahead = new Date(node.clock.now().getTime() + 200_000)
    const { body } = await sell([{ listing_id: listings[0]!.id, quantity: 1 }], ahead)
    await cancel(body.data.order_id)
    const [sale] = (await allOrders(`&order_id=${body.data.order_id}`)).rows
    expect(sale!.cancelled_at).toBe(sale!.sold_at)
  })

  test.each([
    '/orders?per_page=0',
    '/orders?per_page=101',
    '/orders?from=yesterday',
    '/orders?order_id=x',
    '/statement?month=2026-13',
    '/statement?month=2026-1',
    '/statement?month=20261',
    '/statement?month=1969-12',
    '/statement?month=3000-01',
    '/statement?month=2026-11-01',
    '/statement?page=0',
    '/statement?per_page=10001',
    '/statement?month=2026-11&month=2026-12',
  ])('GET %s is rejected', async (path) => {
    const field = path.split('?')[1]!.split('=')[0]!
    const reply = await plus(node, 'GET', path)
    expect(reply).toMatchObject({ status: 422, body: { error: { code: 'VALIDATION_ERROR', details: [{ field }] } } })
  })

  test.each(['/orders?order_id=99999999999999999999', '/orders?listing_id=99999999999', '/orders?listing_id=-1', '/orders?page=9007199254740991'])(
    'GET %s finds nothing',
    async (path) => {
      expect(await plus(node, 'GET', path)).toMatchObject({ status: 200, body: { data: [] } })
    },
  )

  test('a month without sales, a page past the end, and the current month', async () => {
    expect(await statement('1970-01')).toMatchObject({ month: '1970-01', sales: 0, refunds: 0, commission: 0, payout: 0, lines: [] })
    expect(await csv('2999-12')).toBe(
      'kind,at,order_id,line,listing_id,item_id,item_name,item_code,label,quantity,unit_price,amount,commission,payout\n',
    )
    const { body } = await plus<Statement>(node, 'GET', '/statement?page=9007199254740991&per_page=1')
    expect(body.data).toMatchObject({ month: monthOf(node.clock.now()), lines: [] })
    expect(body.data.sales).toBeGreaterThan(0)
  })
})

describe('the CSV of a statement', () => {
  test('neutralises formulas', async () => {
    await node.db.kysely.updateTable('items').set({ name: '=HYPERLINK("http://example.com")' }).where('id', '=', items.luffy!).execute()
    const { id } = await published(node, items.luffy!)
    const { body } = await sell([{ listing_id: id, quantity: 1, unit_price: 12.5 }], node.clock.now())
    await cancel(body.data.order_id)
    const text = await csv(monthOf(node.clock.now()))
    expect(text).toContain(`,"'=HYPERLINK(""http://example.com"")",OP01-001,Near Mint,1,12.5,12.5,0.93,11.57\n`)
    expect(text).toContain(`,Near Mint,1,12.5,-12.5,-0.93,-11.57\n`)
  })

  test.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['text/html', 'application/json'],
    ['application/json, text/csv', 'application/json'],
    ['text/csv;q=0.5, application/json', 'application/json'],
    ['text/csv', 'text/csv'],
    ['text/*', 'text/csv'],
    ['text/csv, */*;q=0.1', 'text/csv'],
  ])('is returned for Accept: %s as %s', async (accept, type) => {
    const response = await fetch(`${node.publicUrl}/api/v1/plus/statement`, {
      headers: { authorization: `Bearer ${node.keys.plus}`, ...(accept && { accept }) },
    })
    await response.text()
    expect(response.headers.get('content-type')).toContain(type)
  })

  test('is rejected like JSON', async () => {
    const reply = await send(`${node.publicUrl}/api/v1/plus/statement?month=x`, node.keys.plus, { headers: { accept: 'text/csv' } })
    expect(reply).toMatchObject({ status: 422, body: { error: { code: 'VALIDATION_ERROR' } } })
  })
})

test('GraphQL answers the same', async () => {
  const month = monthOf(node.clock.now())
  const line = 'orderId line listingId item { id name } label quantity unitPrice commission payout'
  const query = `query ($month: String) {
    orders(perPage: 3) { lines { ${line} soldAt cancelledAt refunded } pagination { total perPage hasMore } }
    statement(month: $month, perPage: 4) { month sales refunds commission payout lines { kind at amount ${line} } pagination { total lastPage } }
  }`
  const { data, errors } = await ask<Record<string, Record<string, unknown>>>(node, query, { plan: 'plus', variables: { month } })
  expect(errors).toBe(undefined)
  const shown = (one: object): unknown =>
    Object.fromEntries(
      Object.entries(one).map(([name, value]) => [
        name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
        name === 'item'
          ? expect.objectContaining({ id: String((value as { id: number }).id) })
          : name === 'listing_id'
            ? value && String(value)
            : value,
      ]),
    )
  const orders = await plus<OwnSale[]>(node, 'GET', '/orders?per_page=3')
  expect(data.orders).toEqual({
    lines: orders.body.data.map(shown),
    pagination: { total: orders.body.pagination!.total, perPage: 3, hasMore: true },
  })
  const { pagination, lines, ...totals } = await statement(month, '&per_page=4')
  expect(data.statement).toEqual({ ...totals, lines: lines.map(shown), pagination: { total: pagination.total, lastPage: pagination.last_page } })
  const refused = await ask(node, '{ statement(month: "2026-13") { payout } }', { plan: 'plus' })
  expect(refused.errors).toMatchObject([{ extensions: { code: 'VALIDATION_ERROR', details: [{ field: 'month' }] } }])
  expect((await ask(node, '{ orders { pagination { total } } }', { plan: 'professional' })).status).toBe(403)
})
