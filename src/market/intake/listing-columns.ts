// The columns of listings that an import reads: ours, and those that are translated to ours.
import { namedValues } from '#core/named-values.ts'
import { CERTIFICATE_COLUMNS } from '#intake/certificate-cells.ts'

export const TEXT_COLUMNS = [
  'sku',
  'name',
  'number',
  'set',
  'finish',
  'game',
  'language',
  'title',
  'shipping_payer',
  'tcgplayer_id',
  'cardmarket_id',
  'currency',
] as const
export const NUMBER_COLUMNS = ['listing_id', 'item_id', 'quantity'] as const
export const AMOUNT_COLUMNS = ['price', 'min_offer_price'] as const
/** Columns for the condition or grade; the first non-empty one applies. */
export const GRADE_COLUMNS = ['grade', 'condition', 'state'] as const
const OTHER_COLUMNS = ['description', 'images', 'offers_enabled'] as const
/** Columns that are read in no other way than by `ownCells`. */
const TRANSLATED = ['local_name', 'set_code', 'foil', 'reverse', 'first_edition', 'signed', 'altered', 'playset', 'graded', 'price_cents'] as const

/** What a column of a file can hold. */
export const LISTING_FIELDS = namedValues('ListingColumnField', [
  ...TEXT_COLUMNS,
  ...NUMBER_COLUMNS,
  ...AMOUNT_COLUMNS,
  ...GRADE_COLUMNS,
  ...OTHER_COLUMNS,
  ...CERTIFICATE_COLUMNS,
  ...TRANSLATED,
])
export type ListingField = (typeof LISTING_FIELDS)[number]
