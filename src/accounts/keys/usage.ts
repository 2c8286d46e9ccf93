// Usage of each API key by day and operation: counted in memory, written in batches by each node.
import { type RawBuilder, sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import type { Db, Queryable } from '#db/schema.ts'
import { inTransaction } from '#db/connection/transaction.ts'

/** Days that are shown, including today. */
export const USAGE_DAYS = 30
/** Statistics compare a period with the one before. */
const RETENTION_DAYS = 2 * USAGE_DAYS

/** Keys with their own metrics: each has a series for every operation that it calls. */
const MEASURED_KEYS = 200
/** No key has this id. */
export const OTHER_KEYS = 0

/** Calls of an operation with a key on a day (UTC). */
export interface KeyUsageRow {
  key_id: number
  /** YYYY-MM-DD */
  day: string
  operation: string
  requests: number
}

type Counts = Map<number, Map<string, number>>

/** Counts requests of this node; counts that are not flushed yet are lost when the process is killed. */
export class KeyUsage {
  readonly #db: Db
  readonly #now: () => Date
  /** days since 1970 → counts that are not flushed yet */
  #pending = new Map<number, Counts>()
  #day = -1
  #counts: Counts = new Map()
  /** counts of flushes that are under way */
  readonly #inFlight = new Set<readonly KeyUsageRow[]>()
  #flushing: Promise<unknown> = Promise.resolve()
  #flushesBegun = 0
  /** total since the start, by key; keys beyond the first ones share OTHER_KEYS */
  readonly #flushed: Counts = new Map()

  constructor({ db, now }: { db: Db; now: () => Date }) {
    this.#db = db
    this.#now = now
  }

  count(keyId: number, operation: string): void {
    const day = Math.floor(this.#now().getTime() / DAY_MS)
    if (day !== this.#day) {
      this.#day = day
      this.#counts = this.#countsOf(day)
    }
    addTo(this.#counts, keyId, operation, 1)
  }

  /** Counts of a key for the days shown: stored ones, and unflushed ones of this node. A day and operation may have several rows. */
  async countsOf(keyId: number): Promise<KeyUsageRow[]> {
    for (;;) {
      while (this.#inFlight.size > 0) await this.#flushing
      const begun = this.#flushesBegun
      const from = sql`from api_key_usage u where u.key_id = ${keyId} and u.day >= ${firstDay(this.#now())}::date`
      const stored = await readUsage(this.#db.kysely, sql`${from} order by u.day desc, u.operation`)
      // If a flush began during the read, its counts could be in both sources or in neither: read again.
      if (this.#flushesBegun === begun) return [...stored, ...rowsOf(this.#pending).filter((row) => row.key_id === keyId)]
    }
  }

  /** Requests since the start by key and operation; keys beyond the first MEASURED_KEYS share OTHER_KEYS. */
  totals(): Counts {
    const totals: Counts = new Map([...this.#flushed].map(([keyId, operations]) => [keyId, new Map(operations)]))
    for (const rows of [...this.#inFlight, rowsOf(this.#pending)]) addRows(totals, rows)
    return totals
  }

  /** Adds the counts to the table; rejects with the database's error, and keeps them for the next time. */
  flush(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve()
    this.#flushesBegun += 1
    const stored = this.#store()
    this.#flushing = Promise.allSettled([this.#flushing, stored])
    return stored
  }

  async #store(): Promise<void> {
    const flushed = this.#pending
    this.#pending = new Map()
    this.#day = -1
    const rows = rowsOf(flushed)
    this.#inFlight.add(rows)
    try {
      // Always in the same order, so that nodes never deadlock.
      await inTransaction(this.#db, (tx) =>
        sql`
          insert into api_key_usage as u (key_id, day, operation, requests)
          select * from unnest(${rows.map((row) => row.key_id)}::int4[], ${rows.map((row) => row.day)}::date[],
            ${rows.map((row) => row.operation)}::text[], ${rows.map((row) => row.requests)}::int8[]) as n(key_id, day, operation, requests)
          order by key_id, day, operation
          on conflict (key_id, day, operation) do update set requests = u.requests + excluded.requests`.execute(tx),
      )
      addRows(this.#flushed, rows)
    } catch (error) {
      for (const [day, counts] of flushed) {
        for (const [keyId, operations] of counts) for (const [operation, n] of operations) addTo(this.#countsOf(day), keyId, operation, n)
      }
      throw error
    } finally {
      this.#inFlight.delete(rows)
    }
  }

  #countsOf(day: number): Counts {
    const counts = this.#pending.get(day) ?? new Map<number, Map<string, number>>()
    this.#pending.set(day, counts)
    return counts
  }
}

function addTo(counts: Counts, keyId: number, operation: string, requests: number): void {
  const operations = counts.get(keyId)
  if (operations) operations.set(operation, (operations.get(operation) ?? 0) + requests)
  else counts.set(keyId, new Map([[operation, requests]]))
}

/** Adds to the counts of metrics. */
function addRows(totals: Counts, rows: readonly KeyUsageRow[]): void {
  for (const { key_id: keyId, operation, requests } of rows) {
    addTo(totals, totals.has(keyId) || totals.size < MEASURED_KEYS ? keyId : OTHER_KEYS, operation, requests)
  }
}

function rowsOf(pending: ReadonlyMap<number, Counts>): KeyUsageRow[] {
  return [...pending].flatMap(([day, counts]) =>
    [...counts].flatMap(([key_id, operations]) =>
      [...operations].map(([operation, requests]) => ({ key_id, day: dayText(day * DAY_MS), operation, requests })),
    ),
  )
}

function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** The first of the days that are shown. */
export function firstDay(now: Date): string {
  return dayText(now.getTime() - (USAGE_DAYS - 1) * DAY_MS)
}

/** The stored counts of the keys `u` that SQL from its `from` selects. */
export async function readUsage(on: Queryable, from: RawBuilder<unknown>): Promise<KeyUsageRow[]> {
  const { rows } = await sql<KeyUsageRow>`select u.key_id, u.day::text as day, u.operation, u.requests ${from}`.execute(on)
  return rows
}

/** Deletes days that statistics no longer use for comparison. */
export async function forgetOldUsage(db: Db, now: Date): Promise<void> {
  await sql`delete from api_key_usage where day < ${dayText(now.getTime() - (RETENTION_DAYS - 1) * DAY_MS)}::date`.execute(db.kysely)
}
