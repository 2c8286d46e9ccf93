// Event feed of this node: concurrent reads share one statement, and commits wake waiting requests.
import type { LongPolls, Wait } from '#db/long-polls.ts'
import type { Db } from '#db/schema.ts'
import { type FeedRequest, type FeedBounds, type FeedPart, readParts } from './event-positions.ts'

interface Reader extends FeedRequest {
  done: (part: FeedPart) => void
  failed: (error: unknown) => void
}

/** Maximum events per statement, over all its readers. */
const MAX_EVENTS_PER_STATEMENT = 10_000
/** Wakes readers that wait for events of any account. */
const EVENTS = 'events'

/** Whether a position is outside of the feed: its next event was deleted, or it was never assigned. */
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

  /** The events after a position; if there are none, waits for the next commit of one, and returns none at the end of the wait. */
  read(ask: FeedRequest, wait: Wait): Promise<FeedPart> {
    const { accountId, after } = ask
    return this.#polls.read({ topics: [EVENTS, ofAccount(accountId)], accountId, wait }, async () => {
      const found = await this.#part(ask)
      return { found, isEmpty: found.events.length === 0 && !isOutside(after, found) }
    })
  }

  /** Reads for callers that wait for an account's events. */
  wake(accountId: number): void {
    this.#polls.wake(ofAccount(accountId))
  }

  /** Reads for all waiting callers: makes up for lost notices. */
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
    // If one caller is woken in a turn, others mostly are, too.
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
