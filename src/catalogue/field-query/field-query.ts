// A parsed and validated field query, with the canonical form returned in responses.
import { usesPrices, withFullNames } from './compile.ts'
import { canonical, parseFieldQuery, type Query } from './parse.ts'

export interface FieldQuery {
  canonical: string
  /** with the full name of each field */
  query: Query
  /** whether price changes alone can change its result */
  asksPrices: boolean
}

/** @throws VALIDATION_ERROR naming the error and its position; values are validated when the query runs */
export function readFieldQuery(text: string): FieldQuery {
  const query = withFullNames(parseFieldQuery(text))
  return { canonical: canonical(query), query, asksPrices: usesPrices(query) }
}
