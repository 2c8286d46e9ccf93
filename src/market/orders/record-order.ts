// Records an order of the shop's checkout: stock, sales, payouts, the service's prices and notifications, all or nothing.
import { disposeSoldCopies } from '#collections/records/sold-copies.ts'
import { MINUTE_MS } from '#core/duration.ts'
import { conflict, invalid, invalidFields } from '#core/errors.ts'
import { moment, momentOf, name } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { minorToNumber, minorToText, parseMinor, payoutKurus } from '#core/money.ts'
import { problem, reason } from '#core/problems.ts'
import { localDay, localTime } from '#core/time.ts'
import { verb } from '#core/verb.ts'
import { change, type Note } from '#db/changes/change.ts'
import { hashRequest } from '#db/changes/idempotency.ts'
import type { Tx } from '#db/schema.ts'
import { lockServicePrices, refreshServicePrices } from '#prices/writing/service-price.ts'
import { emitSales } from '#webhooks/emit.ts'
import { expireIfDue } from '../listings/expire-listings.ts'
import { MAX_PRICE, MAX_UNITS, unitPriceKurus } from '../records/fields.ts'
import { claimOrder, fetchOrder, type ForSale, insertSales, lockForSale, lockSuspended, saveAsks, saveBuyer, saveOrderResult } from './order-store.ts'
import { updateStock } from '../listing-store.ts'
import { decisionOn } from '../listings/transition.ts'
import { lowestAsks } from './lowest-asks.ts'
import { isOnVacation, type Vacation } from '../records/vacation.ts'
import { findVacations } from '../records/vacation-store.ts'
import type { MarketWriteCtx, OrderWriteCtx } from '../marketplace-types.ts'
import type { Order } from '../sale-schemas.ts'

export const MAX_LINES = 200
/** The clocks of two systems differ; a sale further ahead than this is rejected. */
const AHEAD_MS = 5 * MINUTE_MS

export const Line = Type.Object(
  {
    listing_id: Type.Integer({ description: 'Id of the listing' }),
    quantity: Type.Integer({ minimum: 1, maximum: MAX_UNITS, description: 'Units' }),
    unit_price: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: MAX_PRICE,
        allowed: reason('number', { above: 0, max: MAX_PRICE, decimals: 2 }),
        description: "Per unit, in TL; default: the listing's price",
      }),
    ),
  },
  { additionalProperties: false },
)

interface SoldLine {
  listing: ForSale
  quantity: number
  unitPriceKurus: number
  payoutKurus: number
}

export const recordOrder = verb(
  {
    name: 'recordOrder',
    needs: 'market',
    input: Type.Object({
      order_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Order id assigned by the shop' }),
      sold_at: Type.Optional(moment('When it was sold; default: now')),
      buyer_reference: Type.Optional(name('Reference of the buyer assigned by the shop; not shown to sellers', 100)),
      buyer_account_id: Type.Optional(
        Type.Integer({ description: 'Account of the buyer, if it has one: own purchases and cards sold back do not count for our own prices' }),
      ),
      lines: Type.Array(Line, { minItems: 1, maxItems: MAX_LINES }),
    }),
  },
  (ctx: OrderWriteCtx, input) =>
    change(ctx, async (tx, note): Promise<Order> => {
      const { order_id: orderId, lines } = input
      const now = ctx.now()
      const soldAt = input.sold_at === undefined ? now : momentOf('sold_at', input.sold_at)
      if (soldAt.getTime() > now.getTime() + AHEAD_MS) throw invalid('sold_at', 'not_in_future')
      const requestHash = hashRequest('POST', '/orders', canonical(input))
      if (!(await claimOrder(tx, orderId, requestHash, soldAt, now))) return earlierOrder(tx, orderId, requestHash)
      const buyer = { reference: input.buyer_reference?.trim() ?? null, accountId: await buyerAccount(tx, input.buyer_account_id) }
      return sellLines(ctx, tx, note, { orderId, buyer }, await lockForOrder(ctx, tx, note, { lines, soldAt }))
    }),
)

/** Listings that can be sold, locked. */
interface ForOrder {
  soldAt: Date
  lines: OrderLine[]
  /** by id, before the sale */
  listings: Map<number, ForSale>
  /** by id, without the sold units */
  left: Map<number, ForSale>
}

/**
 * Locks the listings of order lines.
 * @param fieldOf name of the field of the caller's request that names the listing of a line
 * @throws VALIDATION_ERROR for unknown ones, CONFLICT if they cannot be sold
 */
export async function lockForOrder(
  ctx: MarketWriteCtx,
  tx: Tx,
  note: Note,
  { lines, soldAt, fieldOf = (line) => `lines.${line}.listing_id` }: { lines: OrderLine[]; soldAt: Date; fieldOf?: (line: number) => string },
): Promise<ForOrder> {
  const now = ctx.now()
  const listings = await lockForSale(tx, [...new Set(lines.map((line) => line.listing_id).filter(isStorable))])
  const taken = unitsByListing(lines, listings, fieldOf)
  // Locked after the listings, in the same order as highlights do: a listing, then its seller.
  const sellers = [...new Set([...listings.values()].map((listing) => listing.seller_id))]
  refuseSuspended(listings, await lockSuspended(tx, sellers))
  refuseOnVacation(listings, await findVacations(tx, sellers, now), { soldAt, now, zone: ctx.market.timeZone })
  for (const [id, listing] of listings) listings.set(id, await expireIfDue(tx, note, ctx, listing))
  const left = new Map([...taken].map(([id, units]) => [id, afterSale(listings.get(id)!, units, now)]))
  return { soldAt, lines, listings, left }
}

/** A claimed order. */
interface NewOrder {
  orderId: number
  buyer: { reference: string | null; accountId: number | null }
}

/** Records the lines of an order that `claimOrder` has claimed. @throws VALIDATION_ERROR for an invalid price */
export async function sellLines(ctx: OrderWriteCtx, tx: Tx, note: Note, { orderId, buyer }: NewOrder, selling: ForOrder): Promise<Order> {
  const { soldAt, lines, listings, left } = selling
  const now = ctx.now()
  const sold = lines.map((line, i) => soldLine(line, i, listings.get(line.listing_id)!, ctx.market.commissionPercent))
  const asks = await lowestAsks(tx, [...listings.values()], { soldAt, now, buyerAccountId: buyer.accountId })
  await updateStock(tx, [...left.values()], now)
  const saleIds = await insertSales(
    tx,
    sold.map((line, i) => saleRow(line, orderId, i + 1, soldAt)),
  )
  await saveAsks(
    tx,
    sold.flatMap(({ listing }, i) => {
      const lowest = asks.get(listing.id)
      return lowest === undefined ? [] : { saleId: saleIds[i]!, lowest: minorToText(lowest) }
    }),
  )
  if (buyer.reference !== null || buyer.accountId !== null) await saveBuyer(tx, orderId, buyer.reference, buyer.accountId)
  await disposeSoldCopies(
    tx,
    sold.flatMap(({ listing: { record_id: recordId }, quantity, unitPriceKurus, payoutKurus }, i) => {
      const gross = unitPriceKurus * quantity
      return recordId === null ? [] : { recordId, orderId, line: i + 1, quantity, gross, fees: gross - payoutKurus }
    }),
    ctx.market.sourceCurrencies.service,
    localDay(soldAt, ctx.market.timeZone),
    now,
  )
  await lockServicePrices(
    tx,
    sold.map(({ listing }) => listing.item_id),
  )
  await refreshServicePrices(
    ctx,
    tx,
    note,
    sold.map(({ listing }) => ({ itemId: listing.item_id, labelId: listing.label_id })),
  )
  await emitSales(
    tx,
    { now, zone: ctx.market.timeZone },
    sold.map((line) => notice(line, orderId, soldAt)),
  )
  const order: Order = {
    order_id: orderId,
    sold_at: soldAt.toISOString(),
    lines: sold.map(({ listing, quantity, unitPriceKurus, payoutKurus }) => ({
      listing_id: listing.id,
      quantity,
      unit_price: minorToNumber(unitPriceKurus),
      seller_payout: minorToNumber(payoutKurus),
      listing_status: left.get(listing.id)!.status,
    })),
  }
  await saveOrderResult(tx, order)
  note.audit({
    action: 'order.record',
    subject: 'order',
    id: orderId,
    after: {
      ...order,
      ...(buyer.reference !== null && { buyer_reference: buyer.reference }),
      ...(buyer.accountId !== null && { buyer_account_id: buyer.accountId }),
    },
  })
  note.changed('listings', [...left.keys()])
  note.changed('sales', [...new Set(sold.map((line) => line.listing.item_id))])
  return order
}

type OrderLine = Static<typeof Line>

interface OrderBody {
  sold_at?: string
  buyer_reference?: string
  buyer_account_id?: number
  lines: OrderLine[]
}

/** The body in a fixed field order. Without a buyer it equals the form used before orders had buyers. */
function canonical({ sold_at: soldAt, buyer_reference: buyer, buyer_account_id: account, lines }: OrderBody): unknown {
  const units = lines.map((line) => [line.listing_id, line.quantity, line.unit_price ?? null])
  const buyers = [...(buyer === undefined ? [] : [buyer.trim()]), ...(account === undefined ? [] : [{ account }])]
  return [soldAt ?? null, units, ...buyers]
}

/** @throws VALIDATION_ERROR for an unknown account */
export async function buyerAccount(tx: Tx, id: number | undefined): Promise<number | null> {
  if (id === undefined) return null
  const found = isStorable(id) && (await tx.selectFrom('accounts').select('id').where('id', '=', id).executeTakeFirst())
  if (!found) throw invalid('buyer_account_id', 'unknown_id', { thing: 'account', id })
  return id
}

async function earlierOrder(tx: Tx, orderId: number, requestHash: Buffer): Promise<Order> {
  const earlier = await fetchOrder(tx, orderId)
  if (!earlier.requestHash.equals(requestHash)) throw conflict('order_recorded', { id: orderId })
  return earlier.order
}

const isStorable = (id: number): boolean => id >= 1 && id <= 2 ** 31 - 1

/** @throws VALIDATION_ERROR for unknown listings */
function unitsByListing(lines: OrderLine[], listings: Map<number, ForSale>, fieldOf: (line: number) => string): Map<number, number> {
  const unknown = lines.flatMap(({ listing_id: id }, i) => (listings.has(id) ? [] : problem(fieldOf(i), 'unknown_id', { thing: 'listing', id })))
  if (unknown.length > 0) throw invalidFields(unknown)
  const units = new Map<number, number>()
  for (const { listing_id: id, quantity } of lines) units.set(id, (units.get(id) ?? 0) + quantity)
  return units
}

/** @throws CONFLICT if a seller's account is suspended: the whole order is rejected */
function refuseSuspended(listings: Map<number, ForSale>, suspended: ReadonlySet<number>): void {
  for (const { id, seller_id: sellerId } of listings.values()) {
    if (suspended.has(sellerId)) throw conflict('seller_suspended', { id })
  }
}

interface SoldWhen {
  soldAt: Date
  now: Date
  zone: string
}

/** @throws CONFLICT if a seller is on vacation: the whole order is rejected. Sales dated before the vacation are recorded */
function refuseOnVacation(listings: Map<number, ForSale>, vacations: ReadonlyMap<number, Vacation>, { soldAt, now, zone }: SoldWhen): void {
  for (const { id, seller_id: sellerId } of listings.values()) {
    const vacation = vacations.get(sellerId) ?? null
    if (isOnVacation(vacation, now) && soldAt >= vacation.from) throw conflict('seller_on_vacation', { id, to: localTime(vacation.to, zone) })
  }
}

/** The listing without the sold units. @throws CONFLICT if it is not for sale or the order exceeds its stock: the whole order is rejected */
function afterSale(listing: ForSale, units: number, now: Date): ForSale {
  const { id, status } = listing
  const quantity = listing.quantity - units
  const decision = decisionOn(listing, 'sell', now, { stock: quantity })
  if ('refused' in decision) throw conflict('not_for_sale', { id, status, must: decision.refused })
  if (quantity < 0) throw conflict('stock', { id, wanted: units, stock: listing.quantity })
  return { ...listing, quantity, status: decision.to, version: listing.version + 1 }
}

function soldLine(line: OrderLine, i: number, listing: ForSale, commissionPercent: number): SoldLine {
  const { quantity, unit_price: stated } = line
  const price = stated === undefined ? parseMinor(listing.price)! : unitPriceKurus(`lines.${i}.unit_price`, stated)
  return { listing, quantity, unitPriceKurus: price, payoutKurus: payoutKurus(price, quantity, commissionPercent) }
}

function saleRow({ listing, quantity, unitPriceKurus, payoutKurus }: SoldLine, orderId: number, line: number, soldAt: Date) {
  const { id, seller_id, item_id, label_id, certificate } = listing
  const amounts = { unit_price: minorToText(unitPriceKurus), payout: minorToText(payoutKurus) }
  return { order_id: orderId, line, listing_id: id, seller_id, item_id, label_id, quantity, ...amounts, sold_at: soldAt, certificate }
}

function notice({ listing, quantity, unitPriceKurus, payoutKurus }: SoldLine, orderId: number, soldAt: Date) {
  const { id: listingId, seller_id: accountId, item_name: itemName } = listing
  return { accountId, orderId, listingId, itemName, quantity, unitPriceKurus, payoutKurus, soldAt }
}
