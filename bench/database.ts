// The databases of a benchmark: one embedded PostgreSQL in a temporary directory.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import type { Plan } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { claimDataDir } from '#db/local/data-dir.ts'
import { startEmbedded } from '#db/local/embedded.ts'
import { migrate } from '#db/migrate.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { readConfig } from '#config.ts'

export interface BenchServer {
  /** directory for files of this run */
  dir: string
  pid: number
  describe: string
  /** Creates a database with the program's schema. */
  create: (name: string) => Promise<BenchDatabase>
  close: () => Promise<void>
}

export interface BenchDatabase {
  url: string
  ctx: PriceWriteCtx
  /** an account and a key for each plan */
  accounts: Record<Plan, { id: number; key: string }>
  /** Closes the connections that a program has opened under this name. */
  endQueriesOf: (application: string) => Promise<void>
  close: () => Promise<void>
}

/**
 * Durable, with the settings that the program always uses.
 * @param settings additional PostgreSQL settings, including those that require a restart
 */
export async function startDatabaseServer(settings: Readonly<Record<string, string>> = {}): Promise<BenchServer> {
  const dir = mkdtempSync(join(tmpdir(), 'mintmark-bench-'))
  const claim = claimDataDir(dir)
  const start = () => startEmbedded({ dataDir: dir, log: { info: () => {}, warn: (line) => console.error(line) } })
  let server = await start()
  if (Object.keys(settings).length > 0) {
    await withClient(server.url, async (client) => {
      for (const [name, value] of Object.entries(settings)) await client.query(`alter system set ${name} = ${pg.escapeLiteral(value)}`)
    })
    await server.stop()
    server = await start()
  }
  return {
    dir,
    pid: server.pid(),
    describe: server.describe.replace(/, data in .*/, ''),
    create: (name) => createDatabase(server.url, name),
    close: async () => {
      await server.stop()
      claim.release()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function withClient(url: string, run: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await run(client)
  await client.end()
}

async function createDatabase(serverUrl: string, name: string): Promise<BenchDatabase> {
  await withClient(serverUrl, (client) => client.query(`create database ${name}`))
  const url = urlOf(serverUrl, name)
  const db = openPool<Schema>({ url, max: 4, applicationName: 'mintmark bench' })
  await migrate(db)
  const ctx: PriceWriteCtx = {
    rules: readConfig({}).priceRules,
    db,
    viewer: { kind: 'operator', name: 'bench' },
    now: () => new Date(),
    requestId: null,
    idempotency: null,
    caughtUp: async () => {},
  }
  const open = async (plan: Plan) => {
    const { id } = await call(createAccount, ctx, { name: `Bench ${plan}`, plan })
    return { id, key: (await call(createKey, ctx, { account_id: id })).key }
  }
  const accounts = {
    starter: await open('starter'),
    professional: await open('professional'),
    plus: await open('plus'),
    enterprise: await open('enterprise'),
  }
  const endQueriesOf = async (application: string) => {
    await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = ${application}`.execute(db.kysely)
  }
  return { url, ctx, accounts, endQueriesOf, close: () => db.close() }
}

/** Connection string for another database of the server, for a Unix socket. */
function urlOf(serverUrl: string, database: string): string {
  const [, user, password, options] = /^postgresql:\/\/([^:]+):([^@]+)@\/\w+\?(.+)$/.exec(serverUrl)!
  return `postgresql:///${database}?${options}&user=${user}&password=${password}`
}
