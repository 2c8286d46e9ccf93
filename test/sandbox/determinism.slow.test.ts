// Two advances of a day are one of two, byte for byte: in responses and in every row of the database.
import { afterAll, beforeAll, expect, test } from 'vitest'
import pg from 'pg'
import { withDatabase } from '#sandbox/databases.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
beforeAll(async () => {
  node = await startTestNode({ listeners: 'public' })
}, 120_000)
afterAll(() => node.close())

const api = (path: string) => `${node.publicUrl}/api/v1${path}`
const READS = [
  '/plus/my-listings',
  '/plus/listings?with_details=1',
  '/plus/recent-sales',
  '/plus/events',
  '/plus/webhook/logs',
  '/plus/collections/1/worth-history',
  '/items?with_stats=1&per_page=100',
  '/plus/orders',
]
/** What the real clock and secrets decide: hashes of keys, leases, positions in the log of the server's transactions. */
const OWN = new Set(['hash', 'last4', 'sealed_secret', 'xact', 'position', 'server', 'lease_until', 'request_id', 'traceparent'])
const LEFT_OUT = new Set([
  'change_log',
  'change_log_floor',
  'catalogue_log_floor',
  'watch_progress',
  'api_key_usage',
  'listing_views',
  'search_terms',
  'kysely_migration',
  'kysely_migration_lock',
  'idempotency_keys',
])

async function world(): Promise<{ id: number; key: string }> {
  const { body } = await send<{ id: number; key: string }>(api('/sandbox'), node.keys.plus, { json: { at: '2027-03-26T12:00:00Z', seed: 3 } })
  const { key } = body.data
  const set = async (path: string, sending: Parameters<typeof send>[2]) => {
    const { status, body } = await send(api(path), key, sending)
    expect([path, status < 300, body]).toEqual([path, true, expect.anything()])
  }
  await set('/plus/webhook', { method: 'PUT', json: { url: 'http://127.0.0.1:9/', on_sale: true, on_expire: true } })
  const onSale = (await send<{ item: { id: number } }[]>(api('/plus/listings?with_item=1'), key)).body.data
  const watches = onSale.map(({ item }) => ({ kind: 'offer_below', item_id: item.id, amount: 9_999_999 }))
  await set('/plus/watches', { method: 'PUT', json: watches })
  await set('/plus/repricing-rules', {
    json: { name: 'near', target: { kind: 'cheapest', amount: -1 }, scope: { kind: 'all' }, floor: { price: 1 } },
  })
  await set('/plus/vacation', { method: 'PUT', json: { from: '2027-03-28T00:00:00Z', to: '2027-03-29T00:00:00Z' } })
  await set('/sandbox/sell', { json: { lines: [{ listing_id: 1 }, { listing_id: 2, quantity: 3 }] } })
  return body.data
}

async function contents(id: number): Promise<Record<string, unknown>> {
  const { rows: named } = await node.db.pool.query<{ datname: string }>('select datname from pg_database where datname ~ $1', [`_${id}_1$`])
  const client = new pg.Client({ connectionString: withDatabase(node.databaseUrl, named[0]!.datname) })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition",
    )
    const all: Record<string, unknown> = {}
    for (const { name } of tables.filter((table) => !LEFT_OUT.has(table.name))) {
      const { rows } = await client.query<{ row: Record<string, unknown> }>(`select to_jsonb(t) as row from "${name}" t`)
      all[name] = rows.map(({ row }) => JSON.stringify(Object.entries(row).filter(([column]) => !OWN.has(column)))).toSorted()
    }
    return all
  } finally {
    await client.end()
  }
}

test('one advance of a month and forty-odd shorter ones', { timeout: 300_000 }, async () => {
  const [whole, parts] = [await world(), await world()]
  const fired: unknown[] = []
  const step = async (key: string, body: object) => {
    const reply = await send<{ status: string; fired: unknown[] }>(api('/sandbox/advance'), key, { json: body })
    expect(reply.body.data.status).toBe('ready')
    return reply.body.data.fired
  }
  const once = await step(whole.key, { by: 'P31D' })
  for (const by of ['PT1S', 'PT29S', 'PT5H', ...Array.from({ length: 30 }, () => 'P1D'), 'PT18H59M30S'])
    fired.push(...(await step(parts.key, { by })))
  expect(fired).toEqual(once)
  expect(once.length).toBeGreaterThan(20)
  for (const path of READS) expect([path, (await send(api(path), parts.key)).body]).toEqual([path, (await send(api(path), whole.key)).body])
  expect(await contents(parts.id)).toEqual(await contents(whole.id))
  // A rule that runs every hour.
  for (const { key } of [whole, parts]) {
    await send(api('/plus/repricing-rules/1/simulate'), key, { method: 'POST', json: {} })
    const { status, body } = await send(api('/plus/repricing-rules/1'), key, { method: 'PATCH', json: { enabled: true } })
    expect([status, body]).toEqual([200, expect.anything()])
  }
  await step(whole.key, { by: 'PT30H' })
  for (const by of ['PT59M59S', 'PT1S', 'PT29H']) await step(parts.key, { by })
  expect(await contents(parts.id)).toEqual(await contents(whole.id))
})
