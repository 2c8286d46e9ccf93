// A small memory of the results asked for most recently; the one not asked for the longest goes first.

export class Recent<T> {
  readonly #entries = new Map<string, T>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry
  }

  set(key: string, entry: T): void {
    this.#entries.set(key, entry)
    if (this.#entries.size > this.#limit) this.#entries.delete(this.#entries.keys().next().value!)
  }

  clear(): void {
    this.#entries.clear()
  }

  values(): IterableIterator<T> {
    return this.#entries.values()
  }
}
