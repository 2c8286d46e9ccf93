// Rule `grade_order`: a PSA 10 is not worth less than the same card ungraded.
import type { Thresholds } from './thresholds.ts'

/** Whether a PSA 10 contradicts the Near Mint price of the same item and market; both in minor units. */
export function gradeConflicts(psa10: number, nearMint: number, { gradedShare }: Thresholds, noiseMinor: number): boolean {
  return psa10 < nearMint * gradedShare && nearMint * gradedShare - psa10 >= noiseMinor
}
