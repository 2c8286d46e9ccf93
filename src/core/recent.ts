// A small memory of the results asked for most recently; those not asked for the longest go first.

export class Recent<K, T> {
  // Two generations: what is asked for moves to the young one; when that is full, the old one goes and the young one ages.
  #young = new Map<K, T>()
  #old = new Map<K, T>()
  readonly #half: number
  readonly #weigh: (entry: T, key: K) => number
  #youngWeight = 0

  /** @param weigh what an entry counts towards the limit; it must always say the same of an entry */
  constructor(limit: number, weigh: (entry: T, key: K) => number = () => 1) {
    this.#half = limit / 2
    this.#weigh = weigh
  }

  /** Whether something has to go for what comes now. */
  get full(): boolean {
    return this.#old.size > 0
  }

  get(key: K): T | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: K, entry: T): void {
    if (this.#youngWeight >= this.#half) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngWeight = 0
    }
    const before = this.#young.get(key)
    if (before !== undefined) this.#youngWeight -= this.#weigh(before, key)
    this.#old.delete(key)
    this.#young.set(key, entry)
    this.#youngWeight += this.#weigh(entry, key)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#youngWeight = 0
  }

  *values(): IterableIterator<T> {
    yield* this.#young.values()
    yield* this.#old.values()
  }
}
