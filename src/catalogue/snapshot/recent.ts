// A small memory of the results asked for most recently; those not asked for the longest go first.

export class Recent<T> {
  // Two generations: what is asked for moves to the young one; when that is full, the old one goes and the young one ages.
  #young = new Map<string, T>()
  #old = new Map<string, T>()
  readonly #half: number
  readonly #weigh: (entry: T) => number
  #youngWeight = 0

  /** @param weigh what an entry counts towards the limit; it must always say the same of an entry */
  constructor(limit: number, weigh: (entry: T) => number = () => 1) {
    this.#half = limit / 2
    this.#weigh = weigh
  }

  get(key: string): T | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: string, entry: T): void {
    if (this.#youngWeight >= this.#half) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngWeight = 0
    }
    const before = this.#young.get(key)
    if (before !== undefined) this.#youngWeight -= this.#weigh(before)
    this.#old.delete(key)
    this.#young.set(key, entry)
    this.#youngWeight += this.#weigh(entry)
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
