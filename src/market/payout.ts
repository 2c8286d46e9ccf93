// Payout of a sale, and the price needed for a payout; exact to the kuruş.

const HUNDRED_PERCENT = 1_000_000n
const HALF = HUNDRED_PERCENT / 2n

/**
 * Unit price × quantity less the commission, a half kuruş rounded up.
 * @param commissionPercent 0 to 100, at most four decimals count
 */
export function payoutKurus(unitPriceKurus: number, quantity: number, commissionPercent: number): number {
  const gross = BigInt(unitPriceKurus) * BigInt(quantity)
  return Number((gross * keptOf(commissionPercent) + HALF) / HUNDRED_PERCENT)
}

/** The smallest price of one unit whose payout is at least this one; Infinity where the commission leaves nothing. */
export function priceForPayout(payoutKurus: number, commissionPercent: number): number {
  const kept = keptOf(commissionPercent)
  const needed = BigInt(payoutKurus) * HUNDRED_PERCENT - HALF
  if (needed <= 0n) return 0
  return kept === 0n ? Infinity : Number((needed + kept - 1n) / kept)
}

/** What the commission leaves, in millionths. */
function keptOf(commissionPercent: number): bigint {
  return HUNDRED_PERCENT - BigInt(Math.round(commissionPercent * 10_000))
}
