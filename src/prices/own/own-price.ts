// The service's own price of an item and label, from sales between independent people. Pure.
import { DAY_MS } from '#core/duration.ts'

/** Days for which a sale counts. */
export const WINDOW_DAYS = 90
/** Pairs of seller and buyer that the price is computed from, newest first. */
export const MAX_PAIRS = 10
/** A seller has at most one part in this many of the weight, if there are that many sellers. */
export const SELLER_PARTS = 3
/** A card that is sold back to its seller within this time shows no price. */
const RETURN_DAYS = 60
/** Nobody pays more than this factor of the cheapest offer of another seller. */
export const ABOVE_ASKS_FACTOR = 1.25
/** A price needs at least this many buyers and sellers to be trusted. */
const MIN_BUYERS = 3
const MIN_SELLERS = 2

/** A sale of an item under a label. */
export interface OwnSale {
  /** increases with the order of recording */
  id: number
  orderId: number
  line: number
  sellerId: number
  /** what identifies the buyer; null if the shop did not state it */
  buyer: string | null
  /** account of the buyer, if it has one */
  buyerAccountId: number | null
  /** price of one unit in kuruş */
  minor: number
  soldAtMs: number
  isCancelled: boolean
  /** cheapest offer of another seller at that time in kuruş; null if there was none */
  lowestAskMinor: number | null
}

/** Why a sale does not count. */
export type Exclusion = 'cancelled' | 'too_old' | 'same_order' | 'own_purchase' | 'sold_back' | 'above_asks' | 'older_pair'

/** All sales that count between one seller and one buyer; a seller's sales without a stated buyer are one pair. */
export interface Pair {
  sellerId: number
  buyer: string | null
  /** newest first; prices in kuruş */
  sales: readonly Pick<OwnSale, 'minor' | 'soldAtMs'>[]
  /** the median of their prices */
  minor: number
  /** number of sales, from the newest, that would no longer count if the buyer now sold the card back */
  returnable: number
}

export interface OwnPrice {
  /** in kuruş */
  minor: number
  /** newest first */
  pairs: readonly Pair[]
  /** relative weight of each pair, by position */
  weights: readonly number[]
  buyers: number
  sellers: number
  isProven: boolean
  /** times of the newest and the oldest sale of the pairs */
  newestMs: number
  oldestMs: number
  /** pairs with older sales, newest first; they count again with their next sale, or if newer pairs no longer count */
  olderPairs: readonly Pair[]
}

export interface OwnSales {
  /** null if no sale counts */
  price: OwnPrice | null
  /** by position of the sale: why it does not count, or the position of its pair */
  use: readonly (Exclusion | number)[]
}

/**
 * The price at a time, and how it uses each sale.
 * @param sales in any order
 */
export function ownPriceOf(sales: readonly OwnSale[], nowMs: number): OwnSales {
  const use: (Exclusion | number)[] = sales.map((sale) => exclusionOf(sale, sales, nowMs) ?? 0)
  const counting = sales.map((sale, position) => ({ sale, position })).filter(({ position }) => use[position] === 0)
  const groups = [...Map.groupBy(counting, ({ sale }) => `${sale.sellerId} ${sale.buyer === null ? '' : `=${sale.buyer}`}`).values()]
  for (const group of groups) group.sort((a, b) => isNewer(a.sale, b.sale))
  groups.sort((a, b) => isNewer(a[0]!.sale, b[0]!.sale))
  for (const [n, group] of groups.entries()) for (const { position } of group) use[position] = n < MAX_PAIRS ? n : 'older_pair'
  const pairs = groups.map((group) =>
    pairOf(
      group.map(({ sale }) => sale),
      nowMs,
    ),
  )
  return { price: priceOfPairs(pairs.slice(0, MAX_PAIRS), pairs.slice(MAX_PAIRS)), use }
}

/** @param sales of one seller and buyer, newest first */
function pairOf(sales: readonly OwnSale[], nowMs: number): Pair {
  const { sellerId, buyer, buyerAccountId } = sales[0]!
  const returnable = buyerAccountId === null ? 0 : sales.filter(({ soldAtMs }) => nowMs - soldAtMs <= RETURN_DAYS * DAY_MS).length
  return { sellerId, buyer, sales, minor: medianOf(sales.map(({ minor }) => minor)), returnable }
}

/**
 * The time for which the price of these sales is computed: now, or the time of the last sale that counted if that is too old to count now.
 * @param sales newest first
 */
export function momentOf(sales: readonly OwnSale[], nowMs: number): number {
  const last = sales.find((sale) => exclusionOf(sale, sales, sale.soldAtMs) === null)
  return last && last.soldAtMs <= nowMs - WINDOW_DAYS * DAY_MS ? last.soldAtMs : nowMs
}

function isNewer(a: OwnSale, b: OwnSale): number {
  return b.soldAtMs - a.soldAtMs || b.id - a.id
}

function exclusionOf(sale: OwnSale, sales: readonly OwnSale[], nowMs: number): Exclusion | null {
  if (sale.isCancelled) return 'cancelled'
  if (sale.soldAtMs <= nowMs - WINDOW_DAYS * DAY_MS) return 'too_old'
  if (sale.buyerAccountId === sale.sellerId) return 'own_purchase'
  if (sales.some((other) => other.orderId === sale.orderId && other.line < sale.line && !other.isCancelled)) return 'same_order'
  if (sale.buyerAccountId !== null && sales.some((other) => isReturn(sale, other))) return 'sold_back'
  if (sale.lowestAskMinor !== null && sale.minor > sale.lowestAskMinor * ABOVE_ASKS_FACTOR) return 'above_asks'
  return null
}

/** Whether the buyer of one sale sold the card to its seller in the other one. */
function isReturn(sale: OwnSale, other: OwnSale): boolean {
  return (
    other.sellerId === sale.buyerAccountId &&
    other.buyerAccountId === sale.sellerId &&
    !other.isCancelled &&
    Math.abs(other.soldAtMs - sale.soldAtMs) <= RETURN_DAYS * DAY_MS
  )
}

/** The price of pairs; null without any. @param pairs at most ten, newest first */
function priceOfPairs(pairs: readonly Pair[], olderPairs: readonly Pair[]): OwnPrice | null {
  if (pairs.length === 0) return null
  const sellerIds = [...new Set(pairs.map(({ sellerId }) => sellerId))]
  const bySeller = pairWeights(sellerIds.map((id) => pairs.filter(({ sellerId }) => sellerId === id).length))
  const weights = pairs.map(({ sellerId }) => bySeller[sellerIds.indexOf(sellerId)]!)
  const minor = weightedMedian(
    pairs.map((pair) => pair.minor),
    weights,
  )
  const buyers = new Set(pairs.flatMap(({ buyer }) => buyer ?? [])).size
  const isProven = buyers >= MIN_BUYERS && sellerIds.length >= MIN_SELLERS
  const newestMs = pairs[0]!.sales[0]!.soldAtMs
  const oldestMs = Math.min(...pairs.map(({ sales }) => sales.at(-1)!.soldAtMs))
  return { minor, pairs, weights, buyers, sellers: sellerIds.length, isProven, newestMs, oldestMs, olderPairs }
}

/**
 * Whole numbers in proportion to the weight of a pair of each seller: 1, scaled down so that no seller has more than a third of the total, or more than
 * the others if there are only two.
 * @param counts number of pairs of each seller; 0 is allowed
 */
export function pairWeights(counts: readonly number[]): number[] {
  const sorted = counts.filter((count) => count > 0).sort((a, b) => b - a)
  // The sellers with the most pairs are limited to the same total: a part of what the others have together.
  let parts = Math.min(SELLER_PARTS, sorted.length)
  let others = sorted.reduce((sum, count) => sum + count, 0)
  let limited = 0
  let product = 1
  while (parts > 1 && sorted[limited]! * parts > others) {
    product *= sorted[limited]!
    others -= sorted[limited]!
    limited += 1
    parts -= 1
  }
  if (limited === 0) return counts.map(() => 1)
  const smallestLimited = sorted[limited - 1]!
  return counts.map((count) => (count >= smallestLimited ? (product / count) * others : product * parts))
}

/** The value at which half of the weight is reached; the mean of two values if it is reached exactly between them, rounded half up. */
export function weightedMedian(values: readonly number[], weights: readonly number[]): number {
  const order = Array.from(values.keys()).sort((a, b) => values[a]! - values[b]!)
  const half = weights.reduce((sum, weight) => sum + weight, 0) / 2
  let sum = 0
  for (let n = 0; n < order.length; n += 1) {
    sum += weights[order[n]!]!
    if (sum > half) return values[order[n]!]!
    if (sum === half) return Math.floor((values[order[n]!]! + values[order[n + 1]!]! + 1) / 2)
  }
  throw new Error('no values')
}

/** The median of prices in kuruş; the mean of the two middle ones is rounded half up. */
export function medianOf(prices: readonly number[]): number {
  const sorted = [...prices].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : Math.floor((sorted[middle - 1]! + sorted[middle]! + 1) / 2)
}
