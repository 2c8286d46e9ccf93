// Folds text to the form in which it is compared and searched: without case, accents, apostrophes and typographic variants.

/** Printable ASCII without apostrophes, double spaces, or leading and trailing spaces: such text only needs lower case. */
const PLAIN = /^(?:[!-&(-_a-~]+(?: [!-&(-_a-~]+)*)?$/

/** Apostrophes as people and keyboards write them; unmapped, the acute accent would fold to a space. */
const APOSTROPHES = /['`´‘’‚‛ʹʻʼʽˈʾʿ′‵]/gu

/** Combining marks of Latin, Greek and Cyrillic letters (not those of kana), and invisible characters. */
const MARKS = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]|\p{Default_Ignorable_Code_Point}/gu

/** Letters that do not decompose into a base letter and a mark. */
const LETTERS: Readonly<Record<string, string>> = {
  ı: 'i',
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ς: 'σ',
}
const SPECIAL = /[ıßæœøłđðþħŧς]/gu

/** Runs of letters, marks and digits; symbols such as ♀ are words of their own, everything else separates words. */
const WORDS = /[\p{L}\p{N}\p{M}]+|\p{So}/gu
const LETTER = /^[\p{L}\p{N}\p{M}]/u

/**
 * The form in which spellings of the same text are equal: lower case, no accents (Turkish letters
 * included: all of I İ ı i become i), no apostrophes, compatibility forms such as full width replaced by ordinary ones, white
 * space trimmed and collapsed to single spaces. Symbols such as ♀ δ ★ and Japanese voicing marks stay. Idempotent.
 */
export function fold(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase()
  return text
    .replace(APOSTROPHES, '')
    .normalize('NFKD')
    .toLowerCase()
    .replace(MARKS, '')
    .replace(APOSTROPHES, '')
    .replace(SPECIAL, (letter) => LETTERS[letter]!)
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .trim()
}

/** The words of a folded text, in order; Chinese and Japanese text without separators is one word. */
export function words(folded: string): string[] {
  return folded.match(WORDS) ?? []
}

/** Whether a word starts at this position of a folded text, which must be inside a word. */
export function startsWord(folded: string, at: number): boolean {
  if (at === 0) return true
  return !isLetterAt(folded, at) || !isLetterAt(folded, isLowSurrogate(folded.charCodeAt(at - 1)) ? at - 2 : at - 1)
}

/** Whether a word ends before this position of a folded text; the previous position must be inside a word. */
export function endsWord(folded: string, at: number): boolean {
  return at >= folded.length || !isLetterAt(folded, at) || !isLetterAt(folded, isLowSurrogate(folded.charCodeAt(at - 1)) ? at - 2 : at - 1)
}

function isLetterAt(folded: string, at: number): boolean {
  const code = folded.charCodeAt(at)
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 48 && code <= 57)
  return LETTER.test(folded.slice(at, at + 2))
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
