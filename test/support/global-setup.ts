// Starts the one PostgreSQL of a test run and creates its template databases: a migrated one, and one in which a node can start.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '#db/local/embedded.ts'
import { migrate } from '#db/migrate.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Db, Schema } from '#db/schema.ts'
import { prepareMonths } from '#prices/records/months.ts'
import { createPlanAccounts, type PlanAccounts } from './accounts.ts'
import { copyDatabase, databaseUrl, EMPTY_TEMPLATE, NODE_TEMPLATE } from './databases.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** connection string of the migrated database that `freshDatabase` clones */
    templateUrl: string
    /** what the database that `nodeDatabase` clones contains */
    planAccounts: PlanAccounts
  }
}

/** Four workers with up to four nodes each, whose pools have 12 connections, and connections of the tests themselves. */
const CONNECTIONS = 250

/** Connections by the socket need no password: others cannot enter its directory. */
const ACCESS = 'local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n'

async function createTemplate(url: string): Promise<void> {
  const db = openPool<Schema>({ url, max: 1, applicationName: 'mintmark-test' })
  try {
    await migrate(db)
    await reduceWork(db)
  } finally {
    await db.close()
  }
}

/** Thousands of connections and hundreds of short-lived databases: logging in is cheap, and nothing is vacuumed. */
async function reduceWork({ pool }: Pick<Db, 'pool'>): Promise<void> {
  const { rows } = await pool.query<{ hba_file: string }>('show hba_file')
  writeFileSync(rows[0]!.hba_file, ACCESS)
  await pool.query('alter system set autovacuum = off')
  await pool.query('select pg_reload_conf()')
}

/** What every node of the tests would otherwise create at its start. */
async function createNodeTemplate(templateUrl: string): Promise<PlanAccounts> {
  await copyDatabase(templateUrl, EMPTY_TEMPLATE, NODE_TEMPLATE)
  const db = openPool<Schema>({ url: databaseUrl(templateUrl, NODE_TEMPLATE), max: 1, applicationName: 'mintmark-test' })
  const now = () => new Date()
  try {
    await prepareMonths(db, now())
    return await createPlanAccounts({
      db,
      now,
      viewer: { kind: 'operator', name: 'test' },
      requestId: null,
      idempotency: null,
      caughtUp: async () => {},
    })
  } finally {
    await db.close()
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'mintmark-test-'))
  const log = { info: () => {}, warn: (line: string) => console.warn(line) }
  const server = await startEmbedded({ dataDir, log, durable: false, connections: CONNECTIONS })
  const tearDown = async () => {
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  try {
    await createTemplate(server.url)
    project.provide('planAccounts', await createNodeTemplate(server.url))
  } catch (error) {
    await tearDown()
    throw error
  }
  project.provide('templateUrl', server.url)
  return tearDown
}
