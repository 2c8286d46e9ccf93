// Counts the key lookups in the database, regardless of other queries.
import pg from 'pg'
import { vi } from 'vitest'

export function countLookups(): { end: () => number } {
  const query = vi.spyOn(pg.Client.prototype, 'query')
  const end = () => {
    const lookups = query.mock.calls.filter(([statement]) => /^select .*from "api_keys"/s.test(textOf(statement))).length
    query.mockRestore()
    return lookups
  }
  return { end }
}

function textOf(statement: unknown): string {
  return typeof statement === 'string' ? statement : ((statement as { text?: string }).text ?? '')
}
