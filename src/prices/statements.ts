// What a batch of prices stated, and what was current before each of them: kept so that an import can be taken out from
// under those that came after it.
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { FIGURE_COLUMNS, FigureTable } from './figures.ts'
import type { CurrentPrices } from './current.ts'
import { PriceBatch } from './price-batch.ts'
import type { PriceChange } from './payload.ts'

/** What `before` says of a statement: that its key had no price, that it had one, or that the batch speaks of the key earlier. */
export const [NO_PRICE, A_PRICE, NOT_FIRST] = [0, 1, 2] as const

/** The columns of eight bytes, then of four, then of one; beside each other what is alike, which compresses well. */
const EIGHTS = ['updatedAtMs', 'lastAtMs', 'lastConfirmedMs', 'minor', 'lastMinor'] as const
const FOURS = ['row', 'lastLine', 'itemId', 'labelId', 'lastImportId', 'lastVerdict'] as const
const ONES = ['market', 'before'] as const
const HEADER = 8
const [HAS_FIGURES, HAD_FIGURES] = [1, 2]
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

type Columns = Record<(typeof EIGHTS)[number], Float64Array> & Record<(typeof FOURS)[number], Int32Array> & Record<(typeof ONES)[number], Uint8Array>

/** Statements by key and time, as columns; `last…` is the price that was current before the batch, as `CurrentPrices` has it. */
export class Statements {
  readonly size: number
  readonly #columns: Columns
  /** as FIGURE_COLUMNS, NaN for none; no columns where no statement has any */
  readonly #figures: Float64Array[]
  #lastFigures: Float64Array[] = []

  private constructor(size: number, columns: Columns, figures: Float64Array[]) {
    this.size = size
    this.#columns = columns
    this.#figures = figures
  }

  /**
   * What a batch states, before any of it is written.
   * @param positions in the batch, by key and time
   */
  static of(batch: PriceBatch, positions: readonly number[], currents: CurrentPrices): Statements {
    const columns = newColumns(positions.length)
    for (const name of ['row', 'itemId', 'labelId', 'market', 'updatedAtMs', 'minor'] as const) {
      const [from, to] = [batch[name], columns[name]]
      for (const [n, i] of positions.entries()) to[n] = from[i]!
    }
    const statements = new Statements(positions.length, columns, batch.figures.columnsOf(positions))
    statements.setBefore(
      positions.map((_, n) => n),
      currents,
    )
    return statements
  }

  static unpack(packed: Uint8Array): Statements {
    // A copy of its own begins where columns of eight bytes can.
    const { buffer } = Uint8Array.from(zstdDecompressSync(packed))
    const [size, has] = new Uint32Array(buffer, 0, 2) as unknown as [number, number]
    let at = HEADER
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
    for (const name of ONES) columns[name] = take(Uint8Array, 1)
    const statements = new Statements(size, columns as Columns, figures)
    statements.#lastFigures = lastFigures
    return statements
  }

  /** For storage: the columns one behind the other, compressed. */
  pack(): Buffer {
    const has = (this.#figures.length > 0 ? HAS_FIGURES : 0) | (this.#lastFigures.length > 0 ? HAD_FIGURES : 0)
    const parts: ArrayBufferView[] = [Uint32Array.of(this.size, has)]
    for (const name of EIGHTS) parts.push(this.#columns[name])
    for (let i = 0; i < FIGURE_COLUMNS.length; i += 1) {
      if (has & HAS_FIGURES) parts.push(this.#figures[i]!)
      if (has & HAD_FIGURES) parts.push(this.#lastFigures[i]!)
    }
    for (const name of FOURS) parts.push(this.#columns[name])
    for (const name of ONES) parts.push(this.#columns[name])
    return zstdCompressSync(Buffer.concat(parts.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength))), FAST)
  }

  itemId(n: number): number {
    return this.#columns.itemId[n]!
  }

  /** Positions of the statements about some items. */
  about(itemIds: ReadonlySet<number>): number[] {
    const positions: number[] = []
    for (let n = 0; n < this.size; n += 1) if (itemIds.has(this.#columns.itemId[n]!)) positions.push(n)
    return positions
  }

  /** The same without those about some items. */
  without(itemIds: ReadonlySet<number>): Statements {
    const kept: number[] = []
    for (let n = 0; n < this.size; n += 1) if (!itemIds.has(this.#columns.itemId[n]!)) kept.push(n)
    const columns = newColumns(kept.length)
    for (const name of [...EIGHTS, ...FOURS, ...ONES]) for (const [to, n] of kept.entries()) columns[name][to] = this.#columns[name][n]!
    const pick = (column: Float64Array) => Float64Array.from(kept, (n) => column[n]!)
    const statements = new Statements(kept.length, columns, this.#figures.map(pick))
    statements.#lastFigures = this.#lastFigures.map(pick)
    return statements
  }

  /** The statements at some positions as a batch to be written. */
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

  /** Notes what is current before the statements at some positions. */
  setBefore(positions: readonly number[], currents: CurrentPrices): void {
    const { itemId, market, labelId, before, lastMinor, lastAtMs, lastConfirmedMs, lastImportId, lastLine, lastVerdict } = this.#columns
    const ats = positions.map((n) => currents.find(currents.first(itemId[n]!), market[n]!, labelId[n]!))
    for (const [i, n] of positions.entries()) {
      const at = ats[i]!
      const isFirst = n === 0 || itemId[n] !== itemId[n - 1] || market[n] !== market[n - 1] || labelId[n] !== labelId[n - 1]
      before[n] = isFirst ? (at < 0 ? NO_PRICE : A_PRICE) : NOT_FIRST
      const has = before[n] === A_PRICE
      lastMinor[n] = has ? currents.minor[at]! : 0
      lastAtMs[n] = has ? currents.updatedAtMs[at]! : 0
      lastConfirmedMs[n] = has ? currents.confirmedAtMs[at]! : 0
      lastImportId[n] = has ? currents.importId[at]! : 0
      lastLine[n] = has ? currents.line[at]! : 0
      lastVerdict[n] = has ? currents.verdict[at]! : 0
    }
    const figures = currents.figures.columnsOf(ats)
    if (figures.length === 0 && this.#lastFigures.length === 0) return
    if (this.#lastFigures.length === 0) this.#lastFigures = FIGURE_COLUMNS.map(() => new Float64Array(this.size).fill(Number.NaN))
    for (const [k, column] of this.#lastFigures.entries()) {
      for (const [i, n] of positions.entries()) column[n] = before[n] === A_PRICE ? (figures[k]?.[i] ?? Number.NaN) : Number.NaN
    }
  }

  /** What was current before the statement at a position; null where the batch speaks of the key earlier. */
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

/** A current price as it was before a statement. */
export interface LastStated extends PriceChange {
  /** false: there was none, and the units say nothing */
  isThere: boolean
  confirmedAtMs: number
  importId: number
  /** -1 for none */
  line: number
  /** as `packedVerdict` */
  verdict: number
  /** as FIGURE_COLUMNS, NaN for none; empty where none has any */
  figures: number[]
}

function newColumns(size: number): Columns {
  const columns: Partial<Columns> = {}
  for (const name of EIGHTS) columns[name] = new Float64Array(size)
  for (const name of FOURS) columns[name] = new Int32Array(size)
  for (const name of ONES) columns[name] = new Uint8Array(size)
  return columns as Columns
}
