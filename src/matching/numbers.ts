// Normal forms of collector numbers, within a set that may print the same prefix on all of its cards.
import { parseCode } from '#index/codes.ts'
import { memoize } from '#index/memoize.ts'

const PREFIXED = /^([\p{L}\p{M}]+)(\p{N}.*)$/u
/** A prefix belongs to the set instead of the card if at least this share of the set's numbers has it. */
const SHARED_PREFIX = 0.8
/** With fewer numbers, a prefix cannot be attributed to the set. */
const MIN_NUMBERS = 4

const codeOf = memoize(parseCode)

/** Without leading zeros, separators and total: `004/102` → `4`, `TG01/TG30` → `tg1`, `SWSH020` → `swsh20`. */
export function normalNumber(number: string): string {
  return codeOf(number).number
}

/** The normalised total after the slash; empty if there is none. */
export function totalOf(number: string): string {
  return codeOf(number).total
}

/**
 * The letters before nearly all numbers of a set, such as `swsh` of the Sword & Shield promos and `tg` of a Trainer Gallery; empty if
 * there are none.
 */
export function sharedPrefix(numbers: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const number of numbers) {
    const prefix = PREFIXED.exec(number)?.[1]
    if (prefix !== undefined) counts.set(prefix, (counts.get(prefix) ?? 0) + 1)
  }
  const minCount = Math.max(MIN_NUMBERS, numbers.length * SHARED_PREFIX)
  for (const [prefix, count] of counts) if (count >= minCount) return prefix
  return ''
}

/** The number without the prefix of its set: `swsh20` → `20`. */
export function bareNumber(number: string, prefix: string): string {
  return prefix !== '' && number.startsWith(prefix) && number.length > prefix.length ? number.slice(prefix.length) : number
}

/** The number without a code of its set: `svp12` in the set SVP is number 12. */
export function withoutSetCode(number: string, codes: readonly string[]): string {
  for (const code of codes) {
    const prefix = normalNumber(code)
    if (prefix !== '' && number.startsWith(prefix) && /^\p{N}/u.test(number.slice(prefix.length))) return number.slice(prefix.length)
  }
  return number
}

/** The digits only, `103a` → `103`, `tg12` → `12`. Equal digits are a hint, not proof. */
export function looseNumber(number: string): string {
  return /\p{N}+/u.exec(number)?.[0] ?? number
}
