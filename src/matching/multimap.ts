// Multimap optimised for keys with one value: only keys with several values use a set.

/** Each value of a key once, in insertion order. */
export class Multimap<K, V extends object> {
  readonly #values = new Map<K, V | Set<V>>()

  add(key: K, value: V): void {
    const stored = this.#values.get(key)
    if (stored === undefined) this.#values.set(key, value)
    else if (stored instanceof Set) stored.add(value)
    else if (stored !== value) this.#values.set(key, new Set([stored, value]))
  }

  get(key: K): readonly V[] {
    const stored = this.#values.get(key)
    if (stored === undefined) return NONE
    return stored instanceof Set ? [...stored] : [stored]
  }

  has(key: K, value: V): boolean {
    const stored = this.#values.get(key)
    return stored instanceof Set ? stored.has(value) : stored === value
  }

  /** The number of values of the key. */
  count(key: K): number {
    const stored = this.#values.get(key)
    return stored === undefined ? 0 : stored instanceof Set ? stored.size : 1
  }
}

const NONE: readonly never[] = []
