// Changes price, stock or SKU of an own listing without approval. Concurrent changes commit as one batch.
import { checkCopies } from '#catalogue/certificates/certificate.ts'
import { ServiceError } from '#core/errors.ts'
import { missing } from '#core/fields.ts'
import { minorToNumber } from '#core/money.ts'
import { groupedChange, type Note, type Write } from '#db/changes/change.ts'
import type { ChangedBy, Tx } from '#db/schema.ts'
import { expireIfDue } from './expire-listings.ts'
import { checkOffer } from '../records/fields.ts'
import { packedPrice } from '../records/packed-prices.ts'
import { TABLE } from '../records/rules.ts'
import { type ChangeVersions, checkCaller, listingTag, lockStock, type StockRow, updateStock } from '../listing-store.ts'
import { kurusOfRow, kurusText, minOfferKurus } from '../listing-content.ts'
import { allowed, priceValues } from './transition.ts'
import type { ListingResult, MarketCtx } from '../marketplace-types.ts'

/** Absent fields do not change. */
export interface NewStock {
  kurus?: number
  quantity?: number
  /** null for none */
  sku?: string | null
}

/**
 * Resolves when the change is durable and this node has applied it.
 * @throws if the listing is another owner's, has changed since it was read or is sold, if the price is below the lowest offer, or the SKU is taken
 */
export const changeStock = groupedChange<MarketCtx, NewStock & { id: number }, ListingResult>(
  ({ id }) => id,
  async (tx, writes) => {
    const listings = await lockStock(
      tx,
      writes.map(({ input }) => input.id),
    )
    const changed = new Map<number, StockRow>()
    const outcomes: (ListingResult | ServiceError)[] = []
    for (const write of writes) {
      try {
        // A second change of the same listing applies to the result of the first.
        const after = await changeOne(tx, write, changed.get(write.input.id) ?? listings.get(write.input.id))
        changed.set(after.id, after)
        const message = isPriceAlone(write.input) ? 'Price updated' : 'Listing updated'
        outcomes.push({ message, id: after.id, price: minorToNumber(kurusOfRow(after)), status: after.status, etag: listingTag(after) })
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        outcomes.push(error)
      }
    }
    await updateStock(tx, [...changed.values()], writes[0]!.ctx.now())
    return outcomes
  },
)

async function changeOne(
  tx: Tx,
  { ctx, input: { id, ...change }, note }: Write<MarketCtx, NewStock & { id: number }>,
  row: StockRow | undefined,
): Promise<StockRow> {
  if (!row) throw missing('listing', id)
  checkCaller(ctx, row)
  const before = await expireIfDue(tx, note, ctx, row)
  const after = withNewStock(before, change, null)
  noteChange(note, before, after, change)
  return after
}

const isPriceAlone = ({ quantity, sku }: NewStock) => quantity === undefined && sku === undefined

/**
 * The listing with its new price, stock and SKU.
 * @param row after an ended period has been closed
 * @param by the job or rule that changes it; absent for the owner's own write
 * @throws CONFLICT with the table's reason, VALIDATION_ERROR for a price below the lowest offer, or several units of a listing with a certificate
 */
export function withNewStock(row: StockRow, { kurus, quantity, sku }: NewStock, by: ChangedBy | null): StockRow {
  let { status } = row
  if (kurus !== undefined) {
    status = allowed<'reprice'>(TABLE[status].reprice)
    checkOffer('price', kurus, minOfferKurus(row))
  }
  if (quantity !== undefined) checkCopies(quantity, row.certificate)
  if (quantity !== undefined || sku !== undefined) status = allowed<'restock'>(TABLE[status].restock)
  return {
    ...row,
    ...(kurus !== undefined && priceValues(status, kurusText(kurus)!)),
    ...(quantity !== undefined && { quantity }),
    ...(sku !== undefined && { sku }),
    ...changeMarks(row.version + 1, { price: kurus !== undefined, stock: quantity !== undefined, other: sku !== undefined }, by),
    status,
    version: row.version + 1,
  }
}

/**
 * The columns that tell later whether and by whom a part of a listing was changed.
 * @param version of the listing after the change
 * @param part what was changed; `other` is its content or SKU
 * @param by as in `withNewStock`
 */
export function changeMarks(
  version: number,
  part: { price: boolean; stock: boolean; other: boolean },
  by: ChangedBy | null,
): Partial<ChangeVersions & Pick<StockRow, 'changed_by'>> {
  return {
    ...(part.price && { priced_version: version }),
    ...(part.stock && { stocked_version: version }),
    ...(part.other && { edited_version: version }),
    ...((part.price || part.stock) && { changed_by: by }),
  }
}

/** The changed fields, for the audit log. */
function shownStock(row: StockRow, { kurus, quantity, sku }: NewStock): object {
  return {
    ...(kurus !== undefined && { price: minorToNumber(kurusOfRow(row)) }),
    ...(quantity !== undefined && { quantity: row.quantity }),
    ...(sku !== undefined && { sku: row.sku }),
  }
}

/** Audits a change, and updates the nodes' copies of visibility and price. */
export function noteChange(note: Note, before: StockRow, after: StockRow, change: NewStock): void {
  note.audit({
    action: isPriceAlone(change) ? 'listing.reprice' : 'listing.restock',
    subject: 'listing',
    id: after.id,
    before: shownStock(before, change),
    after: shownStock(after, change),
  })
  const wasSame = before.status === after.status && before.quantity > 0 === after.quantity > 0
  if (!wasSame) note.changed('listings', [after.id])
  else if (before.price !== after.price) note.changed('listings', packedPrice(after.id, kurusOfRow(after)))
}
