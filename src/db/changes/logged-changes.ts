// Reads the change log in parts from any position, for external readers that keep their own position.
import { sql } from 'kysely'
import { readCursor, writeCursor } from '#core/cursor.ts'
import { CATALOGUE_KINDS } from './change-feed.ts'
import type { Queryable } from '../schema.ts'

export type CatalogueKind = (typeof CATALOGUE_KINDS)[number]

/**
 * A moment of the log: a `pg_snapshot` as text, `@`, and the highest sequence number visible to it. The server that takes over after a failover
 * may assign transaction ids that the snapshot counts as seen, but never sequence numbers that were visible: rows above the number are unseen.
 */
type LogMoment = string

/**
 * A reader's position. Sequence numbers and transaction ids become visible out of order, so the position is a moment up to
 * which everything has been read; a range that is too long for one read is read in transaction order.
 */
export interface LogPosition {
  /** identifier of the database cluster: a position is meaningless in another one */
  cluster: string
  seen: LogMoment
  /** the range being read: up to this moment, and how far; null between two ranges */
  range: { upTo: LogMoment; xact: string; seq: number; entry: number } | null
}

/** A row of the log, or a part of one. */
export interface LoggedPart {
  kind: CatalogueKind
  at: Date
  /** ids of rows, null for packed values */
  ids: number[] | null
  payload: Buffer | null
  xact: string
  seq: number
  /** the first of the row's entries in this part */
  first: number
}

export interface LogPage {
  parts: LoggedPart[]
  /** the moments between which the parts committed */
  cluster: string
  seen: LogMoment
  upTo: LogMoment
  /** whether the log goes on after this page: it has further entries, or the read ended before it had examined all rows */
  more: boolean
  /** the position after this page */
  next: LogPosition
}

export interface LogRead {
  /** null: from the oldest stored change */
  after: LogPosition | null
  kinds: readonly CatalogueKind[]
  /** maximum entries: ids, or packed values */
  most: number
  /** maximum bytes of a packed value */
  entryBytes: number
}

/** Maximum rows of catalogue changes that one read examines, so that a rare kind does not make it scan the whole log. */
const MAX_ROWS = 10_000

/** Reads the entries after a position, or reports that the log no longer has all of them. */
export async function readLog(on: Queryable, { after, kinds, most, entryBytes }: LogRead): Promise<LogPage | 'expired'> {
  const range = after?.range ?? null
  const rowsToExamine = kinds.length === CATALOGUE_KINDS.length ? most + 2 : MAX_ROWS
  const { rows } = await sql<Row>`
    with bounds as (
      select f.xact as floor, system_identifier::text as cluster,
        coalesce(${snapshotOf(after?.seen)}::pg_snapshot, (f.xact::text || ':' || f.xact::text || ':')::pg_snapshot) as seen,
        ${lastSeqOf(after?.seen)}::bigint as seen_seq,
        coalesce(${snapshotOf(range?.upTo)}::pg_snapshot, pg_current_snapshot()) as up_to,
        coalesce(${lastSeqOf(range?.upTo)}::bigint, (select max(seq) from change_log), 0) as up_to_seq,
        ${range?.xact ?? '0'}::xid8 as xact, ${range?.seq ?? 0}::bigint as seq
      from catalogue_log_floor f, pg_control_system()
    ), start as (
      -- The lowest transaction id that may be unseen.
      select ${range === null ? sql`least(pg_snapshot_xmin(seen), (select min(c.xact::text::bigint)::text::xid8 from change_log c where c.seq > seen_seq))` : sql.ref('xact')} as xact
      from bounds
    ), examined as (
      -- As in the index of catalogue changes.
      select c.* from bounds, start, change_log c
      where c.kind in ('items', 'categories', 'prices') and (c.xact, c.seq) >= (bounds.xact, bounds.seq)
        and c.xact >= start.xact and c.xact < pg_snapshot_xmax(bounds.up_to)
        and (not pg_visible_in_snapshot(c.xact, bounds.seen) or c.seq > bounds.seen_seq)
        and pg_visible_in_snapshot(c.xact, bounds.up_to) and c.seq <= bounds.up_to_seq
      order by c.xact, c.seq
      limit ${rowsToExamine}::int
    ), found as (
      select c.*, entry.first, greatest(0, coalesce(cardinality(c.ids), octet_length(c.payload) / ${sql.lit(entryBytes)}) - entry.first) as entries
      from bounds, examined c,
        lateral (select case when c.xact = bounds.xact and c.seq = bounds.seq then ${range?.entry ?? 0}::int else 0 end as first) as entry
      where c.kind = any(${[...kinds]}::text[])
      order by c.xact, c.seq
      limit ${most + 2}::int
    ), examined_to as (
      -- The last row of a read that ended before it had examined all rows.
      select xact, seq from examined order by xact, seq offset ${rowsToExamine - 1}::int
    ), counted as (
      select *, coalesce(sum(entries) over (order by xact, seq rows between unbounded preceding and 1 preceding), 0)::int as before from found
    )
    select bounds.cluster, bounds.seen::text || coalesce('@' || bounds.seen_seq, '') as seen, bounds.up_to::text || '@' || bounds.up_to_seq as up_to,
      -- A database restored to an earlier time may be behind the reader.
      bounds.floor > greatest(bounds.xact, pg_snapshot_xmin(bounds.seen))
        or case when bounds.seen_seq is null then pg_snapshot_xmin(pg_current_snapshot()) < pg_snapshot_xmin(bounds.seen)
                else coalesce(pg_sequence_last_value('change_log_seq_seq'), 0) < bounds.seen_seq end as expired,
      (select coalesce(sum(entries), 0) > ${most}::int or count(*) = ${most + 2}::int from counted) as more,
      t.xact::text as examined_xact, t.seq::float8 as examined_seq,
      c.kind, c.at, c.xact::text, c.seq::float8, c.first,
      c.ids[c.first + 1 : c.first + ${most}::int - c.before] as ids,
      substring(c.payload from c.first * ${sql.lit(entryBytes)} + 1 for (${most}::int - c.before) * ${sql.lit(entryBytes)}) as payload
    from bounds left join examined_to t on true left join counted c on c.before < ${most}::int
    order by c.xact, c.seq`.execute(on)
  const { cluster, seen, up_to: upTo, expired, more } = rows[0]!
  if (expired || (after !== null && after.cluster !== cluster)) return 'expired'
  const parts = rows.filter((row): row is Row & LoggedPart => row.kind !== null)
  const { examined_xact: xact, examined_seq: seq } = rows[0]!
  const last = more ? (lastEntry(parts, entryBytes) ?? RANGE_START) : xact !== null && seq !== null ? { xact, seq, entry: MAX_ENTRIES } : null
  const next = last ? { cluster, seen, range: { upTo, ...last } } : { cluster, seen: upTo, range: null }
  return { parts, cluster, seen, upTo, more: last !== null, next }
}

const RANGE_START = { xact: '1', seq: 0, entry: 0 }

/** The position of the last entry of the last part. */
function lastEntry(parts: readonly LoggedPart[], entryBytes: number): { xact: string; seq: number; entry: number } | null {
  const part = parts.at(-1)
  return part ? { xact: part.xact, seq: part.seq, entry: part.first + (part.ids?.length ?? (part.payload?.length ?? 0) / entryBytes) } : null
}

/** Whether a part was visible at a moment: by the same rule as `readLog`. */
export function wasVisible({ xact, seq }: LoggedPart, moment: LogMoment): boolean {
  const [xmin, xmax, running] = snapshotOf(moment)!.split(':') as [string, string, string]
  const id = BigInt(xact)
  const lastSeq = lastSeqOf(moment)
  if (lastSeq !== null && seq > Number(lastSeq)) return false
  return id < BigInt(xmin) || (id < BigInt(xmax) && !running.split(',').includes(xact))
}

/** The moment at which exactly what every one of the moments had seen was visible. */
export function seenByAll(moments: Iterable<LogMoment>): LogMoment {
  const all = [...new Set(moments)]
  const lowest = (values: bigint[]) => values.reduce((low, value) => (value < low ? value : low))
  const snapshots = all.map((moment) => snapshotOf(moment)!.split(':') as [string, string, string])
  const to = lowest(snapshots.map(([, xmax]) => BigInt(xmax)))
  const running = new Set(snapshots.flatMap(([, , ids]) => (ids === '' ? [] : ids.split(','))))
  const ids = [...running].map(BigInt).filter((id) => id < to)
  const snapshot = `${lowest(snapshots.map(([xmin]) => BigInt(xmin)))}:${to}:${ids.sort((a, b) => (a < b ? -1 : 1)).join()}`
  const seqs = all.map(lastSeqOf).filter((seq) => seq !== null)
  return seqs.length === 0 ? snapshot : `${snapshot}@${lowest(seqs.map(BigInt))}`
}

interface Row {
  cluster: string
  seen: string
  up_to: string
  expired: boolean
  more: boolean
  examined_xact: string | null
  examined_seq: number | null
  kind: CatalogueKind | null
  at: Date | null
  xact: string | null
  seq: number | null
  first: number | null
  ids: number[] | null
  payload: Buffer | null
}

/** The position after everything visible to a transaction, for a reader that has read all data in it. */
export async function currentPosition(on: Queryable): Promise<LogPosition> {
  const { rows } = await sql<Pick<LogPosition, 'cluster' | 'seen'>>`
    select system_identifier::text as cluster, pg_current_snapshot() || '@' || coalesce((select max(seq) from change_log), 0) as seen
    from pg_control_system()`.execute(on)
  return { ...rows[0]!, range: null }
}

/** Encodes a position as opaque text. */
export function positionText({ cluster, seen, range }: LogPosition): string {
  return writeCursor([cluster, seen, ...(range ? [range.upTo, range.xact, range.seq, range.entry] : [])])
}

/** Decodes a text from `positionText`; null for any other text. */
export function readPosition(text: string): LogPosition | null {
  const parts = readCursor(text)
  if (!parts) return null
  const [cluster, seen, upTo, xact, seq, entry] = parts
  if (!isNumber(cluster) || !isMoment(seen)) return null
  if (parts.length === 2) return { cluster, seen, range: null }
  if (parts.length !== 6 || !isMoment(upTo) || !isNumber(xact) || !isCount(seq, Number.MAX_SAFE_INTEGER) || !isCount(entry, MAX_ENTRIES)) return null
  return { cluster, seen, range: { upTo, xact, seq, entry } }
}

const MAX_DIGITS = 18
const MAX_BIGINT = 2n ** 63n - 1n
/** Larger than any row of the log. */
const MAX_ENTRIES = 2 ** 26

function isNumber(value: unknown): value is string {
  return typeof value === 'string' && /^[1-9]\d{0,18}$/.test(value) && BigInt(value) <= MAX_BIGINT
}

function isCount(value: unknown, most: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= most
}

/** The cursors of earlier releases have snapshots without a sequence number. */
function isMoment(value: unknown): value is LogMoment {
  const lastSeq = typeof value === 'string' ? lastSeqOf(value) : null
  return isSnapshot(snapshotOf(value as LogMoment)) && (lastSeq === null || lastSeq === '0' || isNumber(lastSeq))
}

function snapshotOf(moment: LogMoment | undefined): string | null {
  return typeof moment === 'string' ? moment.split('@', 1)[0]! : null
}

function lastSeqOf(moment: LogMoment | undefined): string | null {
  return moment?.includes('@') ? moment.slice(moment.indexOf('@') + 1) : null
}

/** In PostgreSQL's text form: running transactions in ascending order, between the oldest one and the next id. */
function isSnapshot(value: unknown): value is string {
  if (typeof value !== 'string' || !/^\d+:\d+:[\d,]*$/.test(value)) return false
  const [xmin, xmax, running] = value.split(':') as [string, string, string]
  const texts = [xmin, xmax, ...(running === '' ? [] : running.split(','))]
  // PostgreSQL's transaction ids have 64 bits, and none is 0.
  if (texts.some((text) => text === '' || text.startsWith('0') || text.length > MAX_DIGITS)) return false
  const [from, to, ...ids] = texts.map(BigInt) as [bigint, bigint, ...bigint[]]
  return from <= to && ids.every((id, i) => id >= from && id < to && (i === 0 || id > ids[i - 1]!))
}
