// How often searches return each listing to accounts other than its seller's: counted in memory, written in batches by each node.
import { sql } from 'kysely'
import { DAY_MS, HOUR_MS } from '#core/duration.ts'
import type { Viewer } from '#core/verb.ts'
import type { Db } from '#db/schema.ts'
import { inTransaction } from '#db/connection/transaction.ts'
import type { Shown } from '#http/response.ts'
import { FirstViews } from './first-views.ts'

/** Days that are stored and shown, including today. */
export const VIEW_DAYS = 30
/** Pages whose views are added up at once: more would block the event loop for too long. */
const PAGES_AT_ONCE = 200
/** Rows per statement. */
const ROWS_AT_ONCE = 5_000

type Viewers = Map<number, number>

/** Counts views of this node. Those that are not flushed yet are lost when the process is killed. */
export class ListingViews {
  readonly #db: Db
  readonly #now: () => Date
  /** pages shown since they were last added up, with the account of each key that saw them */
  readonly #pages = new Map<Shown, Viewers>()
  readonly #firstViews = new FirstViews()
  /** days since 1970 → views by listing that are not flushed yet */
  #pending = new Map<number, Map<number, number>>()

  constructor({ db, now }: { db: Db; now: () => Date }) {
    this.#db = db
    this.#now = now
  }

  /** Notes that a response has shown these listings. A repeated response costs one entry of a map, whatever the number of listings. */
  note(viewer: Viewer, shown: Shown): void {
    if (viewer.kind !== 'account') return
    let viewers = this.#pages.get(shown)
    if (!viewers) {
      if (this.#pages.size >= PAGES_AT_ONCE) this.#addUp()
      this.#pages.set(shown, (viewers = new Map()))
    }
    viewers.set(viewer.keyId, viewer.accountId)
  }

  /** Adds the views to the table; rejects with the database's error, and keeps them for the next time. */
  async flush(): Promise<void> {
    this.#addUp()
    const flushed = this.#pending
    this.#pending = new Map()
    const rows = [...flushed].flatMap(([day, views]) => Array.from(views, ([id, n]) => ({ id, day: dayText(day * DAY_MS), views: n })))
    // Always in the same order, so that nodes never deadlock.
    rows.sort((a, b) => a.id - b.id)
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      const some = rows.slice(from, from + ROWS_AT_ONCE)
      try {
        await this.#store(some)
      } catch (error) {
        for (const row of rows.slice(from)) this.#add(Date.parse(row.day) / DAY_MS, row.id, row.views)
        throw error
      }
    }
  }

  #store(rows: readonly { id: number; day: string; views: number }[]): Promise<unknown> {
    return inTransaction(this.#db, (tx) =>
      sql`
        insert into listing_views as v (listing_id, day, views)
        select * from unnest(${rows.map(({ id }) => id)}::int4[], ${rows.map(({ day }) => day)}::date[], ${rows.map(({ views }) => views)}::int4[])
        on conflict (listing_id, day) do update set views = least(v.views::int8 + excluded.views, ${MAX_VIEWS})::int4`.execute(tx),
    )
  }

  /** A listing counts once for each key and hour. */
  #addUp(): void {
    const now = this.#now().getTime()
    const [day, hour] = [Math.floor(now / DAY_MS), Math.floor(now / HOUR_MS)]
    for (const [{ ids, owners }, viewers] of this.#pages) {
      for (const [keyId, accountId] of viewers) {
        for (const [i, id] of ids.entries()) {
          if (owners[i] !== accountId && this.#firstViews.isFirst(keyId, id, hour)) this.#add(day, id, 1)
        }
      }
    }
    this.#pages.clear()
  }

  #add(day: number, id: number, n: number): void {
    const views = this.#pending.get(day) ?? new Map<number, number>()
    this.#pending.set(day, views)
    views.set(id, (views.get(id) ?? 0) + n)
  }
}

/** The largest number of the column. */
const MAX_VIEWS = 2_147_483_647

function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** The last days, oldest first. */
export function lastDays(now: Date, count: number): string[] {
  return Array.from({ length: count }, (_, i) => dayText(now.getTime() - (count - 1 - i) * DAY_MS))
}

/** Deletes days that are no longer shown. */
export async function forgetOldViews(db: Db, now: Date): Promise<void> {
  await sql`delete from listing_views where day < ${lastDays(now, VIEW_DAYS)[0]!}::date`.execute(db.kysely)
}
