// What counts as an empty database: only data from migrations and running nodes, nothing that a user wrote.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOperatorToken } from '#accounts/keys/operator-tokens.ts'
import { call } from '#core/verb.ts'
import { isUntouched } from '#db/emptiness.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Db, Schema } from '#db/schema.ts'
import { workerHeartbeat } from '#jobs/heartbeat.ts'
import { setRates } from '#prices/rates/set-rates.ts'
import { freshDatabase } from '../support/postgres.ts'

let db: Db
let database: Awaited<ReturnType<typeof freshDatabase>>

beforeAll(async () => {
  database = await freshDatabase()
  db = openPool<Schema>({ url: database.url, max: 4, applicationName: 'mintmark test' })
})

afterAll(async () => {
  await db.close()
  await database.drop()
})

const ctx = () => ({
  db,
  viewer: { kind: 'operator' as const, name: 'test' },
  now: () => new Date(),
  requestId: null,
  idempotency: null,
  caughtUp: async () => {},
})

test('a migrated database with a worker on it is empty', async () => {
  const heartbeat = workerHeartbeat(db)
  await heartbeat.beat()
  expect((await sql`select from workers`.execute(db.kysely)).rows).toHaveLength(1)
  await heartbeat.leave()
  expect(await isUntouched(db)).toBe(true)
})

test.each([
  ['an operator token', () => call(createOperatorToken, ctx(), { label: 'shop' })],
  ['exchange rates', () => call(setRates, ctx(), { rates: { day: '2026-11-20', currency: 'USD', TRY: 41.87 } })],
])('with %s it is not empty', async (_what, write) => {
  await write()
  expect(await isUntouched(db)).toBe(false)
  await sql`truncate operator_tokens, rates, audit_log cascade`.execute(db.kysely)
  expect(await isUntouched(db)).toBe(true)
})
