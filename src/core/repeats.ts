// Recognises keys that are asked for again, in fixed memory.

/** Each holds the hash of the last key that was assigned to it. */
const SLOTS = 4_096

/** Remembers about as many recent keys as it has slots; a newer key replaces an older one in the same slot. */
export class Repeats {
  readonly #hashes = new Int32Array(SLOTS)

  /** Whether the key was asked for before and is still remembered; then remembers it. Another key with the same 32-bit hash counts as the same. */
  has(key: string): boolean {
    let hash = 0x811c9dc5
    for (let i = 0; i < key.length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
    hash ^= hash >>> 15
    const slot = hash & (SLOTS - 1)
    if (this.#hashes[slot] === hash) return true
    this.#hashes[slot] = hash
    return false
  }
}
