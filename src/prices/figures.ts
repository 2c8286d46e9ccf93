// A feed's own figures beside a price: the columns that hold them, and small operations on them.
import { sql } from 'kysely'
import type { Figures } from './evidence/types.ts'

/** Amounts among the figures, in the order of their columns in `prices`. */
export const FIGURE_AMOUNTS = ['avg1', 'avg7', 'avg30', 'low', 'mid', 'high'] as const
export type FigureAmount = (typeof FIGURE_AMOUNTS)[number]

/** The columns of `FIGURE_AMOUNTS` in the database, then the number of samples. */
export const FIGURE_COLUMNS = ['avg_1', 'avg_7', 'avg_30', 'low', 'mid', 'high', 'samples'] as const

/** Names of `FIGURE_COLUMNS` for statements. */
export const figureColumns = sql.raw(FIGURE_COLUMNS.join(', '))

export const NO_FIGURES: Readonly<Figures> = Object.freeze({ avg1: null, avg7: null, avg30: null, low: null, mid: null, high: null, samples: null })

/** Figures of which some are stated; null where none is. */
export function figuresOf(stated: Partial<Figures>): Figures | null {
  for (const value of Object.values(stated)) if (value !== null) return { ...NO_FIGURES, ...stated }
  return null
}
