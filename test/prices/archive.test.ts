// Archived months: charts, points, dumps and explanations are the same before, during and after archiving, whatever fails on the way.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { DAY_MS } from '#core/duration.ts'
import { monthAfter } from '#core/time.ts'
import { makeDump } from '#dumps/make-dump.ts'
import { openDumpStore } from '#dumps/open-store.ts'
import { archivedMonths, archiveMonth, archiveOldMonths, type Archiving, mayArchive, type MonthTable, restoreMonth } from '#files/month-archive.ts'
import { monthsOfPrices } from '#prices/archive/archive-months.ts'
import { openPriceArchive, type PriceArchive } from '#prices/archive/price-archive.ts'
import { forgetOldPrices } from '#prices/history/retention.ts'
import { history, makeTwins, merged, operator, type Posted, postPrices, undo } from '../identity/kit.ts'
import { endAll, run } from '../program/service.ts'
import { passOnAllPrices, send, startTestNode, type TestNode } from '../support/node.ts'
import { ALL_CASES, rowsOf, runs } from '../support/runs.ts'
import { openS3, type S3Store } from '../support/s3.ts'

const folder = mkdtempSync(join(tmpdir(), 'mintmark-archive-'))
const KEEP_MONTHS = 5
/** Age of the first price in days: two years of months can be archived. */
const DAYS = 900

let node: TestNode
let archive: PriceArchive
let table: MonthTable
let archiving: Archiving

beforeAll(async () => {
  node = await startTestNode({
    env: { PRICE_HOLD_FACTOR: '1000', ARCHIVE_DIR: folder, DUMPS_DIR: join(folder, 'dumps'), PRICE_ARCHIVE_MONTHS: String(KEEP_MONTHS) },
  })
  await passOnAllPrices(node)
  archive = openPriceArchive(node.config)
  table = monthsOfPrices(archive.files)
  archiving = { db: node.db, now: node.clock.now() }
})
afterEach(() => restoreAll())
afterAll(async () => {
  await node.close()
  await endAll()
  rmSync(folder, { recursive: true })
})

const LABELS = ['Near Mint', 'PSA 10'] as const
const MARKETS = ['source_a', 'source_c'] as const
type Row = [label: string, market: string, daysAgo: number, price: number]
let itemCount = 0

/** Items, each with a history. */
async function itemsWith(...histories: Row[][]): Promise<number[]> {
  const refs = histories.map(() => `card:${(itemCount += 1)}`)
  const ids = await makeTwins(
    node,
    refs.map((ref) => ({ ref, market: 'source_c', name: ref })),
  )
  for (const [i, rows] of histories.entries()) await post(ids[refs[i]!]!, rows)
  return refs.map((ref) => ids[ref]!)
}

/** Posts prices now. */
function postNow(itemIds: number | number[], rows: Row[]): Promise<Posted> {
  const ids = [itemIds].flat()
  return postPrices(
    node,
    ids.flatMap((item_id) =>
      rows.map(([label, market, daysAgo, price]) => ({ item_id, label, market, price, updated_at: daysBefore(daysAgo).toISOString() })),
    ),
  )
}

/** Posts prices as if they had arrived long ago: the prices of recent imports are not archived. */
async function post(itemIds: number | number[], rows: Row[]): Promise<Posted> {
  const posted = await postNow(itemIds, rows)
  await node.db.kysely
    .updateTable('imports')
    .set({ started_at: daysBefore(DAYS) })
    .execute()
  return posted
}

const NOON = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2
const daysBefore = (days: number) => new Date(NOON - days * DAY_MS)

function archiveAll() {
  return archiveOldMonths(table, archiving, KEEP_MONTHS)
}

async function restoreAll(): Promise<void> {
  for (const { month, file } of await archivedMonths('price_archives', node.db.kysely)) if (file !== null) await restoreMonth(table, node.db, month)
  // So that the next test can archive them again.
  await node.db.kysely.deleteFrom('price_archives').execute()
  for (const name of files()) rmSync(join(folder, name))
}

async function stored(): Promise<string[]> {
  const { rows } = await sql<{ row: string }>`select p::text as row from price_points p order by 1`.execute(node.db.kysely)
  return rows.map(({ row }) => row)
}

interface Window {
  label?: string
  market: string
  from: number
  days: number
  interval: string
}

/** Responses of REST and GraphQL for a window, the points that operators see, and the explanation of the price. */
async function answersOf(id: number, { label, market, from, days, interval }: Window) {
  const [start, end] = [daysBefore(from).toISOString(), daysBefore(from - days).toISOString()]
  const query = `market=${market}&from=${start}&to=${end}${label === undefined ? '' : `&label=${encodeURIComponent(label)}`}`
  const rest = await send(`${node.publicUrl}/api/v1/items/${id}/price-history?${query}&interval=${interval}`, node.keys.professional)
  const graphql = await send<unknown>(`${node.publicUrl}/graphql`, node.keys.professional, {
    json: {
      query: `{ item(id: ${id}) { priceHistory(market: "${market}", from: "${start}", to: "${end}", interval: "${interval}") { date label open low high close } } }`,
    },
  })
  const explained = await send<{ medians: unknown; price: unknown; inputs: unknown }[]>(
    `${node.publicUrl}/api/v1/items/${id}/prices/explain?market=${market}`,
    node.keys.professional,
  )
  const points = await history(node, id, `?${query}`)
  expect([rest.status, explained.status, graphql.status, graphql.body.error]).toEqual([200, 200, 200, undefined])
  expect(JSON.stringify(graphql.body)).not.toContain('errors')
  return { rest: rest.body.data, graphql: graphql.body, points, all: await history(node, id), explained: explained.body.data }
}

const row = fc.tuple(fc.constantFrom(...LABELS), fc.constantFrom(...MARKETS), fc.integer({ min: 1, max: DAYS }), fc.integer({ min: 1, max: 6 }))
const window = fc.record({
  label: fc.option(fc.constantFrom(...LABELS), { nil: undefined }),
  market: fc.constantFrom(...MARKETS),
  from: fc.integer({ min: 1, max: DAYS + 50 }),
  days: fc.integer({ min: 1, max: DAYS }),
  interval: fc.constantFrom('day', 'week', 'month'),
})

describe('an archived history', () => {
  test('is returned and restored unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(row, { minLength: 1, maxLength: 60 }), { minLength: 2, maxLength: 3 }),
        fc.array(window, { minLength: runs(6), maxLength: runs(6) }),
        async (histories, windows) => {
          const ids = await itemsWith(...histories)
          const answers = () => Promise.all(ids.flatMap((id) => windows.map((query) => answersOf(id, query))))
          const [before, rows] = [await answers(), await stored()]
          const months = await archiveAll()
          expect(await answers()).toEqual(before)
          const left = await stored()
          expect(left.length + months.reduce((sum, month) => sum + month.rows, 0)).toBe(rows.length)
          await restoreAll()
          expect(await stored()).toEqual(rows)
          expect(await answers()).toEqual(before)
        },
      ),
      { numRuns: ALL_CASES ? 4 : 1 },
    )
  })

  test('accepts late prices, which the next run adds to the file', { tags: 'slow' }, async () => {
    const [id] = await itemsWith([500, 480, 470, 440, 20].map((days, i): Row => ['Near Mint', 'source_c', days, i + 1]))
    const [twin] = await itemsWith([500, 480, 470, 440, 20].map((days, i): Row => ['Near Mint', 'source_c', days, i + 1]))
    await archiveAll()
    for (const item of [id!, twin!])
      await post(item, [
        ['Near Mint', 'source_c', 475, 9],
        ['Near Mint', 'source_c', 480, 8],
      ])
    const prices = async (item: number) => (await history(node, item)).map(({ price }) => price)
    expect(await prices(id!)).toEqual([1, 8, 9, 3, 4, 5])
    for (const month of [monthOf(480), monthOf(475)]) await archiveMonth(table, archiving, month)
    expect(await prices(id!)).toEqual([1, 8, 9, 3, 4, 5])
    expect(await prices(twin!)).toEqual([1, 8, 9, 3, 4, 5])
  })

  test('follows merges and their undos', { tags: 'slow' }, async () => {
    const rows = (offset: number) => [500, 480, 470, 20].map((days, i): Row => ['Near Mint', 'source_c', days + offset, i + 1 + offset])
    const [a, b] = (await itemsWith(rows(0), rows(3))) as [number, number]
    const [plainA, plainB] = (await itemsWith(rows(0), rows(3))) as [number, number]
    const seen = async (id: number) => (await history(node, id)).map(({ price, updated_at }) => [price, updated_at])
    const [beforeA, beforeB] = [await seen(a), await seen(b)]
    await merged(node, plainA, plainB)
    const together = await seen(plainB)
    await archiveAll()
    const id = await merged(node, a, b)
    expect(await seen(b)).toEqual(together)
    expect(together).toHaveLength(8)
    expect((await undo(node, id)).status).toBe(200)
    expect([await seen(a), await seen(b)]).toEqual([beforeA, beforeB])
    const again = await merged(node, a, b)
    await restoreAll()
    expect(await seen(b)).toEqual(together)
    expect((await undo(node, again)).status).toBe(200)
    expect([await seen(a), await seen(b)]).toEqual([beforeA, beforeB])
  })

  test('restores merged items when a merge is undone after archiving', { tags: 'slow' }, async () => {
    const rows = (offset: number) => [500, 480, 470, 20].map((days, i): Row => ['Near Mint', 'source_c', days + offset, i + 1 + offset])
    const [a, b] = (await itemsWith(rows(0), rows(3))) as [number, number]
    const seen = async (id: number) => (await history(node, id)).map(({ price, updated_at }) => [price, updated_at])
    const before = [await seen(a), await seen(b)]
    const id = await merged(node, a, b)
    const together = await seen(b)
    await archiveAll()
    expect(await seen(b)).toEqual(together)
    expect((await undo(node, id)).status).toBe(200)
    expect([await seen(a), await seen(b)]).toEqual(before)
  })

  test.each(['one import', 'two imports'])('merges points with the same times, of %s, like the database', { tags: 'slow' }, async (imports) => {
    const twins = async () => {
      const ids = (await itemsWith([], [])) as [number, number]
      const rows = (factor: number) => [500, 480, 470, 20].map((days, i): Row => ['Near Mint', 'source_c', days, (i + 1) * factor])
      if (imports === 'one import') await post(ids, rows(1))
      else for (const [i, id] of ids.entries()) await post(id, rows(i + 2))
      return ids
    }
    const seen = async (id: number) => (await history(node, id)).map(({ price, updated_at }) => [price, updated_at])
    const [[a, b], [plainA, plainB]] = [await twins(), await twins()]
    const before = [await seen(a), await seen(b)]
    await merged(node, plainA, plainB)
    await archiveAll()
    const id = await merged(node, a, b)
    const charts = async (item: number) => (await answersOf(item, { market: 'source_c', from: 600, days: 600, interval: 'day' })).rest
    expect(await seen(b)).toEqual(await seen(plainB))
    expect(await charts(b)).toEqual(await charts(plainB))
    await restoreAll()
    expect(await seen(b)).toEqual(await seen(plainB))
    expect((await undo(node, id)).status).toBe(200)
    expect([await seen(a), await seen(b)]).toEqual(before)
  })

  test('excludes points of recent imports, and points they replaced: reverting them needs no file', { tags: 'slow' }, async () => {
    const [id] = await itemsWith([500, 480, 300].map((days, i): Row => ['Near Mint', 'source_c', days, i + 1]))
    const { import_id: batch } = await postNow(id!, [
      ['Near Mint', 'source_c', 490, 8],
      ['Near Mint', 'source_c', 200, 9],
    ])
    await archiveAll()
    expect((await operator(node, 'POST', `/imports/${batch}/revert`)).status).toBe(200)
    expect((await history(node, id!)).map(({ price }) => price)).toEqual([1, 2, 3])
    const current = await node.db.kysely.selectFrom('prices').select('price').where('item_id', '=', id!).execute()
    expect(current).toEqual([{ price: '3.00' }])
  })

  test('keeps points covered by late prices with the same time', { tags: 'slow' }, async () => {
    const [id] = await itemsWith([500, 480, 440, 20].map((days, i): Row => ['Near Mint', 'source_c', days, i + 1]))
    const prices = async () => (await history(node, id!)).map(({ price }) => price)
    await archiveAll()
    const { import_id: late } = await post(id!, [['Near Mint', 'source_c', 480, 8]])
    expect(await prices()).toEqual([1, 8, 3, 4])
    await archiveMonth(table, archiving, monthOf(480))
    expect(await prices()).toEqual([1, 8, 3, 4])
    await restoreAll()
    expect((await operator(node, 'POST', `/imports/${late}/revert`)).status).toBe(200)
    expect(await prices()).toEqual([1, 2, 3, 4])

    await archiveAll()
    const { import_id: later } = await post(id!, [['Near Mint', 'source_c', 480, 7]])
    await restoreAll()
    expect(await prices()).toEqual([1, 7, 3, 4])
    expect((await operator(node, 'POST', `/imports/${later}/revert`)).status).toBe(200)
    expect(await prices()).toEqual([1, 2, 3, 4])
  })

  test('rejects reverts of archived points, and says what to restore', async () => {
    const [id] = await itemsWith([['Near Mint', 'source_c', 500, 1]])
    const { import_id: batch } = await post(id!, [['Near Mint', 'source_c', 490, 2]])
    await post(id!, [['Near Mint', 'source_c', 300, 3]])
    await archiveAll()
    const revert = () => operator(node, 'POST', `/imports/${batch}/revert`)
    const refused = await revert()
    expect(refused.status).toBe(409)
    expect(refused.body.error).toMatchObject({ rule: 'archived_prices', params: { id: batch, values: [monthOf(490)] } })
    await restoreMonth(table, node.db, monthOf(490))
    expect((await revert()).status).toBe(200)
    expect((await history(node, id!)).map(({ price }) => price)).toEqual([1, 3])
  })

  test('is included in dumps', { tags: 'slow' }, async () => {
    const rows = [500, 480, 470, 20].map((days, i): Row => ['Near Mint', 'source_c', days, i + 1])
    const [, a, b] = await itemsWith(rows, rows, rows)
    const dumpOf = async () => {
      const store = openDumpStore(node.config)
      const dump = await makeDump({ db: node.db, now: node.clock.now, store, archive, currencies: node.config.sourceCurrencies })
      const lines: string[] = []
      for (const { name } of dump.files.filter(({ name }) => /^price-points.*ndjson/.test(name))) {
        const chunks: Buffer[] = []
        const { bytes, read } = (await store.open(name))!
        for await (const chunk of await read(0, bytes)) chunks.push(chunk as Buffer)
        lines.push(...gunzipSync(Buffer.concat(chunks)).toString().split('\n'))
      }
      return lines.sort()
    }
    const before = await dumpOf()
    expect(await archiveAll()).not.toEqual([])
    expect(await dumpOf()).toEqual(before)
    await merged(node, a!, b!)
    const together = await dumpOf()
    await restoreAll()
    expect(await dumpOf()).toEqual(together)
  })

  test('is deleted at the end of retention', async () => {
    await itemsWith([800, 790, 500, 490, 20].map((days, i): Row => ['Near Mint', 'source_c', days, i + 1]))
    await archiveAll()
    await forgetOldPrices({ db: node.db, archive }, 600, node.clock.now())
    const months = (await archivedMonths('price_archives', node.db.kysely)).map(({ month }) => month)
    expect(months).toContain(monthOf(500))
    expect(months).not.toContain(monthOf(800))
    expect(files()).toHaveLength(months.length)
  })

  test('keeps earlier files of a month for database backups, until the end of retention', { tags: 'slow' }, async () => {
    const rows = Array.from({ length: 3 }, (_, i): Row => ['Near Mint', 'source_c', 800 - i / 24, i + 1])
    const [id] = await itemsWith([...rows, ['Near Mint', 'source_c', 20, 9]])
    const month = monthOf(800)
    const first = (await archiveMonth(table, archiving, month))!.file
    await post(id!, [['Near Mint', 'source_c', 800 - 1 / 48, 5]])
    const second = (await archiveMonth(table, archiving, month))!.file
    await restoreMonth(table, node.db, month)
    expect(files().sort()).toEqual([first, second].sort())
    await forgetOldPrices({ db: node.db, archive }, 600, node.clock.now())
    expect(files()).toEqual([])
  })
})

const monthOf = (daysAgo: number) => daysBefore(daysAgo).toISOString().slice(0, 7)
const files = () => readdirSync(folder).filter((name) => name.endsWith('.parquet'))

describe('archiving', () => {
  let id: number
  const month = monthOf(480)
  beforeAll(async () => {
    const rows = Array.from({ length: 60 }, (_, i): Row => ['Near Mint', 'source_c', 20 + 10 * i, (i % 7) + 1])
    ;[id] = (await itemsWith(rows)) as [number]
  })
  const seen = () => history(node, id)

  test.each(rowsOf(['written', 'stored', 'verified', 'recorded'], 4))('killed once it is %s loses nothing, and can be repeated', async (step) => {
    const before = await seen()
    const child = spawn(process.execPath, [new URL('archive-and-die.ts', import.meta.url).pathname, node.databaseUrl, folder, month, step])
    const [, signal] = await once(child, 'exit')
    expect(signal).toBe('SIGKILL')
    // The server ends the session and releases its lock once it notices that the process has died.
    const sessions = () => sql`select from pg_stat_activity where application_name = 'archive and die'`.execute(node.db.kysely)
    await expect.poll(async () => (await sessions()).rows.length).toBe(0)
    const [archived] = await archivedMonths('price_archives', node.db.kysely, month)
    expect(archived !== undefined).toBe(step === 'recorded')
    if (archived) expect(existsSync(join(folder, archived.file!))).toBe(true)
    expect(await seen()).toEqual(before)
    await archiveMonth(table, archiving, month)
    expect(await seen()).toEqual(before)
    expect((await archivedMonths('price_archives', node.db.kysely, month))[0]!.file).not.toBeNull()
  })

  test('deletes nothing if the file cannot be read back', async () => {
    const before = await stored()
    const damage = () => {
      const [newest] = files().filter((name) => name.includes(month))
      truncateSync(join(folder, newest!), 100)
    }
    const onStep = (step: string) => step === 'stored' && damage()
    await expect(archiveMonth(table, { ...archiving, onStep: onStep as never }, month)).rejects.toThrow()
    expect(await stored()).toEqual(before)
    expect(await archivedMonths('price_archives', node.db.kysely)).toEqual([])
  })

  test('deletes nothing if the month changed meanwhile', async () => {
    const onStep = async (step: string) => {
      if (step === 'verified') await post(id, [['Near Mint', 'source_c', 481, 77]])
    }
    await expect(archiveMonth(table, { ...archiving, onStep: onStep as never }, monthOf(481))).rejects.toThrow('changed while they were archived')
    expect((await seen()).map(({ price }) => price)).toContain(77)
  })

  test('is done by one process at a time', async () => {
    const met: unknown[] = []
    const onStep = async (step: string) => {
      if (step !== 'written') return
      met.push(await archiveMonth(table, archiving, month).catch((error: Error) => error.message), await archiveAll())
    }
    expect(await archiveMonth(table, { ...archiving, onStep: onStep as never }, month)).not.toBeNull()
    expect(met).toEqual(['Another process is archiving; try again later', []])
  })

  test('that is interrupted moves nothing', async () => {
    const before = await stored()
    const stop = new AbortController()
    const onStep = (step: string) => step === 'verified' && stop.abort()
    await expect(archiveMonth(table, { ...archiving, onStep: onStep as never, signal: stop.signal }, month)).rejects.toThrow('aborted')
    expect(await stored()).toEqual(before)
    expect(await archivedMonths('price_archives', node.db.kysely)).toEqual([])
  })

  test('skips recent months, and reports a missing archive', async () => {
    await expect(archiveMonth(table, archiving, monthOf(20))).rejects.toThrow('too recent')
    const archived = await archiveMonth(table, archiving, month)
    const missing = openPriceArchive({ archiveDir: join(folder, 'elsewhere'), dumpsS3: null })
    await expect(missing.joined(node.db.kysely, id, {}, async () => null)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(archived!.rows).toBeGreaterThan(0)
  })

  test('is complete in a history that is read while its month is archived or restored', async () => {
    const archive = openPriceArchive(node.config)
    const storedPoints = async () => (await node.db.kysely.selectFrom('price_points').select('price').where('item_id', '=', id).execute()).length
    const count = await storedPoints()
    for (const move of [() => archiveMonth(table, archiving, month), () => restoreMonth(table, node.db, month)]) {
      let moved: unknown = null
      const read = async (archived: unknown[]) => {
        moved ??= await move()
        return archived.length + (await storedPoints())
      }
      expect(await archive.joined(node.db.kysely, id, {}, read)).toBe(count)
      expect(moved).not.toBeNull()
    }
  })

  test('starts a day after the upgrade', async () => {
    expect(await mayArchive('price_archives', node.db)).toBe(false)
    // All rows, because their order must not change.
    await sql`update kysely_migration set "timestamp" =
      to_char(("timestamp"::timestamptz - interval '25 hours') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`.execute(node.db.kysely)
    expect(await mayArchive('price_archives', node.db)).toBe(true)
  })

  test('is run, listed and undone by commands', { tags: 'slow' }, async () => {
    const env = { DATABASE_URL: node.databaseUrl, ARCHIVE_DIR: folder, PRICE_ARCHIVE_MONTHS: '13', SECRET_KEY: 'secret key of all the tests' }
    const before = await seen()
    const ran = await run(['archive', 'run', '--json'], env)
    expect(ran.said).toEqual([])
    const months = (JSON.parse(ran.out) as { month: string }[]).map((one) => one.month)
    expect(months).toContain(month)
    expect(monthAfter(months.at(-1)!) <= monthOf(13 * 28)).toBe(true)
    expect((await run(['archive', 'list'], env)).out).toContain(`The files are in ${folder}`)
    expect(await seen()).toEqual(before)
    expect((await run(['archive', 'restore', month], env)).out).toMatch(/^Restored \d+ prices of /)
    expect(await seen()).toEqual(before)
    const { out } = await run(['archive', 'run', '--json'], env)
    expect((JSON.parse(out) as { month: string }[]).map((one) => one.month)).not.toContain(month)
    expect((await run(['archive', 'run', month, '--json'], env)).out).toContain(month)
    expect((await run(['archive', 'restore', '2024-13'], env)).code).toBe(2)
    expect((await run(['archive', 'restore', '1999-01'], env)).said.join()).toContain('1999-01 is not in the archive')
  })
})

describe('an archive in a bucket', () => {
  let s3: S3Store
  beforeAll(async () => {
    s3 = await openS3()
  })
  afterAll(() => s3.close())

  test('is read in ranges', { tags: 'slow' }, async () => {
    const [id] = await itemsWith([500, 480, 470, 20].map((days, i): Row => ['Near Mint', 'source_c', days, i + 1]))
    const before = await history(node, id!)
    const archive = openPriceArchive({
      archiveDir: join(folder, 'staging'),
      dumpsS3: {
        url: s3.settings.DUMPS_S3_URL,
        accessKey: s3.settings.DUMPS_S3_ACCESS_KEY,
        secretKey: s3.settings.DUMPS_S3_SECRET_KEY,
        region: 'us-east-1',
      },
    })
    const there = monthsOfPrices(archive.files)
    expect(await archiveMonth(there, archiving, monthOf(480))).not.toBeNull()
    expect(readdirSync(join(folder, 'staging'))).toEqual([])
    const points = await archive.joined(node.db.kysely, id!, {}, async (archived) => archived)
    expect(points.length).toBeGreaterThan(0)
    await restoreMonth(there, node.db, monthOf(480))
    expect(await history(node, id!)).toEqual(before)
  })
})
