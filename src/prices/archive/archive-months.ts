// Moving of months between the database and the archive: each step leaves every point readable in one of the two.
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { parseMinor } from '#core/money.ts'
import { monthAfter } from '#core/time.ts'
import { copyIn } from '#db/copy.ts'
import { priceMonths } from '#db/price-months.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import { ensureMonth } from '../months.ts'
import { type ArchivedPoint, writeArchiveFile } from './archive-file.ts'
import type { PriceArchive } from './price-archive.ts'

/** A month of the history that is in the archive, or was restored from it. */
export interface PriceMonth {
  /** such as `2024-05` */
  month: string
  /** null where it was restored */
  file: string | null
  /** points in the file */
  rows: number
  archived_at: string
}

/** After each of these, the program may die. */
export type ArchiveStep = 'written' | 'stored' | 'verified' | 'swapped'

interface Archiving {
  db: Db
  archive: PriceArchive
  now: Date
  onStep?: (step: ArchiveStep, month: string) => void | Promise<void>
}

/**
 * Points that stood at some moment of this time stay in the database, however old they are: judging, explaining and undoing look
 * back over 90 days at most, and so never need the archive.
 */
const STANDING_DAYS = 100
/** A month whose late points and replaced prices are fewer is not archived again by itself. */
const WORTH_ARCHIVING = 10_000
const BATCH = 20_000
const LOCK_ATTEMPTS = 100
const LOCK_POLL_MS = 50

/** Nodes of the previous release do not read archives: nothing is archived by itself on the day of an upgrade. */
export async function mayArchive(db: Db): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    select exists (select from kysely_migration where name like '%price_archives' and "timestamp"::timestamptz < now() - interval '1 day') as may`.execute(
    db.kysely,
  )
  return rows[0]!.may
}

/**
 * Archives the months that ended more than so many months ago, oldest first; those that were restored stay.
 * @param keepMonths months before the current one that stay in the database, at least 5
 * @returns the months that were archived
 */
export async function archiveOldMonths(archiving: Archiving, keepMonths: number): Promise<PriceMonth[]> {
  const { db, now } = archiving
  const keepFrom = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - keepMonths, 1)).toISOString().slice(0, 7)
  const known = new Map((await archivedMonths(db.kysely)).map((one) => [one.month, one]))
  const archived: PriceMonth[] = []
  for (const month of (await priceMonths(db.kysely)).filter((month) => month < keepFrom)) {
    const before = known.get(month)
    if (before && (before.file === null || !(await hasPoints(db, month, WORTH_ARCHIVING)))) continue
    const done = await archiveMonth(archiving, month)
    if (done) archived.push(done)
  }
  return archived
}

/**
 * Archives the points of a month that later ones replaced; those that still stand stay in the database. A month that is in the
 * archive already gets a new file with what came since.
 * @returns null where there was nothing to move
 * @throws Error where the file does not read back as it was written, or the month changed or was in use meanwhile: nothing moved then
 */
export async function archiveMonth(archiving: Archiving, month: string): Promise<PriceMonth | null> {
  const replacedBefore = new Date(archiving.now.getTime() - STANDING_DAYS * DAY_MS)
  const latest = replacedBefore.toISOString().slice(0, 7)
  if (month >= latest) throw new Error(`${month} is too recent: only months before ${latest} can be archived`)
  if (!(await priceMonths(archiving.db.kysely)).includes(month)) return null
  const staged = await archiving.archive.files.stage()
  try {
    return await moveMonth(archiving, month, replacedBefore, staged)
  } finally {
    await rm(staged, { force: true })
  }
}

async function moveMonth(
  { db, archive, now, onStep = () => {} }: Archiving,
  month: string,
  replacedBefore: Date,
  staged: string,
): Promise<PriceMonth | null> {
  const written = await db.kysely
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      const [old] = await archivedMonths(tx, month)
      const replaced = await replacedFacts(tx, month, replacedBefore)
      if (replaced.rows === 0) return null
      const inFile = old?.file ? (await archive.open(old.file)).points() : null
      const inDatabase = replacedPoints(tx, month, replacedBefore)
      return { old, replaced, ...(await writeArchiveFile(staged, inFile ? mergedPoints(inFile, inDatabase) : inDatabase)) }
    })
  if (!written) return null
  const { old, replaced, rows, checksum, importIds } = written
  await onStep('written', month)
  const file = `price-points-${month}-${checksum.slice(0, 16)}.parquet`
  await archive.files.store(staged, file)
  await onStep('stored', month)
  const stored = await (await archive.openAgain(file)).facts()
  if (stored.rows !== rows || stored.checksum !== checksum || rows < replaced.rows) {
    throw new Error(`The file of ${month} in ${archive.files.place} is not as it was written: ${stored.rows} rows instead of ${rows}`)
  }
  await onStep('verified', month)
  await db.kysely.transaction().execute(async (tx) => {
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
    await lockAlone(tx, table)
    await sql`truncate ${table}`.execute(tx)
    await sql`insert into ${table} (item_id, market, label_id, updated_at, price, import_id) select * from standing_points`.execute(tx)
    await sql`
      insert into price_archives (month, file, rows, checksum, replaced_before, import_ids, archived_at)
      values (${month}, ${file}, ${rows}, ${checksum}, ${replacedBefore}, ${importIds}::int4[], ${now})
      on conflict (month) do update set file = excluded.file, rows = excluded.rows, checksum = excluded.checksum,
        replaced_before = excluded.replaced_before, import_ids = excluded.import_ids, archived_at = excluded.archived_at`.execute(tx)
  })
  await onStep('swapped', month)
  if (old?.file && old.file !== file) await archive.files.remove(old.file)
  return { month, file, rows, archived_at: now.toISOString() }
}

/**
 * Puts an archived month back into the database, where it stays until it is archived by hand.
 * @throws Error where the archive does not have it, or its file is not as it was written
 */
export async function restoreMonth({ db, archive }: Pick<Archiving, 'db' | 'archive'>, month: string): Promise<PriceMonth> {
  const restored = await db.kysely.transaction().execute(async (tx) => {
    await sql`lock table price_archives in exclusive mode`.execute(tx)
    const [archived] = await archivedMonths(tx, month)
    if (!archived?.file) throw new Error(`${month} is not in the archive`)
    const file = await archive.openAgain(archived.file)
    const facts = await file.facts()
    if (facts.rows !== archived.rows || facts.checksum !== archived.checksum) throw new Error(`The file ${archived.file} is damaged`)
    await ensureMonth(tx, Date.parse(`${month}-01`))
    await sql`create temp table restored_points on commit drop as
      select item_id, market, label_id, updated_at, price, import_id from price_points with no data`.execute(tx)
    await copyIn(tx, 'copy restored_points from stdin', copyLines(file.points()))
    await placeRestored(tx)
    await tx.updateTable('price_archives').set({ file: null }).where('month', '=', month).execute()
    return archived
  })
  await archive.files.remove(restored.file!)
  return { ...restored, file: null }
}

/** Removes archived months before this one, such as `2024-05`. */
export async function forgetArchives(db: Db, { files }: PriceArchive, keepFrom: string): Promise<string[]> {
  const gone = await db.kysely.deleteFrom('price_archives').where('month', '<', keepFrom).returning(['month', 'file']).execute()
  for (const { file } of gone) if (file !== null) await files.remove(file)
  return gone.map(({ month }) => month)
}

/** Months that are or were in the archive, oldest first; one of them where it is named. */
export async function archivedMonths(on: Queryable, month?: string): Promise<(PriceMonth & { checksum: string })[]> {
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

/** The points of a month in the order of files, each with whether a later one replaced it in time. */
function judgedPoints(month: string, replacedBefore: Date): RawBuilder<unknown> {
  return sql`(
    select p.*, lead(updated_at) over (partition by item_id, market, label_id order by updated_at) is not null or exists (
      select from price_points q
      where (q.item_id, q.market, q.label_id) = (p.item_id, p.market, p.label_id)
        and q.updated_at >= ${`${monthAfter(month)}-01T00:00:00Z`}::timestamptz and q.updated_at < ${replacedBefore}::timestamptz
    ) as replaced
    from ${sql.table(tableOf(month))} p
  ) judged`
}

/** How many points of a month were replaced, and a hash of them that does not depend on their order. */
async function replacedFacts(on: Queryable, month: string, replacedBefore: Date): Promise<{ rows: number; hash: string }> {
  const { rows } = await sql<{ rows: number; hash: string }>`
    select count(*)::float8 as rows, coalesce(sum(hashtextextended(
      concat_ws(' ', item_id, market, label_id, extract(epoch from updated_at), price, import_id), 0)::numeric), 0)::text as hash
    from ${judgedPoints(month, replacedBefore)} where replaced`.execute(on)
  return rows[0]!
}

async function* replacedPoints(tx: Tx, month: string, replacedBefore: Date): AsyncGenerator<ArchivedPoint> {
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
    const { rows } = await sql<Row>`fetch forward ${sql.lit(BATCH)} from archived`.execute(tx)
    if (rows.length === 0) break
    for (const { item_id: itemId, market, label_id: labelId, at_ms: atMs, price, import_id: importId } of rows) {
      yield { itemId, market, labelId, atMs, minor: parseMinor(price)!, importId }
    }
  }
  await sql`close archived`.execute(tx)
}

/** Both in one order; of two of the same moment the one of the database, which came later. */
async function* mergedPoints(inFile: AsyncGenerator<ArchivedPoint>, inDatabase: AsyncGenerator<ArchivedPoint>): AsyncGenerator<ArchivedPoint> {
  let [old, added] = [await inFile.next(), await inDatabase.next()]
  while (!old.done || !added.done) {
    const order = old.done ? 1 : added.done ? -1 : inOrder(old.value, added.value)
    if (order < 0) yield old.value!
    else yield added.value!
    if (order <= 0) old = await inFile.next()
    if (order >= 0) added = await inDatabase.next()
  }
}

function inOrder(a: ArchivedPoint, b: ArchivedPoint): number {
  return a.itemId - b.itemId || a.market - b.market || a.labelId - b.labelId || a.atMs - b.atMs
}

/** Takes the table for this transaction without making others wait for it: readers of the month end first. */
async function lockAlone(tx: Tx, table: RawBuilder<unknown>): Promise<void> {
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

async function* copyLines(points: AsyncIterable<ArchivedPoint>): AsyncGenerator<string> {
  let lines: string[] = []
  for await (const { itemId, market, labelId, atMs, minor, importId } of points) {
    lines.push(`${itemId}\t${market}\t${labelId}\t${new Date(atMs).toISOString()}\t${minor / 100}\t${importId}\n`)
    if (lines.length === BATCH) {
      yield lines.join('')
      lines = []
    }
  }
  yield lines.join('')
}

/** Points of items that were merged meanwhile become the survivors', and are noted with the merges so that undoing those gives them back. */
async function placeRestored(tx: Tx): Promise<void> {
  await sql`
    with recursive chain as (
      select r.item_id, m.id as merge_id, m.into_item from (select distinct item_id from restored_points) r
      join merges m on m.from_item = r.item_id and m.undone_at is null
      union all
      select c.item_id, m.id, m.into_item from chain c join merges m on m.from_item = c.into_item and m.undone_at is null
    )
    insert into merged_points (merge_id, import_id, market, label_id, updated_at, price, state, placed)
    select c.merge_id, r.import_id, r.market, r.label_id, r.updated_at, r.price, 'seen', true
    from restored_points r join chain c using (item_id)
    on conflict do nothing`.execute(tx)
  await sql`
    insert into price_points (item_id, market, label_id, updated_at, price, import_id)
    select live_item(item_id), market, label_id, updated_at, price, import_id from restored_points
    order by import_id desc, item_id <> live_item(item_id)
    on conflict do nothing`.execute(tx)
}
