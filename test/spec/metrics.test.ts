// Metrics on the operator's port: only for operators, in Prometheus' format, counting responses.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { startNode } from '#node/start.ts'
import { OPERATOR_TOKEN, send, silent, startTestNode, type TestNode, until } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode({ worker: true })
})

afterAll(() => node.close())

const scrape = (token: string | null) => fetch(`${node.operatorUrl}/metrics`, { headers: token === null ? {} : { authorization: `Bearer ${token}` } })

test('counts responses, entries in memory and queued work', async () => {
  await send(`${node.publicUrl}/api/v1/items`, node.keys.starter)
  await send(`${node.publicUrl}/api/v1/items/1`, node.keys.starter)
  await send(`${node.publicUrl}/api/v1/items/2`, node.keys.starter)
  // The first scrape starts the measurement of the event loop.
  expect((await scrape(OPERATOR_TOKEN)).status).toBe(200)
  const answer = await scrape(OPERATOR_TOKEN)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const text = await answer.text()
  const valid = /^(#.*|[a-z_0-9]+(\{[a-z_]+="[^"\n]*"(,[a-z_]+="[^"\n]*")*\})? (-?[\d.e+-]+|NaN|\+Inf))?$/i
  expect(text.split('\n').filter((line) => !valid.test(line))).toEqual([])
  expect(text).toContain('mintmark_http_request_seconds_count{method="GET",route="/api/v1/items",status="200"} 1')
  expect(text).toContain('mintmark_http_request_seconds_count{method="GET",route="/api/v1/items/:id",status="404"} 2')
  expect(text).toMatch(/^mintmark_items 0$/m)
  const buckets = [...text.matchAll(/^mintmark_event_loop_iteration_seconds_bucket\{le="([\d.]+|\+Inf)"\} (\d+)$/gm)].map(([, , count]) =>
    Number(count),
  )
  expect(buckets.length).toBe(11)
  expect(buckets).toEqual(buckets.toSorted((a, b) => a - b))
  expect(buckets.at(-1)).toBeGreaterThan(0)
  expect(text).toMatch(/^mintmark_change_feed_age_seconds [\d.]+$/m)
  expect(text).not.toContain(node.keys.starter)
})

test('rejects API keys and requests without a token', async () => {
  expect((await scrape(null)).status).toBe(401)
  expect((await scrape(node.keys.enterprise)).status).toBe(401)
})

test('shows whether a worker is alive, and for how long none was', async () => {
  const value = async (url: string, name: string) => {
    const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })).text()
    const found = new RegExp(`^mintmark_${name} (\\S+)$`, 'm').exec(text)?.[1]
    return found === undefined ? null : Number(found)
  }
  await until('the worker was seen', async () => (await value(node.operatorUrl!, 'workers_alive')) === 1)
  expect(await value(node.operatorUrl!, 'worker_last_seen_seconds')).toBeLessThan(60)

  const database = await freshDatabase()
  const db = openPool<Schema>({ url: database.url, max: 4, applicationName: 'mintmark test' })
  const config = { ...node.config, databaseUrl: database.url }
  const bare = await startNode({ config, db, log: silent, listeners: { public: false, operator: true }, worker: false })
  expect(await value(bare.operatorUrl!, 'workers_alive')).toBe(0)
  expect(await value(bare.operatorUrl!, 'worker_last_seen_seconds')).toBeNull()
  await sql`insert into workers (id, host, last_seen_at) values (gen_random_uuid(), 'gone', now() - interval '61 seconds')`.execute(db.kysely)
  expect(await value(bare.operatorUrl!, 'workers_alive')).toBe(0)
  expect(await value(bare.operatorUrl!, 'worker_last_seen_seconds')).toBeGreaterThanOrEqual(61)
  await bare.close()
  await db.close()
  await database.drop()
})
