// The read workloads: which paths are asked in rotation, made from what is in the database, and what a right answer is.
import { sql } from 'kysely'
import type { Db } from '#db/schema.ts'
import { shuffled } from './random.ts'

export interface Workload {
  /** as in the list of goals; a letter tells variants apart */
  id: string
  title: string
  plan: 'starter' | 'professional'
  paths: string[]
  /** share of bare node:http that is wanted, null where none is stated */
  goal: number | null
  /** whether a total must agree with count(*) of the plain server */
  exactTotal: boolean
}

const PAGES = 100
const PER_PAGE = 20
const DEEP_ROWS = 1_000
const DEEP_PAGES = 12
const WORDS = 1_200
const PAIRS = 200
/** More than any cache of results keeps. */
const FRESH_QUERIES = 12_000

const SORTS = ['name', 'code', 'id', 'price', 'updated_at'].flatMap((by) => ['asc', 'desc'].map((order) => `sort_by=${by}&sort_order=${order}`))

/** All read workloads over this database. */
export async function readWorkloads(db: Db): Promise<Workload[]> {
  const ids = await column(db, sql`select id as value from items order by md5(id::text)`)
  const details = ids.map((id) => `/api/v1/items/${id}`)
  const words = await column(
    db,
    sql`select word as value from (
          select distinct lower(word) as word from items, regexp_split_to_table(name, '[^[:alnum:]]+') as word
        ) w where length(word) between 3 and 20 order by md5(word) limit ${FRESH_QUERIES}`,
  )
  const pairs = await column(
    db,
    sql`select pair as value from (
          select distinct substr(lower(name), 1, 2) as pair from items where lower(name) ~ '^[[:alnum:]]{2}'
        ) p order by md5(pair) limit ${PAIRS}`,
  )
  const search = (query: string) => `/api/v1/items/search?q=${encodeURIComponent(query)}&per_page=${PER_PAGE}`
  return [
    { id: '1s', title: 'Item detail, Starter', plan: 'starter', paths: details, goal: 0.8, exactTotal: false },
    { id: '1', title: 'Item detail, Professional', plan: 'professional', paths: details, goal: 0.8, exactTotal: false },
    { id: '2', title: 'List page of 20, pages 1-100, filters', plan: 'professional', paths: await listPaths(db), goal: 0.6, exactTotal: true },
    { id: '3', title: 'Deep page, every sort, two filters', plan: 'professional', paths: await deepPaths(db), goal: 0.5, exactTotal: true },
    {
      id: '4', title: `Search, ${Math.min(WORDS, words.length) + pairs.length} words and 2-letter queries`, plan: 'professional',
      paths: shuffled([...words.slice(0, WORDS), ...pairs]).map(search), goal: 0.4, exactTotal: false,
    },
    {
      id: '4n', title: `Search, ${FRESH_QUERIES} queries, none repeated soon`, plan: 'professional',
      paths: freshQueries(words).map(search), goal: null, exactTotal: false,
    },
  ]
}

async function listPaths(db: Db): Promise<string[]> {
  const filters = ['', ...(await largeFilters(db, PAGES * PER_PAGE))]
  return shuffled(filters.flatMap((filter) => pages(1, PAGES).map((page) => `/api/v1/items?page=${page}&per_page=${PER_PAGE}${filter}`)))
}

/** Pages more than a thousand rows into each sort order under each pair of filters. */
async function deepPaths(db: Db): Promise<string[]> {
  const first = DEEP_ROWS / PER_PAGE + 1
  const filters = (await largeFilters(db, DEEP_ROWS + DEEP_PAGES * PER_PAGE)).filter((filter) => filter.split('&').length === 3)
  return shuffled(
    filters.flatMap((filter) =>
      SORTS.flatMap((sort) =>
        pages(first, first + DEEP_PAGES - 1).map((page) => `/api/v1/items?page=${page}&per_page=${PER_PAGE}&${sort}${filter}`),
      ),
    ),
  )
}

/** One or two filters, as query text, that leave at least so many items. */
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

/** Words, and words with one of their letters lost, joined in pairs when there are too few: all different. */
function freshQueries(words: string[]): string[] {
  const queries = new Set(words)
  for (const word of words) if (word.length >= 5) queries.add(word.slice(0, 2) + word.slice(3))
  for (const word of words) if (word.length >= 4) queries.add(word.slice(0, -1))
  for (let i = 0; queries.size < FRESH_QUERIES && i < FRESH_QUERIES * 2; i += 1) {
    queries.add(`${words[i % words.length]} ${words[(i * 31 + 7) % words.length]!.slice(0, 2 + (i % 3))}`)
  }
  return shuffled([...queries].slice(0, FRESH_QUERIES))
}

/**
 * Checks an answer before its workload is measured.
 * @throws Error when it is no success or not of the shape asked for
 */
export function checkAnswer({ id, plan }: Workload, path: string, status: number, text: string): { total: number | null } {
  const wrong = (what: string) => new Error(`Workload ${id}, ${path}: ${what}: ${text.slice(0, 200)}`)
  if (status !== 200) throw wrong(`status ${status}`)
  const body = JSON.parse(text) as { success: boolean; data: Item | Item[]; pagination?: { total: number; per_page: number } }
  if (body.success !== true) throw wrong('no success')
  const items = Array.isArray(body.data) ? body.data : [body.data]
  for (const item of items) {
    if (typeof item.id !== 'number' || typeof item.name !== 'string' || !Array.isArray(item.prices)) throw wrong('no item')
    if (('slug' in item) !== (plan === 'professional')) throw wrong('the shape of another plan')
  }
  if (!Array.isArray(body.data)) {
    if (path !== `/api/v1/items/${body.data.id}`) throw wrong('another item')
    return { total: null }
  }
  const { total, per_page: perPage } = body.pagination!
  const page = Number(new URLSearchParams(path.split('?')[1]).get('page') ?? 1)
  if (items.length !== Math.max(0, Math.min(perPage, total - (page - 1) * perPage))) throw wrong('not as many items as the total says')
  return { total }
}

interface Item {
  id: number
  name: string
  prices: unknown
}

async function column(db: Db, query: ReturnType<typeof sql>): Promise<string[]> {
  const { rows } = await query.execute(db.kysely)
  return (rows as { value: string | number }[]).map((row) => String(row.value))
}

function pages(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i)
}
