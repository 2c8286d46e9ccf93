// Collects how far the prices of an import are from those that their sources stated before.
import { DAY_MS } from '#core/duration.ts'
import { type FeedComparison, medianFactor } from '../evidence/feed-drift.ts'

/** Days between two feeds whose prices are compared as a whole. */
const COMPARED_DAYS = 3

interface Moves {
  /** logarithms of the prices divided by the source's last ones */
  last: number[]
  /** the same, for those that it stated in the days before */
  daysBefore: number[]
}

export class FeedMoves {
  readonly #byMarket = new Map<number, Moves>()

  /** @param before the source's last price, in the same minor units */
  add(
    { market, minor, updatedAtMs }: { market: number; minor: number; updatedAtMs: number },
    before: { minor: number; confirmedAtMs: number },
  ): void {
    const apartMs = updatedAtMs - before.confirmedAtMs
    if (apartMs <= 0) return
    const move = Math.log(minor / before.minor)
    const moves = this.#byMarket.getOrInsertComputed(market, () => ({ last: [], daysBefore: [] }))
    moves.last.push(move)
    if (apartMs <= COMPARED_DAYS * DAY_MS) moves.daysBefore.push(move)
  }

  /** The prices beside earlier ones of their source, for each of these markets. */
  comparisons(markets: Iterable<number>): Map<number, FeedComparison[]> {
    const of = (kind: FeedComparison['with'], moves: number[]) => ({ with: kind, other: null, cards: moves.length, factor: medianFactor(moves) })
    return new Map(
      [...markets].map((market) => {
        const { last = [], daysBefore = [] } = this.#byMarket.get(market) ?? {}
        return [market, [of('last', last), of('days_before', daysBefore)]]
      }),
    )
  }
}
