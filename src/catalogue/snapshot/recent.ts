// A small memory of the results asked for most recently; the one not asked for the longest goes first.

export class Recent<T> {
  readonly #entries = new Map<string, T>()
  readonly #limit: number
  readonly #weigh: (entry: T) => number
  #weight = 0

  /** @param weigh what an entry counts towards the limit; it must always say the same of an entry */
  constructor(limit: number, weigh: (entry: T) => number = () => 1) {
    this.#limit = limit
    this.#weigh = weigh
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry
  }

  set(key: string, entry: T): void {
    this.#delete(key)
    this.#entries.set(key, entry)
    this.#weight += this.#weigh(entry)
    while (this.#weight > this.#limit && this.#entries.size > 1) this.#delete(this.#entries.keys().next().value!)
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  values(): IterableIterator<T> {
    return this.#entries.values()
  }

  #delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#weight -= this.#weigh(entry)
  }
}
