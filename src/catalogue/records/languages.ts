// Converts the languages of sources between codes such as `ja` and English names.

const CODES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    english: 'en',
    japanese: 'ja',
    french: 'fr',
    german: 'de',
    italian: 'it',
    spanish: 'es',
    portuguese: 'pt',
    dutch: 'nl',
    polish: 'pl',
    russian: 'ru',
    korean: 'ko',
    chinese: 'zh',
    thai: 'th',
    indonesian: 'id',
  }),
)
const NAMES: ReadonlyMap<string, string> = new Map(Array.from(CODES, ([name, code]) => [code, name]))

/** The code of a language, given its folded code or folded English name; unknown ones are returned unchanged. */
export function languageCode(language: string): string {
  return CODES.get(language) ?? language
}

/** The English name of a language code, ignoring the country (`zh-tw` is chinese); undefined if unknown. */
export function languageName(code: string): string | undefined {
  return NAMES.get(code.split('-', 1)[0]!)
}
