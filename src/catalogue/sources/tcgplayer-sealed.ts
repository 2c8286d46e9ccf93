// Reads a list of TCGplayer's sealed Pokémon products (CSV).
import { csvRows } from '#core/files/feed.ts'
import type { Market } from '#core/markets.ts'
import { problem, reason } from '#core/problems.ts'
import { gameOf } from '#games/games.ts'
import type { CatalogueFormat } from '../records/catalogue-records.ts'
import { address, attributeList, catalogueRows, type Entry, text, wholeNumber } from './reading.ts'

// Refs: `tcgplayer:sealed` (the only category), `tcgplayer:<productId>`. `set_code` is a TCGplayer group id whose name the file does not
// state, so it does not become a category.
const CATEGORY = 'tcgplayer:sealed'
const COLUMNS = ['productId', 'name', 'imageUrl', 'set_code']

/** Names of multi-packs; a pencil case or a "Case File" is a single product. */
const MULTI_PACK = /\b(?:Case|Display|Bundle)\b|\[Set of \d+\]/
const NO_CASES = /Pencil Case\b|\bCase File/g

export const tcgplayerSealed: CatalogueFormat = {
  name: 'tcgplayer-sealed',
  title: 'TCGplayer sealed products (CSV with productId, name, imageUrl, set_code)',
  defaultMarket: 'source_c',
  marks: [{ type: 'csv', names: COLUMNS }],
  open(market) {
    return (source) => {
      const rows = csvRows(source, COLUMNS)
      return catalogueRows(rows, 'tcgplayer-sealed', productReader(market))
    }
  },
}

function productReader(market: Market): (row: Record<string, string>) => Entry[] | null {
  let first = true
  return (row) => {
    const id = wholeNumber(row.productId)
    if (id === undefined) return [{ reject: problem('productId', 'id', { value: row.productId! }) }]
    const name = text(row.name)?.replace(/\s+/g, ' ')
    if (name === undefined) return [{ reject: reason('lacks', { thing: 'product', id, field: 'name' }) }]
    const image = address(row.imageUrl)
    const category: Entry[] = first
      ? [{ category: { market, ref: CATEGORY, name: `${gameOf('pokemon').name} Sealed`, game: 'pokemon', parent: null, image: null } }]
      : []
    first = false
    return [
      ...category,
      {
        key: { source: 'tcgplayer', id: String(id), finish: '' },
        item: {
          market,
          ref: `tcgplayer:${id}`,
          name,
          code: null,
          genre: MULTI_PACK.test(name.replace(NO_CASES, '')) ? 'bundle' : 'sealed',
          game: 'pokemon',
          category: CATEGORY,
          images: image === undefined ? [] : [{ url: image, order: 1 }],
          attributes: attributeList([['Release Date', text(row.releaseDate)]]),
          groups: ['ungraded'],
          details: {},
          foreignIds: [{ source: 'tcgplayer', id: String(id) }],
        },
      },
    ]
  }
}
