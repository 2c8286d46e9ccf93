// The pool: types, prepared statements, survival of lost connections, COPY both ways.
import fc from 'fast-check'
import { sql } from 'kysely'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { minorToText } from '#core/money.ts'
import { BinaryRows, copyIn, copyOut, int4At, int8At, minorAt, readBinaryCopy, timeAt } from '#db/copy.ts'
import { type Database, openPool } from '#db/connection/pool.ts'
import { isUnavailable } from '#db/connection/transaction.ts'
import { freshDatabase } from '../support/postgres.ts'
import { runs } from '../support/runs.ts'

interface Schema {
  numbers: { a: number; b: number | null; c: number }
}

let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Database<Schema>

beforeAll(async () => {
  database = await freshDatabase()
  db = openPool<Schema>({ url: database.url, max: 3, applicationName: 'pool-test', statementTimeoutMs: 60_000 })
  await sql`create table numbers (a int8, b int4, c float8)`.execute(db.kysely)
})

afterAll(async () => {
  await db.close()
  await database.drop()
})

test('values are exact: numeric and date as text, int8 as a safe number, time as Date', async () => {
  const { rows } = await sql`select 9007199254740991::int8 as whole, 2.50::numeric as amount, date '2026-01-31' as day,
    timestamptz '2026-01-31 12:00:00.5+03' as at, array[1, null]::int8[] as wholes,
    array[0.10, null]::numeric[] as amounts, array[date '2026-01-31'] as days,
    current_setting('TimeZone') as zone, current_setting('statement_timeout') as timeout
  `.execute(db.kysely)
  expect(rows).toEqual([
    {
      whole: Number.MAX_SAFE_INTEGER,
      amount: '2.50',
      day: '2026-01-31',
      at: new Date('2026-01-31T09:00:00.500Z'),
      wholes: [1, null],
      amounts: ['0.10', null],
      days: ['2026-01-31'],
      zone: 'UTC',
      timeout: '1min',
    },
  ])
  await expect(sql`select 9007199254740992::int8`.execute(db.kysely)).rejects.toThrow('does not fit')
})

test('lists of any texts, numbers, booleans, times and nulls arrive as they are', async () => {
  const texts = ['a"b', 'c\\d', '', 'NULL', 'null', ' {x, y} ', 'ğ\n漢', null]
  const at = new Date('2026-01-31T09:00:00.500Z')
  const { rows } = await sql`select ${texts}::text[] as texts, ${[1, -2.5, 1e21]}::float8[] as numbers, ${[true, false]}::bool[] as flags,
    ${[]}::int4[] as none, ${[at, null]}::timestamptz[] as times, ${[Buffer.from([0, 255])]}::bytea[] as bytes`.execute(db.kysely)
  expect(rows).toEqual([{ texts, numbers: [1, -2.5, 1e21], flags: [true, false], none: [], times: [at, null], bytes: [Buffer.from([0, 255])] }])
})

test('statements with parameters are prepared once per connection', async () => {
  const names = await db.kysely.connection().execute(async (connection) => {
    for (const n of [1, 2, 3]) await sql`select ${n}::int as once`.execute(connection)
    const found = await sql<{ uses: number }>`select generic_plans + custom_plans as uses from pg_prepared_statements
      where statement like '%as once%' and statement not like '%uses%'`.execute(connection)
    return found.rows
  })
  expect(names).toEqual([{ uses: 3 }])
})

test('a connection with a prepared statement that a migration invalidated is replaced', async () => {
  const one = openPool<Schema>({ url: database.url, max: 1, applicationName: 'migrated' })
  const read = () => one.kysely.selectFrom('numbers').selectAll().where('a', '=', 1).execute()
  await read()
  await sql`alter table numbers alter b type int8`.execute(db.kysely)
  await expect(read()).rejects.toThrow('cached plan')
  expect(await read()).toEqual([])
  await sql`alter table numbers alter b type int4`.execute(db.kysely)
  await one.close()
})

test('a terminated connection fails only its query; idle, busy and reserved ones are replaced', async () => {
  const held = await db.pool.connect()
  const busy = sql`select pg_sleep(20)`.execute(db.kysely)
  const lost = expect(busy).rejects.toSatisfy(isUnavailable)
  const other = openPool<Schema>({ url: database.url, max: 1, applicationName: 'killer' })
  const others = sql<{ n: number }>`select count(pg_terminate_backend(pid))::int as n from pg_stat_activity
    where application_name = 'pool-test' and datname = current_database()`
  await expect.poll(async () => (await sleeping(other)) > 0, { interval: 10 }).toBe(true)
  expect((await others.execute(other.kysely)).rows[0]!.n).toBeGreaterThanOrEqual(2)
  await lost
  await expect(held.query('select 1')).rejects.toSatisfy(isUnavailable)
  held.release()
  // An idle connection may be handed out once more before the pool learns that it has ended.
  const answer = () => sql`select 1 as one`.execute(db.kysely).catch(() => ({ rows: [] }))
  await expect.poll(async () => (await answer()).rows, { interval: 10 }).toEqual([{ one: 1 }])
  await other.close()
})

test('an unreachable server is distinguished from a wrong statement', async () => {
  for (const url of ['postgresql://nobody:x@127.0.0.1:1/none', 'postgresql://nobody:x@/none?host=%2Fnowhere']) {
    const nowhere = openPool({ url, max: 1, applicationName: 'nowhere' })
    await expect(sql`select 1`.execute(nowhere.kysely)).rejects.toSatisfy(isUnavailable)
    await nowhere.close()
  }
  await expect(sql`select nonsense`.execute(db.kysely)).rejects.not.toSatisfy(isUnavailable)
  await expect(readFile('/nowhere')).rejects.not.toSatisfy(isUnavailable)
})

test('waiting too long for a connection means the database is unavailable', { tags: 'slow' }, async () => {
  const one = openPool({ url: database.url, max: 1, applicationName: 'one' })
  const held = await one.pool.connect()
  await expect(sql`select 1`.execute(one.kysely)).rejects.toSatisfy(isUnavailable)
  held.release()
  await one.close()
})

const row = fc.record({
  a: fc.maxSafeInteger(),
  b: fc.option(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  c: fc.double({ noNaN: true }),
})

const someRows = fc.array(row, { maxLength: 30 })
const chunkSizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 })

test('binary COPY returns what was written, wherever the chunks are split', async () => {
  await fc.assert(
    fc.asyncProperty(someRows, chunkSizes, async (rows, cuts) => {
      await sql`truncate numbers`.execute(db.kysely)
      const lines = rows.map(({ a, b, c }) => `${a}\t${b ?? '\\N'}\t${Object.is(c, -0) ? '-0' : c}\n`)
      expect(await copyIn(db.kysely, 'copy numbers (a, b, c) from stdin', lines)).toBe(rows.length)
      const whole = Buffer.concat(await Array.fromAsync(copyOut(db.kysely, 'copy numbers to stdout (format binary)')))
      const read: typeof rows = []
      const count = await readBinaryCopy(cutUp(whole, cuts), (buffer, at, lengths) => {
        expect([...lengths.subarray(0, 3)]).toEqual([8, lengths[1] === -1 ? -1 : 4, 8])
        const b = lengths[1] === -1 ? null : int4At(buffer, at[1]!)
        read.push({ a: int8At(buffer, at[0]!), b, c: buffer.readDoubleBE(at[2]!) })
      })
      expect(count).toBe(rows.length)
      expect(read).toEqual(rows)
    }),
    { numRuns: runs(60) },
  )
})

test('binary rows keep amounts to the cent and times to the millisecond, in SQL and when read back', async () => {
  await sql`create table amounts (a integer, b smallint, price numeric(14,2), at timestamptz(3))`.execute(db.kysely)
  const amount = fc.oneof(
    fc.nat({ max: 1_000_100 }),
    fc.nat({ max: 999 }).map((n) => n * 1_000_000),
    fc.integer({ min: 0, max: 99_999_999_999_999 }),
  )
  const someAmounts = fc.array(
    fc.record({
      a: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      b: fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 }),
      minor: amount,
      ms: fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }),
    }),
    { maxLength: 30 },
  )
  await fc.assert(
    fc.asyncProperty(someAmounts, async (amounts) => {
      await sql`truncate amounts`.execute(db.kysely)
      const rows = new BinaryRows()
      for (const { a, b, minor, ms } of amounts) rows.begin(4).int4(a).int2(b).minor(minor).time(ms)
      expect(await copyIn(db.kysely, 'copy amounts from stdin (format binary)', [rows.end()])).toBe(amounts.length)
      const stored = await sql<{ a: number; b: number; price: string; ms: number }>`
        select a, b, price, (extract(epoch from at) * 1000)::float8 as ms from amounts`.execute(db.kysely)
      expect(stored.rows).toEqual(amounts.map(({ a, b, minor, ms }) => ({ a, b, price: minorToText(minor), ms })))
      const read: typeof amounts = []
      const out = copyOut(db.kysely, 'copy (select a, b::int4, price, at from amounts) to stdout (format binary)')
      await readBinaryCopy(out, (buffer, at) => {
        read.push({ a: int4At(buffer, at[0]!), b: int4At(buffer, at[1]!), minor: minorAt(buffer, at[2]!), ms: timeAt(buffer, at[3]!) })
      })
      expect(read).toEqual(amounts)
    }),
    { numRuns: runs(60) },
  )
})

test('a truncated or foreign binary stream is an error', async () => {
  const whole = Buffer.concat(await Array.fromAsync(copyOut(db.kysely, 'copy (select 1) to stdout (format binary)')))
  await expect(readBinaryCopy(cutUp(whole.subarray(0, -2), [7]), () => {})).rejects.toThrow('ended early')
  const text = Buffer.from('1\t2\t3\n1\t2\t3\n')
  await expect(readBinaryCopy(cutUp(text, [5]), () => {})).rejects.toThrow('no binary COPY')
})

test('the binary form of COPY can be loaded again', async () => {
  await sql`truncate numbers`.execute(db.kysely)
  await sql`insert into numbers select i, -i, i / 2.0 from generate_series(1, 50000) i`.execute(db.kysely)
  const out = copyOut(db.kysely, 'copy numbers to stdout (format binary)')
  expect(await copyIn(db.kysely, 'copy numbers from stdin (format binary)', out)).toBe(50_000)
  const { rows } = await sql<{ n: number }>`select count(*) as n from numbers`.execute(db.kysely)
  expect(rows).toEqual([{ n: 100_000 }])
})

test('a failing COPY leaves no rows and a usable pool', async () => {
  await sql`truncate numbers`.execute(db.kysely)
  const broken = async function* () {
    yield '1\t2\t3\n'
    throw new Error('the source broke')
  }
  for (let round = 0; round < 4; round++) {
    await expect(copyIn(db.kysely, 'copy numbers from stdin', broken())).rejects.toThrow('the source broke')
    await expect(copyIn(db.kysely, 'copy numbers from stdin', ['nonsense\n'])).rejects.toThrow('invalid input syntax')
    await expect(Array.fromAsync(copyOut(db.kysely, 'copy nothing to stdout'))).rejects.toThrow('does not exist')
    for await (const _ of copyOut(db.kysely, 'copy (select generate_series(1, 5000000)) to stdout')) break
  }
  const { rows } = await sql<{ n: number }>`select count(*) as n from numbers`.execute(db.kysely)
  expect(rows).toEqual([{ n: 0 }])
})

test('in a transaction, COPY is part of it', async () => {
  await sql`truncate numbers`.execute(db.kysely)
  const undone = db.kysely.transaction().execute(async (tx) => {
    await copyIn(tx, 'copy numbers from stdin', ['1\t2\t3\n'])
    expect(Buffer.concat(await Array.fromAsync(copyOut(tx, 'copy numbers to stdout'))).toString()).toBe('1\t2\t3\n')
    throw new Error('undo')
  })
  await expect(undone).rejects.toThrow('undo')
  expect(await db.kysely.selectFrom('numbers').selectAll().execute()).toEqual([])
})

async function sleeping(on: Database<Schema>): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from pg_stat_activity
    where application_name = 'pool-test' and wait_event = 'PgSleep' and datname = current_database()`.execute(on.kysely)
  return rows[0]!.n
}

async function* cutUp(whole: Buffer, sizes: number[]): AsyncGenerator<Buffer> {
  for (let at = 0, turn = 0; at < whole.length; turn++) {
    const size = sizes[turn % sizes.length]!
    yield Buffer.from(whole.subarray(at, at + size))
    at += size
  }
}
