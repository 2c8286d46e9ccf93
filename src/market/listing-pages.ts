// Pages of stored listings.
import { sql } from 'kysely'
import { idForSql } from '#core/fields.ts'
import type { Range, Rows } from '#core/paging.ts'
import { liveItem } from '#db/live-item.ts'
import { pageOf } from '#db/page.ts'
import type { ListingStatus, Queryable } from '#db/schema.ts'
import { periodEnds } from './records/rules.ts'
import { COLUMNS, type ListingRow } from './listing-store.ts'

export interface ListingFilter {
  /** at the current time: an ended period counts as expired */
  status?: ListingStatus
  seller_id?: number
  item_id?: number
  record_ids?: readonly number[] | undefined
  /** part of the title or SKU, case-insensitive */
  search?: string
  now: Date
}

/** By column and direction, nulls last; the latest listing first among equals. */
const LISTING_ORDERS = {
  latest: null,
  /** longest waiting for approval first */
  waiting: ['waiting_since', 'asc'],
  title: ['title', 'asc'],
  oldest: ['id', 'asc'],
  price_low: ['price', 'asc'],
  price_high: ['price', 'desc'],
  quantity_low: ['quantity', 'asc'],
  quantity_high: ['quantity', 'desc'],
  expiring: ['expires_at', 'asc'],
  changed: ['updated_at', 'desc'],
} as const

export type ListingOrder = keyof typeof LISTING_ORDERS

export function pageOfListings<Row>(
  on: Queryable,
  filter: ListingFilter,
  range: Range,
  order: ListingOrder,
  row: (read: ListingRow) => Row,
): Promise<Rows<Row>> {
  const { status, now, seller_id: sellerId, item_id: itemId, record_ids: recordIds, search } = filter
  let matching = on.selectFrom('listings')
  if (sellerId !== undefined) matching = matching.where('seller_id', '=', idForSql(sellerId))
  if (itemId !== undefined) matching = matching.where('item_id', '=', liveItem(itemId))
  if (recordIds !== undefined) matching = matching.where('record_id', '=', sql<number>`any(${recordIds.map(idForSql)}::int4[])`)
  if (search !== undefined) matching = matching.where(sql<boolean>`strpos(lower(concat_ws(chr(10), title, sku)), lower(${search})) > 0`)
  if (status !== undefined) {
    const ends = periodEnds()
    const ending = ends.some(({ from }) => from === status)
    matching = matching.where((eb) =>
      eb.or([
        ending ? eb.and([eb('status', '=', status), eb('expires_at', '>', now)]) : eb('status', '=', status),
        ...ends.filter(({ to }) => to === status).map(({ from }) => eb.and([eb('status', '=', from), eb('expires_at', '<=', now)])),
      ]),
    )
  }
  const by = LISTING_ORDERS[order]
  const first = by ? matching.orderBy(by[0], by[1]) : matching
  const ordered = first.orderBy('id', order === 'waiting' ? 'asc' : 'desc')
  return pageOf(ordered.select(COLUMNS), range, row)
}
