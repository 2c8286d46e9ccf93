// The baseline: the same service written in the usual way with Fastify and pg. SQL on every request, JSON built by the database, count(*) for totals,
// OFFSET for pages, LIKE for search. For comparison only.
import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyReply } from 'fastify'
import pg from 'pg'
import { MARKETS } from '#core/markets.ts'

type Query = Record<string, string | undefined>

interface Caller {
  id: number
  plan: string
}

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10, application_name: 'plain' })
const app = Fastify()
const callers = new WeakMap<object, Caller>()

app.addHook('onRequest', async (request, reply) => {
  const hash = createHash('sha256')
    .update(request.headers.authorization?.slice('Bearer '.length) ?? '')
    .digest()
  const { rows } = await pool.query<Caller>({
    name: 'key',
    text: `select a.id, a.plan from api_keys k join accounts a on a.id = k.account_id
           where k.hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now()) and not a.suspended`,
    values: [hash],
  })
  if (rows.length === 0) return reply.code(401).send({ success: false, error: { code: 'UNAUTHENTICATED', message: 'Unknown API key' } })
  callers.set(request, rows[0]!)
})

const HOME = `array_position('{${MARKETS.join(',')}}'::text[], i.market) - 1`
/** The default market of an item: its own, else the first of the default MARKET_ORDER that has prices. */
const SHOWN = `coalesce((select p.market from prices p where p.item_id = i.id order by (p.market = ${HOME}) desc, p.market = 0, p.market desc limit 1), ${HOME})`
const PRICES = `(select coalesce(json_agg(json_build_object('label', g.name, 'price', p.price, 'updated_at', p.updated_at) order by p.label_id), '[]')
  from prices p join groups g on g.id = p.label_id where p.item_id = i.id and p.market = s.market)`
const GROUPS = (gated: string) =>
  `(select coalesce(json_agg(json_build_object('id', g.id, 'name', g.name${gated}) order by g.id), '[]') from groups g where g.id = any(i.group_ids))`
const STARTER = `json_build_object('id', i.id, 'name', i.name, 'code', i.code, 'category', json_build_object('id', c.id, 'name', c.name),
  'prices', ${PRICES}, 'groups', ${GROUPS('')})`
const FULL = `json_build_object('id', i.id, 'name', i.name, 'code', i.code, 'slug', i.slug, 'genre', i.genre, 'game', i.game,
  'market', ('{${MARKETS.join(',')}}'::text[])[s.market + 1], 'category', json_build_object('id', c.id, 'name', c.name, 'slug', c.slug), 'images', i.images,
  'prices', ${PRICES}, 'groups', ${GROUPS(", 'slug', g.slug")}, 'attributes', i.attributes)`
const fieldsOf = (request: object) => (callers.get(request)!.plan === 'starter' ? STARTER : FULL)

const MARKET_PRICES = 'from prices p where p.item_id = i.id and p.market = s.market'
/** An item with its category and the market to show, if one is requested by its position in MARKETS. */
const itemsIn = (market: number) =>
  `items i join categories c on c.id = i.category_id cross join lateral (select ${market < 0 ? SHOWN : market} as market) s`
const positionOf = (market: string | undefined) => (MARKETS as readonly (string | undefined)[]).indexOf(market)
const SORTS: Record<string, string> = {
  name: 'lower(i.name)',
  code: 'i.code',
  id: 'i.id',
  price: `(select min(p.price) ${MARKET_PRICES} and p.label_id < 8)`,
  updated_at: `greatest(i.updated_at, (select max(p.updated_at) ${MARKET_PRICES}))`,
}

app.get<{ Params: { id: string }; Querystring: Query }>('/api/v1/items/:id', async (request, reply) => {
  const { rows } = await pool.query<{ item: object }>(
    `select ${fieldsOf(request)} as item from ${itemsIn(positionOf(request.query.market))} where i.id = $1`,
    [request.params.id],
  )
  if (rows.length === 0) return reply.code(404).send({ success: false, error: { code: 'ITEM_NOT_FOUND', message: 'No such item' } })
  return { success: true, data: rows[0]!.item }
})

app.get<{ Querystring: Query }>('/api/v1/items', (request, reply) => {
  const { sort_by = 'name', sort_order = 'asc' } = request.query
  const order = `${SORTS[sort_by]} ${sort_order === 'desc' ? 'desc' : 'asc'} nulls last, i.id`
  return answerPage(request, reply, request.query, order, 20)
})

app.get<{ Querystring: Query }>('/api/v1/items/search', (request, reply) =>
  answerPage(request, reply, { ...request.query, search: request.query.q }, 'lower(i.name), i.id', 50),
)

function answerPage(request: object, reply: FastifyReply, query: Query, order: string, defaultPerPage: number): Promise<object> {
  const { where, values, filter } = conditions()
  const market = positionOf(query.market)
  filter(query.market, (n) => `(i.market = ${n} or exists (select from prices p where p.item_id = i.id and p.market = ${market}))`)
  filter(query.game, (n) => `i.game = ${n}`)
  filter(query.genre, (n) => `i.genre = ${n}`)
  filter(
    query.category_id,
    (n) => `i.category_id in (with recursive below as (select id from categories where id = ${n}
      union all select x.id from categories x join below b on x.parent_id = b.id) select id from below)`,
  )
  filter(query.search && `%${query.search}%`, (n) => `(i.name ilike ${n} or i.code ilike ${n})`)
  const from = `${itemsIn(market)} where ${where.join(' and ')}`
  return found(reply, query, { row: fieldsOf(request), from, order, values }, defaultPerPage)
}

const LAST_SALES = '(select s.unit_price, s.sold_at from sales s where s.item_id = l.item_id order by s.sold_at desc, s.id desc limit 10) s'
const LISTING_FIELDS: Record<string, string> = {
  with_item: `'item', json_build_object('id', i.id, 'name', i.name, 'code', i.code, 'slug', i.slug, 'genre', i.genre, 'game', i.game)`,
  with_pc: `'pc_multiplier', round(l.price / a.price, 2)`,
  with_average: `'average_price', (select round(avg(s.unit_price), 2) from ${LAST_SALES})`,
  with_last_sales: `'last_sales',
    (select coalesce(json_agg(json_build_object('price', s.unit_price, 'date', s.sold_at)), '[]') from ${LAST_SALES})`,
}
const LISTING_SORTS: Record<string, string> = {
  latest: 'l.published_at desc, l.id desc',
  price_low: 'l.price, l.id',
  price_high: 'l.price desc, l.id desc',
  pc_multiplier_desc: 'l.price / a.price desc nulls last, l.id desc',
  popular: `(select count(*) from sales s where s.item_id = l.item_id and s.sold_at > now() - interval '30 days') desc,
    l.published_at desc, l.id desc`,
}

app.get<{ Querystring: Record<string, string | string[] | undefined> }>('/api/v1/plus/listings', (request, reply) => {
  const { 'game[]': games, 'language[]': languages, ...rest } = request.query
  const query = rest as Query
  const { where, values, filter } = conditions()
  filter(games && [games].flat(), (n) => `i.game = any(${n})`)
  filter(languages && [languages].flat(), (n) => `l.language = any(${n})`)
  filter(query.min_price, (n) => `l.price >= ${n}`)
  filter(query.max_price, (n) => `l.price <= ${n}`)
  for (const word of query.search?.split(' ') ?? []) filter(`%${word.toLowerCase()}%`, (n) => `lower(l.title || ' ' || i.name) like ${n}`)
  const added = Object.entries(LISTING_FIELDS)
    .filter(([flag]) => query[flag] === '1')
    .map(([, field]) => `, ${field}`)
  const slug = `lower(replace(l.title, ' ', '-')) || '-' || l.id`
  const row = `json_build_object('id', l.id, 'title', l.title, 'slug', ${slug}, 'price', l.price${added.join('')})`
  const from = `listings l join items i on i.id = l.item_id
    left join prices a on a.item_id = l.item_id and a.label_id = l.label_id and a.market = ${MARKETS.indexOf('source_a')}
    where l.status = 'active' and l.quantity > 0 and l.expires_at > now() and ${where.join(' and ')}`
  return found(reply, query, { row, from, order: LISTING_SORTS[query.sort_by ?? 'popular']!, values }, 20)
})

app.patch<{ Params: { id: string }; Body: { price: number } }>('/api/v1/plus/listings/:id/price', async (request, reply) => {
  const { rows } = await pool.query<{ id: number; price: string; status: string }>(
    `update listings set price = $1, approved_price = $1, version = version + 1, updated_at = now()
     where id = $2 and seller_id = $3 and status <> 'sold' returning id, price, status`,
    [request.body.price, request.params.id, callers.get(request)!.id],
  )
  if (rows.length === 0) return reply.code(422).send({ success: false, error: { code: 'PLUS_LISTING_ERROR', message: 'No such listing' } })
  return { success: true, data: { ...rows[0], message: 'The price is changed' } }
})

interface NewRecord {
  item_id: number
  quantity: number
  purchase_price: number
  note: string
}

app.post<{ Params: { id: string }; Body: NewRecord }>('/api/v1/plus/collections/:id/items', async (request, reply) => {
  const { item_id, quantity, purchase_price, note } = request.body
  const { rows } = await pool.query<{ id: number }>(
    `insert into collection_items (collection_id, item_id, quantity, purchase_price, note)
     select c.id, $3, $4, $5, $6 from collections c where c.id = $1 and c.account_id = $2 returning *`,
    [request.params.id, callers.get(request)!.id, item_id, quantity, purchase_price, note],
  )
  if (rows.length === 0) return reply.code(404).send({ success: false, error: { code: 'NOT_FOUND', message: 'No such collection' } })
  reply.code(201)
  return { success: true, data: rows[0] }
})

function conditions() {
  const values: unknown[] = []
  const where = ['true']
  const filter = (value: unknown, sql: (n: string) => string) => {
    if (value === undefined) return
    values.push(value)
    where.push(sql(`$${values.length}`))
  }
  return { where, values, filter }
}

interface Select {
  /** SQL of a row's JSON */
  row: string
  /** FROM clause with joins and conditions */
  from: string
  order: string
  values: unknown[]
}

async function found(reply: FastifyReply, query: Query, { row, from, order, values }: Select, defaultPerPage: number): Promise<object> {
  const page = Number(query.page ?? 1)
  const perPage = Number(query.per_page ?? defaultPerPage)
  const [counted, rows] = await Promise.all([
    pool.query<{ total: string }>(`select count(*) as total from ${from}`, values),
    pool.query<{ row: object }>(`select ${row} as row from ${from} order by ${order} limit ${perPage} offset ${(page - 1) * perPage}`, values),
  ])
  const total = Number(counted.rows[0]!.total)
  const lastPage = Math.max(1, Math.ceil(total / perPage))
  reply.type('application/json')
  return {
    success: true,
    data: rows.rows.map((found) => found.row),
    pagination: { current_page: page, per_page: perPage, total, last_page: lastPage, has_more: page < lastPage },
  }
}

await app.listen({ port: 0, host: '127.0.0.1' })
console.log(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
process.once('SIGTERM', () => process.exit(0))
