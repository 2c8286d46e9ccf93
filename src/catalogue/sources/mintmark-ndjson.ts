// Reads and writes Mintmark's own lossless catalogue format: one category or item per line, every field checked.
import { MAX_INTEGER, orNull } from '#core/fields.ts'
import { ServiceError } from '#core/errors.ts'
import { ndjsonRows } from '#core/files/feed.ts'
import { bodyReader, type Static, Type } from '#core/input.ts'
import { parseLabel } from '#core/labels.ts'
import { parseMinor } from '#core/money.ts'
import { problem, reason, combineProblems } from '#core/problems.ts'
import { isTimeInRange, TIME_RANGE } from '#core/time.ts'
import { address, AttributeList, closed, Details, ForeignIdList, genre, market, matching, positive, shortText, slug } from '../records/fields.ts'
import { exportedKey } from '../records/record-origin.ts'
import type { CatalogueFormat, CategoryRecord, ItemRecord } from '../records/catalogue-records.ts'
import { detailsFromRow, detailsToRow } from '../records/details.ts'
import { catalogueRows, type Entry, type Json } from './reading.ts'

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

const PRICE = Type.Object(
  {
    market: market(),
    label: shortText(),
    price: matching('^\\d{1,10}(\\.\\d{1,2})?$', 13, reason('amount_text', { example: '18500.00' })),
    updated_at: matching('^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,3})?Z$', 24, reason('time_utc', { example: '2026-11-01T09:00:00Z' })),
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
    genre: genre(),
    game: slug(),
    category: shortText(),
    images: Type.Array(Type.Object({ url: address(), order: Type.Integer({ minimum: 0, maximum: MAX_INTEGER }) }, closed)),
    attributes: AttributeList,
    groups: Type.Array(slug()),
    details: Details,
    foreign_ids: ForeignIdList,
    prices: Type.Optional(Type.Array(PRICE)),
  },
  closed,
)

const readCategory = bodyReader(CATEGORY)
const readItem = bodyReader(ITEM)

export const mintmarkNdjson: CatalogueFormat = {
  name: 'mintmark-ndjson',
  title: "Mintmark's own catalogue format, lossless: categories, items and their current prices (NDJSON)",
  defaultMarket: 'source_c',
  marks: [{ type: 'json', names: ['type', 'market', 'ref', 'name'] }],
  // Each line states its own market.
  open() {
    return (source) => catalogueRows(ndjsonRows(source), 'mintmark-ndjson', entriesOf)
  },
}

function entriesOf(row: Json): Entry[] | null {
  const { type, ...fields } = row
  if (type !== 'category' && type !== 'item') return null
  try {
    return [type === 'category' ? { category: categoryOf(readCategory(fields)) } : itemEntry(readItem(fields))]
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'VALIDATION_ERROR') return [{ reject: combineProblems(error.details.slice(0, 5)) }]
    throw error
  }
}

function categoryOf({ printed_total, ...record }: Static<typeof CATEGORY>): CategoryRecord {
  return { ...record, ...(printed_total !== undefined && { printedTotal: printed_total }) }
}

function itemEntry({ details, foreign_ids, prices, ...rest }: Static<typeof ITEM>): Entry {
  for (const [i, { label, price, updated_at }] of (prices ?? []).entries()) {
    if (parseLabel(label)?.label !== label) return { reject: problem(`prices.${i}.label`, 'label') }
    if (!parseMinor(price)) return { reject: problem(`prices.${i}.price`, 'number', { above: 0 }) }
    if (!isTime(updated_at)) return { reject: problem(`prices.${i}.updated_at`, 'time', TIME_RANGE) }
  }
  const item: ItemRecord = {
    ...rest,
    details: detailsFromRow(details),
    foreignIds: foreign_ids,
    ...(prices && { prices: prices.map(({ updated_at, ...price }) => ({ ...price, updatedAt: updated_at })) }),
  }
  return { item, key: exportedKey(item) }
}

/** `Date` turns 31 February into a day in March, so such dates are rejected. */
function isTime(iso: string): boolean {
  const time = new Date(iso)
  return isTimeInRange(time.getTime()) && time.toISOString().startsWith(iso.slice(0, 19))
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
    details: detailsToRow(d),
    foreign_ids: record.foreignIds.map(({ source, id, finish }) => ({ source, id, finish })),
    prices: record.prices?.map((p) => ({ market: p.market, label: p.label, price: p.price, updated_at: p.updatedAt })),
  }
  return JSON.stringify({ type: 'item', ...fields })
}
