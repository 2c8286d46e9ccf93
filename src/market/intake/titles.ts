// Default title of a listing.
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { candidateOf } from '#collections/import/match.ts'
import { fitsCharacters } from '#core/text.ts'
import { MAX_TITLE_LENGTH } from '../records/fields.ts'

/** Name, number and set of the item, shortened to fit: `Charizard 4/102, Base Set`; '' for an unknown item. */
export function titleOf(catalogue: Catalogue, itemId: number): string {
  const row = catalogue.items.rowOf(itemId)
  if (row < 0) return ''
  const { name, code, set } = candidateOf(catalogue, row)
  const numbered = code === null ? name : `${name} ${code}`
  const whole = set === '' ? numbered : `${numbered}, ${set}`
  return [whole, numbered].find((text) => fitsCharacters(text, MAX_TITLE_LENGTH)) ?? name
}
