// SQL of price changes: what they are judged by, and the one statement that writes many.
import { sql } from 'kysely'
import { idForSql } from '#core/fields.ts'
import { actorOf, auditedBy, loggedBy, type WriteCtx } from '#db/change.ts'
import { notified } from '#db/change-feed.ts'
import type { ListingStatus, Queryable } from '#db/schema.ts'
import { packedPrices } from './packed-prices.ts'
import { kurusOfRow, kurusText, type ListingRow } from './store.ts'

export type PricedListing = Pick<ListingRow, 'id' | 'seller_id' | 'price' | 'min_offer_price' | 'status' | 'expires_at' | 'version'>

export interface NewPrice {
  /** as it was judged */
  listing: PricedListing
  kurus: number
  /** at the moment of the change; the price of an active listing is approved with it */
  status: ListingStatus
  by: Pick<WriteCtx, 'viewer' | 'requestId'>
}

/** What the rules for a new price need of listings, by id. */
export async function pricedListings(on: Queryable, ids: number[]): Promise<Map<number, PricedListing>> {
  const { rows } = await sql<PricedListing>`
    select id, seller_id, price, min_offer_price, status, expires_at, version from listings
    where id = any(${ids.map(idForSql)}::int4[])`.execute(on)
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * Writes prices of listings that are still at the version they were judged at: a change by itself. In the order of ids, so
 * that batches of several nodes do not block each other in a circle.
 * @returns ids of the written
 */
export async function writePrices(on: Queryable, prices: NewPrice[], now: Date): Promise<Set<number>> {
  if (prices.length === 0) return new Set()
  const sorted = prices.toSorted((a, b) => a.listing.id - b.listing.id)
  const { rows } = await sql<{ id: number }>`
    with judged as (
      select * from unnest(
        ${sorted.map(({ listing }) => listing.id)}::int4[], ${sorted.map(({ listing }) => listing.version)}::int4[],
        ${sorted.map(({ kurus }) => kurusText(kurus))}::numeric[], ${sorted.map(({ status }) => status === 'active')}::bool[],
        ${sorted.map(({ listing }) => auditOf(kurusOfRow(listing)))}::jsonb[], ${sorted.map(({ kurus }) => auditOf(kurus))}::jsonb[],
        ${sorted.map(({ by }) => actorOf(by.viewer))}::text[], ${sorted.map(({ by }) => by.requestId)}::text[]
      ) as judged(id, version, price, approved, before, after, actor, request_id)
    ), updated as (
      update listings l
      set price = judged.price, approved_price = case when judged.approved then judged.price else l.approved_price end,
          version = l.version + 1, updated_at = ${now}
      from judged where l.id = judged.id and l.version = judged.version
      returning l.id, l.price, judged.before, judged.after, judged.actor, judged.request_id
    ), ${auditedBy(sql`select actor, 'listing.reprice', 'listing', id, before, after, request_id from updated`)},
    ${loggedBy(sql`select 'listings', null::int4[], ${packedPrices} from updated having count(*) > 0`)}
    select id, ${notified} from updated`.execute(on)
  return new Set(rows.map(({ id }) => id))
}

function auditOf(kurus: number): string {
  return `{"price":${kurus / 100}}`
}
