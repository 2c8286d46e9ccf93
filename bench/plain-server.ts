// What the same service is like when it is written plainly with Fastify and pg: SQL at every request, JSON made by the
// database, count(*) for totals, OFFSET for pages, ILIKE for search. Only for comparison.
import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyReply } from 'fastify'
import pg from 'pg'
import { MARKETS } from '#core/markets.ts'

type Query = Record<string, string | undefined>

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 })
const app = Fastify()
const plans = new WeakMap<object, string>()

app.addHook('onRequest', async (request, reply) => {
  const hash = createHash('sha256').update(request.headers.authorization?.slice('Bearer '.length) ?? '').digest()
  const { rows } = await pool.query<{ plan: string }>({
    name: 'key',
    text: `select a.plan from api_keys k join accounts a on a.id = k.account_id
           where k.hash = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now()) and not a.suspended`,
    values: [hash],
  })
  if (rows.length === 0) return reply.code(401).send({ success: false, error: { code: 'UNAUTHENTICATED', message: 'Who are you?' } })
  plans.set(request, rows[0]!.plan)
})

const PRICES = `(select coalesce(json_agg(json_build_object('label', g.name, 'price', p.price, 'updated_at', p.updated_at) order by p.label_id), '[]')
  from prices p join groups g on g.id = p.label_id
  where p.item_id = i.id and p.market = array_position('{${MARKETS.join(',')}}'::text[], i.market) - 1)`
const GROUPS = (gated: string) =>
  `(select coalesce(json_agg(json_build_object('id', g.id, 'name', g.name${gated}) order by g.id), '[]') from groups g where g.id = any(i.group_ids))`
const STARTER = `json_build_object('id', i.id, 'name', i.name, 'code', i.code, 'category', json_build_object('id', c.id, 'name', c.name),
  'prices', ${PRICES}, 'groups', ${GROUPS('')})`
const FULL = `json_build_object('id', i.id, 'name', i.name, 'code', i.code, 'slug', i.slug, 'genre', i.genre, 'game', i.game,
  'market', i.market, 'category', json_build_object('id', c.id, 'name', c.name, 'slug', c.slug), 'images', i.images,
  'prices', ${PRICES}, 'groups', ${GROUPS(", 'slug', g.slug")}, 'attributes', i.attributes)`
const fieldsOf = (request: object) => (plans.get(request) === 'starter' ? STARTER : FULL)

const MARKET_PRICES = `from prices p where p.item_id = i.id and p.market = array_position('{${MARKETS.join(',')}}'::text[], i.market) - 1`
const SORTS: Record<string, string> = {
  name: 'lower(i.name)',
  code: 'i.code',
  id: 'i.id',
  price: `(select min(p.price) ${MARKET_PRICES} and p.label_id < 8)`,
  updated_at: `greatest(i.updated_at, (select max(p.updated_at) ${MARKET_PRICES}))`,
}

app.get<{ Params: { id: string } }>('/api/v1/items/:id', async (request, reply) => {
  const { rows } = await pool.query<{ item: object }>(
    `select ${fieldsOf(request)} as item from items i join categories c on c.id = i.category_id where i.id = $1`,
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

async function answerPage(request: object, reply: FastifyReply, query: Query, order: string, defaultPerPage: number): Promise<object> {
  const values: unknown[] = []
  const where = ['true']
  const filter = (value: unknown, sql: (n: string) => string) => {
    if (value === undefined) return
    values.push(value)
    where.push(sql(`$${values.length}`))
  }
  filter(query.market, (n) => `i.market = ${n}`)
  filter(query.game, (n) => `i.game = ${n}`)
  filter(query.genre, (n) => `i.genre = ${n}`)
  filter(
    query.category_id,
    (n) => `i.category_id in (with recursive below as (select id from categories where id = ${n}
      union all select x.id from categories x join below b on x.parent_id = b.id) select id from below)`,
  )
  filter(query.search && `%${query.search}%`, (n) => `(i.name ilike ${n} or i.code ilike ${n})`)
  const page = Number(query.page ?? 1)
  const perPage = Number(query.per_page ?? defaultPerPage)
  const from = `from items i where ${where.join(' and ')}`
  const [counted, found] = await Promise.all([
    pool.query<{ total: string }>(`select count(*) as total ${from}`, values),
    pool.query<{ item: object }>(
      `select ${fieldsOf(request)} as item from items i join categories c on c.id = i.category_id
       where ${where.join(' and ')} order by ${order} limit ${perPage} offset ${(page - 1) * perPage}`,
      values,
    ),
  ])
  const total = Number(counted.rows[0]!.total)
  const lastPage = Math.max(1, Math.ceil(total / perPage))
  reply.type('application/json')
  return {
    success: true,
    data: found.rows.map((row) => row.item),
    pagination: { current_page: page, per_page: perPage, total, last_page: lastPage, has_more: page < lastPage },
  }
}

await app.listen({ port: 0, host: '127.0.0.1' })
console.log(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
process.once('SIGTERM', () => process.exit(0))
