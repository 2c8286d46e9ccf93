// Decides what each column of a listing file holds: by the account's own mapping, then by our names, then by those of shops and people.
import { FeedError } from '#core/files/feed.ts'
import { reason } from '#core/problems.ts'
import { columnName } from '#intake/column-name.ts'
import type { ColumnReading } from '#intake/csv-body.ts'
import { fieldNamed, SHOP_IDS, spellingOf } from './column-names.ts'
import { LISTING_FIELDS, type ListingField, type SavedColumns } from './listing-columns.ts'

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
export function readHeader(header: readonly string[], shop: Shop | null, saved: SavedColumns): HeaderReading {
  const columns = new Map<string, string>()
  const taken = new Map<string, Omit<ColumnReading, 'column'>>()
  const take = (name: string, field: ListingField, how: 'saved' | 'exact' | 'name', cell: string = field) => {
    columns.set(cell, name)
    taken.set(name, { field, how })
  }
  const others = () => header.filter((name) => !taken.has(name))
  const isSaved = (field: string) => taken.get(columns.get(field) ?? '')?.how === 'saved'

  for (const [field, names] of bySpelling(header, (name) => saved.get(spellingOf(name)))) {
    if (field === null) for (const name of names) taken.set(name, { field, how: 'saved' })
    else if (names.length > 1) throw claimedTwice('columns_mapped', field, names)
    else take(names[0]!, field, 'saved')
  }
  if (shop === 'tcgplayer') {
    for (const name of others()) {
      const { field, cell = field } = TCGPLAYER_NAMES.get(name) ?? {}
      if (field === undefined || columns.has(cell!) || isSaved(field)) continue
      if (!OURS_FIRST.includes(field) || !header.includes(field)) take(name, field, 'name', cell)
    }
  }
  for (const name of others()) {
    // `Number` and `Title` are columns of TCGplayer's own, so ours must be written exactly in its file.
    const own = (shop === 'tcgplayer' ? name : name.trim().toLowerCase()) as ListingField
    if (!LISTING_FIELDS.includes(own)) continue
    if (isSaved(own)) throw claimedTwice('columns_mapped', own, [columns.get(own)!, name])
    if (!columns.has(own)) take(name, own, 'exact')
  }
  if (shop === 'tcgplayer') return { columns, readings: inOrder(header, taken) }
  for (const [field, names] of bySpelling(others(), fieldNamed)) {
    if (field === null || columns.has(field)) continue
    if (names.length > 1) throw claimedTwice('columns_unclear', field, names)
    take(names[0]!, field, 'name')
  }
  // The row's id in the shop identifies exactly one stock unit of the seller.
  const id = shop && others().find((name) => spellingOf(name) === SHOP_IDS[shop])
  if (id && !columns.has('sku')) take(id, 'sku', 'name')
  return { columns, readings: inOrder(header, taken) }
}

/** The columns by what they hold. Of several with one spelling, only the first counts, unless they hold nothing. */
function bySpelling(header: readonly string[], fieldOf: (name: string) => ListingField | null | undefined): Map<ListingField | null, string[]> {
  const columns = new Map<ListingField | null, string[]>()
  for (const name of header) {
    const field = fieldOf(name)
    if (field === undefined) continue
    const names = columns.get(field) ?? []
    if (field === null || !names.some((other) => spellingOf(other) === spellingOf(name))) columns.set(field, [...names, name])
  }
  return columns
}

function claimedTwice(rule: 'columns_mapped' | 'columns_unclear', column: ListingField, names: readonly string[]): FeedError {
  return new FeedError(reason(rule, { column, values: names.map(columnName) }))
}

function inOrder(header: readonly string[], taken: ReadonlyMap<string, Omit<ColumnReading, 'column'>>): ColumnReading[] {
  return header.map((column) => ({ column, ...(taken.get(column) ?? { field: null, how: null }) }))
}
