// A collection file of another app, read and written by one table: which of its columns holds what, and the app's words for it.
import { exactLanguageName } from '#catalogue/records/languages.ts'
import { finishRules, finishWords } from '#catalogue/records/finishes.ts'
import { csvLine } from '#core/files/csv.ts'
import type { Cells } from '#intake/cells.ts'
import type { StoredCertificate } from '#db/schema.ts'
import { type CollectionField, type Meaning, readRow } from './columns.ts'
import type { CollectionFormat } from './entries.ts'
import { FLAGS, noteWith, partsOfNote } from './note-lines.ts'

/** A record as exports read it; amounts as exact decimal text. */
export interface ExportedRecord {
  market: string
  item_ref: string
  item_name: string
  code: string | null
  set: string
  set_code: string | null
  game: string | null
  finish: string | null
  cardmarket_id: string | null
  label: string | null
  quantity: number
  for_trade: number
  purchase_price: string | null
  sale_price: string | null
  purchase_date: string | null
  card_uniq_id: string | null
  note: string | null
  certificate: StoredCertificate | null
}

/** How a collection is written as a file. */
export interface WrittenFormat {
  name: string
  /** before the first record */
  head: string
  line: (record: ExportedRecord) => string
}

export interface AppFormat extends CollectionFormat, WrittenFormat {}

interface Printings {
  plain: string
  foil: string
  etched?: string
}

interface Declared extends Meaning {
  name: string
  title: string
  marks: readonly string[]
  /** all columns of a published file, in its order */
  header: readonly string[]
  columns: Readonly<Partial<Record<CollectionField, string>>>
  /** another header of the app's files, which is read but not written */
  newer?: { marks: readonly string[]; columns: Readonly<Partial<Record<CollectionField, string>>> }
  /** columns that an export fills with the same text in each row */
  fixed?: Readonly<Record<string, string>>
  /** the app's words for our conditions; a label without one, such as a grade, is written as it is */
  conditions: Readonly<Record<string, string>>
  /** the app's words for printings; those without one are written as they are */
  printings?: Printings
  /** the app's words for yes and no; '' for no and the flag's own name for yes by default */
  answers?: { yes: string; no: string }
  /** the app's word for a language, by its code; the English name by default */
  languageOf?: (code: string) => string
  setCodeOf?: (code: string) => string
  delimiter?: ',' | ';'
  /** a line before the header */
  firstLine?: string
  /** columns that only `isNotOwned` reads */
  ownership?: readonly string[]
  /** whether a row is of no copy that is owned. @throws BadCell */
  isNotOwned?: (cells: Readonly<Record<string, string>>) => boolean
}

export function appFormat(declared: Declared): AppFormat {
  const { name, title, marks, newer, header, delimiter = ',', firstLine = '', isNotOwned } = declared
  const columns = new Map(Object.entries(declared.columns))
  const newerColumns = new Map(Object.entries(newer?.columns ?? {}))
  const columnsOf = (cells: Cells) => (newer?.marks.every((mark) => cells[mark] !== undefined) ? newerColumns : columns)
  const fieldOf = new Map(Array.from(columns, ([field, column]) => [column, field as CollectionField]))
  const cellOf = (column: string, record: ExportedRecord): string | number | null => {
    const field = fieldOf.get(column)
    return field === undefined ? (declared.fixed?.[column] ?? null) : written(field, record, declared)
  }
  return {
    name,
    title,
    marks,
    ...(newer && { newerMarks: newer.marks }),
    columnOf: (field) => columns.get(field),
    reads: [...columns.values(), ...Object.values(newer?.columns ?? {}), ...(declared.ownership ?? [])],
    read: (cells) => (isNotOwned?.(cells) ? null : readRow(cells, columnsOf(cells), { decimal: '.', americanDays: true, ...declared })),
    head: firstLine + csvLine(header, delimiter),
    line: (record) =>
      csvLine(
        header.map((column) => cellOf(column, record)),
        delimiter,
      ),
  }
}

/** What the column of a field shows of a record, in the app's words. */
function written(field: CollectionField, record: ExportedRecord, declared: Declared): string | number | null {
  const { columns, conditions, answers } = declared
  const { flags, language, rest } = partsOfNote(record.note)
  const label = record.label === null || record.label === 'Ungraded' ? '' : record.label
  switch (field) {
    case 'name':
    case 'local_name':
      return record.item_name
    case 'number':
      return record.code
    case 'set':
      return record.set
    case 'set_code':
      return record.set_code === null ? (columns.set === undefined ? record.set : null) : (declared.setCodeOf?.(record.set_code) ?? record.set_code)
    case 'finish':
    case 'foil':
      return printingOf(record, declared.printings ?? { plain: '', foil: 'foil' })
    case 'game':
      return record.game
    case 'condition':
      return columns.grade !== undefined && isGrade(label) ? null : (conditions[label] ?? label)
    case 'grade':
      return isGrade(label) ? label : 'Ungraded'
    case 'language':
      return declared.languageOf ? declared.languageOf(language || 'en') : languageWord(language || 'en')
    case 'currency':
      return record.purchase_price === null ? null : 'TRY'
    case 'signed':
    case 'altered':
    case 'misprint':
    case 'proof':
      return flags.has(field) ? (answers?.yes ?? field) : (answers?.no ?? null)
    case 'note':
      return noteWith(
        FLAGS.filter((flag) => flags.has(flag) && columns[flag] === undefined),
        columns.language === undefined ? language : '',
        rest,
      )
    case 'purchase_price':
    case 'sale_price':
    case 'purchase_date':
    case 'card_uniq_id':
    case 'quantity':
    case 'for_trade':
    case 'cardmarket_id':
      return record[field]
    default:
      return null
  }
}

function printingOf({ finish, game }: Pick<ExportedRecord, 'finish' | 'game'>, { plain, foil, etched }: Printings): string {
  const rules = finishRules(game ?? '')
  const words = finishWords(finish ?? '', rules).join(' ')
  if (words === '') return plain
  const ofApp = words === rules.foil ? foil : words === 'etched' ? etched : undefined
  return ofApp ?? finish!
}

/** Grades end with a number, conditions do not. */
function isGrade(label: string): boolean {
  return /\d$/.test(label)
}

/** `de` → `German`, `zh-tw` → `Traditional Chinese`; a language without an English name stays as written. */
function languageWord(code: string): string {
  const name = exactLanguageName(code.toLowerCase())
  return name?.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase()) ?? code
}
