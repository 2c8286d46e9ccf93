// Collects how far the prices of an import are from those that their sources stated before.
import { DAY_MS } from '#core/duration.ts'
import { type FeedComparison, medianFactor } from '../evidence/feed-drift.ts'

/** Days between two feeds whose prices are compared as a whole. */
const COMPARED_DAYS = 3

interface Moves {
  /** logarithms of the prices divided by the source's last ones */
  last: number[]
  /** the same, for those that it stated in the days before, and their items */
  daysBefore: number[]
  movedItems: number[]
}

export class FeedMoves {
  readonly #byMarket = new Map<number, Moves>()

  /** @param before the source's last price, in the same minor units */
  add(
    { itemId, market, minor, updatedAtMs }: { itemId: number; market: number; minor: number; updatedAtMs: number },
    before: { minor: number; confirmedAtMs: number },
  ): void {
    const apartMs = updatedAtMs - before.confirmedAtMs
    if (apartMs <= 0) return
    const move = Math.log(minor / before.minor)
    const moves = this.#byMarket.getOrInsertComputed(market, () => ({ last: [], daysBefore: [], movedItems: [] }))
    moves.last.push(move)
    if (apartMs > COMPARED_DAYS * DAY_MS) return
    moves.daysBefore.push(move)
    moves.movedItems.push(itemId)
  }

  /** The prices beside earlier ones of their source, for each of these markets. */
  comparisons(markets: Iterable<number>): Map<number, FeedComparison[]> {
    return new Map(
      [...markets].map((market) => {
        const { last = [], daysBefore = [] } = this.#byMarket.get(market) ?? {}
        return [market, [comparison('last', last), comparison('days_before', daysBefore)]]
      }),
    )
  }

  /** Items whose prices of the days before are compared, of a market; an item once for each of its labels. */
  itemsOf(market: number): readonly number[] {
    return this.#byMarket.get(market)?.movedItems ?? []
  }

  /** The prices of a market beside those of the days before, for each set with at least this many of them. */
  setComparisons(market: number, sets: ReadonlyMap<number, number>, leastCards: number): FeedComparison[] {
    const { daysBefore, movedItems } = this.#byMarket.get(market)!
    const bySet = Map.groupBy(daysBefore.keys(), (i) => sets.get(movedItems[i]!))
    return [...bySet].flatMap(([set, positions]) => {
      if (set === undefined || positions.length < leastCards) return []
      const moves = positions.map((i) => daysBefore[i]!)
      return { ...comparison('days_before', moves), set }
    })
  }
}

function comparison(kind: FeedComparison['with'], moves: readonly number[]): FeedComparison {
  return { with: kind, other: null, set: null, cards: moves.length, factor: medianFactor(moves) }
}
