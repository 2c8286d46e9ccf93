// Normal forms of collector numbers, within a set that may print one prefix on all of its cards.
import { parseCode } from '#index/codes.ts'
import { kept } from '#index/kept.ts'

const PREFIXED = /^([\p{L}\p{M}]+)(\p{N}.*)$/u
/** Share of a set's numbers that bear a prefix which is the set's, not the card's. */
const SHARED_PREFIX = 0.8
/** Of fewer numbers it cannot be told whose their prefix is. */
const FEWEST_NUMBERS = 4

const codeOf = kept(parseCode)

/** Without leading zeros, separators and total: `004/102` → `4`, `TG01/TG30` → `tg1`, `SWSH020` → `swsh20`. */
export function normalNumber(number: string): string {
  return codeOf(number).number
}

/** The total behind the slash in normal form, empty without one. */
export function totalOf(number: string): string {
  return codeOf(number).total
}

/**
 * The letters before nearly all numbers of a set, such as `swsh` of the Sword & Shield promos and `tg` of a Trainer
 * Gallery; empty when there are none.
 */
export function sharedPrefix(numbers: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const number of numbers) {
    const prefix = PREFIXED.exec(number)?.[1]
    if (prefix !== undefined) counts.set(prefix, (counts.get(prefix) ?? 0) + 1)
  }
  const least = Math.max(FEWEST_NUMBERS, numbers.length * SHARED_PREFIX)
  for (const [prefix, count] of counts) if (count >= least) return prefix
  return ''
}

/** The number without a prefix that says no more than the set does: `swsh20` → `20`. */
export function bareNumber(number: string, prefix: string): string {
  return prefix !== '' && number.startsWith(prefix) && number.length > prefix.length ? number.slice(prefix.length) : number
}

/** The number without a code of its set: `svp12` in the set SVP is its number 12. */
export function withoutSetCode(number: string, codes: readonly string[]): string {
  for (const code of codes) {
    const prefix = normalNumber(code)
    if (prefix !== '' && number.startsWith(prefix) && /^\p{N}/u.test(number.slice(prefix.length))) return number.slice(prefix.length)
  }
  return number
}

/** `103a` → `103`, `tg12` → `12`: what is left when only the digits count; a hint, no proof. */
export function looseNumber(number: string): string {
  return /\p{N}+/u.exec(number)?.[0] ?? number
}
