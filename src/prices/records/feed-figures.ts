// A feed's own figures for prices: their columns in the database and in memory.
import { sql } from 'kysely'
import { minorToText } from '#core/money.ts'
import { int4At, minorAt } from '#db/copy.ts'
import { withCapacity } from '#index/columns.ts'
import type { Figures } from '../evidence/evidence-types.ts'

/** Amounts among the figures, in the order of their columns. */
export const FIGURE_AMOUNTS = ['avg1', 'avg7', 'avg30', 'low', 'mid', 'high'] as const
export type FigureAmount = (typeof FIGURE_AMOUNTS)[number]

/** The columns of `prices` that hold them: `FIGURE_AMOUNTS`, then the number of samples. */
export const FIGURE_COLUMNS = ['avg_1', 'avg_7', 'avg_30', 'low', 'mid', 'high', 'samples'] as const

const NAMES = [...FIGURE_AMOUNTS, 'samples'] as const
const SAMPLES = FIGURE_AMOUNTS.length

/** Figures with at least one stated value; otherwise null. */
export function figuresOf(stated: Partial<Figures>): Figures | null {
  for (const value of Object.values(stated)) {
    if (value !== null) return { avg1: null, avg7: null, avg30: null, low: null, mid: null, high: null, samples: null, ...stated }
  }
  return null
}

/** Figures with every amount converted; the number of samples stays. */
export function convertedFigures(figures: Figures, convert: (minor: number) => number | null): Figures {
  const converted: Figures = { ...figures }
  for (const name of FIGURE_AMOUNTS) converted[name] = figures[name] === null ? null : convert(figures[name])
  return converted
}

/** Figures by position, one column each; most feeds state none, and then nothing is allocated. */
export class FigureTable {
  /** as `NAMES`; NaN for none */
  #columns: Float64Array[] | null = null

  /** Whether no figure has been set. */
  get isEmpty(): boolean {
    return this.#columns === null
  }

  set(at: number, figures: Figures | null): void {
    if (this.#columns === null && figures === null) return
    const columns = this.#reach(at)
    for (let i = 0; i < NAMES.length; i += 1) columns[i]![at] = figures?.[NAMES[i]!] ?? Number.NaN
  }

  /** The figures at a position; null for none. */
  at(at: number): Figures | null {
    const columns = this.#columns
    if (columns === null || at >= columns[0]!.length || columns.every((column) => Number.isNaN(column[at]!))) return null
    const value = (i: number) => (Number.isNaN(columns[i]![at]!) ? null : columns[i]![at]!)
    return { avg1: value(0), avg7: value(1), avg30: value(2), low: value(3), mid: value(4), high: value(5), samples: value(6) }
  }

  /** Whether a position has exactly these figures. */
  equals(at: number, figures: Figures): boolean {
    const columns = this.#columns
    return NAMES.every((name, i) => Object.is(columns === null ? Number.NaN : (columns[i]![at] ?? Number.NaN), figures[name] ?? Number.NaN))
  }

  /** Reads a row of a binary COPY whose fields from `field` on are `FIGURE_COLUMNS`. */
  read(at: number, buffer: Buffer, offsets: Int32Array, lengths: Int32Array, field: number): void {
    for (let i = 0; i < NAMES.length; i += 1) {
      if (lengths[field + i]! < 0) continue
      const offset = offsets[field + i]!
      this.#reach(at)[i]![at] = i === SAMPLES ? int4At(buffer, offset) : minorAt(buffer, offset)
    }
  }

  /** The values of a column at some positions, as a PostgreSQL array literal. */
  column(i: number, positions: readonly number[]): string {
    const column = this.#columns?.[i]
    const texts = positions.map((at) => {
      const value = column?.[at] ?? Number.NaN
      if (Number.isNaN(value)) return 'NULL'
      return i === SAMPLES ? value : minorToText(value)
    })
    return `{${texts.join(',')}}`
  }

  /** The values at some positions (-1: none), one column for each of `NAMES`, NaN for none; empty if there are no figures. */
  columnsOf(positions: ArrayLike<number>): Float64Array[] {
    return (this.#columns ?? []).map((column) => {
      const values = new Float64Array(positions.length)
      for (let n = 0; n < positions.length; n += 1) values[n] = column[positions[n]!] ?? Number.NaN
      return values
    })
  }

  /** Figures from the columns of `columnsOf`. */
  static from(columns: Float64Array[]): FigureTable {
    const table = new FigureTable()
    table.#columns = columns.length === 0 ? null : columns
    return table
  }

  clear(): void {
    this.#columns = null
  }

  #reach(at: number): Float64Array[] {
    const columns = (this.#columns ??= NAMES.map(() => new Float64Array(0)))
    if (at < columns[0]!.length) return columns
    for (let i = 0; i < columns.length; i += 1) columns[i] = withCapacity(columns[i]!, at + 1, Number.NaN)
    return columns
  }
}

/** SQL arrays of the figures at some positions, for `unnest`; its columns are `FIGURE_COLUMNS`. */
export function figureArrays(figures: FigureTable, positions: readonly number[]) {
  return sql.join(FIGURE_COLUMNS.map((name, i) => sql`${figures.column(i, positions)}::${sql.raw(name === 'samples' ? 'int4' : 'numeric')}[]`))
}
