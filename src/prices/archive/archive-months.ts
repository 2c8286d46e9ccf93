// Moving of months between the database and the archive: each step leaves every point readable in one of the two.
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { MARKETS } from '#core/markets.ts'
import { parseMinor } from '#core/money.ts'
import { monthAfter } from '#core/time.ts'
import { copyIn } from '#db/copy.ts'
import { priceMonths } from '#db/price-months.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import { ensureMonth } from '../months.ts'
import { lockMarkets } from '../writer.ts'
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
  /** breaks off without having moved anything */
  signal?: AbortSignal
}

/**
 * Points that stood at some moment of this time, or came in it, stay in the database, however old they are: judging, explaining
 * and undoing look back over 90 days at most, and so never need the archive.
 */
const STANDING_DAYS = 100
/** A month of which fewer points were replaced since is not archived again by itself. */
const WORTH_ARCHIVING = 10_000
const BATCH = 20_000
const LOCK_ATTEMPTS = 100
const LOCK_POLL_MS = 50
/** Advisory lock of the process that archives. */
const ARCHIVING = 7314

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
 * @returns the months that were archived; none where another process is archiving
 */
export async function archiveOldMonths(archiving: Archiving, keepMonths: number): Promise<PriceMonth[]> {
  return (await alone(archiving.db, () => archiveDue(archiving, keepMonths))) ?? []
}

async function archiveDue(archiving: Archiving, keepMonths: number): Promise<PriceMonth[]> {
  const { db, now } = archiving
  const keepFrom = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - keepMonths, 1)).toISOString().slice(0, 7)
  const known = new Map((await archivedMonths(db.kysely)).map((one) => [one.month, one]))
  const archived: PriceMonth[] = []
  for (const month of (await priceMonths(db.kysely)).filter((month) => month < keepFrom)) {
    const before = known.get(month)
    if (before && (before.file === null || !(await hasPoints(db, month, WORTH_ARCHIVING)))) continue
    const done = await archiveOne(archiving, month, before ? WORTH_ARCHIVING : 1)
    if (done) archived.push(done)
  }
  return archived
}

/**
 * Archives the points of a month that later ones replaced; those that still stand stay in the database. A month that is in the
 * archive already gets a new file with what came since.
 * @returns null where there was nothing to move
 * @throws Error where the file does not read back as it was written, where the month changed or was in use meanwhile, or another
 *   process is archiving: nothing moved then
 */
export async function archiveMonth(archiving: Archiving, month: string): Promise<PriceMonth | null> {
  const done = await alone(archiving.db, async () => ({ moved: await archiveOne(archiving, month, 1) }))
  if (!done) throw new Error('Another process is archiving; try again later')
  return done.moved
}

/** @param least points that are worth a new file */
async function archiveOne(archiving: Archiving, month: string, least: number): Promise<PriceMonth | null> {
  const replacedBefore = new Date(archiving.now.getTime() - STANDING_DAYS * DAY_MS)
  const latest = replacedBefore.toISOString().slice(0, 7)
  if (month >= latest) throw new Error(`${month} is too recent: only months before ${latest} can be archived`)
  if (!(await priceMonths(archiving.db.kysely)).includes(month)) return null
  const staged = await archiving.archive.files.stage()
  try {
    return await moveMonth(archiving, { month, replacedBefore, staged, least })
  } finally {
    await rm(staged, { force: true })
  }
}

/** Only one process archives at a time: a second one would write the same files in vain. @returns null where another one does */
function alone<T>(db: Db, work: () => Promise<T>): Promise<T | null> {
  return db.kysely.connection().execute(async (held) => {
    const { rows } = await sql<{ got: boolean }>`select pg_try_advisory_lock(${sql.lit(ARCHIVING)}) as got`.execute(held)
    if (!rows[0]!.got) return null
    try {
      return await work()
    } finally {
      await sql`select pg_advisory_unlock(${sql.lit(ARCHIVING)})`.execute(held)
    }
  })
}

interface Move {
  month: string
  replacedBefore: Date
  /** where the file is written */
  staged: string
  least: number
}

async function moveMonth(
  { db, archive, now, onStep, signal }: Archiving,
  { month, replacedBefore, staged, least }: Move,
): Promise<PriceMonth | null> {
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
      if (replaced.rows < least) return null
      const inFile = old?.file ? (await archive.open(old.file)).points() : null
      const inDatabase = replacedPoints(tx, month, replacedBefore, signal)
      return { old, replaced, ...(await writeArchiveFile(staged, inFile ? mergedPoints(inFile, inDatabase, covered) : inDatabase)) }
    })
  if (!written) return null
  const { old, replaced, rows, checksum, importIds } = written
  await reached('written')
  const file = `price-points-${month}-${checksum.slice(0, 16)}.parquet`
  await archive.files.store(staged, file)
  await reached('stored')
  const stored = await (await archive.openAgain(file)).facts()
  if (stored.rows !== rows || stored.checksum !== checksum || rows < replaced.rows) {
    throw new Error(`The file of ${month} in ${archive.files.place} is not as it was written: ${stored.rows} rows instead of ${rows}`)
  }
  await reached('verified')
  // One snapshot, taken when both locks are held: a price of a later month that commits meanwhile must not make a point count
  // as replaced for one statement and not for another.
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
    await lockAlone(tx, table)
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

/** Points that others of the same moment took the place of are kept, for the case that those go. */
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
 * Puts an archived month back into the database, where it stays until it is archived by hand. Its file stays, too: a backup of
 * the database from before needs it.
 * @throws Error where the archive does not have it, or its file is not as it was written
 */
export async function restoreMonth({ db, archive }: Pick<Archiving, 'db' | 'archive'>, month: string): Promise<PriceMonth> {
  return db.kysely.transaction().execute(async (tx) => {
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
    await sql`create index on restored_points (item_id, market, label_id, updated_at)`.execute(tx)
    await sql`analyze restored_points`.execute(tx)
    await lockMarkets(tx, MARKETS.keys())
    await followMerges(tx)
    await placeRestored(tx)
    await sql`update price_archives set file = null, earlier_files = array_append(earlier_files, file) where month = ${month}`.execute(tx)
    return { ...archived, file: null }
  })
}

/** Removes archived months before this one, such as `2024-05`. */
export async function forgetArchives(db: Db, { files }: PriceArchive, keepFrom: string): Promise<string[]> {
  const gone = await db.kysely.deleteFrom('price_archives').where('month', '<', keepFrom).returning(['month', 'file', 'earlier_files']).execute()
  for (const { file, earlier_files: earlier } of gone) for (const name of file === null ? earlier : [file, ...earlier]) await files.remove(name)
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

/**
 * The points of a month, each with whether it may go: a later one replaced it in time, both are of imports of before that time, so
 * that reverting those of the last weeks finds all that it needs, and no merge would take it along when it is undone.
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

/** How many points of a month were replaced, and a hash of them that does not depend on their order. */
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

/** Both in one order; of two of the same moment that of the later import, the other one is added to `covered`. */
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

/** Gives points of items that were merged meanwhile to the survivors, and notes them with the merges, as merging them would have done. */
async function followMerges(tx: Tx): Promise<void> {
  const merging = sql`restored_points r join merges m on m.from_item = r.item_id and m.undone_at is null`
  // Once for each merge of a chain.
  for (;;) {
    const { rows } = await sql`select from ${merging} limit 1`.execute(tx)
    if (rows.length === 0) return
    await sql`
      with moved as materialized (
        select r.ctid as place, m.id as merge_id, m.into_item, r.market, r.label_id, r.updated_at, r.price, r.import_id, row_number() over (
          partition by m.into_item, r.import_id, r.market, r.label_id, r.updated_at order by m.id
        ) > 1 or exists (${sameOf('restored_points')}) or exists (${sameOf('price_points')}) or exists (${sameOf('hidden_points')}) as has_it
        from ${merging}
      ), noted as (
        insert into merged_points (merge_id, import_id, market, label_id, updated_at, price, state, placed)
        select merge_id, import_id, market, label_id, updated_at, price, 'seen', not has_it from moved
        on conflict do nothing
      ), given as (
        update restored_points r set item_id = m.into_item from moved m where r.ctid = m.place and not m.has_it
      )
      delete from restored_points r using moved m where r.ctid = m.place and m.has_it`.execute(tx)
  }
}

/** What a survivor has of the same import and moment. */
function sameOf(table: string): RawBuilder<unknown> {
  return sql`
    select from ${sql.table(table)} s
    where (s.item_id, s.market, s.label_id, s.updated_at, s.import_id) = (m.into_item, r.market, r.label_id, r.updated_at, r.import_id)`
}

/** Puts the points into the history; of two of the same moment that of the later import is seen, and the other one is covered. */
async function placeRestored(tx: Tx): Promise<void> {
  await sql`
    with covered as (
      delete from price_points p using restored_points r
      where (p.item_id, p.market, p.label_id, p.updated_at) = (r.item_id, r.market, r.label_id, r.updated_at) and p.import_id < r.import_id
      returning p.import_id, p.item_id, p.market, p.label_id, p.updated_at, p.price
    )
    insert into hidden_points (import_id, item_id, market, label_id, updated_at, price, withdrawn)
    select import_id, item_id, market, label_id, updated_at, price, false from covered
    on conflict do nothing`.execute(tx)
  await sql`
    with seen as (
      insert into price_points (item_id, market, label_id, updated_at, price, import_id)
      select item_id, market, label_id, updated_at, price, import_id from restored_points order by import_id desc
      on conflict do nothing
      returning item_id, market, label_id, updated_at, import_id
    )
    insert into hidden_points (import_id, item_id, market, label_id, updated_at, price, withdrawn)
    select r.import_id, r.item_id, r.market, r.label_id, r.updated_at, r.price, false
    from restored_points r left join seen s
      on (s.item_id, s.market, s.label_id, s.updated_at, s.import_id) = (r.item_id, r.market, r.label_id, r.updated_at, r.import_id)
    where s.item_id is null and not exists (
      select from price_points p
      where (p.item_id, p.market, p.label_id, p.updated_at, p.import_id) = (r.item_id, r.market, r.label_id, r.updated_at, r.import_id)
    )
    on conflict do nothing`.execute(tx)
}
