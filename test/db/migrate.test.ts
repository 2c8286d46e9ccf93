// Migrations: in order, once, all or nothing, and never with a program that is older than the database.
import { sql } from 'kysely'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrate, pendingMigrations } from '#db/migrate.ts'
import { type Database, openPool } from '#db/connection/pool.ts'
import { until } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'

interface Schema {
  first_table: { n: number }
}

let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Database<Schema>
let folder: string
let folderUrl: URL

beforeEach(async () => {
  database = await freshDatabase()
  db = openPool<Schema>({ url: database.url, max: 4, applicationName: 'migrate-test' })
  await sql`drop schema public cascade; create schema public`.execute(db.kysely)
  folder = mkdtempSync(join(tmpdir(), 'mintmark-migrations-'))
  folderUrl = pathToFileURL(`${folder}/`)
})

afterEach(async () => {
  await db.close()
  await database.drop()
  rmSync(folder, { recursive: true, force: true })
})

function write(name: string, ...statements: string[]): void {
  const run = statements.map((text) => `await db.executeQuery({ sql: ${JSON.stringify(text)}, parameters: [] })`)
  writeFileSync(join(folder, `${name}.ts`), `export async function up(db) { ${run.join('; ')} }\n`)
}

test('an empty or missing folder changes nothing', async () => {
  expect(await migrate(db, folderUrl)).toEqual([])
  expect(await migrate(db, new URL('missing/', folderUrl))).toEqual([])
})

test('the program’s own migrations apply to an empty database, and only once', async () => {
  const pending = await pendingMigrations(db)
  expect(await migrate(db)).toEqual(pending)
  expect(await pendingMigrations(db)).toEqual([])
  expect(await migrate(db)).toEqual([])
})

test('each migration is applied once, in order, even if many processes start together', async () => {
  write('20260102_second', 'alter table first_table add m int')
  write('20260101_first', 'create table first_table (n int)')
  writeFileSync(join(folder, 'notes.txt'), '')
  expect(await pendingMigrations(db, folderUrl)).toEqual(['20260101_first', '20260102_second'])
  const applied = await Promise.all([migrate(db, folderUrl), migrate(db, folderUrl), migrate(db, folderUrl)])
  expect(applied.flat()).toEqual(['20260101_first', '20260102_second'])
})

test('transactions that lock tables in another order, like those of the previous release, are delayed, and none fails', {
  tags: 'slow',
}, async () => {
  await sql`create table first_table (n int)`.execute(db.kysely)
  await sql`create table other_table (n int)`.execute(db.kysely)
  write('20260101_first', 'alter table first_table add m int')
  // Longer than PostgreSQL waits before it checks for a deadlock, once for each wait.
  write('20260102_slow', 'select pg_sleep(1.5)')
  write('20260103_second', 'alter table other_table add m int')
  let migrated = false
  let written = 0
  const writer = async () => {
    while (!migrated) {
      await db.kysely.transaction().execute(async (tx) => {
        await sql`insert into other_table (n) values (1)`.execute(tx)
        await sql`select pg_sleep(0.02)`.execute(tx)
        await sql`insert into first_table (n) values (1)`.execute(tx)
      })
      written += 1
    }
  }
  const writing = [writer(), writer()]
  await until('transactions commit', () => written > 10)
  expect(await migrate(db, folderUrl).finally(() => (migrated = true))).toEqual(['20260101_first', '20260102_slow', '20260103_second'])
  await Promise.all(writing)
})

test('a failing migration is named in one line and rolls back the whole run', async () => {
  write('20260101_first', 'create table first_table (n int)')
  write('20260102_second', 'select nonsense')
  await expect(migrate(db, folderUrl)).rejects.toThrow(new Error('Migration 20260102_second failed: column "nonsense" does not exist'))
  expect(await pendingMigrations(db, folderUrl)).toEqual(['20260101_first', '20260102_second'])
})

test('a database newer than the program is rejected', async () => {
  write('20260101_first', 'create table first_table (n int)')
  write('20260102_second', 'select 1')
  await migrate(db, folderUrl)
  rmSync(join(folder, '20260102_second.ts'))
  const refusal = 'The database is newer than this program: it has 20260102_second; install a newer mintmark'
  await expect(migrate(db, folderUrl)).rejects.toThrow(new Error(refusal))
  await expect(pendingMigrations(db, folderUrl)).rejects.toThrow(new Error(refusal))
})
