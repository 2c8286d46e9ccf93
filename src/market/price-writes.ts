// Price changes that wait together commit together: one statement and one fsync for all, each answered after it.
import { sql } from 'kysely'
import type { Viewer } from '#core/verb.ts'
import { collector, type WriteCtx } from '#db/change.ts'
import type { Tx } from '#db/schema.ts'
import { inTransaction } from '#db/transaction.ts'
import { checkReprice, repriceAudit, repriced } from './reprice.ts'
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

type Written = Pick<ListingRow, 'id' | 'price' | 'status' | 'expires_at' | 'version'> & { price_before: string }
type Outcome = { result: ListingResult } | { error: unknown }

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
    // What arrives in the same turn of the event loop goes along.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch()
      try {
        const outcomes = await this.#commit(batch.map(({ write }) => write))
        batch.forEach(({ resolve, reject }, i) => {
          const outcome = outcomes[i]!
          if ('result' in outcome) resolve(outcome.result)
          else reject(outcome.error)
        })
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

  async #commit(writes: PriceWrite[]): Promise<Outcome[]> {
    const now = this.#ctx.now()
    const outcomes = await inTransaction(this.#ctx.db, async (tx) => {
      const { note, write } = collector(tx, { viewer: { kind: 'operator', name: 'price-writes' }, requestId: null })
      const written = new Map((await updatePrices(tx, writes, now)).map((row) => [row.id, row]))
      if (written.size > 0) note.changed('listings', [...written.keys()])
      const all: Outcome[] = []
      for (const { viewer, requestId, id, kurus } of writes) {
        const row = written.get(id)
        if (!row) {
          all.push({ error: await refusal(tx, { viewer, requestId, id, kurus }, now) })
          continue
        }
        const before = Math.round(Number(row.price_before) * 100)
        note.audit({ ...repriceAudit(id, before, kurus), by: { viewer, requestId } })
        all.push({ result: repriced(row, now) })
      }
      await write()
      return all
    })
    this.commits += 1
    this.written += writes.length
    await this.#ctx.caughtUp().catch(() => {})
    return outcomes
  }
}

/** Locks in the order of ids, so that batches of several nodes cannot block each other in a circle. */
async function updatePrices(tx: Tx, writes: PriceWrite[], now: Date): Promise<Written[]> {
  const possible = writes.filter(({ id, viewer }) => id >= 1 && id <= LARGEST_ID && viewer.kind === 'account')
  if (possible.length === 0) return []
  const ids = possible.map(({ id }) => id)
  const sellers = possible.map(({ viewer }) => (viewer.kind === 'account' ? viewer.accountId : 0))
  const { rows } = await sql<Written>`
    with wanted as (
      select * from unnest(${ids}::int4[], ${sellers}::int4[], ${possible.map(({ kurus }) => kurusText(kurus))}::numeric[])
        as wanted(id, seller_id, price)
    ), held as materialized (
      select id, price from listings where id = any(${ids}::int4[]) order by id for update
    )
    update listings l
    set price = wanted.price, version = l.version + 1, updated_at = ${now},
        approved_price = case when l.status = 'active' and l.expires_at > ${now} then wanted.price else l.approved_price end
    from wanted join held using (id)
    where l.id = wanted.id and l.seller_id = wanted.seller_id and l.status <> 'sold'
      and (l.min_offer_price is null or l.min_offer_price <= wanted.price)
    returning l.id, l.price, l.status, l.expires_at, l.version, held.price as price_before`.execute(tx)
  return rows
}

/** Why a change was not written; the rules say it as they say it everywhere. */
async function refusal(tx: Tx, { viewer, id, kurus }: PriceWrite, now: Date): Promise<unknown> {
  try {
    checkReprice(await fetchListing(tx, id), viewer, kurus, now)
  } catch (error) {
    return error
  }
  throw new Error(`the price of listing ${id} was not written for no reason`)
}
