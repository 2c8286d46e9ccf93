// Multimap optimised for keys with one value: only keys with several values use a set.

/** Each value of a key once, in insertion order. */
export class Multimap<K, V extends object> {
  readonly #values = new Map<K, V | Set<V>>()

  add(key: K, value: V): void {
    const known = this.#values.get(key)
    if (known === undefined) this.#values.set(key, value)
    else if (known instanceof Set) known.add(value)
    else if (known !== value) this.#values.set(key, new Set([known, value]))
  }

  get(key: K): readonly V[] {
    const known = this.#values.get(key)
    if (known === undefined) return NONE
    return known instanceof Set ? [...known] : [known]
  }

  has(key: K, value: V): boolean {
    const known = this.#values.get(key)
    return known instanceof Set ? known.has(value) : known === value
  }

  /** The number of values of the key. */
  count(key: K): number {
    const known = this.#values.get(key)
    return known === undefined ? 0 : known instanceof Set ? known.size : 1
  }
}

const NONE: readonly never[] = []
