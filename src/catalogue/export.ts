// Writes the catalogue as our own lossless NDJSON: parents before children, then items with their current prices.
import { sql } from 'kysely'
import { labelOrder } from '#core/labels.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import { rowBatches } from '#db/row-batches.ts'
import type { Db, Queryable } from '#db/schema.ts'
import { loadSourceTerms } from '#prices/records/source-terms.ts'
import { isRedistributed } from './catalogue-rows.ts'
import { categoryLine, itemLine } from './sources/mintmark-ndjson.ts'
import type { CategoryRecord, ForeignId, Genre, ItemImage, ItemRecord } from './records/catalogue-records.ts'
import { detailsFromRow } from './records/details.ts'

export interface ExportFilter {
  market?: Market
  game?: string
  /** also the prices of sources that may not be passed on: for a copy of the operator's own */
  allPrices?: boolean
}

const BATCH = 500

/**
 * The lines of an export in chunks, from one database snapshot; the same catalogue produces the same bytes on any database. A
 * filtered export includes the categories that its items need.
 */
export async function* exportCatalogue(db: Pick<Db, 'kysely'>, filter: ExportFilter = {}): AsyncIterable<string> {
  const tx = await db.kysely.startTransaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute()
  try {
    const prices = filter.allPrices ? sql`true` : isRedistributed(await loadSourceTerms(tx))
    yield* inChunks(await categoriesOf(tx, filter), (record) => categoryLine(record))
    const items = sql`
      select i.market, i.ref, i.name, i.code, i.slug, i.genre, i.game, c.ref as category, i.images, i.attributes, i.details,
        array(select g.slug from groups g where g.id = any(i.group_ids) order by g.id) as groups,
        (select json_agg(json_build_object('source', f.source, 'id', f.foreign_id, 'finish', f.finish)
           order by f.source collate "C", f.foreign_id collate "C", f.finish collate "C")
         from item_foreign_ids f where f.item_id = i.id) as foreign_ids,
        (select json_agg(json_build_object('market', p.market, 'label', l.name, 'price', p.price::text,
                                           'at_ms', extract(epoch from p.updated_at) * 1000))
         from prices p join groups l on l.id = p.label_id where p.item_id = i.id and ${prices}) as prices
      from items i join categories c on c.id = i.category_id
      where ${filter.market ?? null}::text is null or i.market = ${filter.market ?? null}::text
      order by i.market collate "C", i.ref collate "C"`
    for await (const rows of rowBatches<ExportedItem>(tx, items, BATCH)) {
      const wanted = filter.game === undefined ? rows : rows.filter((row) => row.game === filter.game)
      yield* inChunks(wanted, (row) => itemLine(itemOf(row)))
    }
  } finally {
    await tx.rollback().execute()
  }
}

interface ExportedItem {
  market: Market
  ref: string
  name: string
  code: string | null
  slug: string
  genre: Genre
  game: string
  category: string
  images: ItemImage[]
  attributes: { name: string; value: string }[]
  details: Record<string, unknown>
  groups: string[]
  foreign_ids: ForeignId[] | null
  prices: { market: number; label: string; price: string; at_ms: number }[] | null
}

function itemOf({ foreign_ids, prices, details, ...row }: ExportedItem): ItemRecord {
  const inOrder = (prices ?? [])
    .map((price) => ({ price, order: `${price.market} ${labelOrder(price.label)}` }))
    .sort((a, b) => (a.order < b.order ? -1 : 1))
  return {
    ...row,
    details: detailsFromRow(details),
    foreignIds: (foreign_ids ?? []).map(({ source, id, finish }) => ({ source, id, ...(finish && { finish }) })),
    ...(prices && {
      prices: inOrder.map(({ price: { market, label, price, at_ms: atMs } }) => ({
        market: MARKETS[market]!,
        label,
        price,
        updatedAt: new Date(atMs).toISOString().replace('.000Z', 'Z'),
      })),
    }),
  }
}

async function categoriesOf(on: Queryable, { market, game }: ExportFilter): Promise<CategoryRecord[]> {
  const { rows } = await sql<Required<CategoryRecord> & { printed_total: number | null }>`
    with recursive exported_categories as (
      select c.id, c.parent_id from categories c
      where (${market ?? null}::text is null or c.market = ${market ?? null}::text)
        and (${game ?? null}::text is null or c.game = ${game ?? null}::text
             or exists (select from items i where i.category_id = c.id and i.game = ${game ?? null}::text))
      union select c.id, c.parent_id from categories c join exported_categories w on c.id = w.parent_id
    ), deep as (
      select id, 0 as depth from categories where parent_id is null
      union all select c.id, d.depth + 1 from categories c join deep d on c.parent_id = d.id
    )
    select c.market, c.ref, c.name, c.slug, c.game, p.ref as parent, c.image, c.printed_total
    from categories c join deep d using (id) left join categories p on p.id = c.parent_id
    where c.id in (select id from exported_categories)
    order by d.depth, c.market collate "C", c.ref collate "C"`.execute(on)
  return rows.map(({ printed_total: printedTotal, ...row }) => ({ ...row, ...(printedTotal !== null && { printedTotal }) }))
}

function* inChunks<T>(records: readonly T[], line: (record: T) => string): Iterable<string> {
  for (let from = 0; from < records.length; from += BATCH) {
    yield records
      .slice(from, from + BATCH)
      .map((record) => `${line(record)}\n`)
      .join('')
  }
}
