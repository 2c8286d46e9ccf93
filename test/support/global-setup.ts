// Starts the one PostgreSQL of a test run and brings its template database up to date.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '#db/local/embedded.ts'
import { migrate } from '#db/migrate.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Db } from '#db/schema.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Connection string of the migrated database that `freshDatabase` clones. */
    templateUrl: string
  }
}

/** Three workers with up to four nodes each, whose pools have 12 connections, and connections of the tests themselves. */
const CONNECTIONS = 250

/** Thousands of connections and hundreds of short-lived databases: logging in is cheap, and nothing is vacuumed. */
async function reduceWork({ pool }: Pick<Db, 'pool'>, url: string): Promise<void> {
  await pool.query(`set scram_iterations = 1; alter role mintmark password '${/:([^:@]+)@/.exec(url)![1]}'`)
  await pool.query('alter system set autovacuum = off')
  await pool.query('select pg_reload_conf()')
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'mintmark-test-'))
  const log = { info: () => {}, warn: (line: string) => console.warn(line) }
  const server = await startEmbedded({ dataDir, log, durable: false, connections: CONNECTIONS })
  const tearDown = async () => {
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  const db = openPool({ url: server.url, max: 1, applicationName: 'mintmark-test' })
  try {
    await migrate(db)
    await reduceWork(db, server.url)
  } catch (error) {
    await tearDown()
    throw error
  } finally {
    await db.close()
  }
  project.provide('templateUrl', server.url)
  return tearDown
}
