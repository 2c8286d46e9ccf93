// Listings searched in memory compared with the same query in SQL, while listings, prices, sales and time change.
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addCredits } from '#accounts/add-credits.ts'
import { call } from '#core/verb.ts'
import { fold } from '#index/fold.ts'
import type { ListingFilter } from '#market/snapshot/filters.ts'
import { ListingSnapshot } from '#market/snapshot/listings.ts'
import { LISTING_SORTS, type ListingSort } from '#market/snapshot/queries.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { runs } from '../support/runs.ts'
import { DAY_MS, makeCatalogue, operator, orderId, pending, plus, published } from './kit.ts'

let node: TestNode
let items: number[]
let grades: number[]
const ids: number[] = []

beforeAll(async () => {
  node = await startTestNode()
  const sample = await makeCatalogue(node)
  items = Object.values(sample.items)
  grades = ['Near Mint', 'PSA 10', 'CGC 9', 'Ungraded'].map((label) => sample.grades[label]!)
  await call(addCredits, node.ctx, { id: node.accounts.plus, amount: 1_000 })
  for (let i = 0; i < 12; i += 1) ids.push((await published(node, pick(items, i), { grade_id: grades[i % 4], language: LANGUAGES[i % 3] })).id)
})

afterAll(() => node.close())

const LANGUAGES = ['en', 'tr', 'ja']
/** Steps select among the newest listings, so that most find a published one. */
const RECENT = 14
const WORDS = ['charizard', 'red', 'box', 'çelik', 'listing']
const pick = <T>(from: readonly T[], n: number): T => from[n % from.length]!

type Step = { n: number; m: number; what: (typeof STEPS)[number] }
const STEPS = [
  'create',
  'reprice',
  'edit',
  'approve',
  'pause',
  'publish',
  'delete',
  'sell',
  'sellOld',
  'highlight',
  'source',
  'day',
  'month',
  'restock',
  'correct',
] as const

/** One change through the usual verbs; what the rules reject changes nothing. */
async function take({ what, n, m }: Step): Promise<void> {
  const id = pick(ids.slice(-RECENT), n)
  const cents = 100 + (m % 7) * 1_250
  switch (what) {
    case 'create': {
      const fields = {
        title: `${pick(WORDS, m)} ${pick(WORDS, n)}`,
        grade_id: m % 5 === 0 ? null : pick(grades, m),
        language: pick(LANGUAGES, n),
        price: cents / 100,
        quantity: 9,
      }
      ids.push((m % 4 ? await published(node, pick(items, n), fields) : await pending(node, pick(items, n), fields)).id)
      return
    }
    case 'reprice':
      await plus(node, 'PATCH', `/listings/${id}/price`, { price: cents / 100 })
      return
    case 'edit':
      await plus(node, 'PATCH', `/listings/${id}`, { title: `${pick(WORDS, m)} edited` })
      return
    case 'approve': {
      const end = new Date(node.clock.now().getTime() + ((m % 40) + 1) * DAY_MS).toISOString()
      await operator(node, 'POST', `/listings/${id}/approve`, { expires_at: end })
      return
    }
    case 'pause':
    case 'publish':
      await plus(node, 'POST', `/listings/${id}/status?action=${what}`)
      return
    case 'delete':
      await plus(node, 'DELETE', `/listings/${id}`)
      return
    case 'sell':
    case 'sellOld': {
      const sold_at = new Date(node.clock.now().getTime() - (what === 'sell' ? 0 : (m % 40) * DAY_MS)).toISOString()
      await operator(node, 'POST', '/orders', { order_id: orderId(), sold_at, lines: [{ listing_id: id, quantity: 1, unit_price: cents / 100 }] })
      return
    }
    case 'highlight':
      await plus(node, 'POST', '/make-highlight', { id })
      return
    case 'source': {
      const label = pick(['Near Mint', 'PSA 10', 'CGC 9'], m)
      await operator(node, 'POST', '/prices', [
        { item_id: pick(items, n), market: 'source_a', label, price: 10 + (m % 30), updated_at: node.clock.now().toISOString() },
      ])
      return
    }
    case 'restock':
      await plus(node, 'PATCH', `/listings/${id}`, { quantity: (m % 3) * 4, ...(m % 2 && { price: cents / 100 }), ...(n % 2 && { sku: `SKU ${m}` }) })
      return
    case 'correct':
      await operator(node, 'PATCH', `/listings/${id}`, { quantity: (m % 3) * 4, item_id: pick(items, m) })
      return
    case 'day':
      node.clock.advance(DAY_MS)
      return
    case 'month':
      node.clock.advance(15 * DAY_MS)
  }
}

interface Row {
  id: number
  kurus: number
  pc: number | null
  title: string
  item: string
}

/** What is published according to PostgreSQL, in the order of the sort. */
async function fromSql(filter: ListingFilter, search: string | undefined, sort: ListingSort): Promise<number[]> {
  const now = node.clock.now()
  const order = {
    latest: 'published_at desc, id desc',
    price_low: 'kurus, id',
    price_high: 'kurus desc, id desc',
    pc_multiplier_asc: 'pc nulls last, id',
    pc_multiplier_desc: 'pc desc nulls last, case when pc is null then id else -id end',
    popular: 'highlighted desc, sales desc, published_at desc, id desc',
  }[sort]
  const { rows } = await sql<Row & { genre: string; game: string; grade_id: number | null; language: string }>`
    select * from (
      select l.id, (l.price * 100)::int as kurus, (round(l.price / p.price, 2) * 100)::float8 as pc, l.title, i.name as item, i.genre, i.game,
        l.grade_id, l.language, l.published_at, coalesce(l.highlighted_until > ${now}, false) as highlighted,
        (select count(*) from sales s where s.item_id = l.item_id and s.sold_at > ${new Date(now.getTime() - 30 * DAY_MS)}) as sales
      from listings l join items i on i.id = l.item_id
      left join prices p on p.item_id = l.item_id and p.market = 1 and p.label_id = l.label_id and p.state = 0
      where l.status = 'active' and l.quantity > 0 and l.expires_at > ${now}
    ) found order by ${sql.raw(order)}`.execute(node.db.kysely)
  const within = (value: number | null, from = -Infinity, to = Infinity) => value !== null && value >= from && value <= to
  return rows
    .filter((row) => filter.genre === undefined || row.genre === filter.genre)
    .filter((row) => !filter.games || filter.games.includes(row.game))
    .filter((row) => !filter.languages || filter.languages.includes(row.language))
    .filter((row) => !filter.gradeIds || filter.gradeIds.includes(row.grade_id ?? grades[3]!))
    .filter((row) => within(row.kurus, filter.minKurus, filter.maxKurus))
    .filter((row) => (filter.minPc === undefined && filter.maxPc === undefined) || within(row.pc, filter.minPc, filter.maxPc))
    .filter(
      (row) =>
        search === undefined ||
        fold(search)
          .split(' ')
          .every((word) => fold(row.title).includes(word) || fold(row.item).includes(word)),
    )
    .map((row) => row.id)
}

const optional = <T>(of: fc.Arbitrary<T>) => fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: of })
const queries = fc.record({
  filter: fc.record({
    genre: optional(fc.constantFrom('single', 'sealed', 'card')),
    games: optional(fc.subarray(['pokemon', 'onepiece'], { minLength: 1 })),
    languages: optional(fc.subarray(LANGUAGES, { minLength: 1 })),
    gradeIds: optional(fc.array(fc.nat(3), { minLength: 1, maxLength: 2 })),
    minKurus: optional(fc.integer({ min: 100, max: 5_000 })),
    maxKurus: optional(fc.integer({ min: 3_000, max: 9_000 })),
    minPc: optional(fc.integer({ min: 0, max: 100 })),
    maxPc: optional(fc.integer({ min: 50, max: 2_000 })),
  }),
  search: optional(fc.constantFrom(...WORDS, 'charizard listing', 'BASE box')),
  sort: fc.constantFrom(...LISTING_SORTS, 'popular' as const),
  offset: fc.nat(6),
  limit: fc.integer({ min: 1, max: 10 }),
})
const steps = fc.record({ what: fc.constantFrom(...STEPS, 'create', 'create', 'sell', 'sell', 'approve'), n: fc.nat(1_000), m: fc.nat(1_000) })

async function compare(listings: Pick<ListingSnapshot, 'page' | 'pageBytes'>, query: Query): Promise<void> {
  const { search, sort, offset, limit } = query
  const filter = { ...query.filter, gradeIds: query.filter.gradeIds?.map((n) => grades[n]!) }
  const expected = await fromSql(filter, search, sort)
  // A repeated text is answered from the cached result of the first search, even for another price range.
  if (search !== undefined) listings.page({ ...filter, minKurus: 200, maxKurus: 4_000 }, search, sort, 0, 3)
  const pages = Array.from({ length: 3 }, () => listings.page(filter, search, sort, offset, limit))
  const [{ rows, total }] = pages as [(typeof pages)[0]]
  for (const again of pages) expect(again, JSON.stringify(query)).toMatchObject({ rows, total })
  const flags = { item: false, pc: false, average: false, lastSales: false, details: false, explain: false }
  const page = JSON.parse(listings.pageBytes(rows, flags, '[', ']').toString()) as { id: number }[]
  expect({ total, ids: page.map((one) => one.id) }, JSON.stringify(query)).toEqual({
    total: expected.length,
    ids: expected.slice(offset, offset + limit),
  })
}
const NO_FILTER = {
  genre: undefined,
  games: undefined,
  languages: undefined,
  gradeIds: undefined,
  minKurus: undefined,
  maxKurus: undefined,
  minPc: undefined,
  maxPc: undefined,
}
const NO_QUERY: Query = { filter: NO_FILTER, search: undefined, sort: 'popular', offset: 0, limit: 10 }

/** A page that was read earlier. */
interface EarlierPage {
  query: Query
  shown: string
  isCurrent: () => boolean
}

const ALL_FLAGS = { item: true, pc: true, average: true, lastSales: true, details: false, explain: true }

/** Everything that a response shows of a page. */
function earlierPage(listings: ListingSnapshot, query: Query): EarlierPage {
  const { filter, search, sort, offset, limit } = query
  const page = listings.page({ ...filter, gradeIds: filter.gradeIds?.map((n) => grades[n]!) }, search, sort, offset, limit)
  const shown = listings.pageBytes(page.rows, ALL_FLAGS, `${page.total} [`, ']').toString()
  return { query, shown, isCurrent: listings.follow(page) }
}

type Query = typeof queries extends fc.Arbitrary<infer Q> ? Q : never

test('every page equals the result of SQL, after every change', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(steps, fc.array(queries, { minLength: 2, maxLength: 4 })), { minLength: 10, maxLength: 25 }),
      async (story) => {
        const earlier: EarlierPage[] = []
        for (const [step, requests] of story) {
          await take(step)
          for (const page of earlier) {
            if (page.isCurrent()) expect(earlierPage(node.listings, page.query).shown, JSON.stringify([step, page.query])).toBe(page.shown)
          }
          for (const query of requests) {
            await compare(node.listings, query)
            earlier.push(earlierPage(node.listings, query))
          }
        }
      },
    ),
    { numRuns: runs(12) },
  )
})

test('a page stays current while other listings and prices change, until one of its own does', async () => {
  const [first, second] = [await published(node, items[0]!, { price: 77_001 }), await published(node, items[1]!, { price: 77_002 })]
  /** Raises the price in another market by a cent, so that it is not held. */
  const raise = async (item: number) => {
    node.clock.advance(1_000)
    const rows = await node.db.kysely
      .selectFrom('prices')
      .select('price')
      .where('item_id', '=', item)
      .where('market', '=', 1)
      .where('label_id', '=', grades[0]!)
      .execute()
    const price = Number(rows[0]?.price ?? 20) + 0.01
    const row = { item_id: item, market: 'source_a', label: 'Near Mint', price: Number(price.toFixed(2)), updated_at: node.clock.now().toISOString() }
    expect((await operator(node, 'POST', '/prices', [row])).body).toMatchObject({ data: { accepted: 1 } })
  }
  const query: Query = { ...NO_QUERY, filter: { ...NO_QUERY.filter, minKurus: 7_700_001, maxKurus: 7_700_199 }, sort: 'price_low', limit: 1 }
  let page = earlierPage(node.listings, query)
  await raise(items[1]!)
  expect(page.isCurrent()).toBe(true)
  await plus(node, 'PATCH', `/listings/${second.id}/price`, { price: 77_003 })
  expect(page.isCurrent()).toBe(false)
  page = earlierPage(node.listings, query)
  await raise(items[0]!)
  expect(page.isCurrent()).toBe(false)
  for (const { id } of [first, second]) await plus(node, 'DELETE', `/listings/${id}`)
})

test('a fresh load equals the followed state', async () => {
  const fresh = new ListingSnapshot({ db: node.db, catalogue: node.catalogue, now: node.clock.now, timeZone: 'Europe/Istanbul', readyBytesMb: 2 })
  await fresh.load()
  await fc.assert(
    fc.asyncProperty(queries, (query) => compare(fresh, query)),
    { numRuns: runs(60) },
  )
  expect(fresh.size).toBe(node.listings.size)
})

test('averages and last sales equal those of SQL', async () => {
  for (const item of items) {
    const { rows } = await sql<{ price: number; sold_at: Date }>`
      select unit_price::float8 as price, sold_at from sales where item_id = ${item} order by sold_at desc, id desc limit 10`.execute(node.db.kysely)
    const extras = node.listings.extrasOf(
      { item_id: item, label_id: grades[0]!, kurus: 100 },
      { item: false, pc: false, average: true, lastSales: true, details: false, explain: false },
    )
    const cents = rows.reduce((sum, row) => sum + Math.round(row.price * 100), 0)
    expect(extras.average_price).toBe(rows.length === 0 ? null : Math.round(cents / rows.length) / 100)
    expect(extras.last_sales?.map((sale) => sale.price)).toEqual(rows.map((row) => row.price))
    expect(extras.last_sales?.map((sale) => Date.parse(sale.sold_at))).toEqual(rows.map((row) => Math.floor(row.sold_at.getTime() / 1000) * 1000))
  }
})
