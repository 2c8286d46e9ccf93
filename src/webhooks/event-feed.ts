// The feed of every account's events on this node: reads at one moment are one statement, and a commit answers those who wait.
import type { ChangeFollower, ChangeRow } from '#db/change-feed.ts'
import type { Db } from '#db/schema.ts'
import { type FeedAsk, type FeedBounds, type FeedPart, readParts } from './event-positions.ts'

/** A caller that waits while there is nothing to read. */
export interface Wait {
  /** at most so long */
  ms: number
  /** asks to be told when the caller has gone; what it gives takes that back */
  onDisconnect: (listener: () => void) => () => void
}

interface Reader extends FeedAsk {
  waits: boolean
  /** what it read last */
  part: FeedPart | null
  done: (part: FeedPart) => void
  failed: (error: unknown) => void
}

/** Events that one statement reads at most, over all its readers. */
const MOST_AT_ONCE = 10_000

/** Whether a position lies outside of the feed: its next event is no longer kept, or it was never given. */
export function isOutside(position: number | null, { forgotten, last }: FeedBounds): boolean {
  return position !== null && (position < forgotten || position > last)
}

/** Add it to the change feed: whoever waits with a key that changes is answered, so that a revoked key reads no more. */
export class EventFeed implements ChangeFollower {
  readonly #db: Db
  /** readers that wait, by account */
  readonly #waiting = new Map<number, Set<Reader>>()
  /** readers that have something to read, as far as is known */
  readonly #due = new Set<Reader>()
  #reading = false
  #closed = false

  constructor(db: Db) {
    this.#db = db
  }

  /** Callers that wait now. */
  get waiting(): number {
    return this.#waiting.values().reduce((sum, readers) => sum + readers.size, 0)
  }

  /**
   * The events after a position; where there are none yet, at the next commit of one. Without events when the time is over,
   * the caller has gone, its account has changed or the node stops.
   */
  async read(ask: FeedAsk, wait: Wait): Promise<FeedPart> {
    const { promise, resolve, reject } = Promise.withResolvers<FeedPart>()
    const reader: Reader = { ...ask, waits: wait.ms > 0 && !this.#closed, part: null, done: resolve, failed: reject }
    this.#due.add(reader)
    if (!reader.waits) {
      this.#read()
      return promise
    }
    // Before it reads: a commit in between wakes it again.
    const others = this.#waiting.get(ask.accountId)
    if (others) others.add(reader)
    else this.#waiting.set(ask.accountId, new Set([reader]))
    const timer = setTimeout(() => this.#endWait(reader), wait.ms)
    const stayConnected = wait.onDisconnect(() => this.#endWait(reader))
    this.#read()
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      stayConnected()
      this.#leave(reader)
    }
  }

  /** Reads for those who wait for an account's events. */
  wake(accountId: number): void {
    for (const reader of this.#waiting.get(accountId) ?? []) this.#due.add(reader)
    this.#read()
  }

  /** Reads for everyone who waits: what no notice told of. */
  look(): void {
    for (const readers of this.#waiting.values()) for (const reader of readers) this.#due.add(reader)
    this.#read()
  }

  async apply(changes: ChangeRow[]): Promise<void> {
    for (const { kind, ids } of changes) {
      if (kind !== 'accounts') continue
      for (const accountId of ids ?? []) for (const reader of this.#waiting.get(accountId) ?? []) this.#endWait(reader)
    }
  }

  async reload(): Promise<void> {
    this.#endWaits()
  }

  /** Answers everyone who waits, and lets nobody wait any more. */
  close(): void {
    this.#closed = true
    this.#endWaits()
  }

  #endWaits(): void {
    for (const readers of this.#waiting.values()) for (const reader of readers) this.#endWait(reader)
  }

  /** One that has read nothing yet is answered by its first read. */
  #endWait(reader: Reader): void {
    reader.waits = false
    this.#leave(reader)
    if (!reader.part) return
    this.#due.delete(reader)
    reader.done(reader.part)
  }

  #leave(reader: Reader): void {
    const readers = this.#waiting.get(reader.accountId)
    readers?.delete(reader)
    if (readers?.size === 0) this.#waiting.delete(reader.accountId)
  }

  #read(): void {
    if (this.#reading || this.#due.size === 0) return
    this.#reading = true
    void this.#readDue().finally(() => {
      this.#reading = false
      this.#read()
    })
  }

  /** Whoever is woken meanwhile is read for again. */
  async #readDue(): Promise<void> {
    // In the turn in which one is woken others mostly are, too.
    await Promise.resolve()
    const readers = this.#takeDue()
    try {
      const parts = await readParts(this.#db.kysely, readers)
      readers.forEach((reader, i) => {
        const part = (reader.part = parts[i]!)
        if (part.events.length === 0 && reader.waits && !isOutside(reader.after, part)) return
        this.#due.delete(reader)
        reader.done(part)
      })
    } catch (error) {
      for (const reader of readers) reader.failed(error)
    }
  }

  #takeDue(): Reader[] {
    const taken: Reader[] = []
    let events = 0
    for (const reader of this.#due) {
      if (taken.length > 0 && events + reader.limit > MOST_AT_ONCE) break
      events += reader.limit
      taken.push(reader)
      this.#due.delete(reader)
    }
    return taken
  }
}
