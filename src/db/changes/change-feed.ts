// Follows the change log: every node receives every committed change, in order, without missing a slow transaction.
import { sql } from 'kysely'
import { type Timer, machineMs, startTimer, stopTimer } from '#core/process/time-and-chance.ts'
import { inSpan, TRACED } from '#core/tracing/spans.ts'
import { databaseTime } from '../connection/database-time.ts'
import { copyOut, int8At, readBinaryCopy } from '../copy.ts'
import { announce } from '../connection/announce.ts'
import type { ChangeKind, Db, Tx } from '../schema.ts'

/** A committed change: ids to read again, or the new values themselves. */
export interface ChangeRow {
  seq: number
  kind: ChangeKind
  ids: number[] | null
  payload: Buffer | null
}

/** A row of the log; large payloads are not included yet. */
interface LoggedChange extends ChangeRow {
  bytes: number
  /** of the span that wrote it, if it was traced */
  traceparent: string | null
}

/** Handles changes; `reload` is called if so many were missed that the log no longer has them. */
export interface ChangeFollower {
  apply(changes: ChangeRow[]): Promise<void>
  reload(): Promise<void>
}

interface FeedLog {
  warn(details: object, message: string): void
  info(message: string): void
}

/** How far a feed has read. */
export interface FeedPlace {
  /** `pg_snapshot` as text: everything visible to it has been read */
  position: string
  /** highest number that was read */
  lastSeq: number
}

/** The channel on which commits of changes are announced. */
export const CHANGES_CHANNEL = 'mintmark_changes'
/** Rows that every node has applied are removed after this time; those of the public change feed (`CATALOGUE_KINDS`) are kept longer. */
const KEEP_HOURS = 1
const KEEP_CATALOGUE_DAYS = 7
/** Changes in the public change feed. */
export const CATALOGUE_KINDS = ['items', 'categories', 'prices'] as const satisfies ChangeKind[]
/** Payloads up to this size are read with their rows. */
const SMALL_BYTES = 8 * 1024
/** Packed values are read and applied in parts: a large import's values at once would delay other reads. */
const PART_BYTES = 256 * 1024
/** Ids of consecutive changes that are read together. */
const MAX_JOINED = 1_000
/** Notices within this time are handled as one. */
const NOTICE_MS = 5
const CLOCK_TOLERANCE_MS = 1_000

/**
 * Sequence numbers become visible out of order, so a position in them would skip a transaction that commits late. The
 * position here is the snapshot of the last read: the next read returns the rows that were not visible to it.
 */
export class ChangeFeed {
  readonly #db: Db
  readonly #log: FeedLog
  readonly #followers: ChangeFollower[] = []
  /** a `pg_snapshot` as text */
  #position: string
  /** the log's floor at the time of the initial load; a slow transaction can keep the position below it for a while */
  #coveredFloor = ''
  /** when the server of the last read started: it differs after a failover or a recovery */
  #server = ''
  /** highest number that was read */
  #lastSeq = 0
  #pulling: Promise<void> | null = null
  #pullAgain: Promise<void> | null = null
  #notice: Timer | null = null
  #pullsBegun = 0
  /** number of pulls that had started at the last notice */
  #noticedAfter = 0
  /** epoch milliseconds of the last complete read of the log */
  lastPullMs = 0
  #clockOffsetMs = 0

  /** @param position transaction id to start from; `open` uses the current one */
  constructor(db: Db, log: FeedLog, position = '1') {
    this.#db = db
    this.#log = log
    this.#position = snapshotBelow(position)
  }

  /**
   * Sets the position; a load after this misses nothing.
   * @param from the database that the load reads: a streaming replica may lag behind
   */
  async open(from = this.#db): Promise<void> {
    const { rows } = await sql<{ horizon: string; seq: number }>`
      select pg_snapshot_xmin(pg_current_snapshot())::text as horizon, (select coalesce(max(seq), 0) from change_log) as seq`.execute(from.kysely)
    // Not the snapshot itself: a replica's snapshot does not include the running transactions.
    this.#position = snapshotBelow(rows[0]!.horizon)
    this.#lastSeq = rows[0]!.seq
    this.lastPullMs = machineMs()
  }

  /** Continues from an earlier place: data saved at that place is complete after the next pull. */
  resume({ position, lastSeq }: FeedPlace): void {
    this.#position = position
    this.#lastSeq = lastSeq
    this.lastPullMs = machineMs()
  }

  /** Runs `work` between two pulls: until it ends, no changes are applied and followers stay at the position passed to it. */
  async between<T>(work: (place: FeedPlace) => Promise<T>): Promise<T> {
    while (this.#pulling) await this.#pulling.catch(() => {})
    const done = work({ position: this.#position, lastSeq: this.#lastSeq })
    const over = done.then(
      () => {},
      () => {},
    )
    this.#pulling = over.finally(() => {
      this.#pulling = null
    })
    return done
  }

  /** Followers receive changes in the order in which they were added. */
  add(follower: ChangeFollower): void {
    this.#followers.push(follower)
  }

  /**
   * Applies everything committed before this call. A writer awaits it before it responds, so that its caller reads its own
   * writes. Calls during a pull share the next one.
   */
  pull(): Promise<void> {
    if (!this.#pulling) {
      this.#pulling = this.#pullOnce().finally(() => {
        this.#pulling = null
      })
      return this.#pulling
    }
    this.#pullAgain ??= this.#pulling
      .catch(() => {})
      .then(() => {
        this.#pullAgain = null
        return this.pull()
      })
    return this.#pullAgain
  }

  /**
   * The time by the database's clock, which all nodes share: leases and periods would end early on a node whose clock is
   * ahead. Within a second of each other, the node's own clock is used.
   */
  now(): Date {
    return new Date(machineMs() + this.#clockOffsetMs)
  }

  /** Handles a notice of a commit: pulls, unless a pull that started after the notice (mostly a writer's) has read it. */
  noticed(): void {
    this.#noticedAfter = this.#pullsBegun
    this.#notice ??= startTimer(() => {
      this.#notice = null
      // The next regular pull makes up for one that fails, and reports it.
      if (this.#pullsBegun === this.#noticedAfter) void this.pull().catch(() => {})
    }, NOTICE_MS)
  }

  async close(): Promise<void> {
    stopTimer(this.#notice)
    await this.#pulling?.catch(() => {})
  }

  async #pullOnce(): Promise<void> {
    this.#pullsBegun += 1
    const requestedMs = machineMs()
    const { rows } = await sql<{
      position: string
      floor: string
      missed: boolean | null
      server: string
      clock_ms: number
      seq: number | null
      kind: ChangeKind
      ids: number[] | null
      bytes: number
      payload: Buffer | null
      traceparent: string | null
    }>`
      with here as (
        select pg_current_snapshot() as position, extract(epoch from ${databaseTime})::float8 * 1000 as clock_ms,
               (select xact::text from change_log_floor) as floor, from_here.xmin, pg_postmaster_start_time()::text as server,
               (select xact from change_log_floor where xact::text <> ${this.#coveredFloor}) > from_here.xmin
                 or pg_snapshot_xmin(pg_current_snapshot()) < from_here.xmin as missed
        from (select pg_snapshot_xmin(${this.#position}::pg_snapshot) as xmin) as from_here
      )
      select here.position::text, here.floor, here.missed, here.server, here.clock_ms, c.seq, c.kind, c.ids, c.traceparent,
             coalesce(octet_length(c.payload), 0) as bytes, case when octet_length(c.payload) <= ${SMALL_BYTES} then c.payload end as payload
      from here left join change_log c on c.xact >= here.xmin and not pg_visible_in_snapshot(c.xact, ${this.#position}::pg_snapshot)
      order by c.seq`.execute(this.#db.kysely)
    const { position, floor, missed, server, clock_ms: clockMs } = rows[0]!
    this.#compareClocks(clockMs, requestedMs)
    const tookOver = this.#server !== '' && this.#server !== server
    if (tookOver && !missed) await this.#stepBack()
    this.#server = server
    if (tookOver && !missed) return this.#pullOnce()
    // Also reload if the database is behind this node, because it was restored from a backup.
    if (missed) {
      this.#log.warn({}, 'Change log has a gap; reloading')
      await this.#reload(floor)
      return
    }
    const parts = partsOf(joined(rows.filter((row): row is LoggedChange & typeof row => row.seq !== null)))
    let coming = this.#withPayloads(parts[0] ?? [])
    for (const i of parts.keys()) {
      const changes = await coming
      // The next part is read while this one is applied; its errors are thrown in the next round.
      coming = this.#withPayloads(parts[i + 1] ?? [])
      coming.catch(() => {})
      await this.#apply(changes)
      this.#lastSeq = Math.max(this.#lastSeq, ...changes.map(({ seq }) => seq))
    }
    this.#position = position
    this.lastPullMs = machineMs()
  }

  async #apply(changes: LoggedChange[]): Promise<void> {
    const apply = async () => {
      for (const follower of this.#followers) await follower.apply(changes)
    }
    const [cause, ...links] = TRACED ? new Set(changes.flatMap(({ traceparent }) => traceparent ?? [])) : []
    await (cause === undefined ? apply() : inSpan('apply changes', { cause, links }, apply))
  }

  #compareClocks(databaseMs: number, requestedMs: number): void {
    const answeredMs = machineMs()
    // After a slow response, the time it contains is too imprecise.
    if (answeredMs - requestedMs > CLOCK_TOLERANCE_MS) return
    const offsetMs = databaseMs - (requestedMs + answeredMs) / 2
    const offset = Math.abs(offsetMs) > CLOCK_TOLERANCE_MS ? offsetMs : 0
    if ((offset === 0) !== (this.#clockOffsetMs === 0)) {
      this.#log.warn(
        { offsetMs: Math.round(offset) },
        offset === 0 ? 'Clock is in sync with the database again' : "Clock differs from the database; using the database's",
      )
    }
    this.#clockOffsetMs = offset
  }

  /**
   * After a failover, the new server may assign transaction ids that this position counts as seen: ids that the old server had
   * assigned to changes that never reached it. Its sequence numbers are higher than all that were read, because sequences are
   * replicated ahead of their rows: from the first of them, everything is read again.
   */
  async #stepBack(): Promise<void> {
    const { rows } = await sql<{ first: string }>`
      select least(min(xact::text::bigint), pg_snapshot_xmin(pg_current_snapshot())::text::bigint, pg_snapshot_xmin(${this.#position}::pg_snapshot)::text::bigint)::text as first
      from change_log where seq > ${this.#lastSeq}`.execute(this.#db.kysely)
    this.#position = snapshotBelow(rows[0]!.first)
  }

  /** Reads large payloads in binary: as column values they would be twice as long. */
  async #withPayloads(part: LoggedChange[]): Promise<LoggedChange[]> {
    const large = new Map(part.filter((row) => row.bytes > SMALL_BYTES).map((row) => [row.seq, row]))
    if (large.size === 0) return part
    const query = `copy (select seq, payload from change_log where seq = any('{${[...large.keys()].join(',')}}'::int8[])) to stdout (format binary)`
    await readBinaryCopy(copyOut(this.#db.kysely, query), (buffer, offsets, lengths) => {
      large.get(int8At(buffer, offsets[0]!))!.payload = Buffer.from(buffer.subarray(offsets[1]!, offsets[1]! + lengths[1]!))
    })
    return part
  }

  /** A failed reload leaves the position behind, so that the next pull finds the gap again. */
  async #reload(floor: string): Promise<void> {
    const before = this.#position
    await this.open()
    try {
      for (const follower of this.#followers) await follower.reload()
      this.#coveredFloor = floor
    } catch (error) {
      this.#position = before
      throw error
    }
  }
}

/** A snapshot to which exactly the transactions below an id are visible. */
function snapshotBelow(xid: string): string {
  return `${xid}:${xid}:`
}

/** Consecutive ids of one kind and trace as one change: each would otherwise be read again on its own. */
function joined<T extends LoggedChange>(rows: T[]): T[] {
  const changes: T[] = []
  for (const row of rows) {
    const last = changes.at(-1)
    if (last?.ids && row.ids && last.kind === row.kind && last.traceparent === row.traceparent && last.ids.length < MAX_JOINED) {
      for (const id of row.ids) last.ids.push(id)
      last.seq = row.seq
    } else changes.push(row)
  }
  return changes
}

/** The rows in order, split so that the payloads of a part are not much larger than `PART_BYTES`. */
function partsOf<T extends { bytes: number }>(rows: T[]): T[][] {
  const parts: T[][] = []
  let bytes = Infinity
  for (const row of rows) {
    if (bytes >= PART_BYTES) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)!.push(row)
    bytes += row.bytes
  }
  return parts
}

/** Removes rows that no node needs any more; a node that was away for longer reloads everything. */
export async function trimChangeLog(db: Db, now: Date): Promise<number> {
  const { rows } = await sql<{ trimmed: number }>`
    with old as (
      delete from change_log
      where at < ${now}::timestamptz - case when kind = any(${[...CATALOGUE_KINDS]}::text[]) then make_interval(days => ${KEEP_CATALOGUE_DAYS})
                              else make_interval(hours => ${KEEP_HOURS}) end and xact < pg_snapshot_xmin(pg_current_snapshot())
      returning xact
    ), moved as (
      update change_log_floor set xact = greatest(xact, ((select max(xact::text::bigint) from old) + 1)::text::xid8)
      where exists (select 1 from old)
    )
    select count(*)::int as trimmed from old`.execute(db.kysely)
  return rows[0]!.trimmed
}

/** Makes every node reload its memory: words of removed texts stay in its indexes, and in its start file, until then. Readers of changes are not affected. */
export async function reloadNodes(tx: Tx): Promise<void> {
  await sql`update change_log_floor set xact = (pg_current_xact_id()::text::bigint + 1)::text::xid8`.execute(tx)
  announce(tx, CHANGES_CHANNEL)
}
