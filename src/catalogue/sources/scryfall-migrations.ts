// Reads Scryfall's migrations: ids of printings that it has given up.
import { reason } from '#core/problems.ts'
import { languageOf } from './magic-printings.ts'
import { type Entry, identifier, isObject, type Json, text } from './reading.ts'

/** An id that Scryfall has replaced by another (`merge`), or withdrawn (`delete`). */
export function migrationEntry(row: Json): Entry[] | null {
  if (row.object !== 'migration') return null
  const from = identifier(row.old_scryfall_id)
  const into = identifier(row.new_scryfall_id)
  if (from === undefined) return [{ reject: reason('lacks', { thing: 'card', field: 'old_scryfall_id' }) }]
  if (into === undefined && row.migration_strategy !== 'delete')
    return [{ reject: reason('lacks', { thing: 'card', id: from, field: 'new_scryfall_id' }) }]
  const language = isObject(row.metadata) ? languageOf(text(row.metadata.lang) ?? 'en') : 'en'
  return [{ moved: { source: 'scryfall', from: idIn(language, from), into: into === undefined ? null : idIn(language, into) } }]
}

/** The id of a printing, which starts with its language unless that is English. */
export const idIn = (language: string, id: string): string => (language === 'en' ? id : `${language}:${id}`)
