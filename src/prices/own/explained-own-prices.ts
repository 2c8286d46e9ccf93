// The sales behind the service's own prices, used or not, without naming people.
import { sql } from 'kysely'
import type { Queryable } from '#db/schema.ts'
import type { CostToMove } from './cost-to-move.ts'
import { type Exclusion, momentOf, ownPriceOf } from './own-price.ts'
import { costsToMove } from './costs-to-move.ts'
import { ownSalesOf, type PriceKey } from './own-sales.ts'

/** Sales shown that do not count, latest first; all that count are shown. */
const MAX_UNUSED = 50

export interface ExplainedSale {
  minor: number
  soldAtMs: number
  /** null if it counts */
  excluded: Exclusion | null
  /** number of its pair of seller and buyer, from 1, within the explanation */
  pair: number
  /** relative weight of its pair; null if it does not count */
  weight: number | null
}

export interface ExplainedOwnPrice {
  /** newest first */
  sales: readonly ExplainedSale[]
  /** null until the price has been computed by this release */
  cost: CostToMove | null
}

/** By `item label`. */
export async function explainedOwnPrices(on: Queryable, keys: readonly PriceKey[], nowMs: number): Promise<Map<string, ExplainedOwnPrice>> {
  if (keys.length === 0) return new Map()
  const { rows } = await sql<{ item_id: number; label_id: number; changes_at: Date }>`
    select item_id, label_id, changes_at from own_prices where item_id = any(${keys.map(({ itemId }) => itemId)}::int4[])`.execute(on)
  // Until then, every sale that the price was computed from counts.
  const changesAt = new Map(rows.map((row) => [`${row.item_id} ${row.label_id}`, row.changes_at.getTime()]))
  const itemIds = keys.map(({ itemId }) => itemId)
  const costs = new Map((await costsToMove(on, itemIds)).map((cost) => [`${cost.itemId} ${cost.labelId}`, cost]))
  const sales = await ownSalesOf(on, keys)
  return new Map(
    keys.map(({ itemId, labelId }, n): [string, ExplainedOwnPrice] => {
      const key = `${itemId} ${labelId}`
      const { minor, buyers, sellers, days } = costs.get(key) ?? {}
      const cost = minor === undefined ? null : { minor, buyers: buyers!, sellers: sellers!, days: days! }
      return [key, { sales: explained(sales[n]!, Math.min(nowMs, (changesAt.get(key) ?? Infinity) - 1)), cost }]
    }),
  )
}

function explained(sales: Parameters<typeof ownPriceOf>[0], atMs: number): ExplainedSale[] {
  const { price, use } = ownPriceOf(sales, momentOf(sales, atMs))
  const pairs = numbering()
  let unused = 0
  return sales.flatMap((sale, position): ExplainedSale[] => {
    const used = use[position]!
    if (typeof used === 'string' && (unused += 1) > MAX_UNUSED) return []
    return [
      {
        minor: sale.minor,
        soldAtMs: sale.soldAtMs,
        excluded: typeof used === 'string' ? used : null,
        pair: pairs(`${sale.sellerId} ${sale.buyer}`),
        weight: typeof used === 'string' ? null : price!.weights[used]!,
      },
    ]
  })
}

/** Numbers names from 1 in the order in which they appear. */
function numbering(): (name: string) => number {
  const numbers = new Map<string, number>()
  return (name) => numbers.get(name) ?? numbers.set(name, numbers.size + 1).get(name)!
}
