// Converts the languages of sources between codes such as `ja` and English names.
import { GAMES } from '#games/games.ts'

const CODES: ReadonlyMap<string, string> = new Map(Object.entries(GAMES.languageCodes))
const NAMES: ReadonlyMap<string, string> = new Map(Array.from(CODES, ([name, code]) => [code, name]))

/** The code of a language, given its folded code or folded English name; unknown ones are returned unchanged. */
export function languageCode(language: string): string {
  return CODES.get(language) ?? language
}

/** The English name of exactly this code: `traditional chinese` for `zh-tw`; undefined if it has none. */
export function exactLanguageName(code: string): string | undefined {
  return NAMES.get(code)
}

/** The English name of a language code, ignoring the country (`zh-tw` is chinese); undefined if unknown. */
export function languageName(code: string): string | undefined {
  return NAMES.get(code.split('-', 1)[0]!)
}
