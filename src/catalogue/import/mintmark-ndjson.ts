// Reads and writes Mintmark's own lossless catalogue format: one category or item per line, every field checked.
import { ServiceError } from '#core/errors.ts'
import { ndjsonRows } from '#core/feed.ts'
import { bodyReader, type Static, Type } from '#core/input.ts'
import { parseLabel } from '#core/labels.ts'
import { MARKETS } from '#core/markets.ts'
import { parseMinor } from '#core/money.ts'
import { type CatalogueFormat, type CategoryRecord, GENRES, type ItemRecord } from '../records.ts'
import { catalogueRows, type Entry, type Json } from './reading.ts'

// PostgreSQL cannot store NUL; white space at the ends would make two names of one.
const TEXT_PATTERN = '^(?=\\S)[^\\u0000]*\\S$'

/** Text of a field: `allowed` is what a refusal says. */
const matching = (pattern: string, maxLength: number, allowed: string) => Type.String({ pattern, maxLength, allowed })
const shortText = () => matching(TEXT_PATTERN, 500, 'text of 1 to 500 characters without white space at its ends')
const slug = () => matching('^[a-z0-9]+(-[a-z0-9]+)*$', 300, 'lower-case words and digits joined with "-"')
const address = () => matching('^https?://[^\\s\\u0000]+$', 2000, 'an http or https address')
const positive = () => Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 })
const market = () => Type.Enum([...MARKETS])
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const closed = { additionalProperties: false } as const

const CATEGORY = Type.Object(
  {
    market: market(),
    ref: shortText(),
    name: shortText(),
    slug: Type.Optional(slug()),
    game: slug(),
    parent: Type.Optional(orNull(shortText())),
    image: orNull(address()),
    printed_total: Type.Optional(orNull(positive())),
  },
  closed,
)

const DETAILS = Type.Object(
  {
    rarity: Type.Optional(shortText()),
    illustrator: Type.Optional(shortText()),
    hp: Type.Optional(positive()),
    types: Type.Optional(Type.Array(shortText())),
    dex_ids: Type.Optional(Type.Array(positive())),
    stage: Type.Optional(shortText()),
    evolve_from: Type.Optional(shortText()),
    suffix: Type.Optional(shortText()),
    level: Type.Optional(positive()),
  },
  closed,
)

const PRICE = Type.Object(
  {
    market: market(),
    label: shortText(),
    price: matching('^\\d{1,10}(\\.\\d{1,2})?$', 13, 'a decimal as text with at most two decimals, such as "18500.00"'),
    updated_at: matching(
      '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,3})?Z$', 24, 'a time in UTC, such as "2026-11-01T09:00:00Z"',
    ),
  },
  closed,
)

const ITEM = Type.Object(
  {
    market: market(),
    ref: shortText(),
    name: shortText(),
    code: orNull(shortText()),
    slug: Type.Optional(slug()),
    genre: Type.Enum([...GENRES]),
    game: slug(),
    category: shortText(),
    images: Type.Array(Type.Object({ url: address(), order: positive() }, closed)),
    attributes: Type.Array(
      Type.Object({ name: shortText(), value: Type.String({ maxLength: 10_000, pattern: '^[^\\u0000]*$' }) }, closed),
    ),
    groups: Type.Array(slug()),
    details: DETAILS,
    foreign_ids: Type.Array(
      Type.Object({ source: slug(), id: shortText(), finish: Type.Optional(shortText()) }, closed),
    ),
    prices: Type.Optional(Type.Array(PRICE)),
  },
  closed,
)

const readCategory = bodyReader(CATEGORY)
const readItem = bodyReader(ITEM)

export const mintmarkNdjson: CatalogueFormat = {
  name: 'mintmark-ndjson',
  title: 'Mintmark\'s own catalogue format, lossless: categories, items and their current prices (NDJSON)',
  defaultMarket: 'source_c',
  // Each line names its own market.
  open() {
    return (source) => catalogueRows(ndjsonRows(source), 'a category or item of mintmark-ndjson', entriesOf)
  },
}

function entriesOf(row: Json): Entry[] | null {
  const { type, ...fields } = row
  if (type !== 'category' && type !== 'item') return null
  try {
    return [type === 'category' ? { category: categoryOf(readCategory(fields)) } : itemEntry(readItem(fields))]
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'VALIDATION_ERROR') return [{ reject: reasonOf(error) }]
    throw error
  }
}

function reasonOf({ message, details = [] }: ServiceError): string {
  return details.length === 0 ? message : details.slice(0, 5).map((p) => `${p.field} ${p.message}`).join('; ')
}

function categoryOf({ printed_total, ...record }: Static<typeof CATEGORY>): CategoryRecord {
  return { ...record, ...(printed_total !== undefined && { printedTotal: printed_total }) }
}

function itemEntry({ details, foreign_ids, prices, ...rest }: Static<typeof ITEM>): Entry {
  for (const [i, { label, price, updated_at }] of (prices ?? []).entries()) {
    const refused = (rule: string) => ({ reject: `prices.${i}.${rule}` })
    if (parseLabel(label)?.label !== label) return refused('label must be a condition or grade, such as PSA 10')
    if (!parseMinor(price)) return refused('price must be above 0')
    if (!isTime(updated_at)) return refused('updated_at must be a time that exists')
  }
  const { dex_ids, evolve_from, ...sameNamed } = details
  const item: ItemRecord = {
    ...rest,
    details: {
      ...sameNamed,
      ...(dex_ids && { dexIds: dex_ids }),
      ...(evolve_from !== undefined && { evolveFrom: evolve_from }),
    },
    foreignIds: foreign_ids,
    ...(prices && { prices: prices.map(({ updated_at, ...price }) => ({ ...price, updatedAt: updated_at })) }),
  }
  return { item }
}

/** `Date` moves 31 February to March; such a time does not exist. */
function isTime(iso: string): boolean {
  const time = new Date(iso)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(iso.slice(0, 19))
}

/** The line of a category, without line end. The order of the fields is part of the format. */
export function categoryLine(record: CategoryRecord): string {
  const { market, ref, name, slug, game, parent, image, printedTotal } = record
  const fields: Static<typeof CATEGORY> = { market, ref, name, slug, game, parent, image, printed_total: printedTotal }
  return JSON.stringify({ type: 'category', ...fields })
}

/** The line of an item, without line end. The order of the fields is part of the format. */
export function itemLine(record: ItemRecord): string {
  const { market, ref, name, code, slug, genre, game, category, groups, details: d } = record
  const fields: Static<typeof ITEM> = {
    market,
    ref,
    name,
    code,
    slug,
    genre,
    game,
    category,
    images: record.images.map(({ url, order }) => ({ url, order })),
    attributes: record.attributes.map(({ name: attribute, value }) => ({ name: attribute, value })),
    groups,
    details: {
      rarity: d.rarity,
      illustrator: d.illustrator,
      hp: d.hp,
      types: d.types,
      dex_ids: d.dexIds,
      stage: d.stage,
      evolve_from: d.evolveFrom,
      suffix: d.suffix,
      level: d.level,
    },
    foreign_ids: record.foreignIds.map(({ source, id, finish }) => ({ source, id, finish })),
    prices: record.prices?.map((p) => ({ market: p.market, label: p.label, price: p.price, updated_at: p.updatedAt })),
  }
  return JSON.stringify({ type: 'item', ...fields })
}
