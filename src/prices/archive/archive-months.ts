// Moves months between the database and the archive: after each step, every point is readable from one of the two.
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { parseMinor } from '#core/money.ts'
import { monthAfter } from '#core/time.ts'
import { type ArchivedMonth, withArchivingLock } from '#db/archiving.ts'
import { priceMonths } from '#db/price-months.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import { type ArchivedPoint, writeArchiveFile } from './archive-file.ts'
import type { PriceArchive } from './price-archive.ts'

/** Steps after each of which the process may crash without losing data. */
export type ArchiveStep = 'written' | 'stored' | 'verified' | 'swapped'

export interface Archiving {
  db: Db
  archive: PriceArchive
  now: Date
  onStep?: (step: ArchiveStep, month: string) => void | Promise<void>
  /** aborts without having moved anything */
  signal?: AbortSignal
}

/**
 * Points that were in effect or arrived within these days stay in the database, however old they are: judging, explaining and undoing look back at
 * most 90 days, so they never need the archive.
 */
const STANDING_DAYS = 100

/** A month with fewer newly replaced points than this is not automatically archived again. */
const WORTH_ARCHIVING = 10_000

export const BATCH = 20_000

const LOCK_ATTEMPTS = 100

const LOCK_POLL_MS = 50

/** Advisory lock of the archiving process. */
const ARCHIVING = 7314

/**
 * Archives the months that ended more than `keepMonths` months ago, oldest first; restored months stay in the database.
 * @param keepMonths months before the current one that stay in the database, at least 5
 * @returns the archived months; none if another process is archiving
 */
export async function archiveOldMonths(archiving: Archiving, keepMonths: number): Promise<ArchivedMonth[]> {
  return (await withArchivingLock(archiving.db, ARCHIVING, () => archiveDue(archiving, keepMonths))) ?? []
}

async function archiveDue(archiving: Archiving, keepMonths: number): Promise<ArchivedMonth[]> {
  const { db, now } = archiving
  const keepFrom = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - keepMonths, 1)).toISOString().slice(0, 7)
  const known = new Map((await archivedMonths(db.kysely)).map((one) => [one.month, one]))
  const archived: ArchivedMonth[] = []
  for (const month of (await priceMonths(db.kysely)).filter((month) => month < keepFrom)) {
    const before = known.get(month)
    if (before && (before.file === null || !(await hasPoints(db, month, WORTH_ARCHIVING)))) continue
    const done = await archiveOne(archiving, month, before ? WORTH_ARCHIVING : 1)
    if (done) archived.push(done)
  }
  return archived
}

/**
 * Archives the points of a month that later points replaced; points still in effect stay in the database. A month that is already archived gets a new
 * file that includes the points added since then.
 * @returns null if there was nothing to move
 * @throws Error if the file does not read back as written, if the month changed or was locked meanwhile, or if another process is archiving; in each
 * case nothing has moved
 */
export async function archiveMonth(archiving: Archiving, month: string): Promise<ArchivedMonth | null> {
  const done = await withArchivingLock(archiving.db, ARCHIVING, async () => ({ moved: await archiveOne(archiving, month, 1) }))
  if (!done) throw new Error('Another process is archiving; try again later')
  return done.moved
}

/** @param minRows minimum number of points for a new file */
async function archiveOne(archiving: Archiving, month: string, minRows: number): Promise<ArchivedMonth | null> {
  const replacedBefore = new Date(archiving.now.getTime() - STANDING_DAYS * DAY_MS)
  const latest = replacedBefore.toISOString().slice(0, 7)
  if (month >= latest) throw new Error(`${month} is too recent: only months before ${latest} can be archived`)
  if (!(await priceMonths(archiving.db.kysely)).includes(month)) return null
  const staged = await archiving.archive.files.store.stage()
  try {
    return await moveMonth(archiving, { month, replacedBefore, staged, minRows })
  } finally {
    await rm(staged, { force: true })
  }
}

interface Move {
  month: string
  replacedBefore: Date
  /** path of the file being written */
  staged: string
  minRows: number
}

async function moveMonth(
  { db, archive, now, onStep, signal }: Archiving,
  { month, replacedBefore, staged, minRows }: Move,
): Promise<ArchivedMonth | null> {
  const reached = async (step: ArchiveStep) => {
    await onStep?.(step, month)
    if (step !== 'swapped') signal?.throwIfAborted()
  }
  const covered: ArchivedPoint[] = []
  const written = await db.kysely
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      const [old] = await archivedMonths(tx, month)
      const replaced = await replacedFacts(tx, month, replacedBefore)
      if (replaced.rows < minRows) return null
      const inFile = old?.file ? (await archive.files.open(old.file)).points() : null
      const inDatabase = replacedPoints(tx, month, replacedBefore, signal)
      return { old, replaced, ...(await writeArchiveFile(staged, inFile ? mergedPoints(inFile, inDatabase, covered) : inDatabase)) }
    })
  if (!written) return null
  const { old, replaced, rows, checksum, importIds } = written
  if (rows < replaced.rows) throw new Error(`The archive file of ${month} has ${rows} rows; at least ${replaced.rows} were expected`)
  await reached('written')
  const file = `price-points-${month}-${checksum.slice(0, 16)}.parquet`
  await archive.files.add(staged, file, written, reached)
  // All statements use one snapshot, taken once both locks are held. Otherwise a price of a later month that commits meanwhile could make a point
  // count as replaced in one statement but not in another.
  const swap = db.kysely.transaction().setIsolationLevel('repeatable read')
  await swap.execute(async (tx) => {
    await sql`lock table price_archives in exclusive mode`.execute(tx)
    const table = sql.table(tableOf(month))
    await sql`lock table ${table} in share row exclusive mode`.execute(tx)
    const [current] = await archivedMonths(tx, month)
    const still = await replacedFacts(tx, month, replacedBefore)
    if (current?.file !== old?.file || still.rows !== replaced.rows || still.hash !== replaced.hash) {
      throw new Error(`The prices of ${month} changed while they were archived; try again`)
    }
    await sql`create temp table standing_points on commit drop as select item_id, market, label_id, updated_at, price, import_id
      from ${judgedPoints(month, replacedBefore)} where not replaced`.execute(tx)
    await lockExclusively(tx, table)
    await sql`truncate ${table}`.execute(tx)
    await sql`insert into ${table} (item_id, market, label_id, updated_at, price, import_id) select * from standing_points`.execute(tx)
    await cover(tx, covered)
    await sql`
      insert into price_archives as a (month, file, rows, checksum, replaced_before, import_ids, archived_at)
      values (${month}, ${file}, ${rows}, ${checksum}, ${replacedBefore}, ${importIds}::int4[], ${now})
      on conflict (month) do update set file = excluded.file, rows = excluded.rows, checksum = excluded.checksum,
        replaced_before = excluded.replaced_before, import_ids = excluded.import_ids, archived_at = excluded.archived_at,
        earlier_files = array_remove(array_append(a.earlier_files, a.file), excluded.file)`.execute(tx)
  })
  await reached('swapped')
  return { month, file, rows, archived_at: now.toISOString() }
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

/** Deletes archived months before `keepFrom`, such as `2024-05`. */
export async function forgetArchives(db: Db, { files }: PriceArchive, keepFrom: string): Promise<string[]> {
  const gone = await db.kysely.deleteFrom('price_archives').where('month', '<', keepFrom).returning(['month', 'file', 'earlier_files']).execute()
  for (const { file, earlier_files: earlier } of gone) for (const name of file === null ? earlier : [file, ...earlier]) await files.store.remove(name)
  return gone.map(({ month }) => month)
}

/** Months that are or were archived, oldest first; only `month` if given. */
export async function archivedMonths(on: Queryable, month?: string): Promise<(ArchivedMonth & { checksum: string })[]> {
  let months = on.selectFrom('price_archives').select(['month', 'file', 'rows', 'checksum', 'archived_at']).orderBy('month')
  if (month !== undefined) months = months.where('month', '=', month)
  return (await months.execute()).map((row) => ({ ...row, rows: Number(row.rows), archived_at: row.archived_at.toISOString() }))
}

function tableOf(month: string): string {
  return `price_points_${month.replace('-', '_')}`
}

async function hasPoints(db: Db, month: string, count: number): Promise<boolean> {
  const { rows } = await sql`select from ${sql.table(tableOf(month))} offset ${sql.lit(count - 1)} limit 1`.execute(db.kysely)
  return rows.length > 0
}

/**
 * The points of a month, each with whether it may be archived: a later point replaced it before `replacedBefore`, both belong to imports from before
 * that time (so that recent imports can still be reverted), and undoing a merge would not move it.
 */
function judgedPoints(month: string, replacedBefore: Date): RawBuilder<unknown> {
  const next = sql`${`${monthAfter(month)}-01T00:00:00Z`}::timestamptz`
  const lastImport = sql`(select coalesce(max(id), 0) from imports where started_at < ${replacedBefore})`
  return sql`(
    select p.*, noted.import_id is null and p.import_id <= ${lastImport} and (
      coalesce(bool_or(p.import_id <= ${lastImport}) over (
        partition by p.item_id, p.market, p.label_id order by p.updated_at rows between 1 following and unbounded following
      ), false) or exists (
        select from price_points q
        where (q.item_id, q.market, q.label_id) = (p.item_id, p.market, p.label_id)
          and q.updated_at >= ${next} and q.updated_at < ${replacedBefore}::timestamptz and q.import_id <= ${lastImport}
      )
    ) as replaced
    from ${sql.table(tableOf(month))} p left join (
      select distinct o.into_item, q.market, q.label_id, q.updated_at, q.import_id
      from merges o join merged_points q on q.merge_id = o.id
      where o.undone_at is null and q.placed and q.updated_at >= ${`${month}-01T00:00:00Z`}::timestamptz and q.updated_at < ${next}
    ) noted on (noted.into_item, noted.market, noted.label_id, noted.updated_at, noted.import_id)
      = (p.item_id, p.market, p.label_id, p.updated_at, p.import_id)
  ) judged`
}

/** Number of replaced points of a month, and an order-independent hash of them. */
async function replacedFacts(on: Queryable, month: string, replacedBefore: Date): Promise<{ rows: number; hash: string }> {
  const { rows } = await sql<{ rows: number; hash: string }>`
    select count(*)::float8 as rows, coalesce(sum(hashtextextended(
      concat_ws(' ', item_id, market, label_id, extract(epoch from updated_at), price, import_id), 0)::numeric), 0)::text as hash
    from ${judgedPoints(month, replacedBefore)} where replaced`.execute(on)
  return rows[0]!
}

async function* replacedPoints(tx: Tx, month: string, replacedBefore: Date, signal?: AbortSignal): AsyncGenerator<ArchivedPoint> {
  interface Row {
    item_id: number
    market: number
    label_id: number
    at_ms: number
    price: string
    import_id: number
  }
  await sql`declare archived no scroll cursor for
    select item_id, market, label_id, (extract(epoch from updated_at) * 1000)::float8 as at_ms, price, import_id
    from ${judgedPoints(month, replacedBefore)} where replaced order by item_id, market, label_id, updated_at`.execute(tx)
  for (;;) {
    signal?.throwIfAborted()
    const { rows } = await sql<Row>`fetch forward ${sql.lit(BATCH)} from archived`.execute(tx)
    if (rows.length === 0) break
    for (const { item_id: itemId, market, label_id: labelId, at_ms: atMs, price, import_id: importId } of rows) {
      yield { itemId, market, labelId, atMs, minor: parseMinor(price)!, importId }
    }
  }
  await sql`close archived`.execute(tx)
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
