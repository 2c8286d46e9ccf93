// The meaning of a list's columns: fields of a price as expressions over columns or JSON members, validated before anything is read.
import { invalidFields } from '#core/errors.ts'
import { parseLabel } from '#core/labels.ts'
import type { Market } from '#core/markets.ts'
import { type Problem, problem, type Reason, reason } from '#core/problems.ts'

/** Sources whose ids a column can hold, as `<source>_id`. */
export const ID_SOURCES = ['cardmarket', 'tcgplayer', 'tcgdex', 'tcgdex-asia', 'pokemontcg', 'punk-records', 'scryfall', 'pricecharting'] as const

const WORD_FIELDS = ['name', 'number', 'set', 'finish', 'game', 'language', 'label', 'updated_at', 'recorded_at', 'item_ref'] as const

/** Every field that a column can be mapped to; `price[PSA 10]` is a price with that label. */
export const MAPPED_FIELDS: readonly string[] = ['price', ...WORD_FIELDS, ...ID_SOURCES.map((source) => `${source}_id`)]

export const ENCODINGS = ['utf-8', 'windows-1252'] as const
export const DECIMAL_SIGNS = ['.', ','] as const
/** Whether the years of the dates are the list's own, or guesses to be replaced by the latest year that is not after `recorded_at`. */
export const YEARS = ['stated', 'guessed'] as const

/** A mapping as written and saved. */
export interface PriceMapping {
  /** expressions by field: see `readExpression` */
  columns: Record<string, string>
  /** currency of the prices; the market's by default */
  currency?: string
  market?: Market
  /** decimal sign of amounts, if they are ambiguous */
  decimal?: (typeof DECIMAL_SIGNS)[number]
  encoding?: (typeof ENCODINGS)[number]
  /** `stated` by default */
  years?: (typeof YEARS)[number]
  /** for JSON: path to the entries of a row, with `*` for any member; each entry that is an object becomes a row */
  entries?: string
  /** false if ungraded prices are averages over all conditions; default: true */
  condition_known?: boolean
  /** filter of rows: required values by column */
  only?: Record<string, string>
}

const MAX_VALUE_LENGTH = 500
const MAX_COLUMNS = 60
const MAX_SHOWN_LENGTH = 60
const PRICE = /^price(?:\[([^[\]]*)\])?$/
/** The start of a pair. Text after a comma that does not start a pair belongs to the previous column. */
const PAIR = /^\s*[\w-]+(?:\[[^[\]]*\])?=/

/**
 * Reads `price=eur_price,set=set`: pairs of a field and a column, or an expression, separated by commas.
 * @throws VALIDATION_ERROR that names the field under `field`
 */
export function readColumns(text: string, field: string): Record<string, string> {
  const columns: Record<string, string> = {}
  const problems: Problem[] = []
  for (const pair of pairsIn(text)) {
    const equals = pair.indexOf('=')
    const [name, expression] = [pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()]
    if (equals < 1 || expression === '') problems.push(problem(field, 'mapping_pairs', { example: 'price=eur_price', value: short(pair.trim()) }))
    else if (Object.hasOwn(columns, name)) problems.push(problem(field, 'mapping_twice', { name, values: [columns[name]!, expression] }))
    else columns[name] = expression
  }
  if (problems.length > 0) throw invalidFields(problems)
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

/** Prices of a row by label (null: the row's label), and the other fields, each with its expression. */
export interface ReadMapping {
  prices: { field: string; label: string | null; value: Expression }[]
  fields: Map<string, Expression>
}

/**
 * Validates a complete mapping.
 * @param mapField name of the field with its columns
 * @throws VALIDATION_ERROR with a problem for each invalid field
 */
export function readMapping({ columns, entries, years }: PriceMapping, mapField: string): ReadMapping {
  const problems: Problem[] = []
  const prices: ReadMapping['prices'] = []
  const fields: ReadMapping['fields'] = new Map()
  if (Object.keys(columns).length > MAX_COLUMNS) problems.push(problem(mapField, 'mapping_size', { max: MAX_COLUMNS }))
  for (const [field, text] of Object.entries(columns)) {
    const value = readExpression(text)
    if ('rule' in value) {
      problems.push(problem(mapField, 'mapping_column', { name: short(field), must: value }))
      continue
    }
    const price = PRICE.exec(field)
    if (price) {
      const label = price[1] === undefined ? null : (parseLabel(price[1])?.label ?? undefined)
      if (label === undefined) {
        problems.push(problem(mapField, 'mapping_column', { name: short(field), must: reason('label', { value: short(price[1]!) }) }))
      } else if (prices.some((other) => other.label === label)) problems.push(problem(mapField, 'mapping_twice', { name: field }))
      else prices.push({ field, label, value })
    } else if (field === 'date') takeField('updated_at', value)
    else if (MAPPED_FIELDS.includes(field)) takeField(field, value)
    else problems.push(problem(mapField, 'mapping_field', { name: short(field), values: MAPPED_FIELDS }))
  }
  function takeField(field: string, value: Expression) {
    if (fields.has(field)) problems.push(problem(mapField, 'mapping_twice', { name: field }))
    fields.set(field, value)
  }
  if (!Object.keys(columns).some((field) => PRICE.test(field))) problems.push(problem(mapField, 'mapping_price'))
  const names = ['name', 'item_ref', ...ID_SOURCES.map((source) => `${source}_id`)]
  if (!names.some((field) => Object.hasOwn(columns, field))) problems.push(problem(mapField, 'mapping_item', { values: names }))
  if (years === 'guessed') {
    for (const field of ['updated_at', 'recorded_at']) if (!fields.has(field)) problems.push(problem('years', 'mapping_years', { field }))
  }
  if (entries?.split('.').includes('')) problems.push(problem('entries', 'path', { example: 'printings.*' }))
  if (problems.length > 0) throw invalidFields(problems)
  return { prices, fields }
}

/** The text of a field in a row, given the values of columns. */
export interface Expression {
  /** columns or paths that it reads */
  columns: readonly string[]
  text: (cellOf: (column: string) => unknown) => unknown
}

const PLACE = /\{([^{}]+)\}/
/** A part, or the first and last of several. */
const PARTS = /^(-?\d{1,2})?(\.\.)?(-?\d{1,2})?$/

/**
 * Parses the expression of a field: a column; `=text`, the same text for all rows; or text with columns in braces, such as
 * `{name} {type}`. `{key/::/1}` is the first part of the column key split at `::`, `{name/ /1..-2}` all parts but the last.
 * @returns the expression, or what is wrong with it
 */
function readExpression(text: string): Expression | Reason {
  if (text === '' || text.length > MAX_VALUE_LENGTH) return reason('text', { min: 1, max: MAX_VALUE_LENGTH })
  if (text.startsWith('=')) {
    const constant = text.slice(1)
    return { columns: [], text: () => constant }
  }
  // Splitting by a pattern with a group leaves the group's matches at odd positions.
  const pieces = text.split(PLACE).map((piece, i) => (i % 2 === 1 ? placeOf(piece) : piece))
  if (pieces.some((piece) => typeof piece === 'string' && /[{}]/.test(piece))) return reason('brace', { value: short(text) })
  const places = pieces.filter((piece) => typeof piece !== 'string')
  if (places.length === 0) return { columns: [text], text: (cellOf) => cellOf(text) }
  return {
    columns: places.map(({ column }) => column),
    text: (cellOf) => {
      const texts = pieces.map((piece) => (typeof piece === 'string' ? piece : piece.cut(textIn(cellOf(piece.column)))))
      return texts.join('').replace(/\s+/g, ' ').trim()
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

function short(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text
}

function textIn(value: unknown): string {
  return typeof value === 'string'
    ? value
    : value === null || value === undefined
      ? ''
      : typeof value === 'object'
        ? JSON.stringify(value)
        : String(value as number)
}
