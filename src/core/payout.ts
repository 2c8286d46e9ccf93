// Payout of a sale, and the price needed for a payout; exact to the kuruş.

const HUNDRED_PERCENT = 1_000_000n
const HALF = HUNDRED_PERCENT / 2n

/**
 * Unit price × quantity minus the commission, half a kuruş rounded up.
 * @param commissionPercent 0 to 100, up to four decimals
 */
export function payoutKurus(unitPriceKurus: number, quantity: number, commissionPercent: number): number {
  const gross = BigInt(unitPriceKurus) * BigInt(quantity)
  return Number((gross * keptOf(commissionPercent) + HALF) / HUNDRED_PERCENT)
}

/** The smallest unit price with at least this payout; Infinity if the commission is 100 %. */
export function priceForPayout(payoutKurus: number, commissionPercent: number): number {
  const kept = keptOf(commissionPercent)
  const needed = BigInt(payoutKurus) * HUNDRED_PERCENT - HALF
  if (needed <= 0n) return 0
  return kept === 0n ? Infinity : Number((needed + kept - 1n) / kept)
}

/** The share after commission, in millionths. */
function keptOf(commissionPercent: number): bigint {
  return HUNDRED_PERCENT - BigInt(Math.round(commissionPercent * 10_000))
}
