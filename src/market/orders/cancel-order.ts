// Cancels an order or some of its lines: refunds the buyer, restores the stock, and removes the sales from prices and statistics.
import { returnSoldCopies } from '#collections/records/sold-copies.ts'
import { conflict, invalid } from '#core/errors.ts'
import { name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { localDay } from '#core/time.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change } from '#db/changes/change.ts'
import type { ListingStatus } from '#db/schema.ts'
import { lockServicePrices, refreshServicePrices } from '#prices/writing/service-price.ts'
import { insertCancellations, listingsOfOrder, lockLines, type OrderLine } from './cancellation-store.ts'
import { expireIfDue } from '../listings/expire-listings.ts'
import { fetchStoredOrder, type ForSale, lockForSale, lockSuspended } from './order-store.ts'
import { MAX_LINES } from './record-order.ts'
import { takenCertificates } from '../certificates/taken.ts'
import { updateStock } from '../listing-store.ts'
import { allowed, decisionOn } from '../listings/transition.ts'
import type { OrderWriteCtx } from '../marketplace-types.ts'
import type { StoredOrder } from '../sale-schemas.ts'

export const cancelOrder = verb(
  {
    name: 'cancelOrder',
    needs: 'refunds',
    input: Type.Object({
      order_id: Type.Integer({ description: 'Order id assigned by the shop' }),
      lines: Type.Optional(
        Type.Array(Type.Integer({ minimum: 1, maximum: MAX_LINES }), {
          minItems: 1,
          maxItems: MAX_LINES,
          description: 'Numbers of the lines, from 1; default: all lines not yet cancelled',
          examples: [[1]],
        }),
      ),
      reason: name('Reason, shown to operators'),
    }),
  },
  (ctx: OrderWriteCtx, { order_id: orderId, lines, reason }) =>
    change(ctx, async (tx, note): Promise<StoredOrder> => {
      const now = ctx.now()
      // Same lock order as recordOrder: listings, their sellers, then the rows of the order.
      const listings = await lockForSale(tx, await listingsOfOrder(tx, orderId))
      const suspended = await lockSuspended(tx, [...new Set([...listings.values()].map((listing) => listing.seller_id))])
      for (const [id, listing] of listings) listings.set(id, await expireIfDue(tx, note, ctx, listing))
      const chosen = chosenLines(orderId, await lockLines(tx, orderId), lines)
      const taken = await takenCertificates(tx, [...listings.values()])
      const returned = [...unitsByListing(chosen)].flatMap(([id, units]) => {
        const listing = listings.get(id)
        return listing
          ? [withStockBack(listing, units, now, { sellerMaySell: !suspended.has(listing.seller_id), certificateFree: !taken.has(id) })]
          : []
      })
      const statuses = new Map<number | null, ListingStatus>(returned.map(({ id, status }) => [id, status]))
      const cancelled = await insertCancellations(
        tx,
        chosen.map((sale) => ({
          sale,
          // The time of a sale may be a few minutes ahead of this clock, and a refund must not precede its sale.
          cancelledAt: new Date(Math.max(now.getTime(), sale.sold_at.getTime())),
          listingStatus: statuses.get(sale.listing_id) ?? null,
        })),
        actorOf(ctx.viewer),
        reason.trim(),
      )
      const late = chosen.find(({ id }) => !cancelled.has(id))
      if (late) throw conflict('line_cancelled', { id: orderId, line: late.line })
      await updateStock(tx, returned, now)
      await returnSoldCopies(
        tx,
        orderId,
        chosen.map(({ line }) => line),
        localDay(now, ctx.market.timeZone),
        now,
      )
      const items = [...new Set(chosen.map((sale) => sale.item_id))]
      await lockServicePrices(tx, items)
      await refreshServicePrices(
        ctx,
        tx,
        note,
        chosen.map((sale) => ({ itemId: sale.item_id, labelId: sale.label_id })),
      )
      const numbers = chosen.map(({ line }) => line)
      note.audit({ action: 'order.cancel', subject: 'order', id: orderId, after: { lines: numbers, reason: reason.trim() } })
      note.changed(
        'listings',
        returned.map(({ id }) => id),
      )
      note.changed('sales', items)
      return fetchStoredOrder(tx, orderId)
    }),
)

/** The lines to cancel. @throws VALIDATION_ERROR for unknown numbers, CONFLICT for lines that are already cancelled */
function chosenLines(orderId: number, all: OrderLine[], numbers: number[] | undefined): OrderLine[] {
  if (numbers === undefined) {
    const open = all.filter(({ cancelled }) => !cancelled)
    if (open.length === 0) throw conflict('order_cancelled', { id: orderId })
    return open
  }
  const byNumber = new Map(all.map((sale) => [sale.line, sale]))
  const chosen = numbers.map((number, i) => {
    const sale = byNumber.get(number)
    if (!sale) throw invalid(`lines.${i}`, 'integer', { min: 1, max: all.length, value: number })
    return sale
  })
  const cancelled = chosen.find((sale) => sale.cancelled)
  if (cancelled) throw conflict('line_cancelled', { id: orderId, line: cancelled.line })
  return [...new Set(chosen)]
}

function unitsByListing(lines: readonly OrderLine[]): Map<number, number> {
  const units = new Map<number, number>()
  for (const { listing_id: id, quantity } of lines) if (id !== null) units.set(id, (units.get(id) ?? 0) + quantity)
  return units
}

/** The listing with the returned units, and its next status by the transition table. */
function withStockBack(listing: ForSale, units: number, now: Date, may: { sellerMaySell: boolean; certificateFree: boolean }): ForSale {
  const quantity = listing.quantity + units
  const status = allowed(decisionOn(listing, 'restore', now, { stock: quantity, ...may }))
  return { ...listing, quantity, status, version: listing.version + 1 }
}
