// Large reads use a streaming replica if it can be trusted; a lagging replica causes no gaps.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#config.ts'
import { openPool } from '#db/connection/pool.ts'
import { readFromReplica } from '#db/replica.ts'
import type { Db, Schema } from '#db/schema.ts'
import { startNode } from '#node/start.ts'
import { send, silent, startTestNode } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'
import { type PrimaryAndReplica, startPrimaryAndReplica } from '../support/primary-and-replica.ts'

let servers: PrimaryAndReplica

beforeAll(async () => {
  servers = await startPrimaryAndReplica()
})
afterAll(() => servers.close())

/** Which server was read, and what the log said about it. */
async function whereRead(replicaUrl: string | null): Promise<{ standby: boolean; warnings: string[] }> {
  const warnings: string[] = []
  const log = { warn: (_details: object, message: string) => void warnings.push(message) }
  const standby = await readFromReplica({ replicaUrl, primary: servers.primary.db, log }, isStandby)
  return { standby, warnings }
}

async function isStandby(db: Db): Promise<boolean> {
  const { rows } = await sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`.execute(db.kysely)
  return rows[0]!.standby
}

test('the replica is used if there is one', async () => {
  expect(await whereRead(servers.replica.url)).toEqual({ standby: true, warnings: [] })
  expect(await whereRead(null)).toEqual({ standby: false, warnings: [] })
})

test('a server that is not a replica of the database is not used, and the log says why', async () => {
  const other = await freshDatabase()
  expect(await whereRead(other.url)).toEqual({ standby: false, warnings: [expect.stringContaining('not a streaming replica of this database')] })
  await other.drop()
  expect(await whereRead(servers.primary.url)).toEqual({ standby: false, warnings: [expect.stringContaining('no longer a standby')] })
  expect(await whereRead('postgresql://nobody@127.0.0.1:1/none')).toEqual({ standby: false, warnings: [expect.stringContaining('ECONNREFUSED')] })
})

test('an unreachable primary is not reported as a problem of the replica', async () => {
  const gone = await freshDatabase()
  const primary = openPool<Schema>({ url: gone.url, max: 1, applicationName: 'mintmark test' })
  await gone.drop()
  const warnings: string[] = []
  const log = { warn: (_details: object, message: string) => void warnings.push(message) }
  await expect(readFromReplica({ replicaUrl: servers.replica.url, primary, log }, isStandby)).rejects.toThrow(/does not exist/)
  expect(warnings).toEqual([])
  await primary.close()
})

test('a node that loads from a lagging replica misses nothing', async () => {
  const writer = await startTestNode({ databaseUrl: servers.primary.url })
  const operator = (path: string, json: unknown) =>
    send<{ id: number }>(`${writer.operatorUrl}/operator/v1${path}`, writer.config.operatorToken, { json })
  const category = await operator('/categories', { ref: 'base', name: 'Base Set', game: 'pokemon', market: 'source_a' })
  const item = (ref: string) =>
    operator('/items', { ref, name: `Card ${ref}`, genre: 'single', game: 'pokemon', market: 'source_a', category_id: category.body.data.id })
  const before = await item('1')
  const names = async (db: Db) => (await db.kysely.selectFrom('items').select('name').orderBy('id').execute()).map(({ name }) => name)
  await expect.poll(() => names(servers.replica.db)).toEqual(['Card 1'])
  await sql`select pg_wal_replay_pause()`.execute(servers.replica.db.kysely)
  const after = await item('2')
  expect(await names(servers.replica.db)).toEqual(['Card 1'])

  const reader = await startNode({
    config: readConfig({
      DATABASE_URL: servers.primary.url,
      DATABASE_REPLICA_URL: servers.replica.url,
      PORT: '0',
      OPERATOR_PORT: '0',
      SECRET_KEY: 'secret key of all the tests',
      START_FILE_MINUTES: '0',
    }),
    db: servers.primary.db,
    log: silent,
    listeners: { public: true, operator: false },
    worker: false,
  })
  for (const { body } of [before, after]) {
    expect((await send(`${reader.publicUrl}/api/v1/items/${body.data.id}`, writer.keys.professional)).status).toBe(200)
  }
  await reader.close()
  await sql`select pg_wal_replay_resume()`.execute(servers.replica.db.kysely)
  await writer.close()
})
