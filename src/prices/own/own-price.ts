// The service's own price of an item and label, from sales between independent people. Pure.
import { DAY_MS } from '#core/duration.ts'

/** Days for which a sale counts. */
export const WINDOW_DAYS = 90
/** Pairs of seller and buyer that the price is computed from, newest first. */
export const MAX_PAIRS = 10
/** A seller has at most one part in this many of the weight, if there are that many sellers. */
const SELLER_PARTS = 3
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
  /** prices of its sales in kuruş, newest first */
  sales: number[]
  /** their median */
  minor: number
  newestMs: number
  oldestMs: number
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
  /** pairs with older sales, which count again with their next sale */
  olderPairs: number
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
  const pairs = groups.slice(0, MAX_PAIRS).map((group): Pair => {
    const { sellerId, buyer } = group[0]!.sale
    const prices = group.map(({ sale }) => sale.minor)
    const [newestMs, oldestMs] = [group[0]!.sale.soldAtMs, group.at(-1)!.sale.soldAtMs]
    return { sellerId, buyer, sales: prices, minor: medianOf(prices), newestMs, oldestMs }
  })
  return { price: priceOfPairs(pairs, Math.max(0, groups.length - MAX_PAIRS)), use }
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
export function priceOfPairs(pairs: readonly Pair[], olderPairs = 0): OwnPrice | null {
  if (pairs.length === 0) return null
  const sellerIds = pairs.map(({ sellerId }) => sellerId)
  const weights = pairWeights(sellerIds)
  const minor = weightedMedian(
    pairs.map((pair) => pair.minor),
    weights,
  )
  const buyers = new Set(pairs.flatMap(({ buyer }) => buyer ?? [])).size
  const sellers = new Set(sellerIds).size
  return { minor, pairs, weights, buyers, sellers, isProven: buyers >= MIN_BUYERS && sellers >= MIN_SELLERS, olderPairs }
}

/**
 * Whole numbers in proportion to the weight of each pair: 1, scaled down so that no seller has more than a third of the total, or more than the
 * others if there are only two.
 * @param sellerIds seller of each pair
 */
export function pairWeights(sellerIds: readonly number[]): number[] {
  const countOf = (id: number) => sellerIds.reduce((count, other) => (other === id ? count + 1 : count), 0)
  const pairsOfSeller = sellerIds.map(countOf)
  const counts = pairsOfSeller.filter((_, position) => sellerIds.indexOf(sellerIds[position]!) === position).sort((a, b) => b - a)
  // The sellers with the most pairs are limited to the same total: a part of what the others have together.
  let parts = Math.min(SELLER_PARTS, counts.length)
  let others = sellerIds.length
  let limited = 0
  let product = 1
  while (parts > 1 && counts[limited]! * parts > others) {
    product *= counts[limited]!
    others -= counts[limited]!
    limited += 1
    parts -= 1
  }
  if (limited === 0) return pairsOfSeller.map(() => 1)
  const smallestLimited = counts[limited - 1]!
  return pairsOfSeller.map((count) => (count >= smallestLimited ? (product / count) * others : product * parts))
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
