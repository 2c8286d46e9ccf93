// Translates rows of other shops' files to cells of our columns: codes of Cardmarket, cents of CardTrader, and yes/no columns of any file.
import { FeedError } from '#core/files/feed.ts'
import { problem, reason } from '#core/problems.ts'
import { cardmarketCondition, currencyCodeIn, finishIn, isYes, languageIn } from '#intake/card-cells.ts'
import { BadCell, cell, type Cells } from '#intake/cells.ts'
import { truncate } from '#prices/sources/cells.ts'
import type { Shop } from './read-header.ts'

/** @throws FeedError if the file does not say in which currency its prices are */
export function checkShopHeader(shop: Shop | null, columns: ReadonlyMap<string, string>): void {
  if (shop === 'cardtrader' && !columns.has('currency')) throw new FeedError(reason('header', { columns: ['price_currency'] }))
}

/**
 * The cells of a row by our columns; null for a row of a shop without stock.
 * @param ownLanguage the language is in the column `language`, as in our export, and stays as written
 * @throws BadCell
 */
export function ownCells(cells: Cells, shop: Shop | null, ownLanguage: boolean): Cells | null {
  if (shop && /^0+$/.test(cell(cells, 'quantity'))) return null
  if (isYes(cells, 'playset')) throw new BadCell(problem('playset', 'sold_together'))
  if (isYes(cells, 'graded') && cell(cells, 'grade') === '') throw new BadCell(problem('grade', 'grade_unstated'))
  const signs = ['signed', 'altered'].filter((column) => isYes(cells, column)).map((word) => (word === 'signed' ? 'Signed' : 'Altered'))
  const finish = cell(cells, 'finish') || finishIn(cells)
  return {
    ...cells,
    name: cell(cells, 'name') || cell(cells, 'local_name'),
    set: cell(cells, 'set') || cell(cells, 'set_code'),
    finish,
    // Shops have one id for all printings of a card. Only a file with a column for reverse holos says that a card is not one.
    any_finish: shop && finish === '' && cells.reverse === undefined ? 'true' : '',
    condition: shop === 'cardmarket' ? cardmarketCondition(cell(cells, 'condition')) : cell(cells, 'condition'),
    language: ownLanguage && !shop ? cell(cells, 'language') : languageIn(cells, { numbered: shop === 'cardmarket' }),
    price: cell(cells, 'price') || centsIn(cells),
    currency: currencyIn(cells, shop),
    // A buyer must learn of it. On a line of its own, a cell that begins with a formula is still recognised.
    description: [...signs, cells.description ?? ''].filter(Boolean).join('\n'),
  }
}

/** A whole number of cents as an amount. */
function centsIn(cells: Cells): string {
  const text = cell(cells, 'price_cents')
  if (text === '') return ''
  if (!/^\d{1,12}$/.test(text)) throw new BadCell(problem('price_cents', 'integer', { min: 1, value: truncate(text) }))
  const digits = text.padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** Cardmarket's prices are in euros unless a column says otherwise; CardTrader's are in the currency of the seller. */
function currencyIn(cells: Cells, shop: Shop | null): string {
  const code = currencyCodeIn(cells)
  if (code === '' && shop === 'cardtrader') throw new BadCell(problem('currency', 'required'))
  return code === '' && shop === 'cardmarket' ? 'EUR' : code
}
