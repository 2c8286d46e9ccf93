// What the columns of a list mean: fields of a price by expressions over columns or JSON members, checked before anything is read.
import { invalid, type Problem } from '#core/errors.ts'
import { parseLabel } from '#core/labels.ts'
import type { Market } from '#core/markets.ts'

/** Sources whose ids a column can hold, as `<source>_id`. */
export const ID_SOURCES = ['cardmarket', 'tcgplayer', 'tcgdex', 'tcgdex-asia', 'pokemontcg', 'punk-records', 'pricecharting'] as const

const WORD_FIELDS = ['name', 'number', 'set', 'finish', 'game', 'language', 'label', 'updated_at', 'item_ref'] as const

/** Every field that a column can be mapped to; `price[PSA 10]` is a price under a label of its own. */
export const MAPPED_FIELDS: readonly string[] = ['price', ...WORD_FIELDS, ...ID_SOURCES.map((source) => `${source}_id`)]

export const ENCODINGS = ['utf-8', 'windows-1252'] as const
export const DECIMAL_SIGNS = ['.', ','] as const

/** A mapping as it is written and saved. */
export interface PriceMapping {
  /** expressions by field: see `readExpression` */
  columns: Record<string, string>
  /** of the prices; the market's when absent */
  currency?: string
  market?: Market
  /** how amounts write decimals, where they could be read in two ways */
  decimal?: (typeof DECIMAL_SIGNS)[number]
  encoding?: (typeof ENCODINGS)[number]
  /** of JSON: path to the entries of a row, with `*` for any member; each that is an object is a row of its own */
  entries?: string
  /** rows that are read: those with these values, by column */
  only?: Record<string, string>
}

const LONGEST = 500
const MOST_COLUMNS = 60
const PRICE = /^price(?:\[([^[\]]*)\])?$/
/** How a pair begins; other text behind a comma is part of the column before it. */
const PAIR = /^\s*[\w-]+(?:\[[^[\]]*\])?=/

/**
 * Reads `price=eur_price,set=set`: pairs of a field and a column, or an expression, parted by commas.
 * @throws VALIDATION_ERROR that names the field under `field`
 */
export function readColumns(text: string, field: string): Record<string, string> {
  const columns: Record<string, string> = {}
  const problems: Problem[] = []
  for (const pair of pairsIn(text)) {
    const equals = pair.indexOf('=')
    const [name, expression] = [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()]
    if (equals < 1 || expression === '') problems.push({ field, message: `"${pair.slice(0, 60)}" must be a field and a column, such as price=eur_price` })
    else if (Object.hasOwn(columns, name)) problems.push({ field, message: `names two columns for ${name}: ${columns[name]} and ${expression}` })
    else columns[name] = expression
  }
  if (problems.length > 0) throw invalid(problems)
  return columns
}

function pairsIn(text: string): string[] {
  const pairs: string[] = []
  for (const piece of text.split(',')) {
    if (pairs.length === 0 || PAIR.test(piece)) pairs.push(piece)
    else if (piece.trim() !== '') pairs.push(`${pairs.pop()},${piece}`)
  }
  return pairs
}

/** Prices of a row by label (null: that of the row), and the other fields, each with the expression that gives it. */
export interface ReadMapping {
  prices: { field: string; label: string | null; value: Expression }[]
  fields: Map<string, Expression>
}

/**
 * Checks a mapping whole.
 * @param mapField name of the field that its columns are given in
 * @throws VALIDATION_ERROR with a problem for each field that is wrong
 */
export function readMapping({ columns, entries }: PriceMapping, mapField: string): ReadMapping {
  const problems: Problem[] = []
  const prices: ReadMapping['prices'] = []
  const fields: ReadMapping['fields'] = new Map()
  const wrong = (message: string, field = mapField) => problems.push({ field, message })
  if (Object.keys(columns).length > MOST_COLUMNS) wrong(`names more than ${MOST_COLUMNS} fields`)
  for (const [field, text] of Object.entries(columns)) {
    const value = readExpression(text)
    if (typeof value === 'string') {
      wrong(`${field}: ${value}`)
      continue
    }
    const price = PRICE.exec(field)
    if (price) {
      const label = price[1] === undefined ? null : (parseLabel(price[1])?.label ?? undefined)
      if (label === undefined) wrong(`${field}: "${price[1]}" is neither a condition nor a grader with a grade`)
      else if (prices.some((other) => other.label === label)) wrong(`names two columns for ${field}`)
      else prices.push({ field, label, value })
    } else if (field === 'date') takeField('updated_at', value)
    else if (MAPPED_FIELDS.includes(field)) takeField(field, value)
    else wrong(`${field.slice(0, 60)} is no field; there are ${MAPPED_FIELDS.join(', ')}`)
  }
  function takeField(field: string, value: Expression) {
    if (fields.has(field)) wrong(`names two columns for ${field}`)
    fields.set(field, value)
  }
  if (prices.length === 0) wrong('names no column for price')
  const names = ['name', 'item_ref', ...ID_SOURCES.map((source) => `${source}_id`)]
  if (!names.some((field) => fields.has(field))) wrong(`names no column that tells the item: ${names.join(', ')}`)
  if (entries?.split('.').includes('')) wrong('must be a path such as printings.*', 'entries')
  if (problems.length > 0) throw invalid(problems)
  return { prices, fields }
}

/** The text of a field out of a row, given what a column holds. */
export interface Expression {
  /** columns or paths that it reads */
  columns: readonly string[]
  text: (cellOf: (column: string) => unknown) => unknown
}

const PLACE = /\{([^{}]+)\}/g
/** A part, or the first and last of several. */
const PARTS = /^(-?\d{1,2})?(\.\.)?(-?\d{1,2})?$/

/**
 * Reads what a field is made of: a column; `=text`, the same text for all rows; or text with columns in braces, such as
 * `{name} {type}`. `{key/::/1}` is the first part of the column key when it is cut at `::`, `{name/ /1..-2}` all but the last.
 * @returns the expression, or what is wrong with it
 */
export function readExpression(text: string): Expression | string {
  if (text === '') return 'names no column'
  if (text.length > LONGEST) return `is longer than ${LONGEST} characters`
  if (text.startsWith('=')) {
    const constant = text.slice(1)
    return { columns: [], text: () => constant }
  }
  if (!text.includes('{')) return { columns: [text], text: (cellOf) => cellOf(text) }
  const places = [...text.matchAll(PLACE)].map(([all, inner]) => ({ all, ...placeOf(inner!) }))
  if (places.length === 0) return `"${text}" has a brace without its end`
  return {
    columns: places.map(({ column }) => column),
    text: (cellOf) => {
      let made = text
      for (const { all, column, cut } of places) made = made.replace(all, () => cut(textIn(cellOf(column))))
      return made.replace(/\s+/g, ' ').trim()
    },
  }
}

function placeOf(inner: string): { column: string; cut: (text: string) => string } {
  const pieces = inner.split('/')
  const [, first, range, last] = PARTS.exec(pieces.pop()!) ?? []
  const separator = pieces.pop()
  const column = pieces.join('/')
  if (!column || !separator || (first === undefined && range === undefined)) return { column: inner, cut: (text) => text }
  const from = first === undefined ? 1 : Number(first)
  const to = range === undefined ? from : last === undefined ? -1 : Number(last)
  return {
    column,
    cut: (text) => {
      const parts = text.split(separator)
      const at = (place: number) => (place < 0 ? parts.length + place : place - 1)
      return parts.slice(Math.max(0, at(from)), at(to) + 1).join(separator)
    },
  }
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value as number)
}
