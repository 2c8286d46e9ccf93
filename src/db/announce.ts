// Notices to all nodes of what has committed. They are sent after the commit: a transaction that sends one holds a lock of the whole
// server until it is on disk, so that all commits with notices would wait for each other.
import { type Kysely, type QueryExecutorProvider, sql, type Transaction } from 'kysely'
import { setTimeout as delay } from 'node:timers/promises'

interface Notice {
  channel: string
  payload: string
}

/** Notices that come within this time after the last ones are sent together, the same ones once. */
const GATHER_MS = 5

/** What open transactions have announced. */
const announced = new WeakMap<object, Notice[]>()
const announcers = new WeakMap<object, Announcer>()

/** Sends a notice once this transaction has committed. Notices can be lost: a listener that must miss nothing also polls. */
export function announce(tx: QueryExecutorProvider, channel: string, payload = ''): void {
  const notices = announced.get(tx) ?? []
  announced.set(tx, notices)
  notices.push({ channel, payload })
}

/** Runs a transaction by `execute`, which commits it, and then sends what was announced in it. */
export async function thenAnnounce<Schema, Result>(
  kysely: Kysely<Schema>,
  run: (tx: Transaction<Schema>) => Promise<Result>,
  execute: (run: (tx: Transaction<Schema>) => Promise<Result>) => Promise<Result>,
): Promise<Result> {
  let notices: Notice[] = []
  const result = await execute(async (tx) => {
    const made = await run(tx)
    notices = announced.get(tx) ?? []
    return made
  })
  if (notices.length > 0) announcerOf(kysely).send(notices)
  return result
}

function announcerOf(kysely: QueryExecutorProvider): Announcer {
  const known = announcers.get(kysely) ?? new Announcer(kysely)
  announcers.set(kysely, known)
  return known
}

class Announcer {
  readonly #kysely: QueryExecutorProvider
  #waiting = new Map<string, Notice>()
  #busy = false

  constructor(kysely: QueryExecutorProvider) {
    this.#kysely = kysely
  }

  send(notices: readonly Notice[]): void {
    for (const notice of notices) this.#waiting.set(`${notice.channel} ${notice.payload}`, notice)
    if (!this.#busy) void this.#run()
  }

  /** The first notices go at once, those that come meanwhile together; what cannot be sent is left to those who look by themselves. */
  async #run(): Promise<void> {
    this.#busy = true
    while (this.#waiting.size > 0) {
      const notices = [...this.#waiting.values()]
      this.#waiting = new Map()
      await Promise.all([this.#notify(notices).catch(() => {}), delay(GATHER_MS)])
    }
    this.#busy = false
  }

  /** Notices are not stored, so that their transaction need not wait for the disk. */
  async #notify(notices: readonly Notice[]): Promise<void> {
    await sql`
      select set_config('synchronous_commit', 'off', true), pg_notify(channel, payload)
      from unnest(${notices.map(({ channel }) => channel)}::text[], ${notices.map(({ payload }) => payload)}::text[]) notice (channel, payload)`.execute(
      this.#kysely,
    )
  }
}
