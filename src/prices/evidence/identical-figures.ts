// Rule `identical_figures`: two items of one source do not have the same price and the same averages to the cent.
import type { Figures } from './types.ts'

/**
 * What two prices of one market and label have in common when they are identical. Storage compares the same columns. A feed
 * that gives averages is compared by price and averages of 7 and 30 days; one that gives offers by price, low and mid; one
 * that gives neither by price and name of the card, because the price alone is often the same by chance.
 * @param name of the item, in lower case
 * @returns null where identity says nothing: below the noise
 */
export function identityOf(minor: number, { avg7, avg30, low, mid }: Figures, name: string, noiseMinor: number): string | null {
  if (minor < noiseMinor) return null
  if (avg7 || avg30) return `averages ${minor} ${avg7} ${avg30}`
  if (low && mid) return `offers ${minor} ${low} ${mid}`
  return `name ${minor} ${name}`
}
