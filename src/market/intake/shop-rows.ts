// Translates rows of other shops' files to cells of our columns: codes of Cardmarket, cents of CardTrader, and yes/no columns of any file.
import { languageCode } from '#catalogue/records/languages.ts'
import { FeedError } from '#core/files/feed.ts'
import { problem, reason } from '#core/problems.ts'
import { fold } from '#index/fold.ts'
import { BadCell, cell, type Cells } from '#intake/cells.ts'
import { truncate } from '#prices/sources/cells.ts'
import type { Shop } from './read-header.ts'

/** Languages in Cardmarket's files, from 1. */
const CARDMARKET_LANGUAGES = ['en', 'fr', 'de', 'es', 'it', 'zh-cn', 'ja', 'pt', 'ru', 'ko', 'zh-tw']
/**
 * Cardmarket's Light Played is worse than its Good, unlike ours; its other codes are spellings of our conditions. One of its files has numbers
 * from 1, the best.
 */
const CARDMARKET_CONDITIONS: ReadonlyMap<string, string> = new Map([
  ['lp', 'Moderately Played'],
  ...['MT', 'NM', 'EX', 'GD', 'Moderately Played', 'PL', 'PO'].map((condition, i): [string, string] => [String(i + 1), condition]),
])

/** Other ways to write currencies. */
const CURRENCIES: ReadonlyMap<string, string> = new Map(Object.entries({ TL: 'TRY', '₺': 'TRY', '€': 'EUR', $: 'USD' }))

/** Languages in German, Turkish and French, folded; English names are those of the catalogue. */
const LANGUAGES: Readonly<Record<string, readonly string[]>> = {
  en: ['englisch', 'ingilizce', 'anglais'],
  de: ['deutsch', 'almanca', 'allemand'],
  fr: ['franzosisch', 'fransizca', 'francais'],
  tr: ['turkish', 'turkisch', 'turkce', 'turc'],
  ja: ['japanisch', 'japonca', 'japonais', 'jp'],
  it: ['italienisch', 'italyanca', 'italien'],
  es: ['spanisch', 'ispanyolca', 'espagnol'],
  pt: ['portugiesisch', 'portekizce', 'portugais'],
  ko: ['koreanisch', 'korece', 'coreen', 'kr'],
  zh: ['chinesisch', 'cince', 'chinois'],
}
const languages = new Map(Object.entries(LANGUAGES).flatMap(([code, names]) => names.map((name) => [name, code])))

const YES = new Set(['1', 'x', 'true', 'yes', 'y', 'ja', 'evet', 'oui'])
const NO = new Set(['', '0', '-', 'false', 'no', 'n', 'nein', 'hayir', 'non', 'normal'])

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
    condition: conditionIn(cells, shop),
    language: ownLanguage && !shop ? cell(cells, 'language') : languageIn(cells, shop),
    price: cell(cells, 'price') || centsIn(cells),
    currency: currencyIn(cells, shop),
    // A buyer must learn of it. On a line of its own, a cell that begins with a formula is still recognised.
    description: [...signs, cells.description ?? ''].filter(Boolean).join('\n'),
  }
}

function isYes(cells: Cells, column: string): boolean {
  const text = fold(cell(cells, column))
  // Some programs repeat the column: `signed` in the column `Signed`.
  if (YES.has(text) || text === column) return true
  if (NO.has(text)) return false
  throw new BadCell(problem(column, 'boolean'))
}

/** The printing that yes/no columns state; a foil column may also name it. Empty means that any printing is possible. */
function finishIn(cells: Cells): string {
  const foil = fold(cell(cells, 'foil'))
  const foilWord = YES.has(foil) ? 'foil' : NO.has(foil) ? '' : cell(cells, 'foil')
  const printing = isYes(cells, 'reverse') ? 'reverse holo' : foilWord
  return [isYes(cells, 'first_edition') ? 'first edition' : '', printing].filter(Boolean).join(' ')
}

function conditionIn(cells: Cells, shop: Shop | null): string {
  const text = cell(cells, 'condition')
  return (shop === 'cardmarket' && CARDMARKET_CONDITIONS.get(text.toLowerCase())) || text
}

function languageIn(cells: Cells, shop: Shop | null): string {
  const text = cell(cells, 'language')
  if (shop === 'cardmarket' && /^\d+$/.test(text)) {
    const code = CARDMARKET_LANGUAGES[Number(text) - 1]
    if (code === undefined) throw new BadCell(problem('language', 'integer', { min: 1, max: CARDMARKET_LANGUAGES.length, value: truncate(text) }))
    return code
  }
  const folded = fold(text)
  const code = languages.get(folded) ?? languageCode(folded)
  return code === folded ? text : code
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
  const code = cell(cells, 'currency').toUpperCase()
  if (code === '' && shop === 'cardtrader') throw new BadCell(problem('currency', 'required'))
  if (code === '' && shop === 'cardmarket') return 'EUR'
  return CURRENCIES.get(code) ?? code
}
