// Whether a key sees a listing for the first time in an hour, in a fixed amount of memory.
import { secretBytes } from '#core/process/secret-bytes.ts'

/** 2 MB in total. */
const SLOTS = 2 ** 18

/**
 * Remembers pairs of key and listing, one in each slot of a table. Of two pairs with the same slot only the latter is remembered, so the former counts
 * again: one view too many, never one too few. The place of a pair is secret: nobody can make a chosen pair disappear but by seeing very many listings.
 */
export class FirstViews {
  readonly #seed = secretBytes(4).readUInt32LE() | 1
  #keys: Uint32Array | null = null
  #listings = new Uint32Array(0)
  #hour = -1

  /** @param hour number of the current hour; a new one starts afresh */
  isFirst(keyId: number, listingId: number, hour: number): boolean {
    if (this.#keys === null) {
      this.#keys = new Uint32Array(SLOTS)
      this.#listings = new Uint32Array(SLOTS)
    }
    if (hour !== this.#hour) {
      this.#hour = hour
      // No key has the id 0.
      this.#keys.fill(0)
    }
    const slot = this.#slotOf(keyId, listingId)
    if (this.#keys[slot] === keyId && this.#listings[slot] === listingId) return false
    this.#keys[slot] = keyId
    this.#listings[slot] = listingId
    return true
  }

  #slotOf(keyId: number, listingId: number): number {
    let hash = Math.imul(keyId ^ this.#seed, 0x9e3779b1)
    hash = Math.imul((hash ^ (hash >>> 15)) + listingId, 0x85ebca6b)
    hash ^= hash >>> 13
    hash = Math.imul(hash ^ this.#seed, 0xc2b2ae35)
    return (hash ^ (hash >>> 16)) & (SLOTS - 1)
  }
}
