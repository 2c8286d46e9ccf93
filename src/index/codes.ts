// Collector numbers as people type them: with or without leading zeros, separators and the total after the slash.
import { fold } from '#index/fold.ts'

/** A star or dagger right after a number belongs to it: `123★` and `123` are different cards. */
const RUNS = /\p{N}+[★†]?|[\p{L}\p{M}]+/gu
const DIGITS = /^\p{N}/u
const SEPARATORS = /[^\p{L}\p{M}\p{N}]/gu

/** A code in normal form, split at its first slash; the total is empty if there is none. */
export interface Code {
  number: string
  total: string
}

/**
 * The normal form of all spellings of a code: folded, no leading zeros, separators only between two runs of digits or
 * of letters (`OP01-001`, `op1 1` → `op1-1`; `SWSH 020` → `swsh20`; `004/102` → `4` of `102`). A code of
 * punctuation alone (`!`, `?`) is its own number.
 */
export function parseCode(code: string): Code {
  const folded = fold(code)
  const parts = partsOf(folded)
  const [number, total] = [normalRuns(parts[0]), normalRuns(parts[1])]
  return number === '' && total === '' ? { number: folded, total } : { number, total }
}

/** The normal form as text: `004/102` → `4/102`. */
export function normalCode(code: string): string {
  const { number, total } = parseCode(code)
  return total === '' ? number : `${number}/${total}`
}

/** The normal form without its total: `TG12/TG30` → `tg12`. */
export function numberOf(code: string): string {
  return parseCode(code).number
}

/**
 * Whether two spellings mean the same code: if both have totals, both parts must be equal; otherwise the numbers suffice
 * (`4` and `4/102` are the same, `4/102` and `4/130` are not).
 */
export function sameCode(a: string, b: string): boolean {
  const one = parseCode(a)
  const other = parseCode(b)
  return one.number === other.number && (one.total === other.total || one.total === '' || other.total === '')
}

/** The term of all codes with this number and no total. */
export const bareTerm = (number: string): string => `\n${number}\n`
/** The term of all codes with this number and some total. */
export const numberTerm = (number: string): string => `\n${number}/`
/** The term of all codes with this total. */
export const totalTerm = (total: string): string => `/${total}\n`

/**
 * The terms that a code is indexed under: number and total separately, because each has few distinct values; and each as normalised
 * (marked by a line break, which no query contains), as printed, and without separators. A number keeps the slash after it
 * and a total the slash before it, so that parts of a code can be found as parts of terms.
 */
export function codeTerms(code: string): string[] {
  const folded = fold(code)
  const { number, total } = parseCode(folded)
  const [printedNumber, printedTotal] = partsOf(folded)
  const end = total === '' ? '' : '/'
  const terms = [total === '' ? bareTerm(number) : numberTerm(number)]
  for (const form of [printedNumber, joined(printedNumber)]) if (form !== number && form !== '') terms.push(form + end)
  if (total === '') return [...new Set(terms)]
  terms.push(totalTerm(total))
  for (const form of [printedTotal, joined(printedTotal)]) if (form !== total) terms.push(`/${form}`)
  return [...new Set(terms)]
}

/** The text before and after the first slash of a folded text; further slashes count as hyphens. */
export function partsOf(folded: string): [number: string, total: string] {
  const slash = folded.indexOf('/')
  if (slash < 0) return [folded, '']
  const total = folded.slice(slash + 1).replaceAll('/', '-')
  return [folded.slice(0, slash).trim(), total.trim()]
}

function joined(text: string): string {
  return text.replaceAll(SEPARATORS, '')
}

function normalRuns(text: string): string {
  let normal = ''
  let digitsBefore: boolean | null = null
  for (const run of text.match(RUNS) ?? []) {
    const digits = DIGITS.test(run)
    if (digits === digitsBefore) normal += '-'
    normal += digits ? run.replace(/^0+(\p{N})/u, '$1') : run
    digitsBefore = digits
  }
  return normal
}
