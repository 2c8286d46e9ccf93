// Checks that the row types of the tables are those of a migrated database. RECORD_TABLES=1 writes them again.
import { readFileSync, writeFileSync } from 'node:fs'
import pg from 'pg'
import { expect, test } from 'vitest'
import { tableTypes } from '../../bin/table-types.ts'
import { freshDatabase } from '../support/postgres.ts'

const FILE = 'src/db/tables.generated.ts'

test('the row types are those of the tables', async () => {
  const database = await freshDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const types = await tableTypes(client)
  await client.end()
  await database.drop()
  if (process.env.RECORD_TABLES === '1') writeFileSync(FILE, types)
  expect(readFileSync(FILE, 'utf8')).toBe(types)
})
