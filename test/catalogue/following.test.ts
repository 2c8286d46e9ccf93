// Several nodes on one database: a node shows its own changes at once and those of others soon, even after interruptions.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newKey } from '#accounts/credentials/key-format.ts'
import { startEmbedded } from '#db/local/embedded.ts'
import { migrate } from '#db/migrate.ts'
import { openPool } from '#db/connection/pool.ts'
import { importText, type Reply, send, startTestNode, type TestNode, until } from '../support/node.ts'

const SET = { type: 'category', market: 'service', ref: 't', name: 'Set', game: 'pokemon', parent: null, image: null }

let here: TestNode
let there: TestNode

beforeAll(async () => {
  here = await startTestNode({ listeners: 'public' })
  there = await startTestNode({ databaseUrl: here.databaseUrl, listeners: 'public' })
  await name('Start')
})

afterAll(async () => {
  await there.close()
  await here.close()
})

/** Renames the only item, through a node's own write. */
async function name(itemName: string, node: TestNode = here): Promise<void> {
  const item = {
    type: 'item',
    market: 'service',
    ref: 't:1',
    name: itemName,
    code: null,
    genre: 'single',
    game: 'pokemon',
    category: 't',
    images: [],
    attributes: [],
    groups: [],
    details: {},
    foreign_ids: [],
  }
  await importText(node, 'mintmark-ndjson', [SET, item].map((line) => JSON.stringify(line)).join('\n'))
}

function items(node: TestNode): Promise<Reply<{ name: string }[]>> {
  return send(`${node.publicUrl}/api/v1/items`, here.keys.professional)
}

/** Undefined while the node does not have the item yet. */
async function nameAt(node: TestNode): Promise<string | undefined> {
  return (await items(node)).body.data[0]?.name
}

/** Writes like a program that is not one of our nodes: the change and its row of the log, in a transaction that `run` commits or rolls back. */
async function elsewhere(itemName: string, run: (commit: () => Promise<void>) => Promise<void>): Promise<void> {
  const client = await here.db.pool.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query<{ id: number }>('update items set name = $1 returning id', [itemName])
    await client.query(`insert into change_log (kind, ids) values ('items', $1)`, [rows.map(({ id }) => id)])
    await run(async () => void (await client.query('commit')))
  } finally {
    await client.query('rollback').catch(() => {})
    client.release()
  }
}

test('a change is visible at once on the writing node, and soon on the others', async () => {
  for (const [node, other, text] of [
    [here, there, 'One'],
    [there, here, 'Two'],
  ] as const) {
    await name(text, node)
    expect(await nameAt(node)).toBe(text)
    await until('the other node follows', async () => (await nameAt(other)) === text)
  }
})

test('a change without a notification is read as well', async () => {
  await elsewhere('Silent', (commit) => commit())
  for (const node of [here, there]) await until('the node follows', async () => (await nameAt(node)) === 'Silent')
})

test('a slow transaction that commits after later ones is not missed', async () => {
  await elsewhere('Late', async (commit) => {
    // A row of the log with a higher number commits first: a position that only compared numbers would skip the other row.
    await sql`update categories set name = 'Later Set' where id = 1`.execute(here.db.kysely)
    await sql`insert into change_log (kind, ids) values ('categories', array[1])`.execute(here.db.kysely)
    const category = async (node: TestNode) => (await items(node)).body.data[0] as unknown as { category: { name: string } }
    for (const node of [here, there]) {
      await until('the later one is seen', async () => (await category(node)).category.name === 'Later Set')
      expect(await nameAt(node)).toBe('Silent')
    }
    await commit()
  })
  for (const node of [here, there]) await until('the late one is seen', async () => (await nameAt(node)) === 'Late')
})

test('a node that is behind the trimmed log reloads everything', async () => {
  await here.db.kysely.transaction().execute(async (tx) => {
    // Trimmed before the node has read it: the change is there, but its row of the log is not.
    await tx.updateTable('items').set({ name: 'Missed' }).execute()
    await tx.deleteFrom('change_log').execute()
    await sql`update change_log_floor set xact = (pg_current_xact_id()::text::bigint + 1)::text::xid8`.execute(tx)
  })
  for (const node of [here, there]) await until('the node loads again', async () => (await nameAt(node)) === 'Missed')
  await name('After the gap')
  for (const node of [here, there]) await until('it follows again', async () => (await nameAt(node)) === 'After the gap')
})

test('a node without its LISTEN connection polls, and reconnects', async () => {
  const listeners = async () => {
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_stat_activity where query like 'listen %' and datname = current_database()`.execute(here.db.kysely)
    return rows.map(({ pid }) => pid)
  }
  await until('both nodes listen', async () => (await listeners()).length === 2)
  const before = await listeners()
  await sql`select pg_terminate_backend(pid) from unnest(${before}::int[]) as pid`.execute(here.db.kysely)
  await elsewhere('Polled', (commit) => commit())
  for (const node of [here, there]) await until('the node follows', async () => (await nameAt(node)) === 'Polled')
  await until('both listen again', async () => {
    const now = await listeners()
    return now.length === 2 && !now.some((pid) => before.includes(pid))
  })
  await name('Heard')
  await until('the other hears of it', async () => (await nameAt(there)) === 'Heard')
})

test('losing all connections at once has no further effect', async () => {
  const client = await here.db.pool.connect()
  try {
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`)
    expect((await items(there)).status).toBe(200)
  } finally {
    client.release()
  }
  await until('a write goes through', () =>
    name('Reconnected').then(
      () => true,
      () => false,
    ),
  )
  for (const node of [here, there]) await until('the node follows', async () => (await nameAt(node)) === 'Reconnected')
})

test('while the database is unavailable, reads come from memory; afterwards, changes are followed again', { tags: 'slow' }, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mintmark-away-'))
  const log = { info: () => {}, warn: () => {} }
  let server = await startEmbedded({ dataDir, log, durable: false })
  const schema = openPool({ url: server.url, max: 1, applicationName: 'mintmark test' })
  await migrate(schema)
  await schema.close()
  const node = await startTestNode({ databaseUrl: server.url, listeners: 'public' })
  try {
    const ask = (path: string, key: string | null = node.keys.professional) => send<{ name: string }[]>(`${node.publicUrl}${path}`, key)
    await name('Before', node)
    expect((await ask('/api/v1/items')).body.data[0]!.name).toBe('Before')
    expect((await ask('/health/ready')).status).toBe(200)

    await server.stop()
    await until('the node tells that it is not ready', async () => (await ask('/health/ready')).status === 503)
    expect((await ask('/health/ready')).body).toMatchObject({ success: false, error: { code: 'UNAVAILABLE' } })
    expect((await ask('/health/live')).status).toBe(200)
    for (const path of ['/api/v1/items', '/api/v1/items/search?q=before', '/api/v1/items/1']) expect((await ask(path)).status).toBe(200)
    // Only keys that were used before are cached.
    const unknown = await ask('/api/v1/items', newKey('api'))
    expect([unknown.status, unknown.body.error!.code]).toEqual([503, 'UNAVAILABLE'])
    expect(Number(unknown.headers.get('retry-after'))).toBeGreaterThan(0)

    server = await startEmbedded({ dataDir, log, durable: false })
    await until('the node is ready again', async () => (await ask('/health/ready')).status === 200)
    await sql`update items set name = 'Back'`.execute(node.db.kysely)
    await sql`insert into change_log (kind, ids) values ('items', array[1])`.execute(node.db.kysely)
    await until('it follows', async () => (await ask('/api/v1/items')).body.data[0]!.name === 'Back')
  } finally {
    await node.close()
    await server.stop()
    const location = join(dataDir, 'postgres-location')
    if (existsSync(location)) rmSync(readFileSync(location, 'utf8'), { recursive: true, force: true })
    rmSync(dataDir, { recursive: true, force: true })
  }
})
