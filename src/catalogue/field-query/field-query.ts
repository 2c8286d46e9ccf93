// A parsed and validated field query, with the canonical form returned in responses.
import { asksPrices, withFullNames } from './compile.ts'
import { canonical, parseFieldQuery, type Query } from './parse.ts'

export interface FieldQuery {
  canonical: string
  /** with the full name of each field */
  query: Query
  /** whether prices alone can change what it finds */
  asksPrices: boolean
}

/** @throws VALIDATION_ERROR that names what is wrong and its place; values are checked when it is asked */
export function readFieldQuery(text: string): FieldQuery {
  const query = withFullNames(parseFieldQuery(text))
  return { canonical: canonical(query), query, asksPrices: asksPrices(query) }
}
