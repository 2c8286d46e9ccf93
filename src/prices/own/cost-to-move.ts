// What it would cost people who act together to move the service's own price by a tenth. Pure.
import { MAX_PAIRS, medianOf, type OwnPrice, type Pair, pairWeights, SELLER_PARTS, WINDOW_DAYS } from './own-price.ts'

/** The cheapest way to move a price: how many buyers and sellers it takes, and what they pay for shipping. */
export interface CostToMove {
  /** in kuruş */
  minor: number
  buyers: number
  sellers: number
  /** days within which their sales must take place */
  days: number
}

const MOVE_PERCENT = 10
/** Prices of the sales that move a price down and up the most, in kuruş. */
const LOWEST_MINOR = 1
const HIGHEST_MINOR = 1e12
/** If this many sales move a price in no way, it is taken to need one more: more ways are not worth the time. */
const MOST_SALES = 3

/**
 * The fewest further sales that can move the price by a tenth in either direction, times the least cost of shipping. The sales take place now and move
 * goods between people who act together, so they lose no more than that: a sale for one kuruş has no commission. They are sales of new pairs, of pairs
 * that already count, or of buyers who sell a card back, whose purchase then no longer counts. Offers of others do not limit their prices, and half of
 * the weight is enough to move a price, so it may take more than this, but never less. 0 if no buyer is known: then nobody else needs to take part.
 * @param shippingMinor least cost of shipping a card, in kuruş
 */
export function costToMove(price: OwnPrice, shippingMinor: number): CostToMove {
  if (price.buyers === 0) return { minor: 0, buyers: 0, sellers: 0, days: WINDOW_DAYS }
  const down = Math.floor((price.minor * (100 - MOVE_PERCENT)) / 100)
  const up = Math.ceil((price.minor * (100 + MOVE_PERCENT)) / 100)
  const downwards: Direction = { saleMinor: LOWEST_MINOR, isBeyond: (minor) => minor <= down }
  const upwards: Direction = { saleMinor: HIGHEST_MINOR, isBeyond: (minor) => minor >= up }
  const directions = (down < LOWEST_MINOR ? [upwards] : [downwards, upwards]).map((direction) => new Movement(price, direction))
  for (let sales = 1; sales <= MOST_SALES; sales += 1) {
    for (const movement of directions) {
      const people = movement.people(sales)
      if (people) return { minor: sales * shippingMinor, ...people, days: WINDOW_DAYS }
    }
  }
  // One new seller has at most a third of the weight, so it takes two.
  return { minor: (MOST_SALES + 1) * shippingMinor, buyers: MOST_SALES + 1, sellers: 2, days: WINDOW_DAYS }
}

interface Direction {
  /** price of a further sale */
  saleMinor: number
  isBeyond: (minor: number) => boolean
}

/** A pair, or what is left of it once its buyer has sold the card back. */
interface Entry {
  /** position among the sellers */
  seller: number
  /** further sales after which its price has moved by a tenth */
  salesLeft: number
  /** position of the pair of which this is left; null for pairs */
  restOf: number | null
  canReturn: boolean
}

/** A further sale: of a new pair of a seller, of an existing pair, or back to the seller of a pair. */
interface Sale {
  kind: 'new' | 'again' | 'back'
  /** position of the seller or of the pair */
  of: number
}

/** Searches for further sales that move a price in one direction. */
class Movement {
  /** newest first: the pairs that count, some older ones, and what is left of both after a sale back */
  readonly #entries: readonly Entry[]
  /** number of existing sellers */
  readonly #sellers: number
  readonly #possible: readonly Sale[]
  /** by position of the seller: its new pairs; new sellers are the last ones */
  readonly #added: number[]
  /** by position of the entry: further sales of the pair */
  readonly #again: number[]
  /** by position of the entry: whether its buyer has sold the card back */
  readonly #back: boolean[]

  constructor({ pairs, olderPairs }: OwnPrice, direction: Direction) {
    // Each sale back makes room for one older pair.
    const all = [...pairs, ...olderPairs.slice(0, MOST_SALES)]
    const sellerIds = [...new Set(all.map(({ sellerId }) => sellerId))]
    this.#entries = entriesOf(all, sellerIds, direction)
    this.#sellers = sellerIds.length
    this.#possible = this.#possibleSales(pairs.length)
    this.#added = Array.from({ length: sellerIds.length + MOST_SALES }, () => 0)
    this.#again = this.#entries.map(() => 0)
    this.#back = this.#entries.map(() => false)
  }

  /** @param counting number of pairs that count */
  #possibleSales(counting: number): Sale[] {
    const pairs = [...this.#entries.entries()].filter(([, { restOf }]) => restOf === null)
    const newSellers = Array.from({ length: MOST_SALES }, (_, n) => this.#sellers + n)
    const sellers = Array.from({ length: this.#sellers }, (_, n) => n)
    const counts = sellers.map((seller) => pairs.slice(0, counting).filter(([, entry]) => entry.seller === seller).length)
    // Far from the limit of a seller's weight, a new seller does as much as an existing one.
    const isLimited = (Math.max(...counts) + 1) * SELLER_PARTS > counting
    return [
      ...[...newSellers, ...(isLimited ? sellers : [])].map((of): Sale => ({ kind: 'new', of })),
      // Older pairs that sell again are like new pairs of their sellers.
      ...pairs.slice(0, counting).map(([of]): Sale => ({ kind: 'again', of })),
      ...pairs.filter(([, { canReturn, salesLeft }]) => canReturn && salesLeft > 0).map(([of]): Sale => ({ kind: 'back', of })),
    ]
  }

  /** The people who take part in this many further sales that move the price; null if none do. */
  people(sales: number, from = 0): Pick<CostToMove, 'buyers' | 'sellers'> | null {
    if (sales === 0) return this.#hasMoved() ? this.#people() : null
    for (let n = from; n < this.#possible.length; n += 1) {
      const { kind, of } = this.#possible[n]!
      // New sellers take part in order.
      if (kind === 'new' && of > this.#sellers && this.#added[of - 1] === 0) continue
      if (kind === 'back' && this.#back[of]) continue
      this.#count(kind, of, 1)
      const people = this.people(sales - 1, n)
      this.#count(kind, of, -1)
      if (people) return people
    }
    return null
  }

  #count(kind: Sale['kind'], of: number, sales: 1 | -1): void {
    if (kind === 'new') this.#added[of]! += sales
    else if (kind === 'again') this.#again[of]! += sales
    else this.#back[of] = sales > 0
  }

  /** Whether half of the weight is of pairs whose price has moved. */
  #hasMoved(): boolean {
    const counts = [...this.#added]
    const moved = [...this.#added]
    let pairs = counts.reduce((sum, count) => sum + count, 0)
    const count = (position: number) => {
      if (pairs === MAX_PAIRS) return
      const { seller, salesLeft } = this.#entries[position]!
      pairs += 1
      counts[seller]! += 1
      if (salesLeft <= this.#again[position]!) moved[seller]! += 1
    }
    // Pairs with further sales are the newest.
    for (const [position, sales] of this.#again.entries()) if (sales > 0 && !this.#back[position]) count(position)
    for (const [position, { restOf }] of this.#entries.entries()) {
      if (restOf === null ? this.#again[position] === 0 && !this.#back[position] : this.#back[restOf]) count(position)
    }
    const weights = pairWeights(counts)
    let difference = 0
    for (const [seller, weight] of weights.entries()) difference += weight * (2 * moved[seller]! - counts[seller]!)
    return difference >= 0
  }

  #people(): Pick<CostToMove, 'buyers' | 'sellers'> {
    const taking = this.#entries.filter((_, position) => this.#again[position]! > 0 || this.#back[position])
    const sellers = new Set([...taking.map(({ seller }) => seller), ...this.#added.flatMap((count, seller) => (count > 0 ? [seller] : []))])
    return { buyers: this.#added.reduce((sum, count) => sum + count, taking.length), sellers: sellers.size }
  }
}

function entriesOf(pairs: readonly Pair[], sellerIds: readonly number[], direction: Direction): Entry[] {
  const rests = pairs.flatMap((pair) => {
    const sales = pair.returnable === 0 ? [] : pair.sales.slice(pair.returnable)
    return sales.length === 0 ? [] : [{ pair, sales, isRest: true }]
  })
  const sorted = [...pairs.map((pair) => ({ pair, sales: pair.sales, isRest: false })), ...rests].sort(
    (a, b) => b.sales[0]!.soldAtMs - a.sales[0]!.soldAtMs,
  )
  return sorted.map(({ pair, sales, isRest }) => ({
    seller: sellerIds.indexOf(pair.sellerId),
    salesLeft: salesToTurn(sales, direction),
    restOf: isRest ? sorted.findIndex((other) => other.pair === pair && !other.isRest) : null,
    canReturn: !isRest && pair.returnable > 0,
  }))
}

function salesToTurn(sales: Pair['sales'], { saleMinor, isBeyond }: Direction): number {
  const prices = sales.map(({ minor }) => minor)
  while (!isBeyond(medianOf(prices))) prices.push(saleMinor)
  return prices.length - sales.length
}
