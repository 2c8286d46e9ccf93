// Changes that a price batch makes to current prices, so that only differences are written and announced to nodes.
import type { CurrentPrices } from '../records/current.ts'

/** Effects of a batch on current prices; positions are those in the `CurrentPrices` that are being changed. */
export class CurrentChanges {
  readonly #currents: CurrentPrices
  /** positions in the batch of the prices that become current, the last of each key, with their positions here */
  readonly set: number[] = []
  readonly setAt: number[] = []
  /** positions of prices that are only confirmed */
  readonly confirmed = new Set<number>()
  /** stored verdicts of all prices that are set or confirmed */
  readonly before = new Map<number, number>()
  /** those of them for which nodes already store a later confirmation or figures */
  readonly #known = new Set<number>()

  constructor(currents: CurrentPrices) {
    this.#currents = currents
  }

  /** Records the state of a price before its first change. */
  remember(at: number): void {
    if (this.before.has(at)) return
    const { verdict, confirmedAtMs, updatedAtMs, figures } = this.#currents
    this.before.set(at, verdict[at]!)
    if (confirmedAtMs[at]! > updatedAtMs[at]! || figures.at(at) !== null) this.#known.add(at)
  }

  /** Whether the data of a price on the nodes differs from what is stored now. */
  isNews(at: number): boolean {
    const { verdict, confirmedAtMs, updatedAtMs, figures } = this.#currents
    if (verdict[at] !== this.before.get(at) || this.#known.has(at)) return true
    return confirmedAtMs[at]! > updatedAtMs[at]! || figures.at(at) !== null
  }
}
