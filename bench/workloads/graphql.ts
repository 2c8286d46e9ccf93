// Workload 5: pages of items and walks down the categories over GraphQL, and the most expensive queries that the limits allow.
import { sql } from 'kysely'
import { dataOf, spread } from '../answers.ts'
import type { Traffic } from '../compare.ts'
import { MOST_EXPENSIVE } from '../graphql/most-expensive.ts'
import { sending } from '../load.ts'
import { shuffled } from '../random.ts'
import type { Stage } from '../stage.ts'
import { type Table, whole } from '../tables.ts'
import { httpWorkload, type Workload } from '../workload.ts'

const PAGES = 100
const ORDERS = [{}, { sortBy: 'price' }, { game: 'pokemon' }, { sortBy: 'updated_at', game: 'onepiece' }]
/** With all sort orders, more distinct queries than the response cache holds. */
const FRESH_PAGES = 600
const EVERY_ORDER = ['name', 'code', 'id', 'price', 'updated_at'].flatMap((sortBy) => ['asc', 'desc'].map((sortOrder) => ({ sortBy, sortOrder })))
const CHECKED_ANSWERS = 100
const MAX_CHILDREN = 40
const TIMES = 3
const ITEMS_PAGE = `query Page($sortBy: String, $sortOrder: String, $game: String, $after: String) {
  items(first: 20, sortBy: $sortBy, sortOrder: $sortOrder, game: $game, after: $after) {
    nodes { id name code category { id name parent { id name } } prices { market label price currency updatedAt } }
    pageInfo { hasNextPage endCursor }
  }
}`
const WALK = `query Walk($id: ID!) {
  category(id: $id) { id name children { id name items(first: 5) { nodes { id name code } pageInfo { hasNextPage endCursor } } } }
}`

export const graphqlWorkloads: Workload[] = [
  httpWorkload({
    id: '5',
    title: 'GraphQL: 20 items, category and parent, prices',
    goal: 0.35,
    data: 'items',
    traffic: async (stage) => trafficOf(stage, await itemPages(stage, ORDERS, PAGES)),
  }),
  httpWorkload({
    id: '5n',
    title: 'GraphQL: the same, none repeated soon',
    goal: null,
    data: 'items',
    traffic: async (stage) => trafficOf(stage, shuffled(await itemPages(stage, EVERY_ORDER, FRESH_PAGES))),
  }),
  httpWorkload({
    id: '5w',
    title: 'GraphQL: a category, its children, 5 items of each',
    goal: null,
    data: 'items',
    traffic: async (stage) => trafficOf(stage, await walks(stage)),
  }),
  { id: '5d', title: 'GraphQL: the most expensive queries', goal: null, data: 'items', prepare: async (stage) => () => measureMostExpensive(stage) },
]

/** @throws Error if a query fails */
async function trafficOf(stage: Stage, requests: string[]): Promise<Traffic> {
  let bytes = 0
  const checked = spread(requests, CHECKED_ANSWERS)
  for (const request of checked) bytes += Buffer.byteLength(JSON.stringify(await ask(stage, request)))
  return { plan: 'professional', requests, bytes: Math.round(bytes / checked.length), plain: false }
}

/** Pages of 20 items in each sort order, by the returned cursors. */
async function itemPages(stage: Stage, orders: object[], pages: number): Promise<string[]> {
  const requests: string[] = []
  for (const order of orders) {
    let after: string | null = null
    for (let page = 0; page < pages; page += 1) {
      const request = sending('POST', '/graphql', { query: ITEMS_PAGE, variables: { ...order, after } })
      requests.push(request)
      const { items } = (await ask(stage, request)) as { items: ItemsPage }
      if (items.nodes.some(({ prices }) => !Array.isArray(prices))) throw new Error(`No items with prices: ${request}`)
      if (!items.pageInfo.hasNextPage) break
      after = items.pageInfo.endCursor
    }
  }
  return requests
}

interface ItemsPage {
  nodes: { prices: unknown }[]
  pageInfo: { hasNextPage: boolean; endCursor: string }
}

async function walks({ database }: Stage): Promise<string[]> {
  const { rows } = await sql<{ id: number }>`
    select parent_id as id from categories where parent_id is not null
    group by parent_id having count(*) <= ${MAX_CHILDREN} order by parent_id`.execute(database.ctx.db.kysely)
  return rows.map(({ id }) => sending('POST', '/graphql', { query: WALK, variables: { id } }))
}

/** Measures queries that use up the limits of the largest plan, and again with a failing field, which makes graphql-js execute them. */
async function measureMostExpensive(stage: Stage) {
  const figures: { name: string; bytes: number; ms: number; msWithError: number }[] = []
  for (const [name, query] of Object.entries(MOST_EXPENSIVE)) {
    const failing = query.replace(/}$/, 'e: item(id: "x") { id } }')
    const { ms, bytes } = await timeOf(stage, query)
    figures.push({ name, bytes, ms, msWithError: (await timeOf(stage, failing)).ms })
  }
  const longest = Math.max(...figures.flatMap(({ ms, msWithError }) => [ms, msWithError]))
  stage.say(`5d the most expensive queries: ${whole(longest)} ms at most, ${whole(Math.max(...figures.map(({ bytes }) => bytes)))} bytes`)
  const table: Table = {
    title: '5d: the most expensive queries that the limits allow (500 ms and 2 MB at most)',
    head: ['Query', 'Bytes', 'ms', 'ms with an error in it'],
    rows: figures.map(({ name, bytes, ms, msWithError }) => [name, whole(bytes), whole(ms), whole(msWithError)]),
    words: 1,
  }
  return { table, figures }
}

/** The longest of several durations. */
async function timeOf(stage: Stage, query: string): Promise<{ ms: number; bytes: number }> {
  const request = sending('POST', '/graphql', { query })
  const node = await stage.node()
  let ms = 0
  let bytes = 0
  for (let i = 0; i < TIMES; i += 1) {
    const started = performance.now()
    const answer = await dataOf<{ data?: object }>(node, stage.database.accounts.enterprise.key, request)
    ms = Math.max(ms, performance.now() - started)
    if (!answer.data) throw new Error(`Refused: ${query.slice(0, 100)}: ${JSON.stringify(answer).slice(0, 200)}`)
    bytes = JSON.stringify(answer).length
  }
  return { ms, bytes }
}

async function ask(stage: Stage, request: string): Promise<object> {
  const { key } = stage.database.accounts.professional
  const { data, errors } = await dataOf<{ data: object; errors?: object[] }>(await stage.node(), key, request)
  if (errors) throw new Error(`A query failed: ${JSON.stringify(errors)}`)
  return data
}
