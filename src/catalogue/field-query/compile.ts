// Compiles a field query into a row selection; each distinct value of a column is tested once.
import { invalid } from '#core/errors.ts'
import type { RowBits } from '#index/bits.ts'
import { fold } from '#index/fold.ts'
import type { Query, Term } from './parse.ts'
import { FIELDS, NAMES, type QueryData, type Test } from './fields.ts'

/**
 * The query with the full name of each field.
 * @throws VALIDATION_ERROR naming the unknown field or unsupported operator, and its position
 */
export function withFullNames(query: Query): Query {
  if ('all' in query) return { all: query.all.map(withFullNames) }
  if ('any' in query) return { any: query.any.map(withFullNames) }
  if ('not' in query) return { not: withFullNames(query.not) }
  if (query.field === null) return query
  const name = NAMES.get(query.field)
  const { at } = query
  if (name === undefined) throw invalid('query', 'query_field', { name: query.field, at, values: Object.keys(FIELDS) })
  // Apostrophes and invisible characters are ignored in comparisons: nothing would be left to compare.
  if (fold(query.value) === '') throw invalid('query', 'query_value_missing', { at: at + query.field.length + query.operator.length })
  const { operators } = FIELDS[name]!
  if (!operators.includes(query.operator)) throw invalid('query', 'query_operator', { name, at, values: [...operators] })
  return { ...query, field: name }
}

/** The first term of a query with full names whose field Starter does not get; undefined if there is none. */
export function gatedTerm(query: Query): Term | undefined {
  if ('all' in query || 'any' in query) return ('all' in query ? query.all : query.any).map(gatedTerm).find((term) => term !== undefined)
  if ('not' in query) return gatedTerm(query.not)
  return query.field !== null && FIELDS[query.field]!.gated ? query : undefined
}

/** Whether price changes alone can change the result of a query with full names. */
export function usesPrices(query: Query): boolean {
  if ('all' in query) return query.all.some(usesPrices)
  if ('any' in query) return query.any.some(usesPrices)
  if ('not' in query) return usesPrices(query.not)
  return query.field !== null && FIELDS[query.field]!.priced === true
}

/** Selects the rows that match, out of some rows that are not modified. */
type Selection = (among: RowBits) => RowBits

/**
 * Compiles a query with full names. The selection is valid until an item changes or, if `usesPrices`, a price.
 * @throws VALIDATION_ERROR naming an invalid value of a field, and its position
 */
export function compile(query: Query, searched: QueryData): Selection {
  if ('all' in query) {
    const parts = compilePricesLast(query.all, searched)
    return (among) => parts.reduce((left, select) => (left.size === 0 ? left : select(left)), among)
  }
  if ('any' in query) return anyOf(compilePricesLast(query.any, searched))
  if ('not' in query) return opposite(compile(query.not, searched))
  if (query.field === null) return (among) => searched.text.among(query.value, among)
  const { test: make } = FIELDS[query.field]!
  if (query.operator !== '!=') return passing(make(searched, query))
  return opposite(passing(make(searched, { ...query, operator: '=' })))
}

/** Prices take longer to read than all else, so they are read for the rows that the other parts leave. */
function compilePricesLast(parts: readonly Query[], searched: QueryData): Selection[] {
  const compiled = parts.map((part) => ({ select: compile(part, searched), priced: usesPrices(part) }))
  return compiled.sort((a, b) => Number(a.priced) - Number(b.priced)).map(({ select }) => select)
}

function passing(test: Test): Selection {
  return (among) => (typeof test === 'function' ? among.filter(test) : among.having([test]))
}

function opposite(select: Selection): Selection {
  return (among) => among.clone().andNot(select(among))
}

/** Evaluates each part only for the rows that no earlier part has matched. */
function anyOf(parts: readonly Selection[]): Selection {
  return (among) => {
    const left = among.clone()
    for (const select of parts) if (left.size > 0) left.andNot(select(left))
    return among.clone().andNot(left)
  }
}
