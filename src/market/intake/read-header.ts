// Decides what each column of a listing file holds: by the account's own mapping, then by our names, then by those of shops and people.
import { spellingOf } from '#intake/column-names.ts'
import type { ColumnReading } from '#intake/csv-body.ts'
import { ColumnsOfHeader, type SavedColumns } from '#intake/read-columns.ts'
import { fieldNamed, SHOP_IDS } from './column-names.ts'
import { LISTING_FIELDS, type ListingField } from './listing-columns.ts'

/** A shop whose files are recognised by their header. */
export type Shop = 'tcgplayer' | 'cardmarket' | 'cardtrader'

/** Columns of TCGplayer's file, exactly as written: `cell` is where the row's reader expects it, if that is not the field. */
const TCGPLAYER_NAMES: ReadonlyMap<string, { field: ListingField; cell?: string }> = new Map(
  Object.entries<{ field: ListingField; cell?: string }>({
    'TCGplayer Id': { field: 'sku', cell: 'shop_sku' },
    'Product Line': { field: 'game' },
    'Set Name': { field: 'set' },
    'Product Name': { field: 'name' },
    Title: { field: 'title', cell: 'shop_title' },
    Number: { field: 'number' },
    Condition: { field: 'condition' },
    Printing: { field: 'finish' },
    'Product ID': { field: 'tcgplayer_id' },
    'Total Quantity': { field: 'quantity' },
    'Add to Quantity': { field: 'quantity', cell: 'add_quantity' },
    'TCG Marketplace Price': { field: 'price' },
    'Photo URL': { field: 'images' },
  }),
)
/** Fields for which our column comes before TCGplayer's. */
const OURS_FIRST: readonly ListingField[] = ['price', 'images']
/** Columns that identify a TCGplayer file. */
const TCGPLAYER_MARKS = ['Product Line', 'Product Name']
const MARKS: Readonly<Record<'cardmarket' | 'cardtrader', readonly string[]>> = {
  cardmarket: ['idproduct'],
  cardtrader: ['blueprintid', 'pricecents'],
}

/** The shop that the file comes from; null for a file of no known shop. */
export function shopOf(header: readonly string[]): Shop | null {
  if (TCGPLAYER_MARKS.every((name) => header.includes(name))) return 'tcgplayer'
  return (['cardmarket', 'cardtrader'] as const).find((shop) => header.some((name) => MARKS[shop].includes(spellingOf(name)))) ?? null
}

export interface HeaderReading {
  /** cell of a row as its reader names it → column as written */
  columns: ReadonlyMap<string, string>
  /** in the order of the header */
  readings: ColumnReading[]
}

/** @throws FeedError if two columns could be the same */
export function readHeader(header: readonly string[], shop: Shop | null, saved: SavedColumns<ListingField>): HeaderReading {
  const read = new ColumnsOfHeader<ListingField>(header)
  const { columns } = read
  read.takeSaved(saved)
  if (shop === 'tcgplayer') {
    for (const name of read.others()) {
      const { field, cell = field } = TCGPLAYER_NAMES.get(name) ?? {}
      if (field === undefined || columns.has(cell!) || read.isSaved(field)) continue
      if (!OURS_FIRST.includes(field) || !header.includes(field)) read.take(name, field, 'name', cell)
    }
    // `Number` and `Title` are columns of TCGplayer's own, so ours must be written exactly in its file.
    read.takeExact(LISTING_FIELDS, (name) => name)
    return { columns, readings: read.readings() }
  }
  read.takeExact(LISTING_FIELDS)
  read.takeNamed(fieldNamed)
  // The row's id in the shop identifies exactly one stock unit of the seller.
  const id = shop && read.others().find((name) => spellingOf(name) === SHOP_IDS[shop])
  if (id && !columns.has('sku')) read.take(id, 'sku', 'name')
  return { columns, readings: read.readings() }
}
