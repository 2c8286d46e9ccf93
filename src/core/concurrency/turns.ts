// Turns for expensive work: a limited number runs at once, further work waits in order.

/** At most `atOnce` holders at a time, each of which calls `end` once. */
export class Turns {
  readonly #atOnce: number
  #running = 0
  readonly #queue: (() => void)[] = []

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  /** Number of holders, and of those that wait. */
  get taken(): number {
    return this.#running + this.#queue.length
  }

  async take(): Promise<void> {
    if (this.#running >= this.#atOnce) await new Promise<void>((resolve) => this.#queue.push(resolve))
    else this.#running += 1
  }

  end(): void {
    const next = this.#queue.shift()
    if (next) next()
    else this.#running -= 1
  }

  /** Takes a turn, runs the work and ends the turn. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.take()
    return work().finally(() => this.end())
  }
}
