// Pages of ranked matches: best tier first, in a kept order within a tier.
import type { RowBits } from '#index/bits.ts'
import type { KeptOrder } from '#index/order.ts'
import { type Matches, TIERS } from '#index/text.ts'

/**
 * The matches at positions `offset` to `offset + limit` by tier, then by the order, which must hold them all. Only
 * the tiers the page touches are sorted.
 * @param among leaves out matches that are not in this set; null leaves out none
 * @returns the page, and how many matches there are in all
 */
export function pageByTier(
  matches: Matches,
  among: RowBits | null,
  order: KeptOrder,
  offset: number,
  limit: number,
): { rows: Int32Array; total: number } {
  const byTier: number[][] = Object.values(TIERS).map(() => [])
  for (let at = 0; at < matches.rows.length; at++) {
    const row = matches.rows[at]
    if (among === null || among.has(row)) byTier[matches.tiers[at]].push(row)
  }
  const total = byTier.reduce((sum, tier) => sum + tier.length, 0)
  const page = new Int32Array(Math.max(0, Math.min(limit, total - offset)))
  let size = 0
  let skip = offset
  for (const tier of byTier) {
    if (size < page.length && skip < tier.length) {
      const rows = order.firstRows(Int32Array.from(tier), skip, page.length - size)
      page.set(rows, size)
      size += rows.length
    }
    skip = Math.max(0, skip - tier.length)
  }
  return { rows: page, total }
}
