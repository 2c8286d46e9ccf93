// The cache of values by key: bounded by weight, cleared when its source changes, evicting unused entries; and which keys are asked for again.
// Bytes of items are cached in rings of memory instead (index/byte-ring.ts), and results of functions of short texts by index/memoize.ts.

export interface CacheOptions<K, V> {
  /** total weight at which entries are evicted */
  limit: number
  /** weight of an entry; default: 1 */
  weigh?: (value: V, key: K) => number
  /** version of the source of the values: an entry of an earlier one is used only if `isCurrent` */
  version?: () => number
  /** whether a value of an earlier version would be the same now; default: none would */
  isCurrent?: (value: V) => boolean
  /** called with each value that was evicted, deleted or replaced, but not for `clear` */
  onRemoved?: (value: V, key: K) => void
  /** evict exactly in the order of last use, for values that cost much more than a read that reorders them */
  byLastUse?: boolean
}

interface Entry<V> {
  value: V
  weight: number
  /** read since it was stored or last spared from eviction */
  used: boolean
  /** version of the source at which it was stored or last found current */
  version: number
}

/** Weight, as a share of the limit, from which a cache counts as full: below it, the newest entry has not evicted another one. */
const FULL = 0.98

/** A cache that evicts in CLOCK order: the oldest entry is evicted, unless it was read since it was last checked. Only `byLastUse` is exact. */
export class Cache<K, V> {
  readonly #entries = new Map<K, Entry<V>>()
  readonly #limit: number
  readonly #weigh: (value: V, key: K) => number
  readonly #versionOf: (() => number) | null
  readonly #isCurrent: (value: V) => boolean
  readonly #onRemoved: ((value: V, key: K) => void) | null
  readonly #byLastUse: boolean
  #weight = 0
  // Reading does not reorder entries: an entry that was read moves to the back when the hand reaches it.
  #hand: Iterator<[K, Entry<V>]>

  constructor({ limit, weigh = () => 1, version, isCurrent = () => false, onRemoved, byLastUse = false }: CacheOptions<K, V>) {
    this.#limit = limit
    this.#weigh = weigh
    this.#versionOf = version ?? null
    this.#isCurrent = isCurrent
    this.#onRemoved = onRemoved ?? null
    this.#byLastUse = byLastUse
    this.#hand = this.#entries.entries()
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (this.#versionOf !== null && !this.#follow(entry, this.#versionOf())) {
      this.delete(key)
      return undefined
    }
    if (this.#byLastUse) this.#moveToBack(key, entry)
    else entry.used = true
    return entry.value
  }

  /** Stores a value that was computed from the current version. */
  set(key: K, value: V): void {
    if (this.#limit === 0) return
    const version = this.version
    const before = this.#entries.get(key)
    const weight = this.#weigh(value, key)
    if (before) {
      const replaced = before.value
      this.#weight += weight - before.weight
      before.value = value
      before.weight = weight
      before.version = version
      if (this.#byLastUse) this.#moveToBack(key, before)
      this.#onRemoved?.(replaced, key)
    } else {
      this.#weight += weight
      this.#entries.set(key, { value, weight, used: false, version })
    }
    while (this.#weight > this.#limit && this.#entries.size > 1) this.#evictNext(key)
  }

  delete(key: K): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#entries.delete(key)
    this.#weight -= entry.weight
    this.#onRemoved?.(entry.value, key)
  }

  clear(): void {
    this.#entries.clear()
    this.#hand = this.#entries.entries()
    this.#weight = 0
  }

  /** The version that newly stored values must be computed from. */
  get version(): number {
    return this.#versionOf?.() ?? 0
  }

  get size(): number {
    return this.#entries.size
  }

  /** Total weight of all entries. */
  get weight(): number {
    return this.#weight
  }

  /** Whether new entries evict old ones. */
  get full(): boolean {
    return this.#weight >= this.#limit * FULL
  }

  *entries(): IterableIterator<[K, V]> {
    for (const [key, { value }] of this.#entries) yield [key, value]
  }

  /** Whether an entry is valid at this version. */
  #follow(entry: Entry<V>, version: number): boolean {
    if (entry.version === version) return true
    if (!this.#isCurrent(entry.value)) return false
    entry.version = version
    return true
  }

  #moveToBack(key: K, entry: Entry<V>): void {
    this.#entries.delete(key)
    this.#entries.set(key, entry)
  }

  /** Checks one entry and evicts it, unless it was read or is the newest. */
  #evictNext(newest: K): void {
    const next = this.#hand.next()
    if (next.done) {
      this.#hand = this.#entries.entries()
      return
    }
    const [key, entry] = next.value
    if (entry.used || key === newest) {
      entry.used = false
      this.#moveToBack(key, entry)
    } else {
      this.#entries.delete(key)
      this.#weight -= entry.weight
      this.#onRemoved?.(entry.value, key)
    }
  }
}

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
