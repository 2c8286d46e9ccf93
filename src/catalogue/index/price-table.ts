// Current prices of all items in flat columns: short runs per item, found by row, read and updated in place.
import { MARKETS } from '#core/markets.ts'
import { entriesAt, fitting, withCapacity } from '#index/columns.ts'
import type { ColumnStore } from '#index/stored.ts'
import { TimeColumn } from '#index/time-column.ts'
import { preferenceOf } from '../records/shown-market.ts'
import { withPreference } from './market-rule.ts'
import type { PriceState } from '#prices/evidence/evidence-types.ts'
import { CACHED_FIGURES, NO_FIGURE, type PackedEvidence, stateOf } from '#prices/evidence/evidence-payload.ts'

/** Columns count as packed if they exceed their content by at most this factor. */
const MAX_OVERHEAD = 1.05
const FIGURES = CACHED_FIGURES.length

export class PriceTable {
  /** time of the newest price by market: 0 without prices, NaN if it must be computed */
  #newestMs = new Float64Array(MARKETS.length)
  /** per row: start, length and capacity of its run */
  #start = new Int32Array(0)
  #count = new Int32Array(0)
  #room = new Int32Array(0)
  #used = 0
  /** per price: market as position in MARKETS, label id, minor units, epoch milliseconds */
  market = new Uint8Array(0)
  label: Uint16Array | Uint32Array | Float64Array = new Uint16Array(0)
  minor: Uint32Array | Float64Array = new Uint32Array(0)
  readonly updatedAtMs = new TimeColumn()
  /** per price, its evidence: state and confidence (`verdictByte`), bits of FLAGS, minutes of its last confirmation (`confirmedAtMs`) */
  verdict = new Uint8Array(0)
  flags = new Uint16Array(0)
  confirmedMinutes = new Uint32Array(0)
  /** per price: the number of the feed's own figures below, because most prices have none; 0 for none */
  #figuresOf = new Uint32Array(0)
  /** `CACHED_FIGURES` per number, from 1: minor units or NO_FIGURE */
  #figures = new Uint32Array(0)
  #figuresUsed = 0
  #figuresFree: number[] = []

  store(columns: ColumnStore): void {
    this.#newestMs = columns.column(this.#newestMs)
    this.#start = columns.column(this.#start)
    this.#count = columns.column(this.#count)
    this.#room = columns.column(this.#room)
    this.#used = columns.value(this.#used)
    this.market = columns.column(this.market)
    this.label = columns.column(this.label)
    this.minor = columns.column(this.minor)
    this.updatedAtMs.store(columns)
    this.verdict = columns.column(this.verdict)
    this.flags = columns.column(this.flags)
    this.confirmedMinutes = columns.column(this.confirmedMinutes)
    this.#figuresOf = columns.column(this.#figuresOf)
    this.#figures = columns.column(this.#figures)
    this.#figuresUsed = columns.value(this.#figuresUsed)
    this.#figuresFree = columns.numbers(this.#figuresFree)
  }

  /** Reserves memory for this many rows and prices. */
  reserve(rows: number, prices: number): void {
    this.#reachRow(rows - 1)
    this.#reachPrice(prices)
  }

  /** Orders the prices by row and removes gaps, because loaded prices are mostly read. */
  pack(): void {
    const size = this.#count.reduce((sum, count) => sum + count, 0)
    if (size === this.#used && this.minor.length <= size * MAX_OVERHEAD) return
    const positions = new Uint32Array(size)
    let to = 0
    for (let row = 0; row < this.#count.length; row += 1) {
      const start = this.#start[row]!
      this.#start[row] = to
      this.#room[row] = this.#count[row]!
      for (let at = start; at < start + this.#count[row]!; at += 1) positions[to++] = at
    }
    this.market = entriesAt(this.market, positions)
    this.label = entriesAt(this.label, positions)
    this.minor = entriesAt(this.minor, positions)
    this.updatedAtMs.keep(positions)
    this.verdict = entriesAt(this.verdict, positions)
    this.flags = entriesAt(this.flags, positions)
    this.confirmedMinutes = entriesAt(this.confirmedMinutes, positions)
    this.#figuresOf = entriesAt(this.#figuresOf, positions)
    this.#figures = this.#figures.slice(0, this.#figuresUsed * FIGURES)
    this.#used = to
  }

  /** Index of the first price of a row; its prices are at `start .. start + count - 1`. */
  start(row: number): number {
    return this.#start[row] ?? 0
  }

  count(row: number): number {
    return this.#count[row] ?? 0
  }

  /** The markets that have prices for a row, as bits by position in MARKETS. */
  markets(row: number): number {
    const end = this.start(row) + this.count(row)
    let found = 0
    for (let i = this.start(row); i < end; i += 1) found |= 1 << this.market[i]!
    return found
  }

  /** How far the best price of each market recommends it as the one that is shown (`preferenceOf`), packed by `withPreference`. */
  preferences(row: number): number {
    const end = this.start(row) + this.count(row)
    let preferences = 0
    for (let at = this.start(row); at < end; at += 1) {
      preferences = withPreference(preferences, this.market[at]!, preferenceOf(stateOf(this.verdict[at]!)))
    }
    return preferences
  }

  find(row: number, market: number, label: number): number {
    const end = this.start(row) + this.count(row)
    for (let i = this.start(row); i < end; i += 1) {
      if (this.label[i] === label && this.market[i] === market) return i
    }
    return -1
  }

  /** Whether the price is undisputed and not stale: only such prices may be used in calculations. */
  isTrusted(at: number): boolean {
    return this.state(at) === 'trusted'
  }

  /** The verdict on a price. */
  state(at: number): PriceState {
    return stateOf(this.verdict[at]!)
  }

  /** A figure of a price in minor units; null if its feed has none. */
  figure(at: number, figure: number): number | null {
    const minor = this.#figureWord(at, figure)
    return minor === NO_FIGURE ? null : minor
  }

  /** Sets one price and returns its index; existing evidence is kept, a new price has none. */
  set(row: number, market: number, label: number, minor: number, updatedAtMs: number): number {
    if (row >= this.#count.length) this.#reachRow(row)
    let at = this.find(row, market, label)
    if (at >= 0 && updatedAtMs < this.updatedAtMs.at(at)) this.#forgetNewest(at)
    if (at < 0) {
      if (this.#count[row] === this.#room[row]) this.#move(row)
      at = this.#start[row]! + this.#count[row]!
      this.#count[row]! += 1
      this.market[at] = market
      this.label = fitting(this.label, label)
      this.label[at] = label
      this.verdict[at] = 0
      this.flags[at] = 0
      this.confirmedMinutes[at] = 0
      this.#figuresOf[at] = 0
    }
    this.minor = fitting(this.minor, minor)
    this.minor[at] = minor
    this.updatedAtMs.set(at, updatedAtMs)
    if (updatedAtMs > this.#newestMs[market]!) this.#newestMs[market] = updatedAtMs
    return at
  }

  /** Sets the evidence of the price at an index. */
  setEvidence(at: number, evidence: PackedEvidence): void {
    this.verdict[at] = evidence.verdict
    this.flags[at] = evidence.flags
    this.confirmedMinutes[at] = evidence.confirmedMinutes
    const { avg7, avg30, low, high } = evidence
    if (avg7 === NO_FIGURE && avg30 === NO_FIGURE && low === NO_FIGURE && high === NO_FIGURE) return this.#dropFigures(at)
    const number = this.#figuresOf[at]! || (this.#figuresFree.pop() ?? ++this.#figuresUsed)
    this.#figuresOf[at] = number
    this.#figures = withCapacity(this.#figures, number * FIGURES)
    const figures = (number - 1) * FIGURES
    this.#figures[figures] = avg7
    this.#figures[figures + 1] = avg30
    this.#figures[figures + 2] = low
    this.#figures[figures + 3] = high
  }

  #dropFigures(at: number): void {
    if (this.#figuresOf[at] !== 0) this.#figuresFree.push(this.#figuresOf[at]!)
    this.#figuresOf[at] = 0
  }

  #figureWord(at: number, figure: number): number {
    const number = this.#figuresOf[at]!
    return number === 0 ? NO_FIGURE : this.#figures[(number - 1) * FIGURES + figure]!
  }

  /** A hash of the evidence of a row's prices in a market: the same on every node, independent of the order of prices. */
  evidenceHash(row: number, market: number): number {
    const end = this.start(row) + this.count(row)
    let sum = 0
    for (let at = this.start(row); at < end; at += 1) {
      if (this.market[at] !== market) continue
      let hash = Math.imul(this.label[at]!, 0x9e3779b1) ^ (this.verdict[at]! | (this.flags[at]! << 8))
      hash = Math.imul(hash ^ this.confirmedMinutes[at]!, 0xcc9e2d51)
      for (let i = 0; i < FIGURES; i += 1) hash = Math.imul(((hash << 15) | (hash >>> 17)) ^ this.#figureWord(at, i), 0x01000193)
      sum = (sum + hash) | 0
    }
    return sum
  }

  /** Removes one price; after a revert, an item may have none. */
  remove(row: number, market: number, label: number): void {
    const at = this.find(row, market, label)
    if (at < 0) return
    this.#forgetNewest(at)
    this.#dropFigures(at)
    const last = this.#start[row]! + this.#count[row]! - 1
    this.#copy(last, at)
    this.#count[row]! -= 1
  }

  clear(row: number): void {
    if (row >= this.#count.length) return
    const end = this.start(row) + this.count(row)
    for (let at = this.start(row); at < end; at += 1) {
      this.#forgetNewest(at)
      this.#dropFigures(at)
    }
    this.#count[row] = 0
  }

  /** Time of the newest price of a market; null without prices. */
  newestMs(market: number): number | null {
    if (Number.isNaN(this.#newestMs[market])) this.#newestMs[market] = this.#findNewest(market)
    return this.#newestMs[market] || null
  }

  #findNewest(market: number): number {
    let newest = 0
    for (let row = 0; row < this.#count.length; row += 1) {
      const end = this.start(row) + this.count(row)
      for (let at = this.start(row); at < end; at += 1) {
        if (this.market[at] === market) newest = Math.max(newest, this.updatedAtMs.at(at))
      }
    }
    return newest
  }

  /** Marks the newest time of a market as unknown, if necessary; call it before the price at an index is removed or gets an older date. */
  #forgetNewest(at: number): void {
    const market = this.market[at]!
    if (this.updatedAtMs.at(at) === this.#newestMs[market]) this.#newestMs[market] = Number.NaN
  }

  get bytes(): number {
    const columns = [this.market, this.label, this.minor, this.verdict, this.flags, this.confirmedMinutes, this.#figuresOf, this.#figures]
    return this.#start.byteLength * 3 + columns.reduce((sum, column) => sum + column.byteLength, this.updatedAtMs.bytes)
  }

  #copy(from: number, to: number): void {
    this.market[to] = this.market[from]!
    this.label[to] = this.label[from]!
    this.minor[to] = this.minor[from]!
    this.updatedAtMs.set(to, this.updatedAtMs.at(from))
    this.verdict[to] = this.verdict[from]!
    this.flags[to] = this.flags[from]!
    this.confirmedMinutes[to] = this.confirmedMinutes[from]!
    this.#figuresOf[to] = this.#figuresOf[from]!
  }

  /** Moves a full run to the end, with spare capacity; a run at the end just grows. */
  #move(row: number): void {
    const count = this.#count[row]!
    const from = this.#start[row]!
    // During loading, prices mostly arrive item by item, so that runs grow at the end and leave no gaps.
    const atEnd = count > 0 && from + count === this.#used
    const room = atEnd || count === 0 ? count + 1 : Math.ceil(count * 1.5)
    const to = atEnd ? from : this.#used
    const end = to + room
    this.#reachPrice(end)
    if (!atEnd) for (let i = 0; i < count; i += 1) this.#copy(from + i, to + i)
    this.#start[row] = to
    this.#room[row] = room
    this.#used = end
  }

  #reachRow(row: number): void {
    this.#start = withCapacity(this.#start, row + 1)
    this.#count = withCapacity(this.#count, row + 1)
    this.#room = withCapacity(this.#room, row + 1)
  }

  #reachPrice(prices: number): void {
    this.market = withCapacity(this.market, prices)
    this.label = withCapacity(this.label, prices)
    this.minor = withCapacity(this.minor, prices)
    this.updatedAtMs.reserve(prices)
    this.verdict = withCapacity(this.verdict, prices)
    this.flags = withCapacity(this.flags, prices)
    this.confirmedMinutes = withCapacity(this.confirmedMinutes, prices)
    this.#figuresOf = withCapacity(this.#figuresOf, prices)
  }
}
