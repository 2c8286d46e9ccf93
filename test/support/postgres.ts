// A separate database for each test file, cloned from the migrated template.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

/** A new database with the program's schema and no rows; `drop` also ends connections that are still open. */
export async function freshDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomBytes(6).toString('hex')}`
  // Copied without logging its pages, because the database never needs recovery.
  await administer(`create database ${name} template mintmark strategy file_copy`)
  return { url: urlOf(name), drop: () => administer(`drop database if exists ${name} with (force)`) }
}

/** Connection string for another database, with the same server and user. */
function urlOf(database: string): string {
  return inject('templateUrl').replace(/@\/\w+/, `@/${database}`)
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf('postgres') })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
