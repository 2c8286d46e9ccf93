// SQL of offers, and offers as verbs return them.
import { type RawBuilder, sql } from 'kysely'
import { DAY_MS, HOUR_MS } from '#core/duration.ts'
import { conflict, type ServiceError } from '#core/errors.ts'
import { existing, missing } from '#core/fields.ts'
import { minorToNumber, minorToText, parseMinor, payoutKurus } from '#core/money.ts'
import { localTime } from '#core/time.ts'
import type { Db, Queryable, Tx } from '#db/schema.ts'
import type { OfferChange, OfferState } from '#webhooks/events/event-body.ts'
import { amountOrNull, contentHash } from '../listing-content.ts'
import type { ListingRow } from '../listing-store.ts'
import type { MarketSettings } from '../marketplace-types.ts'
import type { Offer, StoredOffer } from './offer-types.ts'

/** How long the seller, and after a counter-offer the buyer, may take to answer. */
export const ANSWER_MS = 48 * HOUR_MS

export const OFFER_COLUMNS = [
  'id',
  'listing_id',
  'seller_id',
  'title',
  'listing_price',
  'content_hash',
  'order_id',
  'buyer_reference',
  'buyer_account_id',
  'quantity',
  'unit_price',
  'counter_price',
  'status',
  'created_at',
  'changed_at',
  'expires_at',
] as const

export type OfferRow = Awaited<ReturnType<typeof findOffer>>

/** The statuses in which an offer waits for an answer. */
export const UNDER_WAY = ['open', 'countered'] as const satisfies readonly OfferState[]
export type UnderWay = (typeof UNDER_WAY)[number]

const isUnderWay = sql<boolean>`status in ('open', 'countered')`

/** Whether offers have this status at a time: the time to answer ends exactly at its end, not at the next run of the task. */
export function hasStatus(status: OfferState, now: Date): RawBuilder<boolean> {
  return sql<boolean>`case when ${isUnderWay} and expires_at <= ${now} then 'expired' else status end = ${status}`
}

function statusAt({ status, expires_at: expiresAt }: Pick<OfferRow, 'status' | 'expires_at'>, now: Date): OfferState {
  return (UNDER_WAY as readonly OfferState[]).includes(status) && expiresAt.getTime() <= now.getTime() ? 'expired' : status
}

/** @param sellerId only an offer to this seller; undefined for any. @throws NOT_FOUND */
export async function findOffer(on: Queryable, id: number, sellerId?: number) {
  let query = on.selectFrom('offers').select(OFFER_COLUMNS).where('id', '=', existing('offer', id))
  if (sellerId !== undefined) query = query.where('seller_id', '=', sellerId)
  const row = await query.executeTakeFirst()
  if (!row) throw missing('offer', id)
  return row
}

export interface NewOffer {
  listing: ListingRow
  order_id: number
  buyer_reference: string
  buyer_account_id: number | null
  quantity: number
  kurus: number
  status: 'open' | 'declined'
}

export function insertOffer(tx: Tx, { listing, kurus, ...offer }: NewOffer, now: Date): Promise<OfferRow> {
  const times = { created_at: now, changed_at: now, expires_at: new Date(now.getTime() + ANSWER_MS) }
  const of = {
    listing_id: listing.id,
    seller_id: listing.seller_id,
    title: listing.title,
    listing_price: listing.price,
    content_hash: contentHash(listing),
  }
  return tx
    .insertInto('offers')
    .values({ ...of, ...offer, ...times, unit_price: minorToText(kurus), counter_price: null })
    .returning(OFFER_COLUMNS)
    .executeTakeFirstOrThrow()
}

/** Returns an offer that waits for an answer. @throws CONFLICT if it has another status */
export function requireStatus(offer: OfferRow, state: UnderWay, now: Date): OfferRow {
  if (statusAt(offer, now) !== state) throw notIn(state, offer, now)
  return offer
}

function notIn(state: UnderWay, offer: OfferRow, now: Date): ServiceError {
  return conflict('offer_status', { status: statusAt(offer, now), state })
}

interface Answer {
  from: UnderWay
  to: OfferState
  /** the new price of a counter-offer; it gives the buyer time of its own to answer */
  counterKurus?: number
}

/**
 * Changes the status of an offer that waits for this answer; of two concurrent answers, one succeeds.
 * @throws CONFLICT if it was answered or withdrawn before, or its time is over
 */
export async function answerOffer(tx: Tx, offer: OfferRow, { from, to, counterKurus }: Answer, now: Date): Promise<OfferRow> {
  const counter = counterKurus !== undefined && { counter_price: minorToText(counterKurus), expires_at: new Date(now.getTime() + ANSWER_MS) }
  const row = await tx
    .updateTable('offers')
    .set({ status: to, changed_at: now, ...counter })
    .where('id', '=', offer.id)
    .where('status', '=', from)
    .where('expires_at', '>', now)
    .returning(OFFER_COLUMNS)
    .executeTakeFirst()
  if (row) return row
  throw notIn(from, await findOffer(tx, offer.id), now)
}

/** Numbers that bound the offers for a listing. */
export async function countOffers(tx: Tx, listingId: number, buyer: string, now: Date): Promise<{ underWay: number; ofBuyer: number }> {
  const { rows } = await sql<{ underWay: number; ofBuyer: number }>`
    select count(*) filter (where ${isUnderWay} and expires_at > ${now})::int as "underWay",
      count(*) filter (where buyer_reference = ${buyer} and created_at > ${new Date(now.getTime() - 30 * DAY_MS)})::int as "ofBuyer"
    from offers where listing_id = ${listingId}`.execute(tx)
  return rows[0]!
}

/** Closes up to `limit` offers whose time to answer is over. */
export async function closeExpired(tx: Tx, now: Date, limit: number, listingId?: number): Promise<OfferRow[]> {
  const { rows } = await sql<OfferRow>`
    update offers o set status = 'expired', changed_at = o.expires_at
    from (
      select id from offers where ${isUnderWay} and expires_at <= ${now} ${listingId === undefined ? sql`` : sql`and listing_id = ${listingId}`}
      order by expires_at, id limit ${limit} for update skip locked
    ) due where o.id = due.id
    returning ${sql.join(OFFER_COLUMNS.map((column) => sql.ref(`o.${column}`)))}`.execute(tx)
  return rows
}

/** When the next offer expires that nobody has answered; null if there is none. */
export async function nextOfferExpiry(on: Queryable): Promise<Date | null> {
  const { rows } = await sql<{ at: Date | null }>`select min(expires_at) as at from offers where ${isUnderWay}`.execute(on)
  return rows[0]!.at
}

/** Deletes offers that were closed long ago. */
export async function forgetOldOffers(db: Db, keepDays: number, now: Date): Promise<void> {
  const before = new Date(now.getTime() - keepDays * DAY_MS)
  await db.kysely
    .deleteFrom('offers')
    .where('changed_at', '<', before)
    .where((e) => e.not(isUnderWay))
    .execute()
}

/** In kuruş: the counter-offer if there is one, otherwise the offer. */
export function priceOf({ unit_price: offered, counter_price: countered }: OfferRow): number {
  return parseMinor(countered ?? offered)!
}

function shown(row: OfferRow, now: Date) {
  const { id, listing_id, title, quantity } = row
  return {
    id,
    listing_id,
    title,
    listing_price: Number(row.listing_price),
    quantity,
    unit_price: Number(row.unit_price),
    counter_price: amountOrNull(row.counter_price),
    status: statusAt(row, now),
  }
}

/** An offer as its seller sees it. */
export function ownOffer(row: OfferRow, { now, market }: { now: () => Date; market: MarketSettings }): Offer {
  const time = (at: Date) => localTime(at, market.timeZone)
  return {
    ...shown(row, now()),
    payout: minorToNumber(payoutKurus(priceOf(row), row.quantity, market.commissionPercent)),
    order_id: row.status === 'accepted' ? row.order_id : null,
    created_at: time(row.created_at),
    changed_at: time(row.changed_at),
    expires_at: time(row.expires_at),
  }
}

/** An offer as operators see it. */
export function storedOffer(row: OfferRow, now: Date): StoredOffer {
  const { seller_id, order_id, buyer_reference, buyer_account_id } = row
  const times = { created_at: row.created_at.toISOString(), changed_at: row.changed_at.toISOString(), expires_at: row.expires_at.toISOString() }
  return { ...shown(row, now), seller_id, order_id, buyer_reference, buyer_account_id, ...times }
}

/** The event that tells a seller about a changed offer; none for a deleted listing. */
export function changesOf(rows: readonly OfferRow[]): (OfferChange & { accountId: number })[] {
  return rows.flatMap((row) =>
    row.listing_id === null
      ? []
      : {
          accountId: row.seller_id,
          offerId: row.id,
          listingId: row.listing_id,
          title: row.title,
          quantity: row.quantity,
          unitPriceKurus: parseMinor(row.unit_price)!,
          counterKurus: row.counter_price === null ? null : parseMinor(row.counter_price)!,
          status: row.status,
          expiresAt: row.expires_at,
        },
  )
}
