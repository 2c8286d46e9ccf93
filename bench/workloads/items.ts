// Workloads 1 to 4: item details, near and deep list pages, and searches; 1m to 4m with the prices of a market other than that of most items.
import { sql } from 'kysely'
import { type Market, MARKETS } from '#core/markets.ts'
import type { Plan } from '#core/plans.ts'
import type { Db } from '#db/schema.ts'
import { answerTo, spread } from '../answers.ts'
import type { Traffic } from '../compare.ts'
import type { Server } from '../processes.ts'
import { shuffled } from '../random.ts'
import type { Stage } from '../stage.ts'
import { type HttpWorkload, httpWorkload } from '../workload.ts'

const DETAILS = 100_000
const PAGES = 100
const PER_PAGE = 20
const DEEP_ROWS = 1_000
const DEEP_PAGES = 12
const WORDS = 1_200
const PAIRS = 200
/** More distinct requests than any result cache holds. */
const FRESH_QUERIES = 12_000
const FRESH_PAGES = 40
const CHECKED_ANSWERS = 40

const SORTS = ['name', 'code', 'id', 'price', 'updated_at'].flatMap((by) => ['asc', 'desc'].map((order) => `sort_by=${by}&sort_order=${order}`))

interface Reading {
  id: string
  title: string
  goal: number | null
  plan: 'starter' | 'professional'
  paths: (db: Db) => Promise<string[]>
  /** whether totals must equal those of the baseline server */
  counted: boolean
}

const READINGS: Reading[] = [
  { id: '1s', title: 'Item detail, Starter', goal: 0.8, plan: 'starter', paths: detailPaths, counted: false },
  { id: '1', title: 'Item detail, Professional', goal: 0.8, plan: 'professional', paths: detailPaths, counted: false },
  { id: '1m', title: 'The same with `market=` of another market', goal: null, plan: 'professional', paths: otherDetailPaths, counted: false },
  { id: '2', title: 'List page of 20, pages 1-100, filters', goal: 0.6, plan: 'professional', paths: listPaths, counted: true },
  {
    id: '2n',
    title: `The same in every sort, ${FRESH_QUERIES} pages, none repeated soon`,
    goal: null,
    plan: 'professional',
    paths: freshListPaths,
    counted: false,
  },
  {
    id: '2m',
    title: 'List page of 20, pages 1-100, `market=` of another market',
    goal: null,
    plan: 'professional',
    paths: otherListPaths,
    counted: true,
  },
  { id: '3', title: 'Deep page, every sort, two filters', goal: 0.5, plan: 'professional', paths: deepPaths, counted: true },
  { id: '3m', title: 'Deep page, every sort, `market=` of another market', goal: null, plan: 'professional', paths: otherDeepPaths, counted: true },
  { id: '4', title: `Search, ${WORDS} words and 2-letter queries`, goal: 0.4, plan: 'professional', paths: searchPaths, counted: false },
  {
    id: '4m',
    title: `Search, ${WORDS} words and 2-letter queries, \`market=\` of another market`,
    goal: null,
    plan: 'professional',
    paths: otherSearchPaths,
    counted: false,
  },
  { id: '4n', title: `Search, ${FRESH_QUERIES} queries, none repeated soon`, goal: null, plan: 'professional', paths: freshPaths, counted: false },
]

export const itemWorkloads: HttpWorkload[] = READINGS.map((reading) =>
  httpWorkload({ ...reading, data: 'items', traffic: (stage) => traffic(stage, reading) }),
)

/** Paths of item details in random order, as many as the load generator can hold. */
export async function detailPaths(db: Db): Promise<string[]> {
  const ids = await column(db, sql`select id as value from items order by md5(id::text) limit ${DETAILS}`)
  return ids.map((id) => `/api/v1/items/${id}`)
}

/**
 * Checks a response of the item paths.
 * @throws Error if it failed or does not have the expected shape
 */
export function checkItems(plan: Plan, path: string, status: number, text: string): { total: number | null } {
  const wrong = (what: string) => new Error(`${path}: ${what}: ${text.slice(0, 200)}`)
  if (status !== 200) throw wrong(`status ${status}`)
  const [route, query] = path.split('?')
  const params = new URLSearchParams(query)
  const body = JSON.parse(text) as { success: boolean; data: Item | Item[]; pagination?: { total: number; per_page: number } }
  if (body.success !== true) throw wrong('no success')
  const items = Array.isArray(body.data) ? body.data : [body.data]
  for (const item of items) {
    if (typeof item.id !== 'number' || typeof item.name !== 'string' || !Array.isArray(item.prices)) throw wrong('no item')
    if ('slug' in item !== (plan === 'professional')) throw wrong('the shape of another plan')
    if (plan === 'professional' && params.has('market') && item.market !== params.get('market')) throw wrong('another market')
  }
  if (!Array.isArray(body.data)) {
    if (route !== `/api/v1/items/${body.data.id}`) throw wrong('another item')
    return { total: null }
  }
  const { total, per_page: perPage } = body.pagination!
  const page = Number(params.get('page') ?? 1)
  if (items.length !== Math.max(0, Math.min(perPage, total - (page - 1) * perPage))) throw wrong('not as many items as the total says')
  return { total }
}

interface Item {
  id: number
  name: string
  market?: string
  prices: unknown
}

async function traffic(stage: Stage, { plan, goal, paths, counted }: Reading): Promise<Traffic> {
  const { database, effort } = stage
  const requests = await paths(database.ctx.db)
  const { key } = database.accounts[plan]
  const node = await stage.node()
  const totalOf = async (server: Server, path: string) => {
    const { status, text, bytes } = await answerTo(server, key, path)
    return { ...checkItems(plan, path, status, text), bytes }
  }
  const checked = spread(requests, CHECKED_ANSWERS)
  let bytes = 0
  for (const path of checked) bytes += (await totalOf(node, path)).bytes
  if (counted) {
    const plain = await stage.startPlain()
    for (const path of spread(checked, effort.totals)) {
      const [{ total }, { total: count }] = [await totalOf(node, path), await totalOf(plain, path)]
      if (total !== count) throw new Error(`${path}: total ${total}, but the database counts ${count}`)
    }
    await plain.stop()
  }
  return { plan, requests, bytes: Math.round(bytes / checked.length), plain: goal !== null }
}

/** Paths of item details with prices of a market other than the items' own. */
async function otherDetailPaths(db: Db): Promise<string[]> {
  const [market] = (await otherMarkets(db)) as [Market]
  const ids = await column(
    db,
    sql`select id as value from items i where market <> ${market} and ${pricedBy(market)} order by md5(id::text) limit ${DETAILS}`,
  )
  return ids.map((id) => `/api/v1/items/${id}?market=${market}`)
}

async function listPaths(db: Db): Promise<string[]> {
  return nearPages(['', ...(await largeFilters(db, PAGES * PER_PAGE))])
}

async function otherListPaths(db: Db): Promise<string[]> {
  return nearPages(await marketFilters(db, PAGES * PER_PAGE))
}

function nearPages(filters: string[]): string[] {
  return shuffled(filters.flatMap((filter) => pages(1, PAGES).map((page) => `/api/v1/items?page=${page}&per_page=${PER_PAGE}${filter}`)))
}

/** First pages of every sort order with one or two filters. */
async function freshListPaths(db: Db): Promise<string[]> {
  const filters = ['', ...(await largeFilters(db, FRESH_PAGES * PER_PAGE))]
  const paths = filters.flatMap((filter) =>
    SORTS.flatMap((sort) => pages(1, FRESH_PAGES).map((page) => `/api/v1/items?page=${page}&per_page=${PER_PAGE}&${sort}${filter}`)),
  )
  return shuffled(paths).slice(0, FRESH_QUERIES)
}

/** Pages more than a thousand rows into each sort order with each pair of filters. */
async function deepPaths(db: Db): Promise<string[]> {
  return deepPages(await largeFilters(db, DEEP_ROWS + DEEP_PAGES * PER_PAGE))
}

async function otherDeepPaths(db: Db): Promise<string[]> {
  return deepPages(await marketFilters(db, DEEP_ROWS + DEEP_PAGES * PER_PAGE))
}

function deepPages(filters: string[]): string[] {
  const first = DEEP_ROWS / PER_PAGE + 1
  const pairs = filters.filter((filter) => filter.split('&').length === 3)
  return shuffled(
    pairs.flatMap((filter) =>
      SORTS.flatMap((sort) => pages(first, first + DEEP_PAGES - 1).map((page) => `/api/v1/items?page=${page}&per_page=${PER_PAGE}&${sort}${filter}`)),
    ),
  )
}

/** Query strings of one or two filters that leave at least this many items. */
async function largeFilters(db: Db, atLeast: number): Promise<string[]> {
  const fields = ['market', 'game', 'genre'] as const
  const filters: string[] = []
  for (const [i, field] of fields.entries()) {
    const next = fields[(i + 1) % fields.length]!
    const { rows } = await sql<Record<string, string>>`
      select ${sql.ref(field)}, ${sql.ref(next)} from items group by grouping sets ((${sql.ref(field)}), (${sql.ref(field)}, ${sql.ref(next)}))
      having count(*) >= ${atLeast}`.execute(db.kysely)
    for (const row of rows) filters.push(`&${field}=${row[field]}${row[next] ? `&${next}=${row[next]}` : ''}`)
  }
  const { rows: trees } = await sql<{ top: number; market: string | null }>`
    with recursive tree as (
      select id, id as top from categories where parent_id is null
      union all select c.id, t.top from categories c join tree t on c.parent_id = t.id
    )
    select t.top, i.market from items i join tree t on t.id = i.category_id
    group by grouping sets ((t.top), (t.top, i.market)) having count(*) >= ${atLeast} order by 1, 2 limit 12`.execute(db.kysely)
  for (const { top, market } of trees) filters.push(`&category_id=${top}${market ? `&market=${market}` : ''}`)
  return filters
}

/** Markets with prices of many items of other markets, largest number first. */
async function otherMarkets(db: Db): Promise<Market[]> {
  const markets = await column(
    db,
    sql`select p.market as value from (select distinct item_id, market from prices) p join items i on i.id = p.item_id
        where p.market <> ${positionOf(sql.ref('i.market'))} group by p.market having count(*) >= ${DEEP_ROWS} order by count(*) desc`,
  )
  if (markets.length === 0) throw new Error(`No market has prices of ${DEEP_ROWS} items of others`)
  return markets.map((market) => MARKETS[Number(market)]!)
}

/** Query strings with `market=` for these markets, alone and with another filter, that leave enough items. */
async function marketFilters(db: Db, atLeast: number): Promise<string[]> {
  const filters: string[] = []
  for (const market of await otherMarkets(db)) {
    const selected = sql`items i where (i.market = ${market} or ${pricedBy(market)})`
    filters.push(`&market=${market}`)
    for (const field of ['game', 'genre'] as const) {
      const values = await column(db, sql`select ${sql.ref(field)} as value from ${selected} group by 1 having count(*) >= ${atLeast}`)
      for (const value of values) filters.push(`&market=${market}&${field}=${value}`)
    }
    const trees = await column(
      db,
      sql`with recursive tree as (
            select id, id as top from categories where parent_id is null
            union all select c.id, t.top from categories c join tree t on c.parent_id = t.id
          )
          select t.top as value from tree t join (select category_id from ${selected}) s on s.category_id = t.id
          group by 1 having count(*) >= ${atLeast} order by 1 limit 12`,
    )
    for (const top of trees) filters.push(`&market=${market}&category_id=${top}`)
  }
  return filters
}

/** Whether a market has prices for the item `i`. */
function pricedBy(market: Market) {
  return sql`exists (select from prices p where p.item_id = i.id and p.market = ${MARKETS.indexOf(market)})`
}

/** A market's position in MARKETS, as stored with prices. */
function positionOf(market: ReturnType<typeof sql.ref>) {
  return sql`array_position(${[...MARKETS]}::text[], ${market}) - 1`
}

async function otherSearchPaths(db: Db): Promise<string[]> {
  const [market] = (await otherMarkets(db)) as [Market]
  return (await searchPaths(db)).map((path) => `${path}&market=${market}`)
}

async function searchPaths(db: Db): Promise<string[]> {
  const pairs = await column(
    db,
    sql`select pair as value from (
          select distinct substr(lower(name), 1, 2) as pair from items where lower(name) ~ '^[[:alnum:]]{2}'
        ) p order by md5(pair) limit ${PAIRS}`,
  )
  return shuffled([...(await words(db)).slice(0, WORDS), ...pairs]).map(search)
}

/** Words, and words with one letter removed, joined in pairs if there are too few; all distinct. */
async function freshPaths(db: Db): Promise<string[]> {
  const catalogueWords = await words(db)
  const queries = new Set(catalogueWords)
  for (const word of catalogueWords) if (word.length >= 5) queries.add(word.slice(0, 2) + word.slice(3))
  for (const word of catalogueWords) if (word.length >= 4) queries.add(word.slice(0, -1))
  for (let i = 0; queries.size < FRESH_QUERIES && i < FRESH_QUERIES * 2; i += 1) {
    queries.add(`${catalogueWords[i % catalogueWords.length]} ${catalogueWords[(i * 31 + 7) % catalogueWords.length]!.slice(0, 2 + (i % 3))}`)
  }
  return shuffled([...queries].slice(0, FRESH_QUERIES)).map(search)
}

function words(db: Db): Promise<string[]> {
  return column(
    db,
    sql`select word as value from (
          select distinct lower(word) as word from items, regexp_split_to_table(name, '[^[:alnum:]]+') as word
        ) w where length(word) between 3 and 20 order by md5(word) limit ${FRESH_QUERIES}`,
  )
}

function search(query: string): string {
  return `/api/v1/items/search?q=${encodeURIComponent(query)}&per_page=${PER_PAGE}`
}

async function column(db: Db, query: ReturnType<typeof sql>): Promise<string[]> {
  const { rows } = await query.execute(db.kysely)
  return (rows as { value: string | number }[]).map((row) => String(row.value))
}

function pages(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i)
}
