// Reads Cardmarket's list of products other than single cards: boosters, displays, decks, tins, lots.
import { FeedError, type FeedLine, type FeedSource } from '#core/files/feed.ts'
import type { Market } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import { GAMES } from '#games/games.ts'
import type { CatalogueFormat, Genre } from '../records/catalogue-records.ts'
import { attributeList, catalogueRows, documentLines, type Entry, type Json, text, wholeNumber } from './reading.ts'

// Refs: `cardmarket:game:<game>` (root), `cardmarket:category:<idCategory>`, `cardmarket:<idProduct>`.

/** Categories of several products or loose cards; all other categories are single sealed products. */
const BUNDLES = new Set(['Lot', 'Lots', 'Sets'])

const UNKNOWN_DATE = '2007-01-01'

export const cardmarketProducts: CatalogueFormat = {
  name: 'cardmarket-products',
  title: 'Cardmarket products other than single cards (JSON with version, createdAt, products)',
  defaultMarket: 'source_b',
  marks: [{ type: 'json', names: ['products', 'idProduct', 'categoryName'] }],
  open(market) {
    return (source) => catalogueRows(productLines(source), 'cardmarket-products', productReader(market))
  },
}

async function* productLines(source: FeedSource): AsyncIterable<FeedLine<Json>[]> {
  let rows = 0
  for await (const lines of documentLines(source, '$.products.*')) {
    rows += lines.length
    yield lines
  }
  if (rows === 0) throw new FeedError(reason('file_format', { format: 'cardmarket-products', values: 'products' }))
}

function productReader(market: Market): (row: Json) => Entry[] | null {
  const refsRead = new Set<string>()
  return (row) => {
    if (!('idProduct' in row) || !('categoryName' in row)) return null
    const id = wholeNumber(row.idProduct)
    if (id === undefined) return [{ reject: reason('lacks', { thing: 'product', field: 'idProduct' }) }]
    const name = text(row.name)
    if (name === undefined) return [{ reject: reason('lacks', { thing: 'product', id, field: 'name' }) }]
    const categoryName = text(row.categoryName) ?? ''
    const game = GAMES.all.find(({ shopNames }) => categoryName.startsWith(`${shopNames.cardmarket} `))
    const categoryId = wholeNumber(row.idCategory)
    if (game === undefined || categoryId === undefined) {
      return [{ reject: reason('product_category', { id, value: categoryName }) }]
    }
    const kind = kindOf(categoryName, game.shopNames.cardmarket)
    if (kind === 'Coins') return [{ reject: reason('product_category', { id, value: categoryName }) }]
    const root = `cardmarket:game:${game.slug}`
    const category = `cardmarket:category:${categoryId}`
    const of = { market, game: game.slug, image: null }
    const categories = [
      { ...of, ref: root, name: game.name, parent: null },
      { ...of, ref: category, name: `${game.name} ${kind}`, parent: root },
    ].filter(({ ref }) => !refsRead.has(ref) && refsRead.add(ref))
    const genre: Genre = BUNDLES.has(kind) ? 'bundle' : 'sealed'
    const listed = text(row.dateAdded)?.slice(0, 10)
    return [
      ...categories.map((c) => ({ category: c })),
      {
        key: { source: 'cardmarket', id: String(id), finish: '' },
        item: {
          market,
          ref: `cardmarket:${id}`,
          name,
          code: null,
          genre,
          game: game.slug,
          category,
          images: [],
          attributes: attributeList([
            ['Product Type', kind],
            ['Listed Since', listed === UNKNOWN_DATE ? undefined : listed],
          ]),
          groups: ['ungraded'],
          details: {},
          foreignIds: [{ source: 'cardmarket', id: String(id) }],
        },
      },
    ]
  }
}

/** `Pokémon Display` → `Display`; one category contains the game's name twice. */
function kindOf(categoryName: string, game: string): string {
  let kind = categoryName
  while (kind.startsWith(`${game} `)) kind = kind.slice(game.length + 1)
  return kind
}
