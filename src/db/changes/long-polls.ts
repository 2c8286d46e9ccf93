// Long polls: each caller that waits for data reads again when one of its topics is woken, by a change or by a notice.
import { startTimer, stopTimer } from '#core/process/time-and-chance.ts'
import type { ChangeFollower, ChangeRow } from './change-feed.ts'

/** Maximum wait of a request for which there is no data. */
export interface Wait {
  ms: number
  /** registers a listener for the end of the caller's connection; the returned function removes it */
  onDisconnect: (listener: () => void) => () => void
}

interface Waiter {
  topics: readonly string[]
  accountId: number | null
  /** has found nothing, and reads again when it is woken */
  waits: boolean
  /** woken since its last read began */
  woken: boolean
  /** responds with the result of its last read */
  ended: boolean
  resume: () => void
}

/** Add it to the change feed after the followers that the readers depend on. Topics are kinds of changes. */
export class LongPolls implements ChangeFollower {
  readonly #waiters = new Set<Waiter>()
  #closed = false

  /** Number of callers that have read, found nothing and wait. */
  get waiting(): number {
    return [...this.#waiters].filter(({ waits }) => waits).length
  }

  /**
   * Reads until there is data, the wait is over, the caller has disconnected, its account has changed (a revoked key must
   * not read on) or the node stops.
   * @param accountId of the caller; null for operators
   */
  async read<T>(
    { topics, accountId, wait: { ms, onDisconnect } }: { topics: readonly string[]; accountId: number | null; wait: Wait },
    read: () => Promise<{ found: T; isEmpty: boolean }>,
  ): Promise<T> {
    if (ms <= 0 || this.#closed) return (await read()).found
    const waiter: Waiter = { topics, accountId, waits: false, woken: false, ended: false, resume: () => {} }
    const timer = startTimer(() => end(waiter), ms)
    const stayConnected = onDisconnect(() => end(waiter))
    // Registered before the first read: a commit in between wakes it.
    this.#waiters.add(waiter)
    try {
      for (;;) {
        waiter.woken = false
        const { found, isEmpty } = await read()
        if (!isEmpty || waiter.ended) return found
        waiter.waits = true
        if (!waiter.woken) await new Promise<void>((resolve) => (waiter.resume = resolve))
        waiter.waits = false
        if (waiter.ended) return found
      }
    } finally {
      stopTimer(timer)
      stayConnected()
      this.#waiters.delete(waiter)
    }
  }

  wake(topic: string): void {
    for (const waiter of this.#waiters) if (waiter.topics.includes(topic)) wake(waiter)
  }

  async apply(changes: ChangeRow[]): Promise<void> {
    for (const { kind, ids } of changes) {
      if (kind === 'accounts') for (const waiter of this.#waiters) if (waiter.accountId !== null && ids?.includes(waiter.accountId)) end(waiter)
    }
    for (const kind of new Set(changes.map(({ kind }) => kind))) this.wake(kind)
  }

  async reload(): Promise<void> {
    this.#endAll()
  }

  /** Responds to all waiting callers, and accepts no more waits. */
  close(): void {
    this.#closed = true
    this.#endAll()
  }

  #endAll(): void {
    for (const waiter of this.#waiters) end(waiter)
  }
}

function wake(waiter: Waiter): void {
  waiter.woken = true
  waiter.resume()
}

function end(waiter: Waiter): void {
  waiter.ended = true
  waiter.resume()
}
