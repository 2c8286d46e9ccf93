// The payout for the sale of one unit at a price, or the smallest price for a payout.
import { invalid } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { minorToNumber, payoutKurus, priceForPayout } from '#core/money.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { MAX_PRICE, MIN_PRICE, net, netKurus, price, priceKurus } from '../records/fields.ts'
import type { MarketCtx, PayoutPreview } from '../marketplace-types.ts'

export const previewPayout = verb(
  {
    name: 'previewPayout',
    needs: OPERATION_PLAN.previewPayout,
    input: Type.Object({ price: Type.Optional(price()), net: Type.Optional(net()) }),
  },
  ({ market: { commissionPercent } }: MarketCtx, input): PayoutPreview => {
    if ((input.price === undefined) === (input.net === undefined)) throw invalid('price', 'exactly_one', { field: 'net' })
    const kurus = input.price === undefined ? lowestPrice(netKurus(input.net!), commissionPercent) : priceKurus(input.price)
    const payout = payoutKurus(kurus, 1, commissionPercent)
    return { price: minorToNumber(kurus), commission: minorToNumber(kurus - payout), payout: minorToNumber(payout) }
  },
)

/** @throws VALIDATION_ERROR if no price yields that payout */
function lowestPrice(net: number, commissionPercent: number): number {
  const most = payoutKurus(MAX_PRICE * 100, 1, commissionPercent)
  if (net > most) throw invalid('net', 'number', { min: 0, max: minorToNumber(most), decimals: 2 })
  return Math.max(MIN_PRICE * 100, priceForPayout(net, commissionPercent))
}
