// Reads MTGJSON's sets: one category for a set, and one for its tokens.
import type { Market } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import type { CategoryRecord } from '../records/catalogue-records.ts'
import { type Entry, identifier, type Json, wholeNumber } from './reading.ts'

/** The set and, below it, the set of its tokens, which are numbered on their own. */
export function setEntries(set: Json, market: Market): Entry[] {
  const code = identifier(set.code)
  const name = identifier(set.name)
  if (code === undefined) return [{ reject: reason('lacks', { thing: 'set', field: 'code' }) }]
  if (name === undefined) return [{ reject: reason('lacks', { thing: 'set', id: code, field: 'name' }) }]
  if (set.isOnlineOnly === true) return []
  const shops = { tcgplayer: wholeNumber(set.tcgplayerGroupId), cardmarket: wholeNumber(set.mcmId) }
  const foreignIds = Object.entries(shops).flatMap(([source, id]) => (id === undefined ? [] : [{ source, id: String(id) }]))
  const of: Omit<CategoryRecord, 'ref' | 'name'> = { market, game: 'magic', image: null }
  const own = { ...of, ref: refOf(code), name, parent: null, printedTotal: wholeNumber(set.baseSetSize) ?? null, codes: [code], foreignIds }
  const tokens = tokenCode(set)
  const category = { ...of, ref: refOf(tokens), name: `${name} Tokens`, parent: own.ref, codes: [tokens] }
  return [{ category: own }, ...(set.hasTokens === true ? [{ category }] : [])]
}

export const refOf = (code: string) => `mtgjson:set:${code}`
export const tokenCode = (set: Json) => identifier(set.tokenSetCode) ?? `T${identifier(set.code)}`
