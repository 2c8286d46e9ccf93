// Imported listings and parked rows as returned by verbs.
import type { CatalogueNode } from '#catalogue/context.ts'
import { orNull } from '#core/fields.ts'
import { ReasonFields, type Static, Type } from '#core/input.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { CandidateFields } from '#intake/parked.ts'
import { RECOGNISED_BY } from '#intake/read-columns.ts'
import { Forecasting, type MarketCtx, OwnListingSchema } from '../marketplace-types.ts'
import { QUEUED } from '../records/rules.ts'
import { LISTING_FIELDS } from './listing-columns.ts'

export interface IntakeCtx extends WriteCtx, CatalogueNode, Pick<MarketCtx, 'market'> {}

const Candidates = Type.Array(Type.Object(CandidateFields, { title: 'ListingCandidate' }), {
  description: 'Possible items for the row, best match first',
})
const Line = Type.Integer({ description: 'Line number in the file; for JSON, the position of the row, from 1' })
const Why = Type.Object({ message: Type.String(), ...ReasonFields })

export const ROW_OUTCOMES = ['created', 'parked', 'refused'] as const

const Report = {
  created: Type.Integer({ description: 'Rows that created a listing, pending approval' }),
  parked: Type.Integer({ description: 'Rows parked until you choose their item' }),
  refused: Type.Integer({ description: 'Rows rejected because of errors' }),
  passed_over: Type.Integer({ description: 'Rows of a file of TCGplayer, Cardmarket or CardTrader without stock' }),
  ignored_columns: Type.Array(Type.String(), { description: 'Columns of the CSV that were not read' }),
}
const ConversionFields = {
  amount: Type.Number({ description: 'As stated in the row' }),
  currency: Type.String({ description: 'Of the row' }),
  rate: Type.Number({ description: 'TL for one unit of the currency' }),
  rate_day: Type.String({ format: 'date', description: 'The day of the rate: the last known one' }),
  price: Type.Number({ description: 'In TL, half a kuruş rounded up' }),
}
const ImportId = (description: string) => Type.Integer({ description })

export const ListingImportSchema = Type.Object(
  {
    id: orNull(ImportId('Id of the import; null in a dry run')),
    ...Report,
    columns: Type.Array(
      Type.Object(
        {
          column: Type.String({ description: 'Name in the header, at most 100 characters of it' }),
          field: orNull(Type.Enum(LISTING_FIELDS), { description: 'What it was taken as; null: it was not read' }),
          how: orNull(Type.Enum(RECOGNISED_BY), {
            description:
              '`saved`: by the columns that you saved; `exact`: it has the name of the field; `name`: a name that shops and people use; ' +
              'null: not recognised',
          }),
        },
        { title: 'ListingImportColumn' },
      ),
      { description: 'How the first 100 columns of the CSV were understood, in their order; empty for JSON' },
    ),
    rows: Type.Array(
      Type.Object(
        {
          line: Line,
          sku: orNull(Type.String()),
          outcome: Type.Enum([...ROW_OUTCOMES]),
          listing_id: orNull(Type.Integer(), { description: 'Id of the created listing' }),
          parked_id: orNull(Type.Integer(), { description: 'Id of the parked row' }),
          candidates: Candidates,
          why: orNull(Why, { description: 'Why the row is parked' }),
          refused: orNull(Type.Array(Type.Object({ field: Type.String(), message: Type.String(), ...ReasonFields })), {
            description: 'Why the row is refused, by field',
          }),
          converted: orNull(Type.Object(ConversionFields, { title: 'ConvertedPrice' }), {
            description: 'How the price was converted to TL; null for a row in TL',
          }),
        },
        { title: 'ListingImportRow' },
      ),
      { description: 'In file order' },
    ),
  },
  { title: 'ListingImport' },
)
export type ListingImport = Static<typeof ListingImportSchema>
export type ListingImportRow = ListingImport['rows'][number]

const RemovalFields = {
  removed: Type.Integer({ description: 'Listings removed by the undo' }),
  kept: Type.Integer({ description: 'Listings kept by the undo: sold, changed or highlighted since the import' }),
  dropped: Type.Integer({ description: 'Parked rows of the import discarded by the undo' }),
}

export const ListingImportSummarySchema = Type.Object(
  {
    id: ImportId('Id of the import'),
    ...Report,
    created_at: Type.String({ format: 'date-time', description: 'When it was imported, local time with offset' }),
    undone_at: orNull(Type.String({ format: 'date-time' }), { description: 'When it was undone, local time with offset; null if it was not' }),
    removed: orNull(RemovalFields.removed),
    kept: orNull(RemovalFields.kept),
    dropped: orNull(RemovalFields.dropped),
  },
  { title: 'ListingImportSummary' },
)
export type ListingImportSummary = Static<typeof ListingImportSummarySchema>

export const UndoneImportSchema = Type.Object(
  {
    id: ImportId('Id of the import'),
    ...RemovalFields,
    rows: Type.Array(
      Type.Object(
        {
          listing_id: Type.Integer(),
          sku: orNull(Type.String()),
          outcome: Type.Enum(['removed', 'kept']),
          why: orNull(Why, { description: 'Why the listing was kept; null if it was removed' }),
        },
        { title: 'UndoneImportRow' },
      ),
      { description: 'Listings of the import that still existed, by id' },
    ),
  },
  { title: 'UndoneListingImport' },
)
export type UndoneImport = Static<typeof UndoneImportSchema>

export const ParkedListingSchema = Type.Object(
  {
    id: Type.Integer(),
    line: Line,
    sku: orNull(Type.String()),
    name: Type.String({ description: 'As written in the row, as are number, set, finish and grade' }),
    number: orNull(Type.String()),
    set: orNull(Type.String()),
    finish: orNull(Type.String()),
    grade: orNull(Type.String()),
    title: orNull(Type.String({ description: 'null if it will be generated from the item' })),
    price: Type.Number({ description: 'In TL' }),
    quantity: Type.Integer(),
    why: Why,
    candidates: Candidates,
    parked_at: Type.String({ format: 'date-time', description: 'Local time with offset' }),
  },
  { title: 'ParkedListing' },
)
export type ParkedListing = Static<typeof ParkedListingSchema>

export const CreatedListingSchema = Type.Object({ ...OwnListingSchema.properties, ...Forecasting }, { title: 'CreatedListing' })
export type CreatedListing = Static<typeof CreatedListingSchema>

export const PlacedListingSchema = Type.Object(
  { id: Type.Integer({ description: 'Of the listing' }), title: Type.String(), status: Type.Enum([QUEUED]) },
  { title: 'PlacedListing' },
)
export type PlacedListing = Static<typeof PlacedListingSchema>
