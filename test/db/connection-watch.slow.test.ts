// An unresponsive database: waiting queries fail within 3 s and work again at once afterwards; slow queries are left alone.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, type TestContext } from 'vitest'
import { openPool } from '#db/connection/pool.ts'
import type { Db } from '#db/schema.ts'
import { isUnavailable } from '#db/connection/transaction.ts'
import { Notices } from '#jobs/notices.ts'
import { openNetworkProxy, viaProxy, targetOf } from '../../reliability/network-proxy.ts'
import { until } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>

beforeAll(async () => {
  database = await freshDatabase()
})

afterAll(() => database.drop())

/** A pool with its own proxy, because these tests take long and run concurrently. */
async function open({ onTestFinished }: TestContext, max: number) {
  const proxy = await openNetworkProxy(targetOf(database.url))
  const db = openPool({ url: viaProxy(database.url, proxy), max, applicationName: 'watched' })
  onTestFinished(() => proxy.close())
  return { proxy, db }
}
type Opened = Awaited<ReturnType<typeof open>>['db']
const answers = ({ kysely }: Opened) =>
  sql`select 1`.execute(kysely).then(
    () => true,
    () => false,
  )

/** Without the watch, a connection hangs for minutes; the watch gives up after 3 s, and a busy machine takes longer. */
const NOT_HUNG_MS = 30_000

/** Milliseconds until the query failed with an error that invites a retry. */
async function failing(query: Promise<unknown>): Promise<number> {
  const started = performance.now()
  await expect(query).rejects.toSatisfy(isUnavailable)
  return performance.now() - started
}

test.concurrent('while the database is unresponsive, everything fails within seconds, then at once, and recovers afterwards', async (context) => {
  const { proxy, db } = await open(context, 2)
  await Promise.all([answers(db), answers(db)])
  proxy.drop('all')
  const waiting = [1, 2, 3].map(() => failing(sql`select 1`.execute(db.kysely)))
  for (const ms of await Promise.all(waiting)) expect(ms).toBeLessThan(NOT_HUNG_MS)
  await until('nobody waits', async () => (await failing(sql`select 1`.execute(db.kysely))) < 100)
  proxy.restore()
  await until('it answers', () => answers(db))
  await db.close()
})

test.concurrent('it recovers from connections that never respond, and connects at most once a second meanwhile', async (context) => {
  const { proxy, db } = await open(context, 4)
  const notices = new Notices(db as unknown as Db)
  notices.follow('watched', () => {})
  for (let round = 0; round < 2; round++) {
    await until('it answers', () => answers(db))
    const before = proxy.accepted()
    const started = performance.now()
    proxy.drop('all')
    await failing(sql`select 1`.execute(db.kysely))
    const probed = proxy.accepted()
    // Opened while the server does not respond, and never answered.
    await until('the next probes', () => proxy.accepted() >= probed + 2)
    expect(proxy.accepted() - before).toBeLessThanOrEqual(Math.ceil((performance.now() - started) / 1_000) + 1)
    proxy.restore('forget')
    await until('it answers again', () => answers(db))
  }
  notices.close()
  await db.close()
})

test.concurrent('a pool can be closed while the database is unresponsive', async (context) => {
  const { proxy, db } = await open(context, 1)
  expect(await answers(db)).toBe(true)
  proxy.drop('all')
  await db.close()
  proxy.restore()
})

test.concurrent('a connection that lost data fails alone', async (context) => {
  const { proxy, db } = await open(context, 4)
  const lost = await db.pool.connect()
  proxy.drop('open')
  const ms = await failing(lost.query('select 1'))
  expect(ms).toBeLessThan(NOT_HUNG_MS)
  lost.release(true)
  await until('others are answered', () => answers(db))
  proxy.restore()
  await db.close()
})

test.concurrent('slow statements are not interrupted, also while a transaction waits', async (context) => {
  const { db } = await open(context, 4)
  const both = await Promise.all([
    sql<{ ok: number }>`select 1 as ok from pg_sleep(2.5)`.execute(db.kysely),
    db.kysely.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx)
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      return sql<{ ok: number }>`select 1 as ok`.execute(tx)
    }),
  ])
  expect(both.map(({ rows }) => rows)).toEqual([[{ ok: 1 }], [{ ok: 1 }]])
  await db.close()
})
