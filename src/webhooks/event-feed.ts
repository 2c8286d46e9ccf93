// Event feed of this node: concurrent readers share one statement, and commits wake waiting requests.
import type { LongPolls, Wait } from '#db/changes/long-polls.ts'
import type { Db } from '#db/schema.ts'
import { type FeedRequest, type FeedBounds, type FeedPart, readParts } from './event-positions.ts'

interface Reader extends FeedRequest {
  done: (part: FeedPart) => void
  failed: (error: unknown) => void
}

/** Maximum events per statement, for all its readers together. */
const MAX_EVENTS_PER_STATEMENT = 10_000
/** Wakes readers that wait for events of any account. */
const EVENTS = 'events'

/** Whether a position is outside of the feed: the event after it was deleted, or the position was never assigned. */
export function isOutside(position: number | null, { forgotten, last }: FeedBounds): boolean {
  return position !== null && (position < forgotten || position > last)
}

/** Reads feeds for clients of this node. */
export class EventFeed {
  readonly #db: Db
  readonly #polls: LongPolls
  readonly #due = new Set<Reader>()
  #reading = false

  constructor(db: Db, polls: LongPolls) {
    this.#db = db
    this.#polls = polls
  }

  /** The events after a position. If there are none, waits for the next one to commit; returns none when the wait ends. */
  read(ask: FeedRequest, wait: Wait): Promise<FeedPart> {
    const { accountId, after } = ask
    return this.#polls.read({ topics: [EVENTS, ofAccount(accountId)], accountId, wait }, async () => {
      const found = await this.#part(ask)
      return { found, isEmpty: found.events.length === 0 && !isOutside(after, found) }
    })
  }

  /** Wakes the callers that wait for an account's events. */
  wake(accountId: number): void {
    this.#polls.wake(ofAccount(accountId))
  }

  /** Wakes all waiting callers, in case notifications were lost. */
  look(): void {
    this.#polls.wake(EVENTS)
  }

  #part(ask: FeedRequest): Promise<FeedPart> {
    const { promise, resolve, reject } = Promise.withResolvers<FeedPart>()
    this.#due.add({ ...ask, done: resolve, failed: reject })
    this.#read()
    return promise
  }

  #read(): void {
    if (this.#reading || this.#due.size === 0) return
    this.#reading = true
    void this.#readDue().finally(() => {
      this.#reading = false
      this.#read()
    })
  }

  async #readDue(): Promise<void> {
    // Callers are usually woken together: wait a turn, so that they share one statement.
    await Promise.resolve()
    const readers = this.#takeDue()
    try {
      const parts = await readParts(this.#db.kysely, readers)
      readers.forEach(({ done }, i) => done(parts[i]!))
    } catch (error) {
      for (const { failed } of readers) failed(error)
    }
  }

  #takeDue(): Reader[] {
    const taken: Reader[] = []
    let events = 0
    for (const reader of this.#due) {
      if (taken.length > 0 && events + reader.limit > MAX_EVENTS_PER_STATEMENT) break
      events += reader.limit
      taken.push(reader)
      this.#due.delete(reader)
    }
    return taken
  }
}

function ofAccount(accountId: number): string {
  return `${EVENTS} of ${accountId}`
}
