// Prices to be written, as columns: millions of objects would burden the garbage collector.
import { withCapacity } from '#index/columns.ts'
import { FigureTable } from './feed-figures.ts'
import type { PriceChange } from './price-payload.ts'
import type { Hold } from '../evidence/hold.ts'
import type { PriceWrite } from './price-types.ts'

/** Price writes as columns, in the order they were added; the units are those of `PriceWrite`. */
export class PriceBatch {
  size = 0
  /** as in `PriceWrite`, by position */
  row = new Int32Array(0)
  itemId = new Int32Array(0)
  market = new Uint8Array(0)
  labelId = new Int32Array(0)
  minor = new Float64Array(0)
  updatedAtMs = new Float64Array(0)
  readonly figures = new FigureTable()
  /** reasons of the few prices that must always be held, by position */
  readonly holds = new Map<number, Hold>()

  static of(writes: readonly PriceWrite[]): PriceBatch {
    const batch = new PriceBatch()
    for (const write of writes) batch.add(write, write.labelId)
    return batch
  }

  add({ row, itemId, market, minor, updatedAtMs, figures = null, hold }: Omit<PriceWrite, 'labelId'>, labelId: number): void {
    const at = this.size
    if (at === this.row.length) this.#reach(at)
    this.row[at] = row
    this.itemId[at] = itemId
    this.market[at] = market
    this.labelId[at] = labelId
    this.minor[at] = minor
    this.updatedAtMs[at] = updatedAtMs
    this.figures.set(at, figures)
    if (hold) this.holds.set(at, hold)
    this.size += 1
  }

  /** Adds another price with the key of an existing one, without figures. @returns its position */
  addCopy(of: number, minor: number, updatedAtMs: number): number {
    const at = this.size
    const { itemId, market, labelId } = this.at(of)
    this.add({ row: this.row[of]!, itemId, market, minor, updatedAtMs }, labelId)
    return at
  }

  clear(): void {
    this.size = 0
    this.figures.clear()
    this.holds.clear()
  }

  /** Moves prices of some items to others. */
  replaceItems(byId: ReadonlyMap<number, number>): void {
    for (let i = 0; i < this.size; i += 1) this.itemId[i] = byId.get(this.itemId[i]!) ?? this.itemId[i]!
  }

  at(i: number): PriceChange {
    return {
      itemId: this.itemId[i]!,
      market: this.market[i]!,
      labelId: this.labelId[i]!,
      minor: this.minor[i]!,
      updatedAtMs: this.updatedAtMs[i]!,
    }
  }

  /** The values of a column at some positions, as a PostgreSQL array literal: numbers need none of the driver's quoting and escaping. */
  column(name: 'row' | 'itemId' | 'market' | 'labelId' | 'updatedAtMs', positions: readonly number[]): string {
    const column = this[name]
    return `{${positions.map((i) => column[i]).join(',')}}`
  }

  isSameKey(a: number, b: number): boolean {
    return this.itemId[a] === this.itemId[b] && this.market[a] === this.market[b] && this.labelId[a] === this.labelId[b]
  }

  /** Positions by key and time; of prices with the same key and time only the last one of the feed. */
  sorted(): number[] {
    const positions = Array.from({ length: this.size }, (_, i) => i)
    positions.sort((a, b) => this.#compare(a, b) || this.row[b]! - this.row[a]!)
    return positions.filter((i, n) => n === 0 || this.#compare(positions[n - 1]!, i) !== 0)
  }

  #compare(a: number, b: number): number {
    return (
      this.itemId[a]! - this.itemId[b]! ||
      this.market[a]! - this.market[b]! ||
      this.labelId[a]! - this.labelId[b]! ||
      this.updatedAtMs[a]! - this.updatedAtMs[b]!
    )
  }

  #reach(at: number): void {
    this.row = withCapacity(this.row, at + 1)
    this.itemId = withCapacity(this.itemId, at + 1)
    this.market = withCapacity(this.market, at + 1)
    this.labelId = withCapacity(this.labelId, at + 1)
    this.minor = withCapacity(this.minor, at + 1)
    this.updatedAtMs = withCapacity(this.updatedAtMs, at + 1)
  }
}
