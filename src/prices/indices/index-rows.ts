// Rows of price indices in requests and files: their fields, and what is wrong with them together.
import { type Static, Type } from '#core/input.ts'
import { type Problem, problem, reason } from '#core/problems.ts'
import { TIME_RANGE } from '#core/time.ts'

export const MAX_INDEX_ROWS = 10_000

const VALUE = { min: 0.000001, max: 1_000_000_000, decimals: 6 }

export const IndexRow = Type.Object(
  {
    index: Type.String({
      pattern: '^[A-Z][A-Z0-9_]{0,39}$',
      allowed: reason('index_name', { example: 'TRY_CPI' }),
      description: 'Name of the index; `TRY_CPI`: consumer prices in lira',
      examples: ['TRY_CPI'],
    }),
    month: Type.String({
      pattern: '^(19[7-9]|[2-9]\\d\\d)\\d-(0[1-9]|1[0-2])$',
      allowed: reason('date', { from: TIME_RANGE.from.slice(0, 7), to: TIME_RANGE.to.slice(0, 7), format: 'YYYY-MM' }),
      description: 'Month of the prices',
      examples: ['2026-10'],
    }),
    value: Type.Number({ minimum: VALUE.min, maximum: VALUE.max, description: 'Level of the index, above 0', examples: [3512.18] }),
  },
  { additionalProperties: false },
)
export type GivenIndex = Static<typeof IndexRow>

/** The origin of a row: its position in a request, or its line in a file. */
type IndexPlace = { row: number } | { line: number }

export function indexKey({ index, month }: GivenIndex): string {
  return `${index} ${month}`
}

/** Finds what is wrong with rows that fit their schema, one after another; a repeated row with the same value is allowed. */
export function indexJudge(now: Date): (row: GivenIndex, place: IndexPlace) => Problem[] {
  const thisMonth = now.toISOString().slice(0, 7)
  const seen = new Map<string, { value: number; place: IndexPlace }>()
  return (row, place) => {
    if (row.month > thisMonth) return [problem('month', 'not_in_future')]
    if (!/^\d+(\.\d{1,6})?$/.test(String(row.value))) return [problem('value', 'number', VALUE)]
    const earlier = seen.get(indexKey(row))
    if (earlier && earlier.value !== row.value) return [problem('value', 'index_again', earlier.place)]
    seen.set(indexKey(row), { value: row.value, place })
    return []
  }
}
