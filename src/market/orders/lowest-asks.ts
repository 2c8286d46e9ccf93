// The cheapest offers of other sellers at the time of a sale: nobody pays much more than these.
// A plain minimum, not the robust one of `comparables.ts`: high offers cost nothing, so two puppets with high ones would turn the honest offer into an
// outlier, and the price of thin items could be raised freely. A low offer can be bought by anyone for two days, and only removes a sale from the evidence.
import { sql } from 'kysely'
import { HOUR_MS } from '#core/duration.ts'
import { parseMinor } from '#core/money.ts'
import type { Tx } from '#db/schema.ts'
import { isVisible, joinSellers } from '../records/visible-listings.ts'
import type { ForSale } from './order-store.ts'

/** A younger offer may be there only to discredit a sale. */
const MIN_AGE_MS = 48 * HOUR_MS

/**
 * In kuruş, by listing sold: the cheapest visible offer of the same item, label and language by another seller than its own and the buyer, published
 * at least two days before the sale; missing without one. Call it before the stock goes down.
 * @param buyerAccountId null if the buyer has no account here
 */
export async function lowestAsks(
  tx: Tx,
  sold: readonly ForSale[],
  { soldAt, now, buyerAccountId }: { soldAt: Date; now: Date; buyerAccountId: number | null },
): Promise<Map<number, number>> {
  const { rows } = await sql<{ id: number; lowest: string }>`
    select k.id, min(l.price) as lowest
    from unnest(${sold.map(({ id }) => id)}::int4[], ${sold.map(({ item_id }) => item_id)}::int4[], ${sold.map(({ label_id }) => label_id)}::int4[],
      ${sold.map(({ language }) => language)}::text[], ${sold.map(({ seller_id }) => seller_id)}::int4[])
      as k(id, item_id, label_id, language, seller_id)
    join listings l on l.item_id = k.item_id and l.label_id = k.label_id and l.language is not distinct from k.language
      and l.seller_id <> k.seller_id and l.seller_id is distinct from ${buyerAccountId}::int4
    ${joinSellers(now)}
    where ${isVisible(now)} and l.published_at <= ${new Date(soldAt.getTime() - MIN_AGE_MS)}
    group by k.id`.execute(tx)
  return new Map(rows.map(({ id, lowest }) => [id, parseMinor(lowest)!]))
}
