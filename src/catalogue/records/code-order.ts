// Sorts collector numbers as collectors do: 2/102 before 10/102, OP01-002 before OP02-001.
import { fold } from '#index/fold.ts'

/** A key whose text order is the natural order of codes: every run of digits is padded to the same length. */
export function codeSortKey(code: string): string {
  return fold(code).replace(/\d+/g, (digits) => digits.replace(/^0+(\d)/, '$1').padStart(12, '0'))
}
