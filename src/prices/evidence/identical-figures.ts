// Rule `identical_figures`: two items of one source cannot have the same price and the same averages to the cent.
import type { Figures } from './types.ts'

/**
 * What two prices of one market and label have in common that are identical: the amount and every figure. Storage compares
 * the same columns (price, avg_1, avg_7, avg_30, low, mid, high), where this is not null.
 * @returns null where identity says nothing: below the noise, or with fewer than two figures beside the amount
 */
export function identityOf(minor: number, figures: Figures, noiseMinor: number): string | null {
  const { avg1, avg7, avg30, low, mid, high } = figures
  const stated = [avg1, avg7, avg30, low, mid, high]
  if (minor < noiseMinor || stated.filter((figure) => figure !== null).length < 2) return null
  return [minor, ...stated].join(' ')
}
