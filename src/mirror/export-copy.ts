// Exports a copy as mintmark-ndjson: byte for byte the same as `mintmark export` on the mirrored service.
import { detailsFromRow } from '#catalogue/records/details.ts'
import type { CategoryRow, ItemRow, PriceRow } from '#catalogue/catalogue-rows.ts'
import type { ItemRecord } from '#catalogue/records/catalogue-records.ts'
import { categoryLine, itemLine } from '#catalogue/sources/mintmark-ndjson.ts'
import { labelOrder } from '#core/labels.ts'
import { MARKETS } from '#core/markets.ts'
import { minorOfNumber, minorToText } from '#core/money.ts'
import type { CatalogueCopy } from './copy.ts'

/** Lines with line ends: parents before children, then items with their current prices. */
export async function* exportCopy(copy: CatalogueCopy): AsyncIterable<string> {
  const categories = new Map(copy.categories().map((row) => [row.id, row]))
  const depthOf = ({ parent_id }: CategoryRow): number => (parent_id === null ? 0 : 1 + depthOf(categories.get(parent_id)!))
  const inOrder = [...categories.values()].map((row) => ({ row, depth: depthOf(row) })).sort((a, b) => a.depth - b.depth || byRef(a.row, b.row))
  for (const { row } of inOrder) {
    const { market, ref, name, slug, game, parent_id: parentId, image, printed_total: printedTotal } = row
    const parent = parentId === null ? null : categories.get(parentId)!.ref
    yield `${categoryLine({ market, ref, name, slug, game, parent, image, ...(printedTotal !== null && { printedTotal }) })}\n`
  }
  for (const row of copy.items().sort(byRef)) yield `${itemLine(recordOf(row, categories.get(row.category_id)!.ref, copy.pricesOf(row.id)))}\n`
}

function recordOf(row: ItemRow, category: string, prices: PriceRow[]): ItemRecord {
  const { id: _id, category_id: _categoryId, details, foreign_ids: foreignIds, ...stated } = row
  const rank = (price: PriceRow) => `${MARKETS.indexOf(price.market)} ${labelOrder(price.label)}`
  const ranked = prices.map((price) => ({ price, rank: rank(price) })).sort((a, b) => (a.rank < b.rank ? -1 : 1))
  return {
    ...stated,
    category,
    details: detailsFromRow(details),
    foreignIds: foreignIds.map(({ source, id, finish }) => ({ source, id, ...(finish !== undefined && { finish }) })),
    ...(ranked.length > 0 && {
      prices: ranked.map(({ price }) => ({
        market: price.market,
        label: price.label,
        price: minorToText(minorOfNumber(price.price)!),
        updatedAt: price.updated_at,
      })),
    }),
  }
}

/** Byte order, as the database sorts. */
function byRef(a: { market: string; ref: string }, b: { market: string; ref: string }): number {
  return Buffer.compare(Buffer.from(a.market), Buffer.from(b.market)) || Buffer.compare(Buffer.from(a.ref), Buffer.from(b.ref))
}
