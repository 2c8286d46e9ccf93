// How months of the price history move to files: points that later points replaced long ago leave the table, all others stay in it.
import { type RawBuilder, sql } from 'kysely'
import { delay } from '#core/process/time-and-chance.ts'
import { DAY_MS } from '#core/duration.ts'
import { parseMinor } from '#core/money.ts'
import { monthAfter } from '#core/time.ts'
import { priceMonths, priceMonthTable } from '#db/price-months.ts'
import { rowBatches } from '#db/row-batches.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import type { MonthTable, WriteJob, WrittenMonth } from '#files/month-archive.ts'
import type { ParquetFiles } from '#files/parquet-files.ts'
import { type ArchivedPoint, type ArchiveFile, writeArchiveFile } from './archive-file.ts'
import { restorePoints } from './restore-points.ts'

/**
 * Points that were in effect or arrived within these days stay in the database, however old they are: judging, explaining and undoing look back at
 * most 90 days, so they never need the archive.
 */
const STANDING_DAYS = 100

/** A month with fewer newly replaced points than this is not automatically archived again. */
const WORTH_ARCHIVING = 10_000

const BATCH = 20_000

const LOCK_ATTEMPTS = 100

const LOCK_POLL_MS = 50

/** The months of `price_points`, in these files. */
export function monthsOfPrices(files: ParquetFiles<ArchiveFile>): MonthTable {
  return {
    rows: 'prices',
    files,
    prefix: 'price-points',
    archives: 'price_archives',
    lock: 7314,
    tooRecentFrom: (now) => replacedBefore(now).toISOString().slice(0, 7),
    months: priceMonths,
    async hasGrown(on, month) {
      const { rows } = await sql`select from ${sql.table(priceMonthTable(month))} offset ${sql.lit(WORTH_ARCHIVING - 1)} limit 1`.execute(on)
      return rows.length > 0
    },
    write: (tx, job) => writeMonth(tx, files, job),
    restore: async (tx, month, file, facts) => restorePoints(tx, month, await files.openVerified(file, facts)),
  }
}

/** Points replaced before this time may be archived. */
function replacedBefore(now: Date): Date {
  return new Date(now.getTime() - STANDING_DAYS * DAY_MS)
}

async function writeMonth(
  tx: Tx,
  files: ParquetFiles<ArchiveFile>,
  { month, path, oldFile, byHand, now, signal }: WriteJob,
): Promise<WrittenMonth | null> {
  const before = replacedBefore(now)
  const replaced = await replacedFacts(tx, month, before)
  if (replaced.rows < (oldFile === null || byHand ? 1 : WORTH_ARCHIVING)) return null
  const covered: ArchivedPoint[] = []
  const inDatabase = replacedPoints(tx, month, before, signal)
  const points = oldFile === null ? inDatabase : mergedPoints((await files.open(oldFile)).points(), inDatabase, covered)
  const { importIds, ...facts } = await writeArchiveFile(path, points)
  if (facts.rows < replaced.rows) throw new Error(`The archive file of ${month} has ${facts.rows} rows; at least ${replaced.rows} were expected`)
  return {
    ...facts,
    columns: { replaced_before: before, import_ids: importIds },
    async remove(tx) {
      // Later reads of this transaction use one snapshot, taken once this lock is held, too. Otherwise a price of a later month that commits meanwhile
      // could make a point count as replaced in one statement but not in another.
      await sql`lock table ${sql.table(priceMonthTable(month))} in share row exclusive mode`.execute(tx)
      const current = await replacedFacts(tx, month, before)
      if (current.rows !== replaced.rows || current.hash !== replaced.hash) return false
      await keepStanding(tx, month, before)
      await cover(tx, covered)
      return true
    },
  }
}

/** Empties the table of a month except for its standing points. */
async function keepStanding(tx: Tx, month: string, before: Date): Promise<void> {
  const table = sql.table(priceMonthTable(month))
  await sql`create temp table standing_points on commit drop as select item_id, market, label_id, updated_at, price, import_id
    from ${judgedPoints(month, before)} where not replaced`.execute(tx)
  await lockExclusively(tx, table)
  await sql`truncate ${table}`.execute(tx)
  await sql`insert into ${table} (item_id, market, label_id, updated_at, price, import_id) select * from standing_points`.execute(tx)
}

/** Keeps points that are covered by another import's point of the same time, in case that import is reverted. */
async function cover(tx: Tx, points: readonly ArchivedPoint[]): Promise<void> {
  for (let from = 0; from < points.length; from += BATCH) {
    const some = points.slice(from, from + BATCH)
    await sql`
      insert into hidden_points (import_id, item_id, market, label_id, updated_at, price, withdrawn)
      select import_id, item_id, market, label_id, to_timestamp(at_ms / 1000), minor::numeric / 100, false
      from unnest(${some.map((point) => point.importId)}::int4[], ${some.map((point) => point.itemId)}::int4[],
        ${some.map((point) => point.market)}::int2[], ${some.map((point) => point.labelId)}::int4[],
        ${some.map((point) => point.atMs)}::float8[], ${some.map((point) => point.minor)}::int8[])
        as given(import_id, item_id, market, label_id, at_ms, minor)
      on conflict do nothing`.execute(tx)
  }
}

/**
 * The points of a month, each with whether it may be archived: a later point replaced it before `before`, both belong to imports from before
 * that time (so that recent imports can still be reverted), and undoing a merge would not move it.
 */
function judgedPoints(month: string, before: Date): RawBuilder<unknown> {
  const next = sql`${`${monthAfter(month)}-01T00:00:00Z`}::timestamptz`
  const lastImport = sql`(select coalesce(max(id), 0) from imports where started_at < ${before})`
  return sql`(
    select p.*, noted.import_id is null and p.import_id <= ${lastImport} and (
      coalesce(bool_or(p.import_id <= ${lastImport}) over (
        partition by p.item_id, p.market, p.label_id order by p.updated_at rows between 1 following and unbounded following
      ), false) or exists (
        select from price_points q
        where (q.item_id, q.market, q.label_id) = (p.item_id, p.market, p.label_id)
          and q.updated_at >= ${next} and q.updated_at < ${before}::timestamptz and q.import_id <= ${lastImport}
      )
    ) as replaced
    from ${sql.table(priceMonthTable(month))} p left join (
      select distinct o.into_item, q.market, q.label_id, q.updated_at, q.import_id
      from merges o join merged_points q on q.merge_id = o.id
      where o.undone_at is null and q.placed and q.updated_at >= ${`${month}-01T00:00:00Z`}::timestamptz and q.updated_at < ${next}
    ) noted on (noted.into_item, noted.market, noted.label_id, noted.updated_at, noted.import_id)
      = (p.item_id, p.market, p.label_id, p.updated_at, p.import_id)
  ) judged`
}

/** Number of replaced points of a month, and an order-independent hash of them. */
async function replacedFacts(on: Queryable, month: string, before: Date): Promise<{ rows: number; hash: string }> {
  const { rows } = await sql<{ rows: number; hash: string }>`
    select count(*)::float8 as rows, coalesce(sum(hashtextextended(
      concat_ws(' ', item_id, market, label_id, extract(epoch from updated_at), price, import_id), 0)::numeric), 0)::text as hash
    from ${judgedPoints(month, before)} where replaced`.execute(on)
  return rows[0]!
}

interface PointRow {
  item_id: number
  market: number
  label_id: number
  at_ms: number
  price: string
  import_id: number
}

async function* replacedPoints(tx: Tx, month: string, before: Date, signal?: AbortSignal): AsyncGenerator<ArchivedPoint> {
  const points = sql`
    select item_id, market, label_id, (extract(epoch from updated_at) * 1000)::float8 as at_ms, price, import_id
    from ${judgedPoints(month, before)} where replaced order by item_id, market, label_id, updated_at`
  for await (const rows of rowBatches<PointRow>(tx, points, BATCH, signal)) {
    for (const { item_id: itemId, market, label_id: labelId, at_ms: atMs, price, import_id: importId } of rows) {
      yield { itemId, market, labelId, atMs, minor: parseMinor(price)!, importId }
    }
  }
}

/** Merges both sources in one order. Of two points of the same time, uses the one of the later import and adds the other to `covered`. */
async function* mergedPoints(
  inFile: AsyncGenerator<ArchivedPoint>,
  inDatabase: AsyncGenerator<ArchivedPoint>,
  covered: ArchivedPoint[],
): AsyncGenerator<ArchivedPoint> {
  let [old, added] = [await inFile.next(), await inDatabase.next()]
  while (!old.done || !added.done) {
    const order = old.done ? 1 : added.done ? -1 : inOrder(old.value, added.value)
    if (order < 0) yield old.value!
    else if (order > 0) yield added.value!
    else {
      const [later, earlier] = added.value!.importId >= old.value!.importId ? [added.value!, old.value!] : [old.value!, added.value!]
      if (earlier.importId !== later.importId) covered.push(earlier)
      yield later
    }
    if (order <= 0) old = await inFile.next()
    if (order >= 0) added = await inDatabase.next()
  }
}

function inOrder(a: ArchivedPoint, b: ArchivedPoint): number {
  return a.itemId - b.itemId || a.market - b.market || a.labelId - b.labelId || a.atMs - b.atMs
}

/** Locks the table for this transaction without blocking others while it waits: reads in progress finish first. */
async function lockExclusively(tx: Tx, table: RawBuilder<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await sql`savepoint lock_alone`.execute(tx)
    try {
      await sql`lock table ${table} in access exclusive mode nowait`.execute(tx)
      return
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03' || attempt === LOCK_ATTEMPTS) throw error
      await sql`rollback to savepoint lock_alone`.execute(tx)
      await delay(LOCK_POLL_MS)
    }
  }
}
