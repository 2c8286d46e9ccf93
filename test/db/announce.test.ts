// Notifications: sent after the transaction has committed, duplicates only once, and none for a rollback.
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { announce } from '#db/connection/announce.ts'
import { type Database, openPool } from '#db/connection/pool.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import { until } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'

interface Schema {
  things: { id: number }
}

const CHANNEL = 'mintmark_test'

let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Database<Schema>
let listener: pg.Client
let heard: string[] = []

beforeAll(async () => {
  database = await freshDatabase()
  db = openPool<Schema>({ url: database.url, max: 4, applicationName: 'announce-test' })
  await sql`create table things (id int not null)`.execute(db.kysely)
  listener = new pg.Client({ connectionString: database.url })
  await listener.connect()
  listener.on('notification', ({ payload }) => heard.push(payload!))
  await listener.query(`listen ${CHANNEL}`)
})

beforeEach(() => {
  heard = []
})

afterAll(async () => {
  await listener.end()
  await db.close()
  await database.drop()
})

let ends = 0

/** What was received before a notification that is sent after all others. */
async function heardSoFar(): Promise<string[]> {
  const end = `end ${(ends += 1)}`
  await inTransaction(db, async (tx) => announce(tx, CHANNEL, end))
  await until('the last notice has come', () => heard.includes(end))
  return heard.filter((payload) => !payload.startsWith('end'))
}

test('committed notices are sent, identical ones once', async () => {
  await inTransaction(db, async (tx) => {
    for (const payload of ['a', 'b', 'a']) announce(tx, CHANNEL, payload)
  })
  expect(await heardSoFar()).toEqual(['a', 'b'])
})

test('nothing is sent before the commit, so commits can run concurrently', async () => {
  await inTransaction(db, async (tx) => {
    announce(tx, CHANNEL, 'of a long one')
    await sql`insert into things values (1)`.execute(tx)
    expect(await heardSoFar()).toEqual([])
    // Other tests use other databases of the server.
    const locks = await sql`
      select from pg_locks join pg_stat_activity using (pid)
      where locktype = 'object' and database = 0 and datname = current_database()`.execute(db.kysely)
    expect(locks.rows).toEqual([])
  })
  expect(await heardSoFar()).toEqual(['of a long one'])
})

test('rolled-back notices are not sent; after a retry, only those of the committed run are', async () => {
  await expect(
    inTransaction(db, async (tx) => {
      announce(tx, CHANNEL, 'refused')
      throw new Error('refused')
    }),
  ).rejects.toThrow('refused')
  let runs = 0
  await inTransaction(db, async (tx) => {
    runs += 1
    announce(tx, CHANNEL, `run ${runs}`)
    if (runs === 1) throw Object.assign(new Error('deadlock'), { code: '40P01' })
  })
  expect(await heardSoFar()).toEqual(['run 2'])
})
