// The databases of a benchmark: one embedded PostgreSQL in a directory of its own that is gone afterwards.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/create-key.ts'
import { call } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import { claimDataDir } from '#db/data-dir.ts'
import { startEmbedded } from '#db/embedded.ts'
import { migrate } from '#db/migrate.ts'
import { openPool } from '#db/pool.ts'
import type { Schema } from '#db/schema.ts'

export interface BenchServer {
  /** where files of this run may lie */
  dir: string
  pid: number
  describe: string
  /** Makes a database with the program's schema and an account of each kind that is measured. */
  create: (name: string) => Promise<BenchDatabase>
  close: () => Promise<void>
}

export interface BenchDatabase {
  url: string
  ctx: WriteCtx
  keys: { starter: string; professional: string }
  close: () => Promise<void>
}

/** Durable, with the settings that the program always uses. */
export async function startDatabaseServer(): Promise<BenchServer> {
  const dir = mkdtempSync(join(tmpdir(), 'mintmark-bench-'))
  const claim = claimDataDir(dir)
  const server = await startEmbedded({ dataDir: dir, log: { info: () => {}, warn: (line) => console.error(line) } })
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

async function createDatabase(serverUrl: string, name: string): Promise<BenchDatabase> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  const url = urlOf(serverUrl, name)
  const db = openPool<Schema>({ url, max: 4, applicationName: 'mintmark bench' })
  await migrate(db)
  const ctx: WriteCtx = {
    db,
    viewer: { kind: 'operator', name: 'bench' },
    now: () => new Date(),
    requestId: null,
    idempotency: null,
    caughtUp: async () => {},
  }
  const keyOf = async (plan: 'starter' | 'professional') => {
    const account = await call(createAccount, ctx, { name: `Bench ${plan}`, plan })
    return (await call(createKey, ctx, { account_id: account.id })).key
  }
  const keys = { starter: await keyOf('starter'), professional: await keyOf('professional') }
  return { url, ctx, keys, close: () => db.close() }
}

/** Another database of the server, in the form that DATABASE_URL takes for a Unix socket. */
function urlOf(serverUrl: string, database: string): string {
  const [, user, password, options] = /^postgresql:\/\/([^:]+):([^@]+)@\/\w+\?(.+)$/.exec(serverUrl)!
  return `postgresql:///${database}?${options}&user=${user}&password=${password}`
}
