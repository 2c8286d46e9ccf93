// Price changes that wait together commit together: one statement and one fsync for all, each answered after it.
import { sql } from 'kysely'
import type { Viewer } from '#core/verb.ts'
import { actorOf, auditedBy, loggedBy, type WriteCtx } from '#db/change.ts'
import { notified } from '#db/change-feed.ts'
import type { Queryable } from '#db/schema.ts'
import { retrying } from '#db/transaction.ts'
import { packedPrices } from './packed-prices.ts'
import { checkReprice, REPRICE, repriced } from './reprice.ts'
import { fetchListing, kurusText, type ListingRow } from './store.ts'
import type { ListingResult } from './types.ts'

export interface PriceWrite {
  viewer: Viewer
  requestId: string | null
  id: number
  kurus: number
}

interface Waiting {
  write: PriceWrite
  resolve: (result: ListingResult) => void
  reject: (reason: unknown) => void
}

type Written = Pick<ListingRow, 'id' | 'price' | 'status' | 'expires_at' | 'version'>

/** Most changes in one statement; more wait for the next. */
const BATCH = 500
const LARGEST_ID = 2 ** 31 - 1

export class PriceWrites {
  readonly #ctx: Pick<WriteCtx, 'db' | 'now' | 'caughtUp'>
  #waiting: Waiting[] = []
  #running = false
  /** transactions so far, and how many changes they held */
  commits = 0
  written = 0

  constructor(ctx: Pick<WriteCtx, 'db' | 'now' | 'caughtUp'>) {
    this.#ctx = ctx
  }

  /** Resolves when the change is durable and this node has applied it; rejects with why it is refused. */
  submit(write: PriceWrite): Promise<ListingResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject })
      if (!this.#running) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#running = true
    while (this.#waiting.length > 0) {
      // What arrives in the same turn of the event loop goes along: also the next of callers who were just answered.
      await new Promise((resolve) => setImmediate(resolve))
      const batch = this.#takeBatch()
      try {
        await this.#commit(batch)
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#running = false
  }

  /** The oldest that wait, each listing once: a second change of one listing comes after the first. */
  #takeBatch(): Waiting[] {
    const batch: Waiting[] = []
    const later: Waiting[] = []
    const ids = new Set<number>()
    for (const waiting of this.#waiting) {
      const { id } = waiting.write
      if (batch.length === BATCH || ids.has(id)) later.push(waiting)
      else batch.push(waiting)
      ids.add(id)
    }
    this.#waiting = later
    return batch
  }

  async #commit(batch: Waiting[]): Promise<void> {
    const { db, now, caughtUp } = this.#ctx
    const moment = now()
    const writes = batch.map(({ write }) => write)
    const written = new Map((await retrying(() => updatePrices(db.kysely, writes, moment))).map((row) => [row.id, row]))
    this.commits += 1
    this.written += batch.length
    await caughtUp().catch(() => {})
    for (const waiting of batch) {
      const row = written.get(waiting.write.id)
      if (row) waiting.resolve(repriced(row, moment))
      else await this.#refuse(waiting)
    }
  }

  /** Says why a change was not written, by the rules as everywhere; one that is possible by now waits again. */
  async #refuse(waiting: Waiting): Promise<void> {
    const { viewer, id, kurus } = waiting.write
    try {
      checkReprice(await fetchListing(this.#ctx.db.kysely, id), viewer, kurus, this.#ctx.now())
      this.#waiting.push(waiting)
    } catch (error) {
      waiting.reject(error)
    }
  }
}

/**
 * One statement is the transaction. It locks in the order of ids, so that batches of several nodes cannot block each other
 * in a circle.
 */
async function updatePrices(on: Queryable, writes: PriceWrite[], now: Date): Promise<Written[]> {
  const possible = writes.filter(({ id, viewer }) => id >= 1 && id <= LARGEST_ID && viewer.kind === 'account')
  if (possible.length === 0) return []
  const sellers = possible.map(({ viewer }) => (viewer.kind === 'account' ? viewer.accountId : 0))
  const { rows } = await sql<Written>`
    with wanted as (
      select * from unnest(
        ${possible.map(({ id }) => id)}::int4[], ${sellers}::int4[], ${possible.map(({ kurus }) => kurusText(kurus))}::numeric[],
        ${possible.map(({ viewer }) => actorOf(viewer))}::text[], ${possible.map(({ requestId }) => requestId)}::text[]
      ) as wanted(id, seller_id, price, actor, request_id)
    ), held as materialized (
      select wanted.*, l.price as price_before from wanted join listings l on l.id = wanted.id and l.seller_id = wanted.seller_id
      order by l.id for update of l
    ), updated as (
      update listings l
      set price = held.price, version = l.version + 1, updated_at = ${now},
          approved_price = case when l.status = 'active' and l.expires_at > ${now} then held.price else l.approved_price end
      from held
      where l.id = held.id and l.status <> 'sold' and (l.min_offer_price is null or l.min_offer_price <= held.price)
      returning l.id, l.price, l.status, l.expires_at, l.version, held.price_before, held.actor, held.request_id
    ), ${auditedBy(sql`
      select actor, ${REPRICE}, 'listing', id, jsonb_build_object('price', trim_scale(price_before)),
             jsonb_build_object('price', trim_scale(price)), request_id from updated`)},
    ${loggedBy(sql`select 'listings', null::int4[], ${packedPrices} from updated having count(*) > 0`)}
    select id, price, status, expires_at, version, ${notified} from updated`.execute(on)
  return rows
}
