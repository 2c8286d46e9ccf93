// What a new price of an own listing would change, judged by the rules of the change itself; nothing is stored.
import { conflict } from '#core/errors.ts'
import { id, missing } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { minorToNumber } from '#core/money.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { checkOffer, price, priceKurus } from './fields.ts'
import { payoutKurus } from './payout.ts'
import { STATUSES, statusAt, TABLE } from './rules.ts'
import { findListing, kurusOfRow, listingTag, minOfferKurus } from './store.ts'
import { allowed } from './transition.ts'
import type { MarketCtx } from './types.ts'

export const PricePlanSchema = Type.Object(
  {
    id: Type.Integer(),
    title: Type.String(),
    status: Type.Enum([...STATUSES], { description: 'Status after the change' }),
    old_price: Type.Number({ description: 'In TL' }),
    new_price: Type.Number({ description: 'In TL' }),
    old_payout: Type.Number({ description: 'What a sale of one unit pays you now, in TL' }),
    new_payout: Type.Number({ description: 'What a sale of one unit would pay you, in TL' }),
    etag: Type.String({ description: 'State of the listing that the plan is about' }),
  },
  { title: 'PricePlan' },
)
export type PricePlan = Static<typeof PricePlanSchema>

export const planListingPrice = verb(
  {
    name: 'planListingPrice',
    needs: OPERATION_PLAN.planListingPrice,
    input: Type.Object({ id: id('listing'), price: price() }, { additionalProperties: false }),
  },
  async (ctx: MarketCtx, input): Promise<PricePlan> => {
    const { viewer, market } = ctx
    const kurus = priceKurus(input.price)
    const row = await findListing(ctx.db.kysely, input.id)
    if (!row) throw missing('listing', input.id)
    if (viewer.kind === 'account' && viewer.accountId !== row.seller_id) throw conflict('not_owner', { thing: 'listing', id: row.id })
    const status = allowed<'reprice'>(TABLE[statusAt(row.status, row.expires_at, ctx.now())].reprice)
    checkOffer('price', kurus, minOfferKurus(row))
    const old = kurusOfRow(row)
    const payout = (unit: number) => minorToNumber(payoutKurus(unit, 1, market.commissionPercent))
    return {
      id: row.id,
      title: row.title,
      status,
      old_price: minorToNumber(old),
      new_price: minorToNumber(kurus),
      old_payout: payout(old),
      new_payout: payout(kurus),
      etag: listingTag(row),
    }
  },
)
