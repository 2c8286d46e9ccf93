// The change feed on its own: gaps, a restored database, and changes that arrive together.
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChangeFeed } from '#db/changes/change-feed.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Db, Schema } from '#db/schema.ts'
import { freshDatabase } from '../support/postgres.ts'

let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Db
let feed: ChangeFeed

beforeEach(async () => {
  database = await freshDatabase()
  db = openPool<Schema>({ url: database.url, max: 4, applicationName: 'mintmark test' })
  feed = new ChangeFeed(db, { warn: () => {}, info: () => {} })
  await feed.open()
})

afterEach(async () => {
  await feed.close()
  await db.close()
  await database.drop()
})

function leaveBehind(transactions: number): Promise<unknown> {
  return sql`update change_log_floor set xact = (pg_current_xact_id()::text::bigint + ${transactions})::text::xid8`.execute(db.kysely)
}

test('reloads until it succeeds', async () => {
  let reloads = 0
  feed.add({
    apply: async () => {},
    reload: async () => {
      reloads += 1
      if (reloads === 1) throw new Error('the database went away')
    },
  })
  await leaveBehind(1)
  await expect(feed.pull()).rejects.toThrow('the database went away')
  await feed.pull()
  await feed.pull()
  expect(reloads).toBe(2)
})

test('loads once, even if a slow transaction holds the position below the floor', async () => {
  let reloads = 0
  feed.add({
    apply: async () => {},
    reload: async () => {
      reloads += 1
    },
  })
  const slow = await db.pool.connect()
  await slow.query('begin')
  await slow.query('select pg_current_xact_id()')
  await leaveBehind(1)
  for (let i = 0; i < 3; i += 1) await feed.pull()
  await slow.query('rollback')
  slow.release()
  expect(reloads).toBe(1)
})

test('reloads if the database is older than the data read from it', async () => {
  let reloads = 0
  const { rows } = await sql<{ ahead: string }>`select (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 1000000000)::text as ahead`.execute(
    db.kysely,
  )
  // As if this node had followed a database that was then restored from a backup.
  const ahead = new ChangeFeed(db, { warn: () => {}, info: () => {} }, rows[0]!.ahead)
  ahead.add({
    apply: async () => {},
    reload: async () => {
      reloads += 1
    },
  })
  await ahead.pull()
  await ahead.pull()
  expect(reloads).toBe(1)
  await ahead.close()
})

test('values of a large change arrive in order and in parts, each complete', async () => {
  const applied: { kind: string; size: number; first: number | undefined }[][] = []
  feed.add({
    apply: async (changes) => void applied.push(changes.map(({ kind, payload }) => ({ kind, size: payload?.length ?? 0, first: payload?.[0] }))),
    reload: async () => {},
  })
  const sizes = [200_000, 100_000, 500_000, 26, 0, 26]
  await db.kysely.transaction().execute(async (tx) => {
    for (const [i, size] of sizes.entries()) {
      const values = size === 0 ? { kind: 'items' as const, ids: [1] } : { kind: 'prices' as const, payload: Buffer.alloc(size, i) }
      await tx
        .insertInto('change_log')
        .values({ ...values, at: new Date() })
        .execute()
    }
  })
  await feed.pull()
  expect(applied.flat()).toEqual(sizes.map((size, i) => ({ kind: size === 0 ? 'items' : 'prices', size, first: size === 0 ? undefined : i })))
  expect(applied.length).toBeGreaterThan(1)
  await feed.pull()
  expect(applied.flat()).toHaveLength(sizes.length)
})

test('applied changes are not repeated while a slow transaction runs, and its changes arrive once', async () => {
  const applied: (number | undefined)[] = []
  feed.add({ apply: async (changes) => void applied.push(...changes.map(({ ids }) => ids?.[0])), reload: async () => {} })
  const changed = (id: number) => ({ kind: 'items' as const, ids: [id], at: new Date() })
  const slow = await db.pool.connect()
  await slow.query('begin')
  await slow.query(`insert into change_log (kind, ids) values ('items', '{1}')`)
  for (const id of [2, 3]) {
    await db.kysely.insertInto('change_log').values(changed(id)).execute()
    await feed.pull()
  }
  await feed.pull()
  expect(applied).toEqual([2, 3])
  await slow.query('commit')
  slow.release()
  await feed.pull()
  await feed.pull()
  expect(applied).toEqual([2, 3, 1])
})

test('consecutive changes of one kind arrive as one, in order, up to a thousand ids', async () => {
  const arrived: [kind: string, ids: number[] | null][] = []
  feed.add({
    apply: async (changes) => {
      arrived.push(...changes.map(({ kind, ids }): [string, number[] | null] => [kind, ids]))
    },
    reload: async () => {},
  })
  await sql`insert into change_log (kind, ids) select 'items', array[n] from generate_series(1, 1200) n`.execute(db.kysely)
  await sql`insert into change_log (kind, ids) values ('categories', array[1, 2]), ('categories', array[3]), ('items', array[1])`.execute(db.kysely)
  await feed.pull()
  expect(arrived.map(([kind, ids]) => [kind, ids?.length])).toEqual([
    ['items', 1_000],
    ['items', 200],
    ['categories', 3],
    ['items', 1],
  ])
  expect(arrived.flatMap(([, ids]) => ids)).toEqual([...Array.from({ length: 1_200 }, (_, n) => n + 1), 1, 2, 3, 1])
})
