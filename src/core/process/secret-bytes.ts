// Secrets: the only file that draws keys, nonces, salts and tokens, always from the system's secure source, never from a seed.
import { randomBytes, randomInt } from 'node:crypto'

/** Bytes that nobody can guess. */
export function secretBytes(size: number): Buffer {
  return randomBytes(size)
}

/** A whole number from 0 to `below`, without `below`, that nobody can guess. */
export function secretNumber(below: number): number {
  return randomInt(below)
}
