// Callers who wait for a change: woken once this node has applied one of its kind.
import type { ChangeFollower, ChangeRow } from './change-feed.ts'
import type { ChangeKind } from './schema.ts'

interface Waiter {
  kinds: readonly ChangeKind[]
  wake: () => void
}

/** Add it to the change feed after everything that those who wait will read. */
export class ChangeWaiters implements ChangeFollower {
  readonly #waiters = new Set<Waiter>()
  #closed = false

  async apply(changes: ChangeRow[]): Promise<void> {
    const kinds = new Set(changes.map(({ kind }) => kind))
    this.#wake(({ kinds: wanted }) => wanted.some((kind) => kinds.has(kind)))
  }

  async reload(): Promise<void> {
    this.#wake(() => true)
  }

  /**
   * Resolves with the next change of these kinds, after so long, or when the node stops. Call it before reading what is
   * there already, so that nothing is missed; `end` ends the wait.
   */
  next(kinds: readonly ChangeKind[], withinMs: number): { arrived: Promise<void>; end: () => void } {
    if (this.#closed || withinMs <= 0) return { arrived: Promise.resolve(), end: () => {} }
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = () => {
      clearTimeout(timer)
      this.#waiters.delete(waiter)
      resolve()
    }
    const timer = setTimeout(end, withinMs)
    const waiter: Waiter = { kinds, wake: end }
    this.#waiters.add(waiter)
    return { arrived: promise, end }
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Answers everyone who waits, and lets nobody wait any more. */
  close(): void {
    this.#closed = true
    this.#wake(() => true)
  }

  #wake(which: (waiter: Waiter) => boolean): void {
    for (const waiter of this.#waiters) if (which(waiter)) waiter.wake()
  }
}
