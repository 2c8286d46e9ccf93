// What the columns of a collection file can hold, and how a row whose cells are named by that becomes an entry.
import { namedValues } from '#core/named-values.ts'
import { parseLabel } from '#core/labels.ts'
import { problem } from '#core/problems.ts'
import { cardmarketCondition, currencyCodeIn, finishIn, isYes, languageIn } from '#intake/card-cells.ts'
import { BadCell, cell, type Cells, gameOf, quantityOf, textOrNull } from '#intake/cells.ts'
import type { ItemKey } from '#prices/records/feed-rows.ts'
import { codeOf, type CollectionEntry, costOf, dayOf, forTradeOf, noteOf } from './entries.ts'
import { FLAGS, noteOfColumns } from './note-lines.ts'

export const COLLECTION_FIELDS = namedValues('CollectionColumnField', [
  'name',
  'local_name',
  'number',
  'set',
  'set_code',
  'finish',
  'foil',
  'reverse',
  'first_edition',
  'game',
  'tcgplayer_id',
  'cardmarket_id',
  'condition',
  'grade',
  'language',
  'quantity',
  'for_trade',
  'purchase_price',
  'currency',
  'sale_price',
  'purchase_date',
  'card_uniq_id',
  'note',
  'signed',
  'altered',
  'misprint',
  'proof',
])
export type CollectionField = (typeof COLLECTION_FIELDS)[number]

/** How the cells of a kind of file are meant. */
export interface Meaning {
  /** conditions and numbers of languages are Cardmarket's */
  cardmarket?: boolean
  /** a printing without a foil is the plain one; otherwise it may be any */
  plainStated?: boolean
  /** decimal separator; absent if it may be either, so that an amount with two readings is refused */
  decimal?: string
  /** `1/2/2026` is a day in January, and not ambiguous */
  americanDays?: boolean
}

const LIRA = 'TRY'

/**
 * The entry of a row; null for a row without copies.
 * @param row as in the file @param columns field → column as written
 * @throws BadCell whose problem names the column of the file
 */
export function readRow(row: Cells, columns: ReadonlyMap<string, string>, meaning: Meaning): CollectionEntry | null {
  try {
    const present = [...columns].filter(([, column]) => row[column] !== undefined)
    return entryOf(Object.fromEntries(present.map(([field, column]) => [field, row[column]!])), meaning)
  } catch (error) {
    if (!(error instanceof BadCell) || !('field' in error.why)) throw error
    throw new BadCell({ ...error.why, field: columns.get(error.why.field) ?? error.why.field })
  }
}

function entryOf(cells: Cells, meaning: Meaning): CollectionEntry | null {
  if (/^0+$/.test(cell(cells, 'quantity'))) return null
  const name = cell(cells, 'name') || cell(cells, 'local_name')
  const finish = cell(cells, 'finish') || finishIn(cells)
  const keys = keysOf(cells, finish)
  // A file without a column for the name has only ids.
  const isNamed = cells.name !== undefined || cells.local_name !== undefined
  if (name === '' && (isNamed || keys.length === 0)) throw new BadCell(problem(isNamed ? 'name' : 'cardmarket_id', 'required'))
  const quantity = quantityOf(cells, 'quantity')
  const currency = currencyCodeIn(cells)
  const purchaseMinor = costOf(cells, 'purchase_price', { currency: currency || LIRA, decimal: meaning.decimal })
  const saleMinor = costOf(cells, 'sale_price', { currency: currency || LIRA, decimal: meaning.decimal })
  const flags = FLAGS.filter((flag) => isYes(cells, flag))
  const isConverted = currency !== '' && currency !== LIRA && (purchaseMinor !== null || saleMinor !== null)
  return {
    item: {
      keys,
      name,
      number: textOrNull(cells, 'number'),
      set: textOrNull(cells, 'set') ?? textOrNull(cells, 'set_code'),
      game: gameOf(cell(cells, 'game')),
      finish: finish || (meaning.plainStated ? 'Normal' : null),
      // One id for all printings of a card, in a file without a column that says which.
      ...(meaning.cardmarket && finish === '' && cells.reverse === undefined && cells.foil === undefined && { anyFinish: true }),
    },
    label: labelOf(cells, meaning),
    quantity,
    purchaseMinor,
    saleMinor,
    purchaseDate: dayOf(cells, 'purchase_date', { americanDays: meaning.americanDays ?? false }),
    cardUniqId: codeOf('card_uniq_id', cell(cells, 'card_uniq_id')),
    note: noteOf('note', noteOfColumns(flags, languageIn(cells, { numbered: meaning.cardmarket ?? false }), cells.note ?? '')),
    ...forTradeOf(cells, 'for_trade', quantity),
    ...(isConverted && { currency }),
  }
}

function keysOf(cells: Cells, finish: string): ItemKey[] {
  return (['tcgplayer', 'cardmarket'] as const).flatMap((source) => {
    const id = cell(cells, `${source}_id`)
    return /^[1-9]\d*$/.test(id) ? [{ source, id, ...(finish !== '' && { finish }) }] : []
  })
}

/** A grade takes precedence over a condition; an unknown one stays as written, and then no item has it. */
function labelOf(cells: Cells, { cardmarket = false }: Meaning): string | null {
  const grade = cell(cells, 'grade')
  const condition = cell(cells, 'condition')
  const text = grade !== '' && !/^ungraded$/i.test(grade) ? grade : cardmarket ? cardmarketCondition(condition) : condition
  return text === '' ? textOrNull(cells, 'grade') : (parseLabel(text)?.label ?? text)
}
