// Collector numbers as people type them: with or without leading zeros, separators and the total after the slash.
import { fold } from '#index/fold.ts'

const RUNS = /\p{N}+|[\p{L}\p{M}]+/gu
const DIGITS = /^\p{N}/u

/**
 * The one form all spellings of a code share: folded, no leading zeros, separators only where two runs of digits or
 * two of letters meet (`OP01-001`, `op1 1` → `op1-1`; `SWSH 020` → `swsh20`; `004/102` → `4/102`). The first slash
 * parts number and total. A code of punctuation alone (`!`, `?`) stays as it is.
 */
export function normalCode(code: string): string {
  const folded = fold(code)
  const slash = folded.indexOf('/')
  const number = normalRuns(slash < 0 ? folded : folded.slice(0, slash))
  const total = slash < 0 ? '' : normalRuns(folded.slice(slash + 1))
  if (number === '' && total === '') return folded
  return total === '' ? number : `${number}/${total}`
}

/** The normal form of a code without its total: `TG12/TG30` → `tg12`. */
export function numberOf(code: string): string {
  const normal = normalCode(code)
  const slash = normal.indexOf('/')
  return slash > 0 ? normal.slice(0, slash) : normal
}

/** What a code is filed under; no folded word of a query contains the line breaks that mark whole forms. */
export function codeTerms(code: string): string[] {
  const folded = fold(code)
  const normal = normalCode(folded)
  const number = numberOf(folded)
  const whole = number === normal ? `\n${number}\n` : `\n${normal}`
  const typed = [folded, folded.replaceAll(/[^\p{L}\p{M}\p{N}/]/gu, '')].filter((form) => form !== normal && form !== '')
  return [...new Set([`\n${number}`, whole, ...typed])]
}

/**
 * The terms of which a code equal to this one has at least one: of two codes with totals both must be the same,
 * else the numbers suffice (`4` and `4/102` are equal, `4/102` and `4/130` are not).
 */
export function equalTerms(query: string): string[] {
  const normal = normalCode(query)
  const number = numberOf(query)
  if (normal === '') return []
  return number === normal ? [`\n${number}`] : [`\n${normal}`, `\n${number}\n`]
}

/** Whether two spellings mean the same code. */
export function sameCode(query: string, code: string): boolean {
  const terms = codeTerms(code)
  return equalTerms(query).some((term) => terms.includes(term))
}

function normalRuns(text: string): string {
  let normal = ''
  let digitsBefore: boolean | null = null
  for (const run of text.match(RUNS) ?? []) {
    const digits = DIGITS.test(run)
    if (digits === digitsBefore) normal += '-'
    normal += digits ? run.replace(/^0+(?=.)/, '') : run
    digitsBefore = digits
  }
  return normal
}
