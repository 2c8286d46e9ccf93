// An address with several servers: the writable one is used for everything, and another one when it fails.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, type TestContext } from 'vitest'
import { readDatabaseAddress } from '#core/network/database-address.ts'
import { type LogPage, type LogPosition, positionText, readLog, readPosition } from '#db/changes/logged-changes.ts'
import { ChangeFeed } from '#db/changes/change-feed.ts'
import { copyIn, copyOut } from '#db/copy.ts'
import { pendingMigrations } from '#db/migrate.ts'
import { type Database, openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { isUnavailable } from '#db/connection/transaction.ts'
import { Notices } from '#jobs/notices.ts'
import { openNetworkProxy, targetOf, type NetworkProxy } from '../../reliability/network-proxy.ts'
import { until } from '../support/node.ts'
import { type PrimaryAndReplica, startPrimaryAndReplica } from '../support/primary-and-replica.ts'

let servers: PrimaryAndReplica

beforeAll(async () => {
  servers = await startPrimaryAndReplica()
  await sql`create table notes (note text)`.execute(servers.primary.db.kysely)
})
afterAll(() => servers.close())

interface Several {
  db: Database<Schema>
  primary: NetworkProxy
  replica: NetworkProxy
  url: (...proxies: NetworkProxy[]) => string
}

/** A proxy to each server, and a pool over both with the replica first. */
async function openSeveral({ onTestFinished }: TestContext, pair: PrimaryAndReplica, { max = 4, attrs = 'read-write' } = {}): Promise<Several> {
  const [primary, replica] = [await openNetworkProxy(targetOf(pair.primary.url)), await openNetworkProxy(targetOf(pair.replica.url))]
  const { password } = new URL(pair.primary.url.replace('@/', '@host/'))
  const url = (...proxies: NetworkProxy[]) => {
    const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`).join(',')
    return `postgresql://mintmark:${password}@${hosts}/mintmark?target_session_attrs=${attrs}`
  }
  const db = openPool<Schema>({ url: url(replica, primary), max, applicationName: 'several' })
  onTestFinished(async () => {
    await db.close()
    await Promise.all([primary.close(), replica.close()])
  })
  return { db, primary, replica, url }
}

const note = (db: Database<Schema>, text: string) => sql`insert into notes values (${text})`.execute(db.kysely)
const standby = async (db: Database<Schema>) => {
  const { rows } = await sql<{ standby: boolean }>`select pg_is_in_recovery() as standby`.execute(db.kysely)
  return rows[0]!.standby
}
const answers = (work: Promise<unknown>) =>
  work.then(
    () => true,
    () => false,
  )

test.each([
  ['postgresql://u:p@a:1,b,[::1]:3/db', ['a:1', 'b:5432', '::1:3'], 'read-write', 'postgresql://u:p@a:1/db?sslmode=verify-full'],
  ['postgresql://u@a,b/db?target_session_attrs=any&sslmode=require', ['a:5432', 'b:5432'], 'any', 'postgresql://u@a/db?sslmode=require'],
  ['postgres://a/db?target_session_attrs=read-write', ['a:5432'], 'read-write', 'postgres://a/db?sslmode=verify-full'],
  ['postgres://localhost,[::1]/db', ['localhost:5432', '::1:5432'], 'read-write', 'postgres://localhost/db'],
  ['postgresql://u@/db?host=%2Frun', [], 'any', 'postgresql://u@/db?host=%2Frun'],
])('%s', (address, hosts, role, url) => {
  const read = readDatabaseAddress(address)
  expect([read.servers.map(({ host, port }) => `${host}:${port}`), read.role, read.url]).toEqual([hosts, role, url])
})

test('with the replica listed first, statements, COPY, migrations and LISTEN use the primary', async (context) => {
  const { db } = await openSeveral(context, servers)
  await Promise.all([note(db, 'one'), note(db, 'two'), copyIn(db.kysely, 'copy notes from stdin', ['three\n'])])
  const out = Buffer.concat(await Array.fromAsync(copyOut(db.kysely, 'copy (select note from notes order by note) to stdout')))
  expect(out.toString()).toBe('one\nthree\ntwo\n')
  expect(await pendingMigrations(db)).toEqual([])
  const heard: string[] = []
  const notices = new Notices(db)
  notices.follow('several', (payload) => heard.push(payload))
  await until('a notice arrives', async () => {
    await sql`select pg_notify('several', 'heard')`.execute(db.kysely)
    return heard.length > 0
  })
  notices.close()
})

test('a standby can be requested', async (context) => {
  const { db } = await openSeveral(context, servers, { attrs: 'standby' })
  expect(await standby(db)).toBe(true)
})

test('an unresponsive server delays no connection', async (context) => {
  const { db, replica } = await openSeveral(context, servers)
  replica.drop('all')
  await expect.poll(() => standby(db)).toBe(false)
  replica.restore()
})

test('if no server accepts writes, the error names each and why, at once after the first; it recovers when one does', async (context) => {
  const { primary, replica, url } = await openSeveral(context, servers)
  const db = openPool<Schema>({ url: url(replica, primary), max: 4, applicationName: 'several' })
  context.onTestFinished(() => db.close())
  primary.drop('all')
  const refusal = async () => {
    const refused = await note(db, 'none').then(
      () => null,
      (error: Error) => error,
    )
    expect(refused).toSatisfy(isUnavailable)
    return refused!.message
  }
  // On a busy machine, the standby may respond too late at first.
  await expect.poll(refusal).toMatch(/^No server of the database takes writes \(127.0.0.1:\d+: a standby; 127.0.0.1:\d+: .+\)$/)
  await until('nobody waits', async () => {
    const started = performance.now()
    return !(await answers(note(db, 'none'))) && performance.now() - started < 100
  })
  primary.restore()
  await until('it writes', () => answers(note(db, 'again')))
})

test('a server that becomes read-only fails its statements, and is used again once it accepts writes', async (context) => {
  const { db } = await openSeveral(context, servers)
  const readOnly = async (on: 'on' | 'off') => {
    await servers.primary.db.kysely.connection().execute(async (one) => {
      await sql`alter system set default_transaction_read_only = ${sql.raw(on)}`.execute(one)
      await sql`select pg_reload_conf()`.execute(one)
    })
  }
  await note(db, 'before')
  await readOnly('on')
  await until('it is refused', async () => !(await answers(note(db, 'meanwhile'))))
  await expect(note(db, 'meanwhile')).rejects.toSatisfy(isUnavailable)
  await readOnly('off')
  await until('it writes', () => answers(note(db, 'after')))
})

test('a commit that waits for a missing synchronous standby fails as retryable, and is not undone', async (context) => {
  const { db } = await openSeveral(context, servers)
  const standbyNames = async (names: string) => {
    await sql`alter system set synchronous_standby_names = ${sql.lit(names)}`.execute(servers.primary.db.kysely)
    await sql`select pg_reload_conf()`.execute(servers.primary.db.kysely)
  }
  const notesWith = async (text: string) => (await sql`select from notes where note = ${text}`.execute(servers.primary.db.kysely)).rows.length
  await note(db, 'before')
  await standbyNames('nobody')
  // From some moment on, commits wait: no session can see whether the server has applied the setting.
  let [text, refused]: [string, unknown] = ['', null]
  for (let i = 0; refused === null; i += 1) {
    text = `waiting ${i}`
    refused = await note(db, text).then(
      () => null,
      (error: unknown) => error,
    )
  }
  expect(refused).toSatisfy(isUnavailable)
  expect(await notesWith(text)).toBe(0)
  await standbyNames('')
  await until('it is done', async () => (await notesWith(text)) === 1)
  await note(db, 'after')
})

test.for(['crashes', 'falls silent'] as const)('when the primary %s, everything moves to the new primary, including LISTEN', async (how, context) => {
  const pair = await startPrimaryAndReplica()
  context.onTestFinished(() => pair.close())
  const { db, primary } = await openSeveral(context, pair)
  await sql`create table notes (note text)`.execute(pair.primary.db.kysely)
  const heard: string[] = []
  const notices = new Notices(db)
  notices.follow('several', (payload) => heard.push(payload))
  await Promise.all(['one', 'two', 'three'].map((text) => note(db, text)))
  await until('the replica has them', async () => (await sql`select from notes`.execute(pair.replica.db.kysely)).rows.length === 3)

  if (how === 'crashes') await pair.crash()
  else primary.drop('all')
  const started = performance.now()
  await expect(note(db, 'lost')).rejects.toSatisfy(isUnavailable)
  expect(performance.now() - started).toBeLessThan(60_000)
  await sql`select pg_promote()`.execute(pair.replica.db.kysely)
  await until('it writes', () => answers(note(db, 'after')))
  // The old primary returns: no node connects to it.
  primary.restore()
  expect(await Promise.all([1, 2, 3, 4].map(() => standby(db)))).toEqual([false, false, false, false])
  const { rows } = await sql<{ note: string }>`select note from notes order by note`.execute(pair.replica.db.kysely)
  // Written again if only the response was lost.
  expect([...new Set(rows.map((row) => row.note))]).toEqual(['after', 'one', 'three', 'two'])
  await until('a notice arrives', async () => {
    await sql`select pg_notify('several', 'heard')`.execute(pair.replica.db.kysely)
    return heard.length > 0
  })
  notices.close()
})

test('changes of the new primary are followed, although the old one had used their transaction ids for lost commits', async (context) => {
  const pair = await startPrimaryAndReplica()
  context.onTestFinished(() => pair.close())
  const { db } = await openSeveral(context, pair)
  const change = (on: Database<Schema>, id: number) => sql`insert into change_log (kind, ids) values ('items', array[${id}::int])`.execute(on.kysely)
  const feed = new ChangeFeed(db, { warn: () => {}, info: () => {} })
  const seen: number[] = []
  feed.add({ apply: async (changes) => void seen.push(...changes.flatMap(({ ids }) => ids ?? [])), reload: async () => void seen.push(-1) })
  await feed.open()
  await change(pair.primary.db, 1)
  await feed.pull()
  const copied = async () => (await pair.replica.db.kysely.selectFrom('change_log').select('seq').execute()).length === 1
  await until('the replica has it', copied)
  // From now on, the replica receives nothing: later commits are lost.
  await sql`alter system set primary_conninfo = ''`.execute(pair.replica.db.kysely)
  await sql`select pg_reload_conf()`.execute(pair.replica.db.kysely)
  await until('the replica is cut off', async () => (await sql`select from pg_stat_replication`.execute(pair.primary.db.kysely)).rows.length === 0)
  for (let n = 0; n < 20; n++) await sql`select pg_current_xact_id()`.execute(pair.primary.db.kysely)
  await feed.pull()
  // Clients that store their own position, like cursors of `GET /changes`: one that has read everything, and one that has read part of it.
  const upToDate = (await readAll(db, null)).next
  const behind = (await readLog(db.kysely, { after: null, kinds: ['items'], most: 0, entryBytes: 1 })) as LogPage
  expect(behind.more).toBe(true)
  await pair.crash()
  await sql`select pg_promote()`.execute(pair.replica.db.kysely)
  // More transaction ids than were used up before, so that the position appears to be in the past again.
  for (let n = 2; n < 42; n++) await change(pair.replica.db, n)
  await until('the feed answers', () => answers(feed.pull()))
  const all = Array.from({ length: 41 }, (_, n) => n + 1)
  expect([...new Set(seen)].toSorted((a, b) => a - b)).toEqual(all)
  const { cluster, seen: start, upTo } = behind
  expect((await readAll(db, { cluster, seen: start, range: { upTo, xact: '1', seq: 0, entry: 0 } })).ids).toEqual(all)
  expect((await readAll(db, upToDate)).ids).toEqual(all.slice(1))
  expect((await readAll(db, (await readAll(db, upToDate)).next)).ids).toEqual([])
  await feed.close()
})

/** Reads the log from a position to its end, through the text form of the position and in small pages. */
async function readAll(db: Database<Schema>, from: LogPosition | null): Promise<{ ids: number[]; next: LogPosition }> {
  const ids: number[] = []
  for (let after = from; ; ) {
    const page = await readLog(db.kysely, { after, kinds: ['items'], most: 7, entryBytes: 1 })
    if (page === 'expired') throw new Error('expired')
    const { more, next, parts } = page
    ids.push(...parts.flatMap((part) => part.ids ?? []))
    const isEnd = !more && (after === null || after.range === null)
    after = readPosition(positionText(next))!
    if (isEnd) return { ids, next: after }
  }
}
