// The tables of a dump: the source of their rows, and their Parquet columns.
import { type RawBuilder, sql } from 'kysely'
import type { SchemaElement } from 'hyparquet'
import { isRedistributed, pointRow, priceRow, selectCategories, selectItems, selectPoints, selectPrices } from '#catalogue/catalogue-rows.ts'
import type { Market } from '#core/markets.ts'
import { parseMinor } from '#core/money.ts'
import { monthAfter } from '#core/time.ts'
import { priceMonths } from '#db/price-months.ts'
import type { Tx } from '#db/schema.ts'
import { archivedMonths } from '#files/month-archive.ts'
import { loadSourceTerms } from '#prices/records/source-terms.ts'
import type { PriceArchive } from '#prices/archive/price-archive.ts'
import { archivedRows } from './archived-points.ts'

export interface DumpColumn {
  name: string
  element: Omit<SchemaElement, 'name'>
  /** converts a row's value to Parquet; by default, the row's field of this name */
  value?: (row: Row) => unknown
}

export type Row = Record<string, unknown>

export interface DumpTable {
  /** prefix of its file names, such as `items` */
  name: string
  select: RawBuilder<unknown>
  /** rows that are no longer in the database, in batches; written first */
  archived?: () => AsyncIterable<unknown[]>
  /** converts a stored row to the form in dumps */
  rowOf: (stored: never) => object
  columns: readonly DumpColumn[]
}

const text = (name: string, nullable = false): DumpColumn => ({
  name,
  element: { type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: nullable ? 'OPTIONAL' : 'REQUIRED' },
})
const integer = (name: string, nullable = false): DumpColumn => ({
  name,
  element: { type: 'INT32', repetition_type: nullable ? 'OPTIONAL' : 'REQUIRED' },
})
const json = (name: string): DumpColumn => ({ name, element: { type: 'BYTE_ARRAY', converted_type: 'JSON', repetition_type: 'REQUIRED' } })
const time = (name: string): DumpColumn => ({
  name,
  element: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', repetition_type: 'REQUIRED' },
  value: (row) => new Date(row[name] as string),
})
/** Parsed from its digits, because a number multiplied by 100 is not always an integer. */
const amount = (name: string): DumpColumn => ({
  name,
  element: { type: 'INT64', converted_type: 'DECIMAL', precision: 12, scale: 2, repetition_type: 'REQUIRED' },
  value: (row) => BigInt(parseMinor(String(row[name]))!),
})

const CATEGORY_COLUMNS = [
  integer('id'),
  text('market'),
  text('ref'),
  text('name'),
  text('slug'),
  text('game'),
  integer('parent_id', true),
  text('image', true),
  integer('printed_total', true),
]
const ITEM_COLUMNS = [
  integer('id'),
  text('market'),
  text('ref'),
  text('name'),
  text('code', true),
  text('slug'),
  text('genre'),
  text('game'),
  integer('category_id'),
  json('images'),
  json('attributes'),
  json('groups'),
  json('details'),
  json('foreign_ids'),
]
const PRICE_COLUMNS = [integer('item_id'), text('market'), text('label'), amount('price'), text('currency'), time('updated_at')]
const POINT_COLUMNS = [integer('item_id'), text('market'), text('label'), amount('price'), time('at')]

const ALL = sql`true`

/** The tables in the order that readers need; price points by month, oldest first. */
export async function dumpTables(tx: Tx, archive: PriceArchive, currencies: Readonly<Record<Market, string>>): Promise<DumpTable[]> {
  const passedOn = isRedistributed(await loadSourceTerms(tx))
  const files = new Map((await archivedMonths('price_archives', tx)).flatMap(({ month, file }) => (file === null ? [] : [[month, file] as const])))
  const months = [...new Set([...(await monthsWithPoints(tx, passedOn)), ...files.keys()])].sort()
  const asIs = (row: object) => row
  return [
    { name: 'categories', select: selectCategories(ALL), rowOf: asIs, columns: CATEGORY_COLUMNS },
    { name: 'items', select: selectItems(ALL), rowOf: asIs, columns: ITEM_COLUMNS },
    { name: 'prices', select: selectPrices(passedOn), rowOf: (row) => priceRow(row, currencies), columns: PRICE_COLUMNS },
    ...months.map((month): DumpTable => {
      const file = files.get(month)
      return {
        name: `price-points-${month}`,
        select: selectPoints(sql`${inMonth(month)} and ${passedOn}`),
        ...(file !== undefined && { archived: () => archivedPoints(tx, archive, file, passedOn) }),
        rowOf: pointRow,
        columns: POINT_COLUMNS,
      }
    }),
  ]
}

async function* archivedPoints(tx: Tx, archive: PriceArchive, file: string, passedOn: RawBuilder<unknown>): AsyncGenerator<unknown[]> {
  yield* archivedRows(tx, await archive.files.open(file), passedOn)
}

/** Partitions are created in advance and kept after retention has emptied them; empty months have no file. */
async function monthsWithPoints(tx: Tx, passedOn: RawBuilder<unknown>): Promise<string[]> {
  const months: string[] = []
  for (const month of await priceMonths(tx)) {
    const { rows } = await sql`select from price_points p where ${inMonth(month)} and ${passedOn} limit 1`.execute(tx)
    if (rows.length > 0) months.push(month)
  }
  return months
}

/** Condition on `price_points p`. */
function inMonth(month: string): RawBuilder<unknown> {
  return sql`p.updated_at >= ${`${month}-01T00:00:00Z`}::timestamptz and p.updated_at < ${`${monthAfter(month)}-01T00:00:00Z`}::timestamptz`
}
