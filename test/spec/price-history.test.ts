// The public price history over HTTP: open, low, high and close of days, weeks and months, compared with an independent computation.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAY_MS } from '#core/duration.ts'
import { OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode } from '../support/node.ts'

interface Period {
  date: string
  market: string
  label: string
  open: number
  low: number
  high: number
  close: number
}

let node: TestNode
let category: number

beforeAll(async () => {
  node = await startTestNode({ env: { PRICE_HOLD_FACTOR: '1000' } })
  category = (await operator<{ id: number }>('/categories', { name: 'Set', game: 'pokemon', market: 'source_c' })).id
})
afterAll(() => node.close())

async function operator<T>(path: string, json: object): Promise<T> {
  const { status, body } = await send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { json })
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body.data
}

type Point = [updatedAt: string, price: number]

async function itemWith(ref: string, prices: Record<string, Point[]>): Promise<number> {
  const { id } = await operator<{ id: number }>('/items', { name: ref, ref, market: 'source_c', category_id: category })
  const rows = Object.entries(prices).flatMap(([label, points]) =>
    points.map(([updated_at, price]) => ({ item_id: id, market: 'source_c', label, price, updated_at })),
  )
  for (let at = 0; at < rows.length; at += 10_000)
    expect(await operator('/prices', rows.slice(at, at + 10_000))).toMatchObject({ held: 0, rejected: 0 })
  return id
}

function read(id: number, query: string, key = node.keys.professional): Promise<Reply<Period[]>> {
  return send<Period[]>(`${node.publicUrl}/api/v1/items/${id}/price-history?${query}`, key)
}

describe('a price history', () => {
  let id: number
  const autumn = 'from=2026-09-01T00:00:00Z&to=2026-12-01T00:00:00Z'

  beforeAll(async () => {
    id = await itemWith('card:1', {
      'Near Mint': [
        ['2026-10-05T08:00:00Z', 10],
        ['2026-10-05T20:00:00Z', 8],
        ['2026-10-05T21:00:00Z', 9],
        ['2026-10-11T23:59:59.999Z', 12],
        ['2026-11-01T00:00:00Z', 11],
      ],
      'PSA 10': [['2026-10-06T00:00:00Z', 90]],
    })
  })

  /** Date, open, low, high and close of each period. */
  const near = async (query: string) =>
    (await read(id, `label=nm&${query}`)).body.data.map(({ date, open, low, high, close }) => [date, open, low, high, close])

  test('has open, low, high and close by day, week or month', async () => {
    expect((await read(id, `label=nm&${autumn}`)).body.data[0]).toEqual({
      date: '2026-10-05',
      market: 'source_c',
      label: 'Near Mint',
      open: 10,
      low: 8,
      high: 10,
      close: 9,
    })
    expect(await near(autumn)).toEqual([
      ['2026-10-05', 10, 8, 10, 9],
      ['2026-10-11', 9, 9, 12, 12],
      ['2026-11-01', 11, 11, 11, 11],
    ])
    expect(await near(`interval=week&${autumn}`)).toEqual([
      ['2026-10-05', 10, 8, 12, 12],
      ['2026-10-26', 12, 11, 12, 11],
    ])
    expect(await near(`interval=month&${autumn}`)).toEqual([
      ['2026-10-01', 10, 8, 12, 12],
      ['2026-11-01', 11, 11, 11, 11],
    ])
    expect((await read(id, `interval=month&${autumn}`)).body.data.map((row) => row.label)).toEqual(['Near Mint', 'PSA 10', 'Near Mint'])
    expect((await read(id, 'market=source_a')).body.data).toEqual([])
    expect((await read(id, 'label=Shiny')).body.data).toEqual([])
  })

  test('starts with the price at the start of the range', async () => {
    // The price was 9 since 5 October; a change exactly at the start replaces it.
    expect(await near('from=2026-10-11T12:00:00Z&to=2026-10-12T00:00:00Z')).toEqual([['2026-10-11', 9, 9, 12, 12]])
    expect(await near('from=2026-10-11T23:59:59.999Z&to=2026-10-12T00:00:00Z')).toEqual([['2026-10-11', 12, 12, 12, 12]])
    expect(await near('from=2026-10-06T00:00:00Z&to=2026-10-07T00:00:00Z')).toEqual([['2026-10-06', 9, 9, 9, 9]])
    expect(await near('from=2026-10-07T12:00:00Z&to=2026-11-01T00:00:00Z')).toEqual([
      ['2026-10-07', 9, 9, 9, 9],
      ['2026-10-11', 9, 9, 12, 12],
    ])
    expect(await near('interval=month&from=2026-10-06T00:00:00Z&to=2026-12-01T00:00:00Z')).toEqual([
      ['2026-10-01', 9, 9, 12, 12],
      ['2026-11-01', 11, 11, 11, 11],
    ])
    expect((await read(id, 'interval=week&from=2026-11-11T00:00:00Z&to=2026-11-12T00:00:00Z')).body.data).toMatchObject([
      { date: '2026-11-09', label: 'Near Mint', open: 11, low: 11, high: 11, close: 11 },
      { date: '2026-11-09', label: 'PSA 10', open: 90, low: 90, high: 90, close: 90 },
    ])
    expect(await near('from=2026-09-01T00:00:00Z&to=2026-10-05T08:00:00Z')).toEqual([])
  })

  test('may start at the earliest possible date', async () => {
    const all = await near('to=2026-12-01T00:00:00Z&from=2026-09-01T00:00:00Z')
    for (const from of ['1970-01-01', '1990-01-01', '2010-06-15', '2026-10-05']) {
      expect([from, await near(`to=2026-12-01T00:00:00Z&from=${from}T00:00:00Z`)]).toEqual([from, all])
    }
  })

  test('requires Professional, and validates its parameters', async () => {
    expect((await read(id, '', node.keys.starter)).body.error!.code).toBe('PLAN_UPGRADE_REQUIRED')
    expect((await read(999_999, '', node.keys.plus)).body.error!.code).toBe('ITEM_NOT_FOUND')
    for (const query of [
      'interval=year',
      'market=x',
      'from=yesterday',
      'from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z',
      'from=2026-02-01T00:00:00Z&to=2026-02-01T00:00:00Z',
      'from=1969-12-31T23:59:59Z',
    ]) {
      expect([query, (await read(id, query)).status]).toEqual([query, 422])
    }
  })
})

const INTERVALS = ['day', 'week', 'month'] as const

/** The period that contains a time: its start and its end in epoch milliseconds. */
function periodAt(atMs: number, interval: (typeof INTERVALS)[number]): [start: number, end: number] {
  const day = Math.floor(atMs / DAY_MS)
  if (interval === 'day') return [day * DAY_MS, (day + 1) * DAY_MS]
  if (interval === 'week') {
    // 1 January 1970 was a Thursday.
    const monday = day - ((day + 3) % 7)
    return [monday * DAY_MS, (monday + 7) * DAY_MS]
  }
  const date = new Date(atMs)
  return [Date.UTC(date.getUTCFullYear(), date.getUTCMonth()), Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)]
}

/** Iterates over a window period by period; a price holds from its time until the next one. */
function computed(label: string, points: Point[], fromMs: number, toMs: number, interval: (typeof INTERVALS)[number]): Period[] {
  const set = points.map(([at, price]) => ({ atMs: Date.parse(at), price })).sort((a, b) => a.atMs - b.atMs)
  const periods: Period[] = []
  for (let startMs = fromMs; startMs < toMs; ) {
    const [periodMs, nextMs] = periodAt(startMs, interval)
    const endMs = Math.min(nextMs, toMs)
    const atStart = set.findLast(({ atMs }) => atMs <= startMs)
    const within = set.filter(({ atMs }) => atMs > startMs && atMs < endMs)
    const held = [...(atStart ? [atStart] : []), ...within].map(({ price }) => price)
    if (held.length > 0 && (within.length > 0 || atStart!.atMs === startMs || startMs === fromMs)) {
      const date = new Date(periodMs).toISOString().slice(0, 10)
      periods.push({ date, market: 'source_c', label, open: held[0]!, low: Math.min(...held), high: Math.max(...held), close: held.at(-1)! })
    }
    startMs = endMs
  }
  return periods
}

test('every period of any range equals a naive computation', async () => {
  let seed = 20_261_122
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
  const fromMs = Date.UTC(2024, 0, 1)
  const labels = ['Near Mint', 'Lightly Played', 'Heavily Played']
  const prices = Object.fromEntries(
    labels.map((label) => {
      const times = new Set<number>()
      // Half of them are in the hour of midnight, where periods begin; some months have none.
      for (let i = 0; i < 160; i += 1) times.add(fromMs + random(random(2) ? 300 : 700) * DAY_MS + random(2) * random(DAY_MS))
      // Few distinct amounts, so that lows and highs often occur twice.
      const points = [...times].sort((a, b) => a - b).map((atMs): Point => [new Date(atMs).toISOString(), 5 + random(9) / 100])
      // A price equal to the previous one adds no point to the history.
      return [label, points.filter(([, price], i) => price !== points[i - 1]?.[1])]
    }),
  )
  const id = await itemWith('card:generated', prices)
  let compared = 0
  for (let window = 0; window < 60; window += 1) {
    const start = fromMs - 40 * DAY_MS + random(700) * DAY_MS + random(2) * random(DAY_MS)
    const end = start + 1 + random(2) * random(DAY_MS) + random(400) * DAY_MS
    for (const interval of INTERVALS) {
      const query = `from=${new Date(start).toISOString()}&to=${new Date(end).toISOString()}&interval=${interval}`
      const answered = (await read(id, query)).body.data
      for (const label of labels) {
        const expected = computed(label, prices[label]!, start, end, interval)
        expect([query, answered.filter((period) => period.label === label)]).toEqual([query, expected])
        compared += expected.length
      }
    }
  }
  expect(compared).toBeGreaterThan(5_000)
})

describe('over GraphQL', () => {
  const query = `query ($id: ID!, $market: String, $label: String, $from: String, $to: String, $interval: String) {
    item(id: $id) { priceHistory(market: $market, label: $label, from: $from, to: $to, interval: $interval) {
      date market label open low high close } } }`
  interface Answer {
    data: { item: { priceHistory: Period[] | null } } | null
    errors?: { path: string[]; extensions: { code: string; details: { field: string }[] } }[]
  }
  const ask = async (variables: object, key = node.keys.professional): Promise<Answer> => {
    const response = await fetch(`${node.publicUrl}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    })
    return (await response.json()) as Answer
  }
  let id: number

  beforeAll(async () => {
    id = await itemWith('card:graphql', {
      'Near Mint': [
        ['2026-10-05T08:00:00Z', 10],
        ['2026-10-20T20:00:00Z', 8],
      ],
      'PSA 10': [['2026-10-06T00:00:00Z', 90]],
    })
  })

  test('equals REST', async () => {
    const autumn = { from: '2026-10-10T00:00:00Z', to: '2026-12-01T00:00:00Z' }
    const cases: Record<string, string>[] = [
      {},
      { label: 'nm' },
      { market: 'SOURCE_C', interval: 'month' },
      { market: 'source_c', label: 'PSA 10' },
      { market: 'SOURCE_A' },
    ]
    for (const more of cases) {
      const args = { ...autumn, ...more }
      const { data } = await ask({ id, ...args })
      const inRest = { ...args, ...(more.market !== undefined && { market: more.market.toLowerCase() }) }
      const rest = await read(id, String(new URLSearchParams(inRest)))
      expect([more, data!.item.priceHistory]).toEqual([more, rest.body.data])
    }
  })

  test('is null for Starter, follows each price, and reports invalid arguments', async () => {
    expect(await ask({ id }, node.keys.starter)).toMatchObject({ data: { item: { priceHistory: null } } })
    const closes = async () => (await ask({ id, label: 'PSA 10' })).data!.item.priceHistory!.map(({ close }) => close)
    expect(await closes()).toEqual([90])
    await operator('/prices', [{ item_id: id, market: 'source_c', label: 'PSA 10', price: 95, updated_at: '2026-11-01T00:00:00Z' }])
    expect(await closes()).toEqual([90, 95])
    for (const [field, variables] of [
      ['interval', { interval: 'year' }],
      ['market', { market: 'x' }],
      ['from', { from: 'yesterday' }],
      ['from', { from: '2026-10-01T00:00:00Z', to: '2026-09-01T00:00:00Z' }],
    ] as const) {
      const { data, errors } = await ask({ id, ...variables })
      expect(data).toEqual({ item: { priceHistory: null } })
      expect(errors).toMatchObject([{ path: ['item', 'priceHistory'], extensions: { code: 'VALIDATION_ERROR', details: [{ field }] } }])
    }
  })
})
