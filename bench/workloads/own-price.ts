// Workload 7: a seller's own prices changed over fifty connections, each response after its fsync.
import { sql } from 'kysely'
import { change } from '#db/changes/change.ts'
import { dataOf, spread } from '../answers.ts'
import type { Traffic } from '../compare.ts'
import { ownPublished } from '../generated-listings.ts'
import { CONNECTIONS, type LoadFigures, sending } from '../load.ts'
import type { Stage } from '../stage.ts'
import { type HttpWorkload, httpWorkload } from '../workload.ts'

/** Far more than connections, so that no listing has two requests at the same time. */
const LISTINGS = 2_500

interface PriceChange {
  listing: number
  price: number
}

export const ownPriceWorkload: HttpWorkload = httpWorkload({
  id: '7',
  title: "PATCH own listing's price, after its fsync",
  goal: 0.2,
  data: 'listings',
  traffic,
})

async function traffic(stage: Stage): Promise<Traffic> {
  const { database, listings } = stage
  const { db } = database.ctx
  const own = spread(ownPublished(listings), LISTINGS)
  // Two passes over the listings, with a different price each time.
  const changes: PriceChange[] = [1, 2].flatMap((pass) => own.map((listing, i) => ({ listing, price: (pass * 100_000 + i * 37) / 100 })))
  const requests = changes.map(({ listing, price }) => sending('PATCH', `/api/v1/plus/listings/${listing}/price`, { price }))
  const node = await stage.node()
  const first = () => dataOf<object>(node, database.accounts.plus.key, requests[0]!)
  const bytes = JSON.stringify(await first()).length
  const before = await transactions(stage)

  const verify = async (loads: readonly LoadFigures[]) => {
    // This write completes after all those sent before it.
    await first()
    const commits = (await transactions(stage)) - before
    const answered = loads.reduce((sum, { requests: count }) => sum + count, 0)
    const allowed = possiblePrices(
      changes,
      loads.map(({ sent }) => sent),
    )
    allowed.set(changes[0]!.listing, [changes[0]!.price])
    const { rows } = await sql<{ id: number; price: number }>`
      select id, price::float8 as price from listings where id = any(${[...allowed.keys()]}::int[])`.execute(db.kysely)
    for (const { id, price } of rows) {
      if (!allowed.get(id)!.includes(price)) throw new Error(`Listing ${id} costs ${price}, but ${allowed.get(id)} was acknowledged`)
    }
    const each = (answered / commits).toFixed(1)
    return `${answered} changes in ${commits} transactions that wrote, ${each} each; the ${rows.length} prices are those acknowledged last`
  }

  // The baseline server does not write the change log.
  const tell = () => change(database.ctx, async (_tx, note) => note.changed('listings', own))
  return { plan: 'plus', requests, bytes, plain: true, verify, afterPlain: tell }
}

/**
 * Possible prices of listings after loads that sent changes in rotation from the first: the last price sent, or the one before if the last request
 * may have been cut off.
 */
function possiblePrices(changes: PriceChange[], sentByLoad: number[]): Map<number, number[]> {
  const allowed = new Map<number, number[]>()
  for (const sent of sentByLoad) {
    for (let i = 0; i < sent; i += 1) {
      const { listing, price } = changes[i % changes.length]!
      const cutOff = i >= sent - CONNECTIONS
      if (!cutOff || allowed.has(listing)) allowed.set(listing, cutOff ? [...allowed.get(listing)!, price] : [price])
    }
  }
  return allowed
}

/** Transactions that wrote: each took one transaction id and one fsync. */
async function transactions({ database }: Stage): Promise<number> {
  const { rows } = await sql<{ count: number }>`select pg_snapshot_xmax(pg_current_snapshot())::text::int8 as count`.execute(database.ctx.db.kysely)
  return Number(rows[0]!.count)
}
