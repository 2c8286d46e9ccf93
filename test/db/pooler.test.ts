// Behind PgBouncer in session mode: a node works as without it, and listens on a direct connection if configured.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { unprivilegedUser } from '#db/local/data-dir.ts'
import { openPool } from '#db/connection/pool.ts'
import { installed } from '../../reliability/proxy-and-clients.ts'
import { freePorts } from '../../reliability/service.ts'
import { openNetworkProxy, viaProxy, targetOf, type NetworkProxy } from '../../reliability/network-proxy.ts'
import { send, startTestNode, type TestNode, until } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'

const hasPgBouncer = installed('pgbouncer', '--version')
if (!hasPgBouncer) console.warn('PgBouncer is not installed: the tests behind it are skipped')

let database: Awaited<ReturnType<typeof freshDatabase>>
let proxy: NetworkProxy
let dir: string
let pooler: ChildProcess
let pooledUrl: string

/** PgBouncer with the settings of deploy/ha, connected to this test's database. */
async function startPgBouncer(): Promise<void> {
  const [port] = (await freePorts(1)) as [number]
  const { username, password, pathname } = new URL(database.url.replace('@/', '@socket/'))
  const server = `host=127.0.0.1 port=${proxy.port} user=${username} password=${password}`
  const text = readFileSync('deploy/ha/pgbouncer.ini', 'utf8')
    .replace(/^mintmark = .*$/m, `${pathname.slice(1)} = ${server} dbname=${pathname.slice(1)}`)
    .replace(/^listen_addr = .*$/m, 'listen_addr = 127.0.0.1')
    .replace(/^listen_port = .*$/m, `listen_port = ${port}`)
    .replace(/^auth_type = .*$/m, 'auth_type = any\nunix_socket_dir =')
    .replace(/^auth_file = .*$/m, '')
  const file = join(dir, 'pgbouncer.ini')
  writeFileSync(file, text)
  chmodSync(dir, 0o755)
  const user = process.getuid?.() === 0 ? unprivilegedUser() : null
  pooler = spawn('pgbouncer', ['-q', file], { stdio: 'ignore', ...(user && { uid: user.uid, gid: user.gid }) })
  pooledUrl = `postgresql://${username}:${password}@127.0.0.1:${port}${pathname}`
  const db = openPool({ url: pooledUrl, max: 1, applicationName: 'pooled' })
  await until('PgBouncer answers', () =>
    sql`select 1`.execute(db.kysely).then(
      () => true,
      () => false,
    ),
  )
  await db.close()
}

beforeAll(async () => {
  if (!hasPgBouncer) return
  dir = mkdtempSync(join(tmpdir(), 'mintmark-pooler-'))
  database = await freshDatabase()
  proxy = await openNetworkProxy(targetOf(database.url))
  await startPgBouncer()
})

afterAll(async () => {
  if (!hasPgBouncer) return
  const ended = once(pooler, 'exit')
  pooler.kill('SIGKILL')
  await ended
  await proxy.close()
  await database.drop()
  rmSync(dir, { recursive: true })
})

test.skipIf(!hasPgBouncer)("nodes behind PgBouncer see each other's writes; LISTEN has its own address", async () => {
  const direct = await openNetworkProxy(targetOf(database.url))
  const nodes: TestNode[] = []
  nodes.push(await startTestNode({ databaseUrl: pooledUrl }))
  nodes.push(await startTestNode({ databaseUrl: pooledUrl, env: { DATABASE_LISTEN_URL: viaProxy(database.url, direct) } }))
  const [first, second] = nodes as [TestNode, TestNode]
  const operator = <T>(path: string, json: unknown) => send<T>(`${first.operatorUrl}/operator/v1${path}`, first.config.operatorToken, { json })
  const category = await operator<{ id: number }>('/categories', { ref: 'base', name: 'Base Set', game: 'pokemon', market: 'source_a' })
  const item = await operator<{ id: number }>('/items', {
    ref: '1',
    name: 'Pooled',
    genre: 'single',
    game: 'pokemon',
    market: 'source_a',
    category_id: category.body.data.id,
  })
  const read = () => send<{ name: string }>(`${second.publicUrl}/api/v1/items/${item.body.data.id}`, second.keys.enterprise)
  await until('the other node shows it', async () => (await read()).body.data?.name === 'Pooled')
  // One node listens through the pooler, the other on a direct connection.
  const listening = async () => {
    const { rows } = await sql<{ name: string }>`
      select application_name as name from pg_stat_activity where query like 'listen %' and datname = current_database() order by name`.execute(
      first.db.kysely,
    )
    return rows.map(({ name }) => name)
  }
  await expect.poll(listening).toEqual(['mintmark notices', 'mintmark test'])
  expect(direct.accepted()).toBeGreaterThan(0)
  for (const node of nodes) await node.close()
  await direct.close()
})

test.skipIf(!hasPgBouncer)(
  'sessions are separate: prepared statements, settings and locks do not leak, and slow statements are not interrupted',
  async () => {
    const open = () => openPool({ url: pooledUrl, max: 2, applicationName: 'pooled' })
    const lock = sql<{ free: boolean }>`select pg_try_advisory_lock(4711) as free`
    for (let round = 0; round < 2; round++) {
      const db = open()
      // The pooler resets a session soon after its client has disconnected.
      await expect.poll(async () => (await lock.execute(db.kysely)).rows).toEqual([{ free: true }])
      expect((await sql<{ n: number }>`select ${round}::int as n`.execute(db.kysely)).rows).toEqual([{ n: round }])
      expect((await sql<{ zone: string }>`select current_setting('TimeZone') as zone`.execute(db.kysely)).rows).toEqual([{ zone: 'UTC' }])
      await db.close()
    }
    const db = open()
    expect((await sql`select 1 as ok from pg_sleep(2.5)`.execute(db.kysely)).rows).toEqual([{ ok: 1 }])
    await db.close()
  },
)

test.skipIf(!hasPgBouncer)('a stopped pooler makes the database unavailable, and its return is noticed', async () => {
  const db = openPool({ url: pooledUrl, max: 2, applicationName: 'pooled' })
  const answers = () =>
    sql`select 1`.execute(db.kysely).then(
      () => true,
      () => false,
    )
  expect(await answers()).toBe(true)
  pooler.kill('SIGSTOP')
  expect(await answers()).toBe(false)
  pooler.kill('SIGCONT')
  await until('it answers again', answers)
  await db.close()
})
