// SQL of saved mappings, and their form in the operator API.
import { notFound } from '#core/errors.ts'
import { name as named } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { DECIMAL_SIGNS, ENCODINGS, MAPPED_FIELDS, type PriceMapping, YEARS } from '../records/mappings.ts'

const closed = { additionalProperties: false } as const
const texts = (description: string, example: Record<string, string>) =>
  Type.Record(Type.String(), Type.String({ maxLength: 500 }), { description, examples: [example] })

/** The name of a saved mapping. */
export const mappingName = () => named('Name of the mapping')

/** Fields of a mapping besides its columns. */
export const MAPPING_OPTIONS = {
  currency: Type.Optional(
    Type.String({
      pattern: '^[A-Z]{3}$',
      allowed: reason('currency'),
      description: "Currency of the prices; default: the market's. Another currency is converted at the rates of the prices' days",
      examples: ['EUR'],
    }),
  ),
  market: Type.Optional(Type.Enum([...MARKETS], { description: 'Market of the prices' })),
  decimal: Type.Optional(
    Type.Enum([...DECIMAL_SIGNS], {
      description: 'Decimal separator; if it is missing, ambiguous amounts such as 1,234 are rejected',
    }),
  ),
  encoding: Type.Optional(Type.Enum([...ENCODINGS], { description: 'Default: utf-8' })),
  years: Type.Optional(
    Type.Enum([...YEARS], {
      description:
        'Default: `stated`. `guessed`: the list knows only day and month, so each date gets the latest year in which it is not after `recorded_at`',
    }),
  ),
  condition_known: Type.Optional(
    Type.Boolean({
      description:
        'Whether ungraded prices are of the condition that their label states; false for trends and averages over all conditions, which are compared with a wider band. Default: true',
    }),
  ),
  entries: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'For JSON: path to nested entries that are rows, with * for any member; their name becomes the column @key',
      examples: ['printings.*'],
    }),
  ),
}

export const PriceMappingSchema = Type.Object(
  {
    columns: texts(
      `Column of each field, or an expression: {name} {type} joins columns, {key/::/1} takes a part, =text is a constant. Fields: ${MAPPED_FIELDS.join(', ')}; price[PSA 10] is a price with that label`,
      { price: 'eur_price', set: 'set', number: 'number', name: 'name' },
    ),
    ...MAPPING_OPTIONS,
    only: Type.Optional(texts('Only import rows with these values', { type: 'Card' })),
  },
  { ...closed, title: 'PriceMapping' },
)

export const SavedMappingSchema = Type.Object(
  {
    name: Type.String(),
    mapping: PriceMappingSchema,
    author: Type.String({ description: '`operator:<name>`' }),
    saved_at: Type.String({ format: 'date-time', description: 'UTC' }),
  },
  { title: 'SavedPriceMapping' },
)
export type SavedMapping = Static<typeof SavedMappingSchema>

/** All saved mappings, by name. */
export async function savedMappings(on: Queryable): Promise<SavedMapping[]> {
  return (await on.selectFrom('price_mappings').selectAll().orderBy('name').execute()).map(toResponse)
}

/** @throws NOT_FOUND */
export async function savedMapping(on: Queryable, name: string): Promise<SavedMapping> {
  const row = await on.selectFrom('price_mappings').selectAll().where('name', '=', name).executeTakeFirst()
  if (!row) throw notFound('not_found', { thing: 'price mapping', id: name })
  return toResponse(row)
}

/** Saves a validated mapping. @returns the previous one of that name */
export async function saveMapping(
  tx: Tx,
  { name, mapping, author, at }: { name: string; mapping: PriceMapping; author: string; at: Date },
): Promise<PriceMapping | null> {
  const before = await tx.selectFrom('price_mappings').select('mapping').where('name', '=', name).forUpdate().executeTakeFirst()
  const row = { mapping: JSON.stringify(mapping), author, saved_at: at }
  await tx
    .insertInto('price_mappings')
    .values({ name, ...row })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
    .execute()
  return (before?.mapping as PriceMapping | undefined) ?? null
}

function toResponse(row: { name: string; mapping: object; author: string; saved_at: Date }): SavedMapping {
  return { name: row.name, mapping: row.mapping as PriceMapping, author: row.author, saved_at: row.saved_at.toISOString() }
}
