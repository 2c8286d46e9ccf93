// Rule `identical_figures`: two items of one source do not have the same price and the same averages to the cent.
import type { Backing, Figures } from './types.ts'

/**
 * What two prices of one market and label have in common when they are identical. Storage compares the same columns. A feed
 * that gives averages is compared by price and averages of 7 and 30 days; one that gives offers by price, low and mid; one
 * that gives neither by price and name of the card, because the price alone is often the same by chance.
 * @param name of the item, in lower case
 * @returns null if identity says nothing: below the noise
 */
export function identityOf(minor: number, { avg7, avg30, low, mid }: Figures, name: string, noiseMinor: number): string | null {
  if (minor < noiseMinor) return null
  if (avg7 || avg30) return `averages ${minor} ${avg7} ${avg30}`
  if (low && mid) return `offers ${minor} ${low} ${mid}`
  return `name ${minor} ${name}`
}

/** One of several prices with one identity. */
export interface AlikePrice {
  /** set and name of its item */
  categoryId: number
  name: string
  /** what other markets say of it */
  backing: Backing
}

/** By what prices are identical, in the words with which `identityOf` begins. */
export type IdentityKind = 'averages' | 'offers' | 'name'

/** Whether prices are identical by more than chance: offers often are, within a set or among cards of one name; bare amounts within a set. */
const ARE_RIVALS: Record<IdentityKind, (one: AlikePrice, other: AlikePrice) => boolean> = {
  averages: () => true,
  offers: (one, other) => one.categoryId === other.categoryId || one.name === other.name,
  name: (one, other) => one.categoryId === other.categoryId,
}

/**
 * Which of the prices with one identity are in doubt: all that are so by more than chance, but for one that another market agrees
 * with while the others are contradicted by theirs.
 * @returns by position
 */
export function inDoubt(alike: readonly AlikePrice[], kind: IdentityKind): boolean[] {
  return alike.map((one) => {
    const rivals = alike.filter((other) => other !== one && ARE_RIVALS[kind](one, other))
    return rivals.length > 0 && !(one.backing === 'agreed' && rivals.every(({ backing }) => backing === 'contradicted'))
  })
}
