// Reads MTGJSON's sealed products: boosters, boxes, decks and bundles of a set.
import type { Market } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import { attributeList, type Entry, identifier, isObject, type Json, text } from './reading.ts'

const FACTS = ['uuid', 'name', 'category', 'subtype', 'releaseDate', 'language']
const IDENTIFIERS: Readonly<Record<string, string>> = { tcgplayerProductId: 'tcgplayer', mcmId: 'cardmarket' }

/** Only the facts of a product that its item needs. */
export function sealedFacts(product: Json): Json {
  const ids = isObject(product.identifiers) ? product.identifiers : {}
  return {
    ...Object.fromEntries(FACTS.filter((fact) => fact in product).map((fact) => [fact, product[fact]])),
    identifiers: Object.fromEntries(Object.keys(IDENTIFIERS).map((id) => [id, ids[id]])),
  }
}

/** @param category ref of its set */
export function sealedEntries(row: Json, market: Market, category: string): Entry[] {
  const id = identifier(row.uuid)
  if (id === undefined) return [{ reject: reason('lacks', { thing: 'product', field: 'uuid' }) }]
  const name = identifier(row.name)
  if (name === undefined) return [{ reject: reason('lacks', { thing: 'product', id, field: 'name' }) }]
  const ids = row.identifiers as Json
  return [
    {
      key: { source: 'mtgjson', id, finish: '' },
      item: {
        market,
        ref: `mtgjson:${id}`,
        name,
        code: null,
        genre: 'sealed',
        game: 'magic',
        category,
        images: [],
        attributes: attributeList([
          ['Product Type', kindOf(row)],
          ['Release Date', text(row.releaseDate)],
          ['Language', text(row.language)],
        ]),
        groups: ['ungraded'],
        details: {},
        foreignIds: Object.entries(IDENTIFIERS).flatMap(([field, source]) => {
          const other = identifier(ids[field])
          return other === undefined ? [] : [{ source, id: other }]
        }),
      },
    },
  ]
}

/** `booster_box` and `collector` → `Collector Booster Box`; MTGJSON writes `unknown` and `default` where it states none. */
function kindOf({ category, subtype }: Json): string | undefined {
  const stated = [text(subtype), text(category)].filter((word) => word !== undefined && !['unknown', 'default', 'other'].includes(word.toLowerCase()))
  if (stated.length === 0) return undefined
  const words = stated.flatMap((word) => word!.toLowerCase().split('_'))
  return [...new Set(words)].map((word) => `${word[0]!.toUpperCase()}${word.slice(1)}`).join(' ')
}
