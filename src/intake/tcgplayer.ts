// Rows of TCGplayer's exports: the collection (with product ids) and the seller's own pricing list; neither has costs.
import { FeedError } from '#core/files/feed.ts'
import { problem, reason } from '#core/problems.ts'
import { readCondition } from '#prices/sources/tcgplayer-csv.ts'
import { BadCell, cell, type Cells, gameOf, quantityOf, textOrNull } from './cells.ts'
import type { ItemDescription } from './match-items.ts'

const COLUMNS = ['Product Line', 'Set Name', 'Product Name', 'Number', 'Condition'] as const
const QUANTITIES = ['Total Quantity', 'Add to Quantity'] as const
/** All columns that are read, of both exports. */
export const TCGPLAYER_COLUMNS: readonly string[] = [...COLUMNS, ...QUANTITIES, 'Product ID', 'Printing']

/** @throws FeedError for a file of another format */
export function checkTcgplayerHeader(header: readonly string[]): void {
  const missing = COLUMNS.filter((name) => !header.includes(name))
  if (missing.length > 0) throw new FeedError(reason('header', { columns: missing }))
  if (!QUANTITIES.some((name) => header.includes(name))) throw new FeedError(reason('header', { any: QUANTITIES }))
}

/** A row of a file with these columns; null for a product without copies. @throws BadCell */
export function readTcgplayerRow(cells: Cells): { item: ItemDescription; label: string | null; quantity: number } | null {
  const name = cell(cells, 'Product Name')
  if (name === '') throw new BadCell(problem('Product Name', 'required'))
  // The quantity may be in either column; the other one is empty or 0. A listed product without copies is not owned.
  const column = QUANTITIES.find((one) => !/^0*$/.test(cell(cells, one)))
  if (!column) return null
  const { label, printing } = conditionOf(cells)
  const id = cell(cells, 'Product ID')
  return {
    item: {
      keys: /^[1-9]\d*$/.test(id) ? [{ source: 'tcgplayer', id, ...(printing && { finish: printing }) }] : [],
      name,
      number: textOrNull(cells, 'Number'),
      set: textOrNull(cells, 'Set Name'),
      game: gameOf(cell(cells, 'Product Line')),
      finish: printing,
    },
    label,
    quantity: quantityOf(cells, column),
  }
}

/** `Near Mint Holofoil` is a condition with its printing; a separate printing column takes precedence. */
function conditionOf(cells: Cells): { label: string | null; printing: string | null } {
  const text = cell(cells, 'Condition')
  const printing = textOrNull(cells, 'Printing')
  if (text === '') return { label: null, printing }
  const condition = readCondition(text)
  if (!condition) return { label: text, printing }
  return { label: condition.label, printing: printing ?? condition.finish ?? null }
}
