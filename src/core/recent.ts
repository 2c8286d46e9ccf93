// A small memory of the results asked for most recently; those not asked for the longest go first.

interface Entry<T> {
  value: T
  weight: number
  /** asked for since it came or was last spared */
  asked: boolean
}

export class Recent<K, T> {
  readonly #entries = new Map<K, Entry<T>>()
  readonly #limit: number
  readonly #weigh: (value: T, key: K) => number
  #weight = 0
  // Takes entries from the front when there is no room: what was asked for meanwhile goes to the back, once. Asking itself
  // moves nothing.
  #hand: Iterator<[K, Entry<T>]>
  #full = false

  /** @param weigh what an entry counts towards the limit */
  constructor(limit: number, weigh: (value: T, key: K) => number = () => 1) {
    this.#limit = limit
    this.#weigh = weigh
    this.#hand = this.#entries.entries()
  }

  /** Whether something had to go for others already. */
  get full(): boolean {
    return this.#full
  }

  get(key: K): T | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    entry.asked = true
    return entry.value
  }

  set(key: K, value: T): void {
    const before = this.#entries.get(key)
    const weight = this.#weigh(value, key)
    if (before) {
      this.#weight += weight - before.weight
      before.value = value
      before.weight = weight
    } else {
      this.#weight += weight
      this.#entries.set(key, { value, weight, asked: false })
    }
    while (this.#weight > this.#limit && this.#entries.size > 1) this.#makeRoom(key)
  }

  /** Sets what must not push out what is asked for: where there is no room, the next in turn has to be idle. */
  offer(key: K, value: () => T): void {
    if (!this.#full || this.#makeRoom(key)) this.set(key, value())
  }

  clear(): void {
    this.#entries.clear()
    this.#hand = this.#entries.entries()
    this.#weight = 0
    this.#full = false
  }

  *values(): IterableIterator<T> {
    for (const { value } of this.#entries.values()) yield value
  }

  /** Takes one entry, which goes unless it was asked for or has just come; gives whether it went. */
  #makeRoom(newest: K): boolean {
    const next = this.#hand.next()
    if (next.done) {
      this.#hand = this.#entries.entries()
      return false
    }
    const [key, entry] = next.value
    this.#entries.delete(key)
    if (entry.asked || key === newest) {
      entry.asked = false
      this.#entries.set(key, entry)
      return false
    }
    this.#full = true
    this.#weight -= entry.weight
    return true
  }
}
