// Copies beyond the first of each item, and what they are worth.
import type { PricingCtx } from '../records/types.ts'
import { costCurrency, type FittingPrice, priceForGrade } from '../worth.ts'
import type { Duplicates } from './completion-types.ts'
import type { Copies } from './copies.ts'
import { CurrencySums } from './sums.ts'

const LISTED = 100

/** Of each item, the copy with the highest trusted price is kept; prices in different currencies are compared in lira at the current rates. */
export function duplicatesIn(ctx: PricingCtx & { now: () => Date }, copies: readonly Copies[]): Duplicates {
  const { items, rates } = ctx.catalogue
  const nowMs = ctx.now().getTime()
  const sums = new CurrencySums()
  const most: { row: number; copies: number }[] = []
  let extra = 0
  let unpriced = 0
  const lira = (price: FittingPrice | null) => (price ? price.minor * (rates.microLira(price.currency, nowMs) ?? 0) : -1)
  for (const [row, held] of Map.groupBy(copies, ({ item_id: id }) => items.rowOf(id))) {
    const quantity = held.reduce((sum, one) => sum + one.quantity, 0)
    if (quantity < 2 || row < 0) continue
    extra += quantity - 1
    most.push({ row, copies: quantity - 1 })
    const priced = held
      .map((one) => {
        const price = priceForGrade(ctx, one.item_id, one.group_label)
        return { quantity: one.quantity, price: typeof price === 'string' ? null : price }
      })
      .sort((a, b) => lira(b.price) - lira(a.price))
    priced[0]!.quantity -= 1
    for (const { quantity: count, price } of priced) {
      if (price && count > 0) sums.add(price.currency, BigInt(price.minor) * BigInt(count))
      else unpriced += count
    }
  }
  most.sort((a, b) => b.copies - a.copies || items.id[a.row]! - items.id[b.row]!)
  return {
    items: most.length,
    copies: extra,
    currencies: sums.shown(costCurrency(ctx)),
    unpriced,
    most: most.slice(0, LISTED).map(({ row, copies: count }) => ({
      item_id: items.id[row]!,
      name: items.nameOf(row),
      number: items.codeOf(row),
      slug: items.texts.get(row).slug,
      copies: count,
    })),
  }
}
