// Translates how other programs and people write printings, languages, conditions and currencies in cells named by our fields.
import { languageCode } from '#catalogue/records/languages.ts'
import { problem } from '#core/problems.ts'
import { fold } from '#index/fold.ts'
import { truncate } from '#prices/sources/cells.ts'
import { BadCell, cell, type Cells } from './cells.ts'

/** Languages in Cardmarket's files, from 1. */
export const CARDMARKET_LANGUAGES = ['en', 'fr', 'de', 'es', 'it', 'zh-cn', 'ja', 'pt', 'ru', 'ko', 'zh-tw']
/**
 * Cardmarket's Light Played is worse than its Good, unlike ours; its other codes are spellings of our conditions. One of its files has numbers
 * from 1, the best.
 */
const CARDMARKET_CONDITIONS: ReadonlyMap<string, string> = new Map([
  ...['lp', 'light played', 'lightplayed', 'light_played'].map((condition): [string, string] => [condition, 'Moderately Played']),
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

/** @throws BadCell */
export function isYes(cells: Cells, column: string): boolean {
  const text = fold(cell(cells, column))
  // Some programs repeat the column: `signed` in the column `Signed`.
  if (YES.has(text) || text === column) return true
  if (NO.has(text)) return false
  throw new BadCell(problem(column, 'boolean'))
}

/** The printing that yes/no columns state; a foil column may also name it. Empty means that any printing is possible. */
export function finishIn(cells: Cells): string {
  const foil = fold(cell(cells, 'foil'))
  const foilWord = YES.has(foil) ? 'foil' : NO.has(foil) ? '' : cell(cells, 'foil')
  const printing = isYes(cells, 'reverse') ? 'reverse holo' : foilWord
  return [isYes(cells, 'first_edition') ? 'first edition' : '', printing].filter(Boolean).join(' ')
}

/** A condition on Cardmarket's scale as a spelling of ours. */
export function cardmarketCondition(text: string): string {
  return CARDMARKET_CONDITIONS.get(text.toLowerCase()) ?? text
}

/** The code of the language, `de`; a text that no language has stays as written. @throws BadCell */
export function languageIn(cells: Cells, { numbered }: { numbered: boolean }): string {
  const text = cell(cells, 'language')
  if (numbered && /^\d+$/.test(text)) {
    const code = CARDMARKET_LANGUAGES[Number(text) - 1]
    if (code === undefined) throw new BadCell(problem('language', 'integer', { min: 1, max: CARDMARKET_LANGUAGES.length, value: truncate(text) }))
    return code
  }
  const folded = fold(text)
  const code = languages.get(folded) ?? languageCode(folded)
  return code === folded ? text : code
}

/** The code of the currency in capitals; '' if the row has none. */
export function currencyCodeIn(cells: Cells): string {
  const code = cell(cells, 'currency').toUpperCase()
  return CURRENCIES.get(code) ?? code
}
