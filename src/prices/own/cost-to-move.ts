// What it would cost people who act together to move the service's own price by a tenth. Pure.
import { payoutKurus } from '#core/money.ts'
import { MAX_PAIRS, medianOf, type OwnPrice, type Pair, pairWeights, weightedMedian, WINDOW_DAYS } from './own-price.ts'

export interface SaleCosts {
  /** 0 to 100 */
  commissionPercent: number
  /** least cost of shipping a card, in kuruş */
  shippingMinor: number
}

/** The cheapest way to move a price: how many buyers and sellers it takes, and what they pay for commission and shipping. */
export interface CostToMove {
  /** in kuruş */
  minor: number
  buyers: number
  sellers: number
  /** days within which their sales must take place */
  days: number
}

/** A seller of sales that move the price, who has no other sales of the item. */
const FIRST_NEW_SELLER = -1
const MOVE_PERCENT = 10
const SMALLEST_MINOR = 1

/**
 * The least cost that this search finds for moving the price by a tenth in either direction: the sales take place now and move goods between people who
 * act together, so only commission and shipping are lost. They can be new pairs, or pairs whose sales already count and who add further ones. Offers
 * of others do not limit their prices. 0 if no buyer is known: then nobody else needs to take part.
 */
export function costToMove(price: OwnPrice, costs: SaleCosts): CostToMove {
  if (price.buyers === 0) return { minor: 0, buyers: 0, sellers: 0, days: WINDOW_DAYS }
  const down = Math.floor((price.minor * (100 - MOVE_PERCENT)) / 100)
  const up = Math.ceil((price.minor * (100 + MOVE_PERCENT)) / 100)
  let best = down < SMALLEST_MINOR ? null : cheapestPlan(price.pairs, movesDown(down, costs), null)
  // A lower price of a pair means a mean of two that is lower: each such pair needs higher prices of those who act.
  const values = new Set([up, ...price.pairs.flatMap(({ minor }) => (minor < up ? Math.max(up, 2 * up - 1 - minor) : []))])
  for (const value of [...values].sort((a, b) => a - b)) best = cheapestPlan(price.pairs, movesUp(up, value, costs, price.olderPairs > 0), best)
  return { minor: best!.cost, buyers: best!.buyers, sellers: sellersOf(price.pairs, best!), days: WINDOW_DAYS }
}

/** How people who act together set prices in one direction. */
interface Move {
  /** price of their new pairs */
  value: number
  /** cost of one sale at that price */
  cost: number
  hasMoved: (minor: number) => boolean
  /** the pair with as few further sales as it needs to be on the other side of the target, and their cost; null if it already is */
  turn: (pair: Pair) => { minor: number; cost: number } | null
}

const saleCost = (minor: number, { commissionPercent, shippingMinor }: SaleCosts) => minor - payoutKurus(minor, 1, commissionPercent) + shippingMinor

/** Downwards, the smallest price has the lowest commission and the largest effect. */
function movesDown(target: number, costs: SaleCosts): Move {
  const cost = saleCost(SMALLEST_MINOR, costs)
  return {
    value: SMALLEST_MINOR,
    cost,
    hasMoved: (minor) => minor <= target,
    turn: (pair) => {
      if (pair.minor <= target) return null
      const sales = [...pair.sales]
      while (medianOf(sales) > target) sales.push(SMALLEST_MINOR)
      return { minor: medianOf(sales), cost: cost * (sales.length - pair.sales.length) }
    },
  }
}

/**
 * Upwards, commission grows with the price, so no sale is higher than it needs to be.
 * @param value price of each pair that takes part
 * @param canReturn whether a pair of older sales can count again: its price is that of these sales, so it pays shipping only
 */
function movesUp(target: number, value: number, costs: SaleCosts, canReturn: boolean): Move {
  return {
    value,
    cost: canReturn ? costs.shippingMinor : saleCost(value, costs),
    hasMoved: (minor) => minor >= target,
    turn: (pair) => {
      if (pair.minor >= value) return null
      let best: { minor: number; cost: number } | null = null
      for (let added = 1; added <= pair.sales.length + 1; added += 1) {
        const minor = cheapestRaise(pair.sales, added, value)
        if (minor === null) continue
        const cost = saleCost(minor, costs) * added
        if (!best || cost < best.cost) best = { minor: medianOf([...pair.sales, ...Array.from({ length: added }, () => minor)]), cost }
      }
      return best
    },
  }
}

/** The lowest price of a number of further sales that raises the median of all to a value; null if no price does. */
function cheapestRaise(sales: readonly number[], added: number, value: number): number | null {
  const reaches = (minor: number) => medianOf([...sales, ...Array.from({ length: added }, () => minor)]) >= value
  if (reaches(value)) return value
  // With an even number, the mean of the two middle sales counts, and the lower one may be below the value.
  const middle = [...sales].sort((a, b) => a - b)[(sales.length + added) / 2 - 1]
  const needed = middle === undefined ? value : 2 * value - 1 - middle
  return reaches(needed) ? needed : null
}

/** A way to move the price. */
interface Plan {
  cost: number
  buyers: number
  /** positions of the pairs that take part, with their prices afterwards */
  turned: ReadonlyMap<number, number>
  /** number of new pairs and their price */
  added: number
  value: number
  hasMoved: (minor: number) => boolean
}

/** The cheapest of all combinations of turned pairs and new pairs; plans that cost as much as `best` or more are not searched. */
function cheapestPlan(pairs: readonly Pair[], move: Move, best: Plan | null): Plan | null {
  const turns = pairs.flatMap((pair, position) => {
    const turn = move.turn(pair)
    return turn ? [{ position, ...turn }] : []
  })
  turns.sort((a, b) => a.cost - b.cost)
  const { value, hasMoved } = move
  const turned = new Map<number, number>()
  const search = (from: number, spent: number): void => {
    for (let added = turned.size === 0 ? 1 : 0; added <= pairs.length; added += 1) {
      const cost = spent + added * move.cost
      if (best && cost >= best.cost) break
      if (!hasMoved(priceAfter(pairs, turned, added, added, value))) continue
      best = { cost, buyers: turned.size + added, turned: new Map(turned), added, value, hasMoved }
      break
    }
    for (let n = from; n < turns.length; n += 1) {
      const { position, minor, cost } = turns[n]!
      if (best && spent + cost >= best.cost) break
      turned.set(position, minor)
      search(n + 1, spent + cost)
      turned.delete(position)
    }
  }
  search(0, 0)
  return best
}

/** The fewest sellers with whom a plan works: the new pairs can share them. */
function sellersOf(pairs: readonly Pair[], { turned, added, value, hasMoved }: Plan): number {
  const own = new Set([...turned.keys()].map((position) => pairs[position]!.sellerId)).size
  for (let sellers = 1; sellers < added; sellers += 1) if (hasMoved(priceAfter(pairs, turned, added, sellers, value))) return own + sellers
  return own + added
}

/** The price after further sales, which make their pairs the newest. @param sellers number of sellers of the new pairs */
function priceAfter(pairs: readonly Pair[], turned: ReadonlyMap<number, number>, added: number, sellers: number, value: number): number {
  const values: number[] = []
  const sellerIds: number[] = []
  const add = (minor: number, sellerId: number) => {
    if (values.length === MAX_PAIRS) return
    values.push(minor)
    sellerIds.push(sellerId)
  }
  for (let n = 0; n < added; n += 1) add(value, FIRST_NEW_SELLER - (n % sellers))
  for (const [position, minor] of turned) add(minor, pairs[position]!.sellerId)
  for (let n = 0; n < pairs.length; n += 1) if (!turned.has(n)) add(pairs[n]!.minor, pairs[n]!.sellerId)
  return weightedMedian(values, pairWeights(sellerIds))
}
