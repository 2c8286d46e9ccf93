// Markets over HTTP: which items `market=` selects, whose prices are shown with and without it, and how prices of several
// currencies are sorted by the day's rates.
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Market, MARKETS } from '#core/markets.ts'
import { change } from '#db/changes/change.ts'
import { packPrices } from '#prices/records/price-payload.ts'
import { ask } from '../graphql/client.ts'
import { importText, msPastMidnight, OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode, until } from '../support/node.ts'
import { rowsOf } from '../support/runs.ts'

interface Item {
  id: number
  name: string
  market?: Market
  prices: { label: string; price: number; updated_at: string }[]
}

/** An item of the matrix: its home market, and the markets that have prices for it. */
interface Made {
  name: string
  home: Market
  priced: Market[]
  id: number
}

const DEFAULT_ORDER: Market[] = ['source_c', 'source_b', 'source_a', 'service']
/** A different order, and one that omits two markets. */
const OTHER_ORDER: Market[] = ['service', 'source_a', 'source_b', 'source_c']
const SHORT_ORDER: Market[] = ['source_b', 'service']
const SETS = Array.from({ length: 2 ** MARKETS.length }, (_, bits) => MARKETS.filter((_market, i) => (bits >> i) & 1))
const MATRIX: Omit<Made, 'id'>[] = MARKETS.flatMap((home) =>
  SETS.map((priced) => ({ home, priced, name: `${home} priced by ${priced.join(' ') || 'none'}` })),
)

let node: TestNode
/** on the same database */
let other: TestNode
let short: TestNode
let created: Made[]

beforeAll(async () => {
  node = await startTestNode()
  other = await startTestNode({ databaseUrl: node.databaseUrl, env: { MARKET_ORDER: OTHER_ORDER.join(',') } })
  short = await startTestNode({ databaseUrl: node.databaseUrl, env: { MARKET_ORDER: SHORT_ORDER.join(',') } })
  const categories = MARKETS.map((market) => ({
    type: 'category',
    market,
    ref: 'matrix',
    name: 'Matrix',
    game: 'pokemon',
    parent: null,
    image: null,
  }))
  const items = MATRIX.map(({ home, priced, name }, i) => ({
    type: 'item',
    market: home,
    ref: `matrix:${i}`,
    name,
    code: null,
    genre: 'single',
    game: 'pokemon',
    category: 'matrix',
    images: [],
    attributes: [],
    groups: ['ungraded', 'graded'],
    details: {},
    foreign_ids: [],
    prices: priced.flatMap((market) => [
      { market, label: 'PSA 10', price: amountOf(i, market, 10), updated_at: '2026-11-01T09:00:00Z' },
      { market, label: 'Near Mint', price: amountOf(i, market, 1), updated_at: '2026-11-01T09:00:00Z' },
    ]),
  }))
  const report = await importText(node, 'mintmark-ndjson', [...categories, ...items].map((line) => JSON.stringify(line)).join('\n'))
  expect(report.errors).toEqual([])
  const rows = await node.db.kysely.selectFrom('items').select(['id', 'name']).execute()
  created = MATRIX.map((one) => ({ ...one, id: rows.find(({ name }) => name === one.name)!.id }))
  for (const each of [other, short]) await until('the node has the items', async () => (await list(each, '')).length === MATRIX.length)
})

afterAll(async () => {
  await short.close()
  await other.close()
  await node.close()
})

/** Different for every market and every item. */
function amountOf(item: number, market: Market, times: number): string {
  return (((item * 37) % 64) * times + MARKETS.indexOf(market) / 10 + 1).toFixed(2)
}

function get<T>(on: TestNode, path: string, plan: 'starter' | 'professional' = 'professional'): Promise<Reply<T>> {
  return send<T>(`${on.publicUrl}/api/v1${path}`, node.keys[plan])
}

async function list(on: TestNode, query: string, plan: 'starter' | 'professional' = 'professional'): Promise<Item[]> {
  const { status, body } = await get<Item[]>(on, `/items?per_page=100&${query}`, plan)
  expect([query, status]).toEqual([query, 200])
  return body.data
}

const ids = (items: { id: number | string }[]): number[] => items.map(({ id }) => Number(id)).sort((a, b) => a - b)

function shown({ home, priced }: Omit<Made, 'id'>, order: Market[]): Market {
  return [home, ...order].find((market) => priced.includes(market)) ?? home
}

/** The prices of an item of the matrix in a response. */
function pricesOf(one: Made, market: Market): [string, string][] {
  if (!one.priced.includes(market)) return []
  const i = created.indexOf(one)
  return [
    ['Near Mint', amountOf(i, market, 1)],
    ['PSA 10', amountOf(i, market, 10)],
  ]
}

function expectShown(item: Item, market: Market): void {
  const one = created.find(({ id }) => id === item.id)!
  const prices = item.prices.map(({ label, price }) => [label, price.toFixed(2)])
  expect([one.name, prices]).toEqual([one.name, pricesOf(one, market)])
  if ('market' in item) expect([one.name, item.market]).toEqual([one.name, market])
}

const NODES = [
  { setting: 'the default order', on: () => node, order: DEFAULT_ORDER },
  { setting: 'an order of the operator', on: () => other, order: OTHER_ORDER },
  { setting: 'an order without two markets', on: () => short, order: SHORT_ORDER },
]

describe.each(rowsOf(NODES, NODES.length))('with $setting', ({ on, order }) => {
  test('without `market`, every item is listed with the prices of its home market, otherwise of the first with prices', async () => {
    for (const plan of ['starter', 'professional'] as const) {
      const items = await list(on(), '', plan)
      expect(ids(items)).toEqual(ids(created))
      for (const item of items) {
        const one = created.find(({ id }) => id === item.id)!
        expectShown(item, shown(one, order))
        expectShown((await get<Item>(on(), `/items/${item.id}`, plan)).body.data, shown(one, order))
      }
      const found = await get<Item[]>(on(), '/items/search?q=priced&per_page=100', plan)
      expect(found.body.data.length).toBe(created.length)
      for (const item of found.body.data) expectShown(item, shown(created.find(({ id }) => id === item.id)!, order))
    }
  })

  test.each(MARKETS)('%s selects items with prices in it or of its catalogue, and returns its prices', async (market) => {
    const expected = created.filter(({ home, priced }) => home === market || priced.includes(market))
    for (const plan of ['starter', 'professional'] as const) {
      const listed = await list(on(), `market=${market}`, plan)
      const searched = await get<Item[]>(on(), `/items/search?q=priced&per_page=100&market=${market}`, plan)
      for (const items of [listed, searched.body.data]) {
        expect(ids(items)).toEqual(ids(expected))
        for (const item of items) expectShown(item, market)
      }
      for (const { id } of created) {
        const reply = await get<Item>(on(), `/items/${id}?market=${market}`, plan)
        if (expected.some((one) => one.id === id)) expectShown(reply.body.data, market)
        else expect([reply.status, reply.body.error!.code]).toEqual([404, 'ITEM_NOT_FOUND'])
      }
    }
    const query = `{ items(first: 100, market: "${market.toUpperCase()}") { nodes { id prices { market } } } }`
    const reply = await ask<{ items: { nodes: { id: string; prices: { market: string }[] }[] } }>(on(), query)
    expect(ids(reply.data.items.nodes)).toEqual(ids(expected))
    for (const { id, prices } of reply.data.items.nodes) {
      expect([...new Set(prices.map((price) => price.market))]).toEqual(created.find((one) => one.id === Number(id))!.priced)
    }
  })

  test('filters, totals and pages combine with `market`', async () => {
    const { body } = await get<Item[]>(on(), '/items?market=source_b&search=home&per_page=1')
    expect([body.data, body.pagination!.total]).toEqual([[], 0])
    const expected = created.filter(({ home, priced }) => home === 'source_b' || priced.includes('source_b')).map(({ id }) => id)
    const seen: number[] = []
    for (let page = 1; page <= 10; page += 1) {
      const reply = await get<Item[]>(on(), `/items?market=source_b&genre=single&game=pokemon&sort_by=id&per_page=7&page=${page}`)
      expect(reply.body.pagination!.total).toBe(expected.length)
      seen.push(...reply.body.data.map(({ id }) => id))
    }
    expect(seen).toEqual(expected.toSorted((a, b) => a - b))
  })

  test('operators and the price history use the same market', async () => {
    for (const { id, priced, ...one } of [created[6]!, created[9]!, created[30]!, created[48]!, created[63]!]) {
      const market = shown({ priced, ...one }, order)
      const detail = await send<{ shown_market: string; market: string }>(`${on().operatorUrl}/operator/v1/items/${id}`, OPERATOR_TOKEN)
      expect([detail.body.data.market, detail.body.data.shown_market]).toEqual([one.home, market])
      const found = await send<{ price: { market: string; label: string } | null; id: number }[]>(
        `${on().operatorUrl}/operator/v1/items?per_page=100&search=${encodeURIComponent(one.name)}`,
        OPERATOR_TOKEN,
      )
      const row = found.body.data.find((item) => item.id === id)!
      expect(row.price && [row.price.market, row.price.label]).toEqual(priced.includes(market) ? [market, 'Near Mint'] : null)
      const history = await get<{ market: string }[]>(on(), `/items/${id}/price-history?from=2026-10-01T00:00:00Z&to=2026-12-01T00:00:00Z`)
      expect(new Set(history.body.data.map((period) => period.market))).toEqual(new Set(priced.includes(market) ? [market] : []))
    }
  })
})

test('an unknown market is rejected with the allowed ones, on every catalogue read', async () => {
  for (const path of ['/items?market=ebay', '/items/search?q=priced&market=', `/items/${created[0]!.id}?market=SERVICE`]) {
    const { status, body } = await get(node, path)
    expect([path, status, body.error!.code]).toEqual([path, 422, 'VALIDATION_ERROR'])
    expect(body.error!.details).toMatchObject([{ field: 'market', rule: 'one_of', params: { values: [...MARKETS] } }])
  }
})

test('the entity tag depends on the market, and a price changes only the responses that show it', async () => {
  const one = created.find(({ home, priced }) => home === 'source_a' && priced.length === 4)!
  const paths = ['', '?market=service', '?market=source_a', '?market=source_b', '?market=source_c'].map((query) => `/items/${one.id}${query}`)
  const tags = async () => Promise.all(paths.map(async (path) => (await get(node, path)).headers.get('etag')))
  const before = await tags()
  expect(before[0]).toBe(before[2])
  expect(new Set(before).size).toBe(MARKETS.length)
  await setPrice(one.id, 'source_b', 123_45)
  const after = await tags()
  expect(after.map((tag, i) => tag === before[i])).toEqual([true, true, true, false, true])
  await setPrice(one.id, 'source_b', Math.round(Number(amountOf(created.indexOf(one), 'source_b', 1)) * 100))
})

test('the first price of a market adds an item to its lists and the last one removes it, on all nodes', async () => {
  const one = created.find(({ home, priced }) => home === 'service' && priced.length === 0)!
  const seen = async (on: TestNode) => {
    const [plain, ofB] = [await get<Item>(on, `/items/${one.id}`), await list(on, 'market=source_b&sort_by=price')]
    return [plain.body.data.market, plain.body.data.prices.map(({ price }) => price), ofB.some(({ id }) => id === one.id)]
  }
  for (const each of [node, other]) expect(await seen(each)).toEqual(['service', [], false])
  await setPrice(one.id, 'source_b', 777)
  for (const each of [node, other]) await until('the price is shown', async () => JSON.stringify(await seen(each)) === '["source_b",[7.77],true]')
  await setPrice(one.id, 'source_c', 888)
  await until('the one before it in the order', async () => JSON.stringify(await seen(node)) === '["source_c",[8.88],true]')
  expect(await seen(other)).toEqual(['source_b', [7.77], true])
  await setPrice(one.id, 'source_c', null)
  await setPrice(one.id, 'source_b', null)
  for (const each of [node, other]) await until('both prices are gone', async () => JSON.stringify(await seen(each)) === '["service",[],false]')
})

/** Sets or removes the Near Mint price, like imports and their reverts. */
async function setPrice(itemId: number, market: Market, minor: number | null): Promise<void> {
  const at = { itemId, market: MARKETS.indexOf(market), labelId: 4, updatedAtMs: Date.parse('2026-11-02T09:00:00Z') }
  await change(node.ctx, async (tx, note) => {
    await sql`delete from prices where item_id = ${itemId} and market = ${at.market} and label_id = ${at.labelId}`.execute(tx)
    if (minor !== null) {
      await sql`insert into prices (item_id, market, label_id, price, updated_at, import_id)
        values (${itemId}, ${at.market}, ${at.labelId}, ${minor}::numeric / 100, ${new Date(at.updatedAtMs)}, 1)`.execute(tx)
    }
    await note.changedPrices(packPrices([{ ...at, minor: minor ?? 0 }]))
  })
}

describe('sorted by price', () => {
  /** Lira per unit; null if unknown. */
  type Lira = Record<Market, number | null>
  const CASES: { what: string; day: string; rates: { currency: string; TRY: number }[]; lira: Lira }[] = [
    { what: 'no rates', day: '2026-01-01', rates: [], lira: { service: 1, source_a: null, source_b: null, source_c: null } },
    {
      what: 'one rate',
      day: '2026-01-01',
      rates: [{ currency: 'EUR', TRY: 0.5 }],
      lira: { service: 1, source_a: null, source_b: 0.5, source_c: null },
    },
    {
      what: 'all rates',
      day: '2026-02-01',
      rates: [{ currency: 'USD', TRY: 41.87 }],
      lira: { service: 1, source_a: 41.87, source_b: 0.5, source_c: 41.87 },
    },
    {
      what: 'a later rate',
      day: '2026-03-01',
      rates: [{ currency: 'EUR', TRY: 48.31 }],
      lira: { service: 1, source_a: 41.87, source_b: 48.31, source_c: 41.87 },
    },
    {
      what: 'a rate of tomorrow',
      day: '',
      rates: [{ currency: 'USD', TRY: 0.001 }],
      lira: { service: 1, source_a: 41.87, source_b: 48.31, source_c: 41.87 },
    },
  ]

  function sorted(items: Made[], marketOf: (one: Made) => Market, lira: Lira | null, direction: string): number[] {
    const keyOf = (one: Made): number | null => {
      const market = marketOf(one)
      const rate = lira === null ? 1 : lira[market]
      return rate === null || !one.priced.includes(market) ? null : Number(amountOf(created.indexOf(one), market, 1)) * rate
    }
    const keys = new Map(items.map((one) => [one.id, keyOf(one)]))
    const compare = (a: number, b: number) => {
      const [one, two] = [keys.get(a)!, keys.get(b)!]
      if (one === null || two === null) return Number(one === null) - Number(two === null) || a - b
      return (direction === 'asc' ? one - two : two - one) || a - b
    }
    return ids(items).sort(compare)
  }

  /** The items of a list over REST, and the same list over GraphQL, page by page. */
  async function orderIn(on: TestNode, market: Market | null, direction: string): Promise<[number[], number[]]> {
    const rest = await list(on, `sort_by=price&sort_order=${direction}${market ? `&market=${market}` : ''}`)
    const byCursor: number[] = []
    const query = `query ($after: String) { items(first: 9, after: $after, sortBy: "price", sortOrder: "${direction}"${market ? `, market: "${market}"` : ''}) {
      nodes { id } pageInfo { hasNextPage endCursor } } }`
    for (let after: string | null = null; ; ) {
      const reply: { data: { items: { nodes: { id: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } } } } = await ask(on, query, {
        variables: { after },
      })
      byCursor.push(...reply.data.items.nodes.map(({ id }) => Number(id)))
      if (!reply.data.items.pageInfo.hasNextPage) return [rest.map(({ id }) => id), byCursor]
      after = reply.data.items.pageInfo.endCursor
    }
  }

  async function expectSorted(lira: Lira): Promise<void> {
    for (const direction of ['asc', 'desc']) {
      for (const { on, order } of NODES) {
        const expected = sorted(created, (one) => shown(one, order), lira, direction)
        await expect.poll(() => orderIn(on(), null, direction)).toEqual([expected, expected])
      }
      for (const market of MARKETS) {
        const expected = sorted(
          created.filter(({ home, priced }) => home === market || priced.includes(market)),
          () => market,
          null,
          direction,
        )
        expect([market, await orderIn(node, market, direction)]).toEqual([market, [expected, expected]])
      }
    }
  }

  test('prices of several currencies are compared at daily rates; a single market needs none', async () => {
    const toOneDay = msPastMidnight(node.clock.now())
    for (const { on } of NODES) on().clock.advance(toOneDay)
    const tomorrow = new Date(node.clock.now().getTime() + 86_400_000).toISOString().slice(0, 10)
    for (const { day, rates, lira } of CASES) {
      const json = rates.map((rate) => ({ day: day || tomorrow, ...rate }))
      if (json.length > 0) expect((await send(`${node.operatorUrl}/operator/v1/rates`, OPERATOR_TOKEN, { json })).status).toBeLessThan(300)
      await expectSorted(lira)
    }
    for (const { on } of NODES) on().clock.advance(86_400_000)
    await expectSorted({ service: 1, source_a: 0.001, source_b: 48.31, source_c: 0.001 })
    await send(`${node.operatorUrl}/operator/v1/rates`, OPERATOR_TOKEN, { json: [{ day: tomorrow, currency: 'USD', TRY: 41.87 }] })
  })

  test('equal amounts are sorted by id', async () => {
    const pair = created.filter(({ priced }) => priced.length === 0).slice(0, 2)
    await send(`${node.operatorUrl}/operator/v1/rates`, OPERATOR_TOKEN, {
      json: [{ day: node.clock.now().toISOString().slice(0, 10), currency: 'EUR', TRY: 48.31 }],
    })
    await setPrice(pair[1]!.id, 'service', 500_00 * 48.31)
    await setPrice(pair[0]!.id, 'source_b', 500_00)
    for (const direction of ['asc', 'desc']) {
      const found = (await list(node, `sort_by=price&sort_order=${direction}`)).map(({ id }) => id).filter((id) => pair.some((one) => one.id === id))
      expect(found).toEqual(ids(pair))
    }
    await setPrice(pair[1]!.id, 'service', null)
    await setPrice(pair[0]!.id, 'source_b', null)
  })

  test('a cursor continues after its price when rates have changed, and is rejected for another market', async () => {
    const query = (market: string) =>
      `query ($after: String) { items(first: 3, after: $after, sortBy: "price"${market}) { nodes { id } pageInfo { endCursor } } }`
    const pageOf = async (market: string, after: string | null) => {
      const reply = await ask<{ items: { nodes: { id: string }[]; pageInfo: { endCursor: string } } }>(node, query(market), { variables: { after } })
      return { ids: reply.data?.items?.nodes.map(({ id }) => Number(id)), after: reply.data?.items?.pageInfo.endCursor, errors: reply.errors }
    }
    const rate = (TRY: number) =>
      send(`${node.operatorUrl}/operator/v1/rates`, OPERATOR_TOKEN, {
        json: [{ day: node.clock.now().toISOString().slice(0, 10), currency: 'USD', TRY }],
      })
    const ofC = ', market: "source_c"'
    const [all, first] = [await orderIn(node, 'source_c', 'asc'), await pageOf(ofC, null)]
    await rate(2_000)
    expect((await pageOf(ofC, first.after!)).ids).toEqual(all[0].slice(3, 6))
    expect((await pageOf(', market: "source_a"', first.after!)).errors).toMatchObject([
      { extensions: { code: 'VALIDATION_ERROR', details: [{ field: 'after', rule: 'cursor', params: { market: 'source_a' } }] } },
    ])
    // In a list of all markets, the page continues at the current position of that amount.
    const everything = (await orderIn(node, null, 'asc'))[0]
    const at = await pageOf('', null)
    await rate(3_000)
    const last = created.find(({ id }) => id === at.ids!.at(-1))!
    const now = (await orderIn(node, null, 'asc'))[0]
    expect((await pageOf('', at.after!)).ids).toEqual(now.slice(now.indexOf(last.id) + 1, now.indexOf(last.id) + 4))
    expect(everything).not.toEqual([])
    await rate(41.87)
  })
})
