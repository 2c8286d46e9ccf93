// Which characters texts may contain and how long they may be, as schema patterns and as checks of values.

/** Formatting characters that change the order in which text appears: embeddings, overrides and isolates. */
const BIDI = '\\u202A-\\u202E\\u2066-\\u2069'
const SEPARATORS = '\\u2028\\u2029'
// Default_Ignorable_Code_Point includes zero-width characters, the soft hyphen and the Hangul fillers; U+2800 is a blank Braille cell.
const INVISIBLE = '\\s\\p{Cc}\\p{Default_Ignorable_Code_Point}\\u2800'
/** Lookahead for a visible character; it reads no character twice. */
const HAS_VISIBLE = `(?=[${INVISIBLE}]*[^${INVISIBLE}\\p{Cs}])`

/** Patterns for schemas. Halves of surrogate pairs cannot be stored in JSON columns, and NUL cannot be stored at all. */
export const VISIBLE_LINE = `^${HAS_VISIBLE}[^\\p{Cc}\\p{Cs}${SEPARATORS}${BIDI}]*$`
/** The same, or blank. */
export const LINE = `^(?=\\p{Zs}*$|[${INVISIBLE}]*[^${INVISIBLE}\\p{Cs}])[^\\p{Cc}\\p{Cs}${SEPARATORS}${BIDI}]*$`
/** Text of several lines, which may be blank. */
export const LINES = `^[^\\u0000\\p{Cs}${BIDI}]*$`
/** Any text that PostgreSQL can store: the rule for texts whose schema has no pattern of its own. */
export const STORABLE = '^[^\\u0000\\p{Cs}]*$'
/** One name of a catalogue. Control characters are allowed: names in public catalogues contain them after encoding errors. */
export const CATALOGUE_TEXT = `^(?=\\S)${HAS_VISIBLE}[^\\u0000\\p{Cs}${SEPARATORS}${BIDI}]+(?<=\\S)$`

/** The name of a person: visible, single spaces within it, and no `#`, which ends a name in the audit log. */
export const PERSON_NAME = `^(?=\\S)(?!.*  )${HAS_VISIBLE}(?:[^\\p{C}\\p{Z}#]| )+(?<=\\S)$`

const LINE_TEST = new RegExp(LINE, 'u')
const LINES_TEST = new RegExp(LINES, 'u')
const VISIBLE_TEST = new RegExp(`^${HAS_VISIBLE}`, 'u')
/** Printable ASCII without surrounding spaces, as most texts are: there is nothing to clean. */
const PLAIN_TEST = /^[!-~](?:[ -~]*[!-~])?$/
const FORMATTING = new RegExp(`[\\u0000${BIDI}]`, 'gu')
const SEPARATOR = new RegExp(`[${SEPARATORS}]`, 'gu')

/** Whether a text is one line that is blank or has a visible character. */
export function isLine(text: string): boolean {
  return LINE_TEST.test(text)
}

/** Whether a text of several lines can be stored and is displayed in its own order. */
export function isLines(text: string): boolean {
  return LINES_TEST.test(text)
}

/** Text of a foreign file as it can be stored: without NUL, bidirectional controls and surrounding white space; '' if nothing visible is left. */
export function cleanText(text: string): string {
  if (PLAIN_TEST.test(text)) return text
  const clean = text.replace(FORMATTING, '').replace(SEPARATOR, '\n').trim()
  return VISIBLE_TEST.test(clean) ? clean : ''
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Whether a text has at most this many user-perceived characters: a letter with its marks, or an emoji, is one. */
export function fitsCharacters(text: string, most: number): boolean {
  if (text.length <= most) return true
  let count = 0
  for (const _character of segmenter.segment(text)) {
    count += 1
    if (count > most) return false
  }
  return true
}
