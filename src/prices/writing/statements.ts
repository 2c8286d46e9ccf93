// Statements of a price batch and the prices they replaced, stored so that an import can be reverted even after later ones.
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { figuresHaveMoved } from '../evidence/frozen.ts'
import { FIGURE_COLUMNS, FigureTable } from '../records/feed-figures.ts'
import { type CurrentPrices, JUMPS } from '../records/current.ts'
import { PriceBatch } from '../records/price-batch.ts'
import type { PriceChange } from '../records/price-payload.ts'

/** Values of `before`: the key had no price; it had one; or an earlier statement of the batch has the same key. */
const [NO_PRICE, A_PRICE, NOT_FIRST] = [0, 1, 2] as const

/** The columns of eight bytes, then of four, then of one; similar columns are adjacent because that compresses well. */
const EIGHTS = ['updatedAtMs', 'lastAtMs', 'lastConfirmedMs', 'minor', 'lastMinor'] as const
const FOURS = ['row', 'lastLine', 'itemId', 'labelId', 'lastImportId', 'lastVerdict'] as const
const ONES = ['market', 'before'] as const
/** Words of the header: number of statements, bits of the figures present, number of jumps, and a spare that aligns the columns to eight bytes. */
const HEADER = 4
const [HAS_FIGURES, HAD_FIGURES] = [1, 2]
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** A current price that is disputed because it jumped. Statements of other markets about its item can settle that permanently. */
export interface Jump extends Pick<PriceChange, 'itemId' | 'market' | 'labelId'> {
  /** bits of FLAGS */
  flags: number
}

type Columns = Record<(typeof EIGHTS)[number], Float64Array> & Record<(typeof FOURS)[number], Int32Array> & Record<(typeof ONES)[number], Uint8Array>

/** Statements by key and time, as columns; `last…` is the price that was current before the batch, as in `CurrentPrices`. */
export class Statements {
  readonly size: number
  readonly #columns: Columns
  /** a column per statistic, in the order of FIGURE_COLUMNS; NaN for a missing value; empty if no statement has statistics */
  readonly #figures: Float64Array[]
  #lastFigures: Float64Array[] = []
  #jumps: Jump[] = []

  private constructor(size: number, columns: Columns, figures: Float64Array[]) {
    this.size = size
    this.#columns = columns
    this.#figures = figures
  }

  /**
   * The statements of a batch, before any of it is written.
   * @param positions in the batch, by key and time
   */
  static of(batch: PriceBatch, positions: readonly number[], currents: CurrentPrices): Statements {
    const columns = newColumns(positions.length)
    for (const name of ['row', 'itemId', 'labelId', 'market', 'updatedAtMs', 'minor'] as const) {
      const [from, to] = [batch[name], columns[name]]
      for (let n = 0; n < positions.length; n += 1) to[n] = from[positions[n]!]!
    }
    const statements = new Statements(positions.length, columns, batch.figures.columnsOf(positions))
    statements.setBefore([...positions.keys()], currents)
    return statements
  }

  static unpack(packed: Uint8Array): Statements {
    // A copy starts at an offset that is aligned for columns of eight bytes.
    const { buffer } = Uint8Array.from(zstdDecompressSync(packed))
    const [size, has, jumps] = new Uint32Array(buffer, 0, HEADER) as unknown as [number, number, number]
    let at = HEADER * 4
    const take = <C>(make: new (buffer: ArrayBuffer, at: number, length: number) => C, bytes: number): C => {
      const column = new make(buffer, at, size)
      at += size * bytes
      return column
    }
    const columns: Partial<Columns> = {}
    for (const name of EIGHTS) columns[name] = take(Float64Array, 8)
    const [figures, lastFigures]: [Float64Array[], Float64Array[]] = [[], []]
    for (let i = 0; i < FIGURE_COLUMNS.length; i += 1) {
      if (has & HAS_FIGURES) figures.push(take(Float64Array, 8))
      if (has & HAD_FIGURES) lastFigures.push(take(Float64Array, 8))
    }
    for (const name of FOURS) columns[name] = take(Int32Array, 4)
    const words = new Int32Array(buffer, at, jumps * 4)
    at += jumps * 16
    for (const name of ONES) columns[name] = take(Uint8Array, 1)
    const statements = new Statements(size, columns as Columns, figures)
    statements.#lastFigures = lastFigures
    for (let i = 0; i < words.length; i += 4) {
      statements.#jumps.push({ itemId: words[i]!, market: words[i + 1]!, labelId: words[i + 2]!, flags: words[i + 3]! })
    }
    return statements
  }

  /** For storage: the columns in sequence, compressed. */
  pack(): Buffer {
    const has = (this.#figures.length > 0 ? HAS_FIGURES : 0) | (this.#lastFigures.length > 0 ? HAD_FIGURES : 0)
    const parts: ArrayBufferView[] = [Uint32Array.of(this.size, has, this.#jumps.length, 0)]
    for (const name of EIGHTS) parts.push(this.#columns[name])
    for (let i = 0; i < FIGURE_COLUMNS.length; i += 1) {
      if (has & HAS_FIGURES) parts.push(this.#figures[i]!)
      if (has & HAD_FIGURES) parts.push(this.#lastFigures[i]!)
    }
    for (const name of FOURS) parts.push(this.#columns[name])
    parts.push(Int32Array.from(this.#jumps.flatMap(({ itemId, market, labelId, flags }) => [itemId, market, labelId, flags])))
    for (const name of ONES) parts.push(this.#columns[name])
    return zstdCompressSync(Buffer.concat(parts.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength))), FAST)
  }

  itemId(n: number): number {
    return this.#columns.itemId[n]!
  }

  /** The items of the statements at some positions, or at all. */
  itemIds(positions: Iterable<number> = Array(this.size).keys()): Set<number> {
    const itemIds = new Set<number>()
    for (const n of positions) itemIds.add(this.#columns.itemId[n]!)
    return itemIds
  }

  /** Positions of the statements about the given items. */
  about(itemIds: ReadonlySet<number>): number[] {
    const positions: number[] = []
    for (let n = 0; n < this.size; n += 1) if (itemIds.has(this.#columns.itemId[n]!)) positions.push(n)
    return positions
  }

  /** The statements about the given items that state another figure than before with the same amount, latest first. */
  *withOtherFigures(itemIds: ReadonlySet<number>): Generator<StatedAgain> {
    if (this.#figures.length === 0 || this.#lastFigures.length === 0) return
    const { itemId, market, labelId, updatedAtMs, minor, lastMinor, before } = this.#columns
    const [figures, lastFigures] = [FigureTable.from(this.#figures), FigureTable.from(this.#lastFigures)]
    for (const n of this.about(itemIds).reverse()) {
      if (before[n] !== A_PRICE || minor[n] !== lastMinor[n]) continue
      const [now, last] = [figures.at(n), lastFigures.at(n)]
      if (now && last && figuresHaveMoved(last, now)) {
        yield { itemId: itemId[n]!, market: market[n]!, labelId: labelId[n]!, updatedAtMs: updatedAtMs[n]! }
      }
    }
  }

  /** The statements without those about the given items. */
  without(itemIds: ReadonlySet<number>): Statements {
    const kept: number[] = []
    for (let n = 0; n < this.size; n += 1) if (!itemIds.has(this.#columns.itemId[n]!)) kept.push(n)
    const columns = newColumns(kept.length)
    for (const name of [...EIGHTS, ...FOURS, ...ONES]) for (const [to, n] of kept.entries()) columns[name][to] = this.#columns[name][n]!
    const pick = (column: Float64Array) => Float64Array.from(kept, (n) => column[n]!)
    const statements = new Statements(kept.length, columns, this.#figures.map(pick))
    statements.#lastFigures = this.#lastFigures.map(pick)
    statements.#jumps = this.#jumps.filter(({ itemId }) => !itemIds.has(itemId))
    return statements
  }

  /** The statements at some positions as a batch for writing. */
  batchOf(positions: readonly number[]): PriceBatch {
    const { row, itemId, market, labelId, minor, updatedAtMs } = this.#columns
    const batch = new PriceBatch()
    const figures = FigureTable.from(this.#figures)
    for (const n of positions) {
      const price = { row: row[n]!, itemId: itemId[n]!, market: market[n]!, minor: minor[n]!, updatedAtMs: updatedAtMs[n]! }
      batch.add({ ...price, figures: figures.at(n) }, labelId[n]!)
    }
    return batch
  }

  /** Jumps among the prices of the items before any of it was written. */
  get jumps(): readonly Jump[] {
    return this.#jumps
  }

  /** Records the current prices before the statements at some positions, which must include all statements about their items. */
  setBefore(positions: readonly number[], currents: CurrentPrices): void {
    this.#setJumps(positions, currents)
    const { itemId, market, labelId, before, lastMinor, lastAtMs, lastConfirmedMs, lastImportId, lastLine, lastVerdict } = this.#columns
    const ats = new Int32Array(positions.length)
    for (let i = 0; i < positions.length; i += 1) {
      const n = positions[i]!
      const at = currents.find(currents.first(itemId[n]!), market[n]!, labelId[n]!)
      const isFirst = n === 0 || itemId[n] !== itemId[n - 1] || market[n] !== market[n - 1] || labelId[n] !== labelId[n - 1]
      ats[i] = at
      before[n] = isFirst ? (at < 0 ? NO_PRICE : A_PRICE) : NOT_FIRST
      if (!isFirst || at < 0) continue
      lastMinor[n] = currents.minor[at]!
      lastAtMs[n] = currents.updatedAtMs[at]!
      lastConfirmedMs[n] = currents.confirmedAtMs[at]!
      lastImportId[n] = currents.importId[at]!
      lastLine[n] = currents.line[at]!
      lastVerdict[n] = currents.verdict[at]!
    }
    const figures = currents.figures.columnsOf(ats)
    if (figures.length === 0 && this.#lastFigures.length === 0) return
    if (this.#lastFigures.length === 0) this.#lastFigures = FIGURE_COLUMNS.map(() => new Float64Array(this.size).fill(Number.NaN))
    for (const [k, column] of this.#lastFigures.entries()) {
      const values = figures[k]
      for (let i = 0; i < positions.length; i += 1) {
        const n = positions[i]!
        column[n] = values && before[n] === A_PRICE ? values[i]! : Number.NaN
      }
    }
  }

  #setJumps(positions: readonly number[], currents: CurrentPrices): void {
    const itemIds = new Set(positions.map((n) => this.#columns.itemId[n]!))
    this.#jumps = this.#jumps.filter(({ itemId }) => !itemIds.has(itemId))
    for (let at = 0; at < currents.size; at += 1) {
      const flags = currents.verdict[at]! & JUMPS
      const itemId = currents.itemId(at)
      if (flags !== 0 && itemIds.has(itemId)) this.#jumps.push({ itemId, market: currents.market(at), labelId: currents.labelId(at), flags })
    }
  }

  /** The current price before the statement at a position; null if an earlier statement of the batch has the same key. */
  lastOf(n: number): LastStated | null {
    const { before, itemId, market, labelId, lastMinor, lastAtMs, lastConfirmedMs, lastImportId, lastLine, lastVerdict } = this.#columns
    if (before[n] === NOT_FIRST) return null
    return {
      itemId: itemId[n]!,
      market: market[n]!,
      labelId: labelId[n]!,
      minor: lastMinor[n]!,
      updatedAtMs: lastAtMs[n]!,
      confirmedAtMs: lastConfirmedMs[n]!,
      importId: lastImportId[n]!,
      line: lastLine[n]!,
      verdict: lastVerdict[n]!,
      figures: this.#lastFigures.map((column) => column[n]!),
      isThere: before[n] === A_PRICE,
    }
  }
}

/** A statement of the amount that a price already had. */
export type StatedAgain = Pick<PriceChange, 'itemId' | 'market' | 'labelId' | 'updatedAtMs'>

/** A current price as it was before a statement. */
export interface LastStated extends PriceChange {
  /** false: there was none, and the values have no meaning */
  isThere: boolean
  confirmedAtMs: number
  importId: number
  /** -1 for none */
  line: number
  /** as `packedVerdict` */
  verdict: number
  /** statistics in the order of FIGURE_COLUMNS, NaN where missing; empty if no statement has any */
  figures: number[]
}

function newColumns(size: number): Columns {
  const columns: Partial<Columns> = {}
  for (const name of EIGHTS) columns[name] = new Float64Array(size)
  for (const name of FOURS) columns[name] = new Int32Array(size)
  for (const name of ONES) columns[name] = new Uint8Array(size)
  return columns as Columns
}
