// A new price for an own listing, alone: no approval is needed. Prices submitted at the same time commit as one batch.
import { ServiceError } from '#core/errors.ts'
import { missing } from '#core/fields.ts'
import { minorToNumber } from '#core/money.ts'
import { groupedChange, type Write } from '#db/change.ts'
import type { Tx } from '#db/schema.ts'
import { endedIfOver } from './expire-listings.ts'
import { checkOffer } from './fields.ts'
import { packedPrice } from './packed-prices.ts'
import { TABLE } from './rules.ts'
import { checkCaller, kurusOfRow, kurusText, listingTag, lockStock, minOfferKurus, type StockRow, updateStock } from './store.ts'
import { allowed, priceValues } from './transition.ts'
import type { ListingResult, MarketCtx } from './types.ts'

interface NewPrice {
  id: number
  kurus: number
}

/**
 * Resolves when the price is durable and this node has applied it.
 * @throws why it is refused: not the owner's, not as the caller read it, sold, or below the lowest offer
 */
export const repriceListing = groupedChange<MarketCtx, NewPrice, ListingResult>(
  ({ id }) => id,
  async (tx, writes) => {
    const listings = await lockStock(
      tx,
      writes.map(({ input }) => input.id),
    )
    const priced = new Map<number, StockRow>()
    const outcomes: (ListingResult | ServiceError)[] = []
    for (const write of writes) {
      try {
        // The second price of a listing applies to the first.
        const after = await reprice(tx, write, priced.get(write.input.id) ?? listings.get(write.input.id))
        priced.set(after.id, after)
        const { id, status } = after
        outcomes.push({ message: 'The price is changed', id, price: minorToNumber(write.input.kurus), status, etag: listingTag(after) })
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        outcomes.push(error)
      }
    }
    await updateStock(tx, [...priced.values()], writes[0]!.ctx.now())
    return outcomes
  },
)

/** The listing as it is with its new price. */
async function reprice(tx: Tx, { ctx, input: { id, kurus }, note }: Write<MarketCtx, NewPrice>, row: StockRow | undefined): Promise<StockRow> {
  if (!row) throw missing('listing', id)
  checkCaller(ctx, row)
  const before = await endedIfOver(tx, note, ctx, row)
  const status = allowed<'reprice'>(TABLE[before.status].reprice)
  checkOffer('price', kurus, minOfferKurus(before))
  note.audit({
    action: 'listing.reprice',
    subject: 'listing',
    id,
    before: { price: minorToNumber(kurusOfRow(before)) },
    after: { price: minorToNumber(kurus) },
  })
  note.changed('listings', status === before.status ? packedPrice(id, kurus) : [id])
  return { ...before, ...priceValues(status, kurusText(kurus)!), status, version: before.version + 1 }
}
