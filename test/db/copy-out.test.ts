// COPY out of the database: rows of any size arrive complete and in order, whatever messages the server sends between them.
import { sql } from 'kysely'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyOut } from '#db/copy.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Db, Schema } from '#db/schema.ts'
import { freshDatabase } from '../support/postgres.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Db

beforeAll(async () => {
  database = await freshDatabase()
  db = openPool<Schema>({ url: database.url, max: 2, applicationName: 'mintmark test' })
})

afterAll(async () => {
  await db.close()
  await database.drop()
})

test('each chunk contains complete rows, from empty ones to some larger than any read, also for a slow reader', async () => {
  const size = (n: number) => (n % 1_000 === 999 ? 300_000 : (n * 7919) % 200)
  const rows = `select repeat('x', case when n % 1000 = 999 then 300000 else n * 7919 % 200 end) from generate_series(0, 9999) n order by n`
  let n = 0
  for await (const chunk of copyOut(db.kysely, `copy (${rows}) to stdout`)) {
    expect(chunk.at(-1)).toBe(10)
    for (const row of chunk.toString().split('\n').slice(0, -1)) expect(row.length).toBe(size(n++))
    if (n % 7 === 0) await turn()
  }
  expect(n).toBe(10_000)
})

test('notices, notifications and settings between rows are ignored', async () => {
  await sql`
    create function noisy(n int) returns int language plpgsql as $$ begin
      raise notice 'at %', n;
      perform set_config('application_name', 'copy ' || n, true);
      return n;
    end $$`.execute(db.kysely)
  const text = Buffer.concat(await Array.fromAsync(copyOut(db.kysely, 'copy (select noisy(n) from generate_series(1, 3000) n) to stdout'))).toString()
  expect(text).toBe(Array.from({ length: 3_000 }, (_, i) => `${i + 1}\n`).join(''))
})

test('an error after many rows is thrown, and the connection is usable again', async () => {
  const failing = 'copy (select 1 / (90000 - n) from generate_series(1, 100000) n) to stdout'
  for (let round = 0; round < 3; round += 1) {
    await expect(Array.fromAsync(copyOut(db.kysely, failing))).rejects.toThrow('division by zero')
    const { rows } = await sql<{ one: number }>`select 1 as one`.execute(db.kysely)
    expect(rows).toEqual([{ one: 1 }])
  }
})

test('connections that break during the copy make it fail', async () => {
  const read = async () => {
    let ended = false
    for await (const _ of copyOut(db.kysely, 'copy (select generate_series(1, 20000000)) to stdout')) {
      if (ended) continue
      ended = true
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where query like 'copy (select generate%'`.execute(db.kysely)
    }
  }
  await expect(read()).rejects.toThrow()
})
