// Group commit: one commit for many writes, a response for each, nothing written twice, and no waiting for unrelated writes.
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { groupCommit } from '#db/changes/group-commit.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Db, Schema } from '#db/schema.ts'
import { freshDatabase } from '../support/postgres.ts'

interface Write {
  key: number
  value: number
}

let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Db

beforeAll(async () => {
  database = await freshDatabase()
  db = openPool<Schema>({ url: database.url, max: 4, applicationName: 'mintmark test' })
  await sql`create table written (value int primary key)`.execute(db.kysely)
})
beforeEach(() => sql`truncate written`.execute(db.kysely))
afterAll(async () => {
  await db.close()
  await database.drop()
})

async function insert(values: number[]): Promise<void> {
  await sql`insert into written select unnest(${values}::int4[])`.execute(db.kysely)
}

async function written(): Promise<number[]> {
  const { rows } = await sql<{ value: number }>`select value from written order by value`.execute(db.kysely)
  return rows.map(({ value }) => value)
}

const keyOf = ({ key }: Write) => key

test('waiting writes share one commit, each with its own result', async () => {
  const batches: number[] = []
  const submit = groupCommit<Write, number>({
    keyOf,
    commit: async (writes) => {
      batches.push(writes.length)
      await insert(writes.map(({ value }) => value))
      return writes.map(({ value }) => value * 2)
    },
  })
  expect(await Promise.all([1, 2, 3].map((value) => submit(db, { key: 1, value })))).toEqual([2, 4, 6])
  expect(batches).toEqual([3])
})

test('writes that arrive during a commit go in the next batch, in order', async () => {
  const batches: number[][] = []
  let submitted: Promise<number[]> | null = null
  const submit = groupCommit<Write, number>({
    keyOf,
    commit: async (writes) => {
      batches.push(writes.map(({ value }) => value))
      submitted ??= Promise.all([2, 3].map((value) => submit(db, { key: 1, value })))
      return writes.map(({ value }) => value)
    },
  })
  expect(await submit(db, { key: 1, value: 1 })).toBe(1)
  expect(await submitted).toEqual([2, 3])
  expect(batches).toEqual([[1], [2, 3]])
})

test('a write that fails the statement does not affect the others', async () => {
  const submit = groupCommit<Write, number>({
    keyOf,
    commit: async (writes) => {
      await insert(writes.map(({ value }) => value))
      return writes.map(({ value }) => value)
    },
  })
  await insert([7])
  const outcomes = await Promise.allSettled([6, 7, 8].map((value) => submit(db, { key: 1, value })))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(await written()).toEqual([6, 7, 8])
})

test('nothing is written again after a lost connection, because it may have been committed', async () => {
  let commits = 0
  const submit = groupCommit<Write, number>({
    keyOf,
    commit: async (writes) => {
      commits += 1
      await insert(writes.map(({ value }) => value))
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    },
  })
  const outcomes = await Promise.allSettled([1, 2].map((value) => submit(db, { key: 1, value })))
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect([commits, await written()]).toEqual([1, [1, 2]])
})

test('a delayed batch delays only its own keys', async () => {
  const held = Promise.withResolvers<void>()
  const order: number[] = []
  const submit = groupCommit<Write, number>({
    keyOf,
    commit: async (writes) => {
      if (writes.some(({ value }) => value === 0)) await held.promise
      order.push(...writes.map(({ value }) => value))
      return writes.map(({ value }) => value)
    },
  })
  const first = submit(db, { key: 1, value: 0 })
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
  const second = submit(db, { key: 1, value: 1 })
  for (const value of [2, 3, 4]) expect(await submit(db, { key: 2, value })).toBe(value)
  expect(order).toEqual([2, 3, 4])
  held.resolve()
  expect(await Promise.all([first, second])).toEqual([0, 1])
  expect(order).toEqual([2, 3, 4, 0, 1])
})
