// A separate database for each test file, copied from a template.
import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { copyDatabase, databaseUrl, dropDatabase, EMPTY_TEMPLATE, NODE_TEMPLATE } from './databases.ts'

export interface TestDatabase {
  url: string
  /** also ends connections that are still open */
  drop: () => Promise<void>
}

/** A new database with the program's schema and no rows. */
export function freshDatabase(): Promise<TestDatabase> {
  return copyOf(EMPTY_TEMPLATE)
}

/** The same with the accounts and keys of `inject('planAccounts')`. */
export function nodeDatabase(): Promise<TestDatabase> {
  return copyOf(NODE_TEMPLATE)
}

export async function copyOf(template: string): Promise<TestDatabase> {
  const url = inject('templateUrl')
  const name = `test_${randomBytes(6).toString('hex')}`
  await copyDatabase(url, template, name)
  return { url: databaseUrl(url, name), drop: () => dropDatabase(url, name) }
}
