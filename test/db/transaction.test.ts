// Transactions: conflicts run again, failures roll back, no connection is lost.
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Database, openPool } from '#db/connection/pool.ts'
import { inTransaction, isUnavailable } from '#db/connection/transaction.ts'
import { freshDatabase } from '../support/postgres.ts'

interface Schema {
  accounts_of_test: { id: number; balance: number }
}

let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Database<Schema>

beforeAll(async () => {
  database = await freshDatabase()
  db = openPool<Schema>({ url: database.url, max: 4, applicationName: 'transaction-test' })
  await sql`create table accounts_of_test (id int primary key, balance int not null)`.execute(db.kysely)
})

beforeEach(async () => {
  await sql`truncate accounts_of_test`.execute(db.kysely)
  await sql`insert into accounts_of_test values (1, 0), (2, 0)`.execute(db.kysely)
})

afterAll(async () => {
  await db.close()
  await database.drop()
})

const balances = async () => (await db.kysely.selectFrom('accounts_of_test').select('balance').orderBy('id').execute()).map((row) => row.balance)

test('a deadlocked transaction is retried until both succeed', async () => {
  let runs = 0
  const waiting: (() => void)[] = []
  // Both lock their first row before either requests its second; later runs do not wait.
  const bothHere = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve)
      if (runs > 2 || waiting.length === 2) for (const go of waiting.splice(0)) go()
    })
  const add = (ids: number[]) =>
    inTransaction(db, async (tx) => {
      runs++
      for (const id of ids) {
        await tx.updateTable('accounts_of_test').set({ balance: sql`balance + 1` }).where('id', '=', id).execute()
        if (id === ids[0]) await bothHere()
      }
    })
  await Promise.all([add([1, 2]), add([2, 1])])
  // A retry can lock its first row again before the other transaction gets it; then there is one more.
  expect(runs).toBeGreaterThanOrEqual(3)
  expect(await balances()).toEqual([2, 2])
})

test("serialisable transactions that read each other's writes lose no update", async () => {
  const increment = () =>
    inTransaction(
      db,
      async (tx) => {
        const one = tx.selectFrom('accounts_of_test').select('balance').where('id', '=', 1)
        const { balance } = await one.executeTakeFirstOrThrow()
        await tx
          .updateTable('accounts_of_test')
          .set({ balance: balance + 1 })
          .where('id', '=', 1)
          .execute()
      },
      { isolation: 'serializable', attempts: 30 },
    )
  await Promise.all(Array.from({ length: 8 }, increment))
  expect(await balances()).toEqual([8, 0])
})

test('gives up after its attempts, and does not retry other errors', async () => {
  let runs = 0
  const failing = (code: string) => async () => {
    runs++
    await Promise.reject(Object.assign(new Error(code), { code }))
  }
  await expect(inTransaction(db, failing('40001'), { attempts: 3 })).rejects.toThrow('40001')
  expect(runs).toBe(3)
  await expect(inTransaction(db, failing('23505'))).rejects.toThrow('23505')
  expect(runs).toBe(4)
})

test('a transaction that refers to a row deleted meanwhile is retried and sees the deletion', async () => {
  await sql`create table notes_of_test (account_id int not null references accounts_of_test)`.execute(db.kysely)
  let runs = 0
  await inTransaction(db, async (tx) => {
    runs += 1
    const [first] = await tx.selectFrom('accounts_of_test').select('id').orderBy('id').execute()
    if (runs === 1) await db.kysely.deleteFrom('accounts_of_test').where('id', '=', first!.id).execute()
    await sql`insert into notes_of_test values (${first!.id})`.execute(tx)
  })
  const { rows } = await sql`select account_id from notes_of_test`.execute(db.kysely)
  expect([runs, rows]).toEqual([2, [{ account_id: 2 }]])
  await sql`drop table notes_of_test`.execute(db.kysely)
})

test('an exception rolls back and releases the connection, many times over', async () => {
  for (let round = 0; round < 20; round++) {
    const failed = inTransaction(db, async (tx) => {
      await tx.deleteFrom('accounts_of_test').execute()
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
  }
  expect(await balances()).toEqual([0, 0])
  expect(db.pool.idleCount).toBe(db.pool.totalCount)
})

test('a caught error does not commit silently', async () => {
  const swallowed = inTransaction(db, async (tx) => {
    await tx.deleteFrom('accounts_of_test').execute()
    await sql`select nonsense`.execute(tx).catch(() => {})
  })
  await expect(swallowed).rejects.toThrow()
  expect(await balances()).toEqual([0, 0])
})

test('a connection lost inside a transaction is detected, and nothing is stored', async () => {
  const lost = inTransaction(db, async (tx) => {
    await tx.deleteFrom('accounts_of_test').execute()
    await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx)
  })
  await expect(lost).rejects.toSatisfy(isUnavailable)
  expect(await balances()).toEqual([0, 0])
})
