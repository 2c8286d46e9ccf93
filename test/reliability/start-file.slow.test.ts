// The start file: it gives the same results as the database, whatever has changed since, and no damaged file is ever used.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { openPool } from '#db/connection/pool.ts'
import { trimChangeLog } from '#db/changes/change-feed.ts'
import type { Schema } from '#db/schema.ts'
import { copyGeneratedData } from '../../bench/generated-data.ts'
import { generateListings } from '../../bench/generated-listings.ts'
import { makeTwins } from '../identity/kit.ts'
import { makeCatalogue, operator, orderId, pending, plus, published } from '../market/kit.ts'
import { silent, startTestNode, type TestNode, until } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'
import { answersOf, difference, memoryOf } from '../support/start-files.ts'

const ITEMS = 1_500
const LISTINGS = 2_000
const WRITER = fileURLToPath(new URL('../support/start-file-writer.ts', import.meta.url))
const READER = fileURLToPath(new URL('../support/start-file-reader.ts', import.meta.url))

let database: Awaited<ReturnType<typeof freshDatabase>>
let node: TestNode
let items: Record<string, number>
let dataDir: string
const said: string[] = []

const memory = (now?: () => Date) => memoryOf({ db: node.db, dataDir, now, said: (line) => said.push(line) })
const path = () => join(dataDir, 'start.columns')

beforeAll(async () => {
  database = await freshDatabase()
  const db = openPool<Schema>({ url: database.url, max: 4, applicationName: 'mintmark test' })
  await copyGeneratedData(db, ITEMS)
  const owner = await db.kysely
    .insertInto('accounts')
    .values({ name: 'Owner', plan: 'plus', created_at: new Date(), updated_at: new Date() })
    .returning('id')
    .executeTakeFirstOrThrow()
  await generateListings(db, owner.id, LISTINGS)
  await db.close()
  node = await startTestNode({ databaseUrl: database.url, worker: true })
  ;({ items } = await makeCatalogue(node))
  await makeTwins(
    node,
    ['Reverse Holofoil', 'Normal', '1st Edition Holofoil', 'Holofoil'].map((finish, i) => ({
      ref: `finish:${i}`,
      market: 'source_c',
      name: 'Alakazam',
      finish,
    })),
  )
  for (const name of ['char', 'pika', 'luffy']) await published(node, items[name]!, { title: `${name} 🐉 çelik`, quantity: 4 })
})

afterAll(async () => {
  await node.close()
  await database.drop()
})

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'mintmark-start-file-'))
  said.length = 0
  return () => rmSync(dataDir, { recursive: true, force: true })
})

async function writeFile(): Promise<void> {
  const loaded = memory()
  await loaded.load()
  await loaded.write()
}

/** Advances memories to the same position in the change log, which tasks of the node also write. @returns the position */
async function level(...memories: ReturnType<typeof memory>[]): Promise<number> {
  for (;;) {
    const places = await Promise.all(memories.map(({ feed }) => feed.pull().then(() => feed.between(async ({ lastSeq }) => lastSeq))))
    if (new Set(places).size === 1) return places[0]!
  }
}

/** The responses of a node that starts now, and of one that loads everything from the database. */
async function expectRight(at = new Date()): Promise<boolean> {
  const [started, loaded] = [memory(() => at), memory(() => at)]
  const fromFile = await started.start()
  await loaded.load()
  await level(started, loaded)
  expect(difference(answersOf(started), answersOf(loaded))).toBeNull()
  return fromFile
}

/** One change of each kind that affects the columns. */
async function changeEverything(): Promise<void> {
  const done = async (reply: Promise<{ status: number; body: object }>) => {
    const { status, body } = await reply
    expect([status, body]).toEqual([expect.toSatisfy((code: number) => code < 300), expect.anything()])
  }
  const listing = await published(node, items.char!, { title: 'Charizard new', quantity: 3, price: 20 })
  const gone = await published(node, items.pika!, { title: 'gone soon' })
  await pending(node, items.luffy!)
  await done(plus(node, 'PATCH', `/listings/${listing.id}/price`, { price: 33.5 }))
  await done(plus(node, 'DELETE', `/listings/${gone.id}`))
  await done(operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: listing.id, quantity: 1 }] }))
  await done(operator(node, 'PATCH', `/items/${items.pika}`, { name: 'Pikachu renamed' }))
  const { id } = await node.db.kysely.selectFrom('categories').select('id').where('ref', '=', 'base').executeTakeFirstOrThrow()
  await done(operator(node, 'PATCH', `/categories/${id}`, { name: 'Base Set Again' }))
  const price = { item_id: items.char, market: 'source_a', label: 'Near Mint', price: 171.2, updated_at: '2026-11-20T00:00:00Z' }
  await done(operator(node, 'POST', '/prices', [price]))
}

test('a node started from the file responds like one started from the database, with all later changes', async () => {
  await writeFile()
  expect(await expectRight()).toBe(true)
  await changeEverything()
  expect(await expectRight()).toBe(true)
  const [seller] = await node.db.kysely.selectFrom('accounts').select('id').where('name', '=', 'Seller 3').execute()
  expect((await operator(node, 'PATCH', `/accounts/${seller!.id}`, { suspended: true })).status).toBe(200)
  expect(await expectRight()).toBe(true)
  expect(said).toEqual([])
})

test('a process that has never read the catalogue responds the same', async () => {
  await writeFile()
  const at = new Date()
  const loaded = memory(() => at)
  await loaded.load()
  const read = async () => {
    const args = [READER, node.databaseUrl, dataDir, String(at.getTime())]
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1e9 })
    return JSON.parse(stdout) as { fromFile: boolean; answers: string[] }
  }
  let before: number
  let answered: Awaited<ReturnType<typeof read>>
  // Until no task of the node has written in between.
  do {
    before = await level(loaded)
    answered = await read()
  } while ((await level(loaded)) !== before)
  expect(answered.fromFile).toBe(true)
  expect(difference(answered.answers, answersOf(loaded))).toBeNull()
})

test('a file written by a node started from a file, and changed since, is equivalent', async () => {
  await writeFile()
  await changeEverything()
  const second = memory()
  expect(await second.start()).toBe(true)
  await changeEverything()
  await second.feed.pull()
  await second.write()
  await changeEverything()
  expect(await expectRight()).toBe(true)
})

test('sellers on vacation, highlights and period ends are preserved', async () => {
  const tomorrow = new Date(Date.now() + 86_400_000)
  const until = new Date(Date.now() + 3 * 86_400_000).toISOString()
  const { status } = await plus(node, 'PUT', '/vacation', { from: new Date(Date.now() + 3_600_000).toISOString(), to: until })
  expect(status).toBe(200)
  await sql`update listings set highlighted_until = now() + interval '2 days' where id % 50 = 0`.execute(node.db.kysely)
  await sql`update listings set expires_at = now() + interval '12 hours' where id % 60 = 0`.execute(node.db.kysely)
  await writeFile()
  expect(await expectRight(tomorrow)).toBe(true)
  await plus(node, 'DELETE', '/vacation')
})

test('a damaged file is rejected: truncated, with changed bytes, or with bytes moved', async () => {
  await writeFile()
  const whole = readFileSync(path())
  const at = new Date()
  const loaded = memory(() => at)
  await loaded.load()
  let right: { seq: number; answers: string[] } | null = null
  const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }).map((share) => Math.floor(share * whole.length))
  const damage = fc.oneof(
    fc.record({ kind: fc.constant('cut' as const), at: place }),
    fc.record({ kind: fc.constant('flip' as const), at: place, bit: fc.nat(7) }),
    fc.record({ kind: fc.constant('zeros' as const), at: place, length: fc.integer({ min: 1, max: 8_192 }) }),
    fc.record({ kind: fc.constant('moved' as const), at: place, from: place, length: fc.integer({ min: 1, max: 4_096 }) }),
    fc.record({ kind: fc.constant('end' as const), back: fc.integer({ min: 1, max: 6_000 }), bit: fc.nat(7) }),
  )
  await fc.assert(
    fc.asyncProperty(damage, async (how) => {
      const bytes = Buffer.from(whole)
      if (how.kind === 'flip') bytes[how.at]! ^= 1 << how.bit
      if (how.kind === 'end') bytes[bytes.length - how.back]! ^= 1 << how.bit
      if (how.kind === 'zeros') bytes.subarray(how.at, how.at + how.length).fill(0)
      if (how.kind === 'moved') whole.copy(bytes, how.at, how.from, how.from + how.length)
      writeFileSync(path(), how.kind === 'cut' ? bytes.subarray(0, how.at) : bytes)
      const same = how.kind !== 'cut' && bytes.equals(whole)
      said.length = 0
      const started = memory(() => at)
      expect(await started.start()).toBe(same)
      const seq = await level(started, loaded)
      if (right?.seq !== seq) right = { seq, answers: answersOf(loaded) }
      expect(difference(answersOf(started), right.answers)).toBeNull()
      expect(said).toEqual(
        same ? [] : [expect.stringMatching(/^Discarding the start file: it is (not complete|damaged); loading from the database$/)],
      )
      expect(existsSync(path())).toBe(same)
    }),
    { numRuns: 60 },
  )
}, 600_000)

test('killing a writer at any time leaves a complete file or none', async () => {
  for (let round = 0; round < 6; round += 1) {
    const child = spawn(process.execPath, [WRITER, node.databaseUrl, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] })
    const exited = once(child, 'exit')
    await once(child.stdout, 'data')
    await delay(Math.random() * 150)
    child.kill('SIGKILL')
    await exited
    await changeEverything()
    const whole = existsSync(path())
    expect(await expectRight()).toBe(whole)
  }
  expect(said).toEqual([])
}, 600_000)

test('a file of another database, of another history, or from before the change log is discarded', async () => {
  const why = (text: string) => `Discarding the start file: ${text}; loading from the database`
  await writeFile()
  copyFileSync(path(), `${path()}.copy`)
  const back = () => copyFileSync(`${path()}.copy`, path())
  const other = await freshDatabase()
  const db = openPool<Schema>({ url: other.url, max: 2, applicationName: 'mintmark test' })
  const elsewhere = memoryOf({ db, dataDir, said: (line) => said.push(line) })
  expect(await elsewhere.start()).toBe(false)
  expect(elsewhere.catalogue.items.live.size).toBe(0)
  await db.close()
  await other.drop()

  // As after restoring a disk backup that is older than the file.
  back()
  const marks = await node.db.kysely.deleteFrom('start_marks').returningAll().execute()
  expect(await expectRight()).toBe(false)
  await node.db.kysely.insertInto('start_marks').values(marks).execute()

  back()
  await changeEverything()
  await sql`update change_log set at = at - interval '30 days'`.execute(node.db.kysely)
  // Transactions of other tests on the server can keep rows back for a moment.
  await until('the log is trimmed', async () => {
    await trimChangeLog(node.db, node.clock.now())
    const { rows } = await sql`select from change_log where at < now() - interval '8 days'`.execute(node.db.kysely)
    return rows.length === 0
  })
  expect(await expectRight()).toBe(false)
  expect(said).toEqual([
    why('it is of another database'),
    why('the database has another history since'),
    why('the change log no longer reaches back to it'),
  ])
})

test('a node writes the file when it stops, at its interval unless it is recent, and starts from it', async () => {
  const lines: string[] = []
  const log = {
    ...silent,
    info: (_details: object, line: string) => void lines.push(line),
    warn: (_details: object, line: string) => void lines.push(line),
  }
  const start = () => startTestNode({ databaseUrl: node.databaseUrl, worker: true, env: { DATA_DIR: dataDir, START_FILE_MINUTES: '60' }, log })
  const about = () => lines.filter((line) => line.includes('start file'))
  const first = await start()
  await expect.poll(about).toEqual(['Wrote the start file'])
  expect(readdirSync(dataDir)).toEqual(['start.columns'])
  expect(statSync(path()).mode & 0o777).toBe(0o600)
  rmSync(path())
  await first.close()
  expect(about()).toEqual(['Wrote the start file', 'Wrote the start file'])
  const second = await start()
  await expect
    .poll(async () => {
      const loaded = memory()
      await loaded.load()
      await level(loaded)
      return difference(answersOf(second), answersOf(loaded))
    })
    .toBeNull()
  expect(about().slice(2)).toEqual(['Loaded the start file'])
  await second.close()
})
