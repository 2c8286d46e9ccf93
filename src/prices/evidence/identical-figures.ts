// Rule `identical_figures`: two items of one source do not have identical prices and averages to the cent.
import type { Backing, Figures } from './evidence-types.ts'

/**
 * The key that identical prices of one market and label share; the SQL compares the same columns. With averages, the price and the 7-day and 30-day
 * averages are compared; with offers, the price, low and mid; with neither, the price and the card's name, because equal prices alone are often
 * coincidence.
 * @param name of the item, in lower case
 * @returns null if the amount is too small for identity to mean anything
 */
export function identityOf(minor: number, { avg7, avg30, low, mid }: Figures, name: string, noiseMinor: number): string | null {
  if (minor < noiseMinor) return null
  if (avg7 || avg30) return `averages ${minor} ${avg7} ${avg30}`
  if (low && mid) return `offers ${minor} ${low} ${mid}`
  return `name ${minor} ${name}`
}

/** One of several prices with the same key. */
export interface AlikePrice {
  /** set and name of its item */
  categoryId: number
  name: string
  /** evidence of other markets about it */
  backing: Backing
}

/** What is identical besides the price; `identityOf` starts with it. */
export type IdentityKind = 'averages' | 'offers' | 'name'

/**
 * Whether identity is more than coincidence: identical offers are common, so they count only within a set or among cards of one name; amounts alone
 * count within a set.
 */
const ARE_COMPARABLE: Record<IdentityKind, (one: AlikePrice, other: AlikePrice) => boolean> = {
  averages: () => true,
  offers: (one, other) => one.categoryId === other.categoryId || one.name === other.name,
  name: (one, other) => one.categoryId === other.categoryId,
}

/** Whether the identity of two prices is more than coincidence. */
export function areComparable(kind: IdentityKind, one: AlikePrice, other: AlikePrice): boolean {
  return ARE_COMPARABLE[kind](one, other)
}

/**
 * Which of the identical prices are in doubt: all whose identity is more than coincidence, except those that another market agrees with closely, and
 * one that another market agrees with while the others are contradicted.
 * @returns by position
 */
export function findDoubtful(alike: readonly AlikePrice[], kind: IdentityKind): boolean[] {
  return alike.map((one) => {
    const rivals = alike.filter((other) => other !== one && areComparable(kind, one, other))
    return rivals.length > 0 && one.backing !== 'close' && !(one.backing === 'agreed' && rivals.every(({ backing }) => backing === 'contradicted'))
  })
}
