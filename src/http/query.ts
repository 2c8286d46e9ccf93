// Parses query strings for both listeners: `game[]`, `game%5B%5D` and `game[0]` are all the list `game`.
import { parse } from 'fast-querystring'

export type RawQuery = Record<string, string | string[]>

const LIST_NAME = /^(.+?)\[\d{0,4}\]$/

/** Parses a query string; a name with brackets becomes a list under its bare name. */
export function parseQuery(text: string): RawQuery {
  const parsed = parse(text) as RawQuery
  if (!text.includes('[') && !text.includes('%5B') && !text.includes('%5b')) return parsed
  const query: RawQuery = Object.create(null) as RawQuery
  for (const [name, value] of Object.entries(parsed)) {
    const bare = LIST_NAME.exec(name)?.[1]
    if (bare === undefined) query[name] = value
    else query[bare] = [...listOf(query[bare]), ...listOf(value)]
  }
  return query
}

function listOf(value: string | string[] | undefined): string[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}
