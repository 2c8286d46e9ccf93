// Exchange rates over the operator API: dated rows that are loaded, replaced and listed, and invalid ones.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DAY_MS } from '#core/duration.ts'
import { OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode } from '../support/node.ts'

interface Rate {
  currency: string
  day: string
  rate: number
}

let node: TestNode

beforeAll(async () => {
  node = await startTestNode({ listeners: 'operator' })
})
afterAll(() => node.close())

const load = (json: unknown): Promise<Reply<{ rates: number }>> => send(`${node.operatorUrl}/operator/v1/rates`, OPERATOR_TOKEN, { json })
const list = (query = ''): Promise<Reply<Rate[]>> => send(`${node.operatorUrl}/operator/v1/rates${query}`, OPERATOR_TOKEN)
const dayIn = (days: number) => new Date(node.clock.now().getTime() + days * DAY_MS).toISOString().slice(0, 10)

test('rates are dated rows: added one or many at a time, replaced, listed and counted', async () => {
  const rows = [
    { currency: 'EUR', day: '2026-11-02', rate: 48.35 },
    { currency: 'USD', day: '2026-11-02', rate: 41.87 },
    { currency: 'USD', day: '2026-11-01', rate: 41.5 },
  ]
  expect((await load(rows)).body.data).toEqual({ rates: 3 })
  // TRY is the former name of rate.
  expect((await list()).body.data).toEqual(rows.map((row) => ({ ...row, TRY: row.rate })))
  expect((await list('?currency=USD')).body).toMatchObject({ data: rows.slice(1), pagination: { total: 2 } })
  expect((await list('?currency=GBP')).body.data).toEqual([])
  expect((await list('?per_page=1&page=3')).body.data).toMatchObject(rows.slice(2))
  expect((await load({ currency: 'USD', day: '2026-11-01', rate: 41.123456 })).body.data).toEqual({ rates: 1 })
  expect((await load({ currency: 'EUR', day: '2026-11-01', TRY: 48.01 })).body.data).toEqual({ rates: 1 })
  expect((await list('?page=1')).body.data.slice(2)).toMatchObject([
    { currency: 'EUR', day: '2026-11-01', rate: 48.01 },
    { currency: 'USD', day: '2026-11-01', rate: 41.123456 },
  ])
})

test('the same rate twice is stored once, and rates may be announced for the next days', async () => {
  const row = { currency: 'CHF', day: dayIn(14), rate: 50 }
  expect((await load([row, row])).body.data).toEqual({ rates: 1 })
  expect((await list('?currency=CHF')).body.data).toHaveLength(1)
})

test('invalid rates are rejected by field, and none of the list is stored', async () => {
  const good = { currency: 'GBP', day: '2026-11-01', rate: 55.1 }
  const wrong: [row: object, field: string, rule: string][] = [
    [{ ...good, rate: 0 }, 'rate', 'number'],
    [{ ...good, rate: -1 }, 'rate', 'number'],
    [{ ...good, rate: 1e-7 }, 'rate', 'number'],
    [{ ...good, rate: 1e10 }, 'rate', 'number'],
    [{ ...good, rate: '41.87' }, 'rate', 'number'],
    [{ ...good, rate: null }, 'rate', 'number'],
    [{ currency: 'GBP', day: '2026-11-01' }, 'rate', 'exactly_one'],
    [{ ...good, TRY: 55.1 }, 'rate', 'exactly_one'],
    [{ ...good, currency: 'gbp' }, 'currency', 'currency'],
    [{ ...good, currency: 'POUND' }, 'currency', 'currency'],
    [{ ...good, currency: 826 }, 'currency', 'currency'],
    [{ ...good, currency: 'TRY' }, 'currency', 'rate_of_lira'],
    [{ day: good.day, rate: 1 }, 'currency', 'required'],
    [{ ...good, day: '2026-02-30' }, 'day', 'date'],
    [{ ...good, day: '2026-02-03T00:00:00Z' }, 'day', 'date'],
    [{ ...good, day: '0000-01-01' }, 'day', 'date'],
    [{ ...good, day: '1995-12-31' }, 'day', 'date'],
    [{ ...good, day: dayIn(16) }, 'day', 'date'],
    [{ ...good, day: '2062-11-22' }, 'day', 'date'],
    [{ currency: 'GBP', rate: 1 }, 'day', 'required'],
    [{ ...good, note: 'x' }, 'note', 'unknown_field'],
  ]
  for (const [row, field, rule] of wrong) {
    const { status, body } = await load([good, row])
    expect([row, status, body.error?.details?.map((detail) => [detail.field, detail.rule])]).toEqual([row, 422, [[`rates.1.${field}`, rule]]])
    expect([row, (await load(row)).body.error?.details?.[0]?.field]).toEqual([row, `rates.${field}`])
  }
  const twice = await load([good, { ...good, currency: 'JPY' }, { ...good, rate: 55.2 }])
  expect(twice.body.error!.details).toMatchObject([
    { field: 'rates.2.rate', message: 'must be the same as in row 0, which is of the same currency and day' },
  ])
  const several = await load([
    { ...good, currency: 'TRY' },
    { ...good, day: '2062-11-22' },
  ])
  expect(several.body.error!.details!.map((detail) => detail.field)).toEqual(['rates.0.currency', 'rates.1.day'])
  for (const list of [[], 'x', 4, null, [[good]]]) expect([list, (await load(list)).status]).toEqual([list, 422])
  expect((await list('?currency=GBP')).body.data).toEqual([])
})
