// The figures of a period: all of its days, exact sums, unknown values distinguished from 0, and the previous period.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StoredOrder } from '#market/sale-schemas.ts'
import { judgeAllPrices } from '#prices/reviews/judge-all.ts'
import { recordDay } from '#stats/day-counts.ts'
import type { Activity } from '#stats/read-activity.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { operator } from '../console/browser.ts'
import { DAY_MS } from '#core/duration.ts'
import { randomNumbers } from '#core/random.ts'
import { OPERATOR_TOKEN, send, type TestNode } from '../support/node.ts'

const ZONE = 'Europe/Istanbul'
const DAYS = 10

let node: TestNode
let itemIds: number[]
let sellers: number[]

beforeAll(async () => {
  node = await startSampleNode({ worker: true })
  // No day ends between a request and the computation of the expected response.
  node.clock.stop()
  const items = await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard&per_page=3')
  itemIds = items.map(({ id }) => id)
  sellers = [node.accounts.plus, node.accounts.enterprise]
})

afterAll(() => node.close())

const activity = (query = '') => operator<Activity>(node, 'GET', `/stats/activity?days=${DAYS}${query}`)
const dayOf = (iso: string) => new Date(Date.parse(iso) + 3 * 3_600_000).toISOString().slice(0, 10)
const kurus = (lira: number) => Math.round(lira * 100)
const today = () => dayOf(node.clock.now().toISOString())
const dayAt = (back: number) => dayOf(new Date(node.clock.now().getTime() - back * 86_400_000).toISOString())

async function listing(seller: number, item: number): Promise<number> {
  const fields = { seller_id: seller, item_id: item, title: 'One of many', price: 100.05, quantity: 1_000 }
  const { id } = await operator<{ id: number }>(node, 'POST', '/listings', fields)
  await operator(node, 'POST', `/listings/${id}/approve`, {})
  return id
}

describe('Item that was sold', () => {
  beforeAll(async () => {
    const pick = randomNumbers(20)
    const listings: number[] = []
    for (const item of itemIds) for (const seller of sellers) listings.push(await listing(seller, item))
    for (let order = 1; order <= 60; order++) {
      const lines = Array.from({ length: 1 + Math.floor(pick() * 3) }, () => ({
        listing_id: listings[Math.floor(pick() * listings.length)]!,
        quantity: 1 + Math.floor(pick() * 4),
        unit_price: Math.floor(100 + pick() * 100_000) / 100,
      }))
      // The fifth day before today, and one of the previous period, stay without sales.
      const back = Math.floor(pick() * 2 * DAYS)
      const [day, hour] = [back === 5 || back === 14 ? 0 : back, pick() * 3]
      const soldAt = new Date(node.clock.now().getTime() - day * 86_400_000 - hour * 3_600_000)
      await operator(node, 'POST', '/orders', { order_id: order, sold_at: soldAt.toISOString(), lines })
      if (order % 7 === 0) await operator(node, 'POST', `/orders/${order}/cancel`, { reason: 'The buyer withdrew' })
      if (order % 5 === 0 && order % 7 > 0) await operator(node, 'POST', `/orders/${order}/cancel`, { lines: [1], reason: 'One was missing' })
    }
  })

  test('is the sum of the lines that were not cancelled, by day and exact to the kuruş', async () => {
    const orders = await operator<StoredOrder[]>(node, 'GET', '/orders?per_page=100')
    for (const account of [null, ...sellers]) {
      const found = await activity(account === null ? '' : `&account_id=${account}`)
      for (const days of [found.days, found.previous_days]) {
        expect(days).toHaveLength(DAYS)
        for (const day of days) {
          const ofDay = orders
            .filter(({ sold_at: at }) => dayOf(at) === day.day)
            .map(({ lines }) => lines.filter((line) => !line.cancellation && (account === null || line.seller_id === account)))
          const lines = ofDay.flat()
          const turnover = lines.reduce((sum, line) => sum + kurus(line.unit_price) * line.quantity, 0)
          const payouts = lines.reduce((sum, line) => sum + kurus(line.seller_payout), 0)
          expect([day.day, day.orders, day.units, kurus(day.turnover), kurus(day.commission), kurus(day.payouts)]).toEqual([
            day.day,
            ofDay.filter((some) => some.length > 0).length,
            lines.reduce((sum, line) => sum + line.quantity, 0),
            turnover,
            turnover - payouts,
            payouts,
          ])
        }
      }
      for (const [totals, days] of [
        [found.totals, found.days],
        [found.previous_totals, found.previous_days],
      ] as const) {
        const sum = (name: 'turnover' | 'commission' | 'payouts' | 'refunds') => days.reduce((all, day) => all + kurus(day[name]), 0)
        expect(kurus(totals.turnover)).toBe(sum('turnover'))
        expect(kurus(totals.commission)).toBe(sum('commission'))
        expect(kurus(totals.payouts)).toBe(sum('payouts'))
        expect(kurus(totals.refunds)).toBe(sum('refunds'))
        expect(totals.orders).toBe(days.reduce((all, day) => all + day.orders, 0))
      }
    }
  })

  test("has zero for days without sales, refunds on the day of the cancellation, and today in the service's time zone as the last day", async () => {
    const found = await activity()
    expect(found).toMatchObject({ time_zone: ZONE, period: { from: dayAt(DAYS - 1), to: today() }, previous: { to: dayAt(DAYS) } })
    const orders = await operator<StoredOrder[]>(node, 'GET', '/orders?per_page=100')
    const refunded = orders.flatMap(({ lines }) => lines).reduce((sum, line) => sum + kurus(line.cancellation?.refunded ?? 0), 0)
    expect(kurus(found.totals.refunds)).toBe(refunded)
    const empty = await activity(`&to=2020-02-29`)
    expect(empty.period).toEqual({ from: '2020-02-20', to: '2020-02-29' })
    expect(empty.days.every(({ orders: number, turnover }) => number === 0 && turnover === 0)).toBe(true)
    expect(empty.top_items).toEqual([])
  })

  test('lists items and sellers with the highest turnover, and the previous period', async () => {
    const now = await activity()
    const earlier = await activity(`&to=${now.previous.to}`)
    expect(earlier.days.map(({ day, turnover, orders }) => [day, turnover, orders])).toEqual(
      now.previous_days.map(({ day, turnover, orders }) => [day, turnover, orders]),
    )
    expect(now.top_sellers.reduce((sum, { turnover }) => sum + kurus(turnover), 0)).toBe(kurus(now.totals.turnover))
    expect(now.top_sellers.reduce((sum, { commission }) => sum + kurus(commission), 0)).toBe(kurus(now.totals.commission))
    expect(now.top_items.reduce((sum, { turnover }) => sum + kurus(turnover), 0)).toBe(kurus(now.totals.turnover))
    expect(now.top_items.map(({ turnover }) => turnover)).toEqual(now.top_items.map(({ turnover }) => turnover).sort((a, b) => b - a))
    expect((await activity(`&account_id=${sellers[0]}`)).top_sellers).toMatchObject([{ account_id: sellers[0] }])
  })

  test('has the requested length, and rejects impossible periods', async () => {
    const read = (query: string) => send<Activity>(`${node.operatorUrl}/operator/v1/stats/activity?${query}`, OPERATOR_TOKEN)
    expect((await read('')).body.data.days).toHaveLength(30)
    expect((await read('days=366')).body.data.previous_days).toHaveLength(366)
    expect((await read('days=1&to=1970-01-01')).body.data.previous).toEqual({ from: '1969-12-31', to: '1969-12-31' })
    for (const query of ['days=0', 'days=367', 'to=2026-02-30', 'to=2999-01-01', 'days=x', 'account_id=x']) {
      expect([query, (await read(query)).status]).toEqual([query, 422])
    }
    expect((await read('account_id=999999')).status).toBe(404)
  })
})

test('Waits are those of listings decided by people, excluding undone decisions', async () => {
  const before = (await activity()).totals.decided
  const fields = { seller_id: sellers[0], item_id: itemIds[0], title: 'Waits for a day', price: 100, quantity: 1 }
  const { id } = await operator<{ id: number }>(node, 'POST', '/listings', fields)
  node.clock.advance(24 * 3_600_000)
  await operator(node, 'POST', `/listings/${id}/reject`, { reason: 'Not sharp' })
  const found = await activity()
  expect(found.totals.decided).toBe(before + 1)
  expect(found.days.at(-1)).toMatchObject({ decided: 1, wait_p50_hours: 24, wait_p90_hours: 24 })
  expect(found.days.at(-3)).toMatchObject({ decided: 0, wait_p50_hours: null })
})

test('Daily counts are recorded, and days without a record are null', async () => {
  const ctx = { ...node.ctx, marketNames: {} }
  await recordDay(ctx, ZONE)
  await recordDay(ctx, ZONE)
  const { days } = await activity()
  const stats = await operator<{ listings: { active: number }; sources: { market: string; group: string; coverage: number }[] }>(
    node,
    'GET',
    '/stats',
  )
  expect(days.at(-1)!.active_listings).toBe(stats.listings.active)
  await listing(sellers[0]!, itemIds[0]!)
  expect((await activity()).days.at(-1)!.active_listings).toBe(stats.listings.active + 1)
  expect(days.at(-1)!.coverage).toEqual(expect.arrayContaining(stats.sources.map(({ market, group, coverage }) => ({ market, group, coverage }))))
  expect(days[0]).toMatchObject({ active_listings: null, coverage: [] })
  expect((await activity(`&account_id=${sellers[0]}`)).days.at(-1)).toMatchObject({ active_listings: null, coverage: [] })
})

test('Requests are those of the keys; deleted counts are null', async () => {
  expect((await activity(`&to=2020-01-01`)).totals).toMatchObject({ requests: null, webhook_attempts: null })
  await node.db.kysely
    .insertInto('api_key_usage')
    .values({
      key_id: (await node.db.kysely.selectFrom('api_keys').select('id').executeTakeFirstOrThrow()).id,
      day: dayAt(3),
      operation: 'listItems',
      requests: 41,
    })
    .execute()
  const found = await activity()
  expect(found.days.find(({ day }) => day === dayAt(3))!.requests).toBe(41)
  expect(found.days.find(({ day }) => day === dayAt(4))!.requests).toBeNull()
  expect(found.previous_totals.requests).toBeNull()
  expect(found.top_callers[0]).toMatchObject({ requests: 41 })
})

interface RatesFinding {
  check: string
  ok: boolean
  rule: string
  found: string
}

describe('Health', () => {
  test('equals the findings of doctor, without secrets', async () => {
    const health = await operator<{ ok: boolean; findings: { check: string; ok: boolean; found: string; advice?: string }[] }>(node, 'GET', '/health')
    expect(health.findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['settings', 'disk', 'limits', 'dumps', 'database', 'migrations', 'clock', 'worker', 'source_a', 'rates']),
    )
    expect(health.ok).toBe(health.findings.every(({ ok }) => ok))
    expect(JSON.stringify(health)).not.toContain('postgres://')
    expect((await send(`${node.operatorUrl}/operator/v1/health`, null)).status).toBe(401)
  })

  test('reports rates that are missing, old, or do not cover the days of prices, and so do the statistics', async () => {
    const day = (ago: number) => new Date(node.clock.now().getTime() - ago * DAY_MS).toISOString().slice(0, 10)
    const load = (currencies: string[], ago: number) =>
      operator(
        node,
        'POST',
        '/rates',
        currencies.map((currency) => ({ currency, day: day(ago), rate: 40 })),
      )
    const rates = async () => {
      const { ok, findings } = await operator<{ ok: boolean; findings: RatesFinding[] }>(node, 'GET', '/health')
      const found = findings.find(({ check }) => check === 'rates')!
      expect(found.ok || !ok).toBe(true)
      expect((await operator<{ rates: RatesFinding }>(node, 'GET', '/stats')).rates).toEqual(found)
      return found
    }
    expect(await rates()).toMatchObject({ ok: false, rule: 'rates_missing', advice: 'load rates: mintmark rates set USD=... EUR=...' })
    await load(['USD', 'EUR'], 30)
    await load(['EUR'], 1)
    expect(await rates()).toMatchObject({
      ok: false,
      rule: 'rates_old',
      found: expect.stringMatching(/^those of USD are 30 days old/) as string,
      advice: 'load current rates, and then every working day: mintmark rates set USD=...',
    })
    await load(['USD'], 1)
    expect(await rates()).toMatchObject({
      ok: false,
      rule: 'rates_unchecked',
      advice: `load rates of days before ${day(30)}: mintmark rates import <file>; the prices are checked again within an hour`,
    })
    await load(['USD', 'EUR'], 5_000)
    await judgeAllPrices(node.ctx)
    expect(await rates()).toMatchObject({ ok: true, rule: 'rates_known' })
  })
})
