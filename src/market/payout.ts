// What a seller gets of a sale: exact, to the kuruş.

const HUNDRED_PERCENT = 1_000_000n

/**
 * Unit price × quantity less the commission, a half kuruş rounded up.
 * @param commissionPercent 0 to 100, at most four decimals count
 */
export function payoutKurus(unitPriceKurus: number, quantity: number, commissionPercent: number): number {
  const kept = HUNDRED_PERCENT - BigInt(Math.round(commissionPercent * 10_000))
  const gross = BigInt(unitPriceKurus) * BigInt(quantity)
  return Number((gross * kept + HUNDRED_PERCENT / 2n) / HUNDRED_PERCENT)
}
