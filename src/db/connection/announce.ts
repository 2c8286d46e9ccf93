// Notifies all nodes of committed transactions, after the commit: a transaction that calls NOTIFY holds a server-wide lock until its commit
// is on disk, so all such commits would be serialised.
import { type Kysely, type QueryExecutorProvider, sql, type Transaction } from 'kysely'
import { delay } from '#core/process/time-and-chance.ts'

interface Notice {
  channel: string
  payload: string
}

/** Notices within this time after the last batch are sent together, without duplicates. */
const GATHER_MS = 5

/** Notices of open transactions. */
const announced = new WeakMap<object, Notice[]>()
const announcers = new WeakMap<object, Announcer>()

/** Sends a notice once this transaction has committed. Notices can be lost: a listener that must miss nothing also polls. */
export function announce(tx: QueryExecutorProvider, channel: string, payload = ''): void {
  const notices = announced.get(tx) ?? []
  announced.set(tx, notices)
  notices.push({ channel, payload })
}

/** Runs a transaction with `execute`, which commits it, and then sends its notices. */
export async function announceAfter<Schema, Result>(
  kysely: Kysely<Schema>,
  run: (tx: Transaction<Schema>) => Promise<Result>,
  execute: (run: (tx: Transaction<Schema>) => Promise<Result>) => Promise<Result>,
): Promise<Result> {
  let notices: Notice[] = []
  const result = await execute(async (tx) => {
    const returned = await run(tx)
    notices = announced.get(tx) ?? []
    return returned
  })
  if (notices.length > 0) announcerOf(kysely).send(notices)
  return result
}

function announcerOf(kysely: QueryExecutorProvider): Announcer {
  const announcer = announcers.get(kysely) ?? new Announcer(kysely)
  announcers.set(kysely, announcer)
  return announcer
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

  /** The first notices are sent at once, later ones in a batch. Notices that cannot be sent are covered by polling. */
  async #run(): Promise<void> {
    this.#busy = true
    while (this.#waiting.size > 0) {
      const notices = [...this.#waiting.values()]
      this.#waiting = new Map()
      await Promise.all([this.#notify(notices).catch(() => {}), delay(GATHER_MS)])
    }
    this.#busy = false
  }

  /** Notices are not stored, so this transaction need not wait for the disk. */
  async #notify(notices: readonly Notice[]): Promise<void> {
    await sql`
      select set_config('synchronous_commit', 'off', true), pg_notify(channel, payload)
      from unnest(${notices.map(({ channel }) => channel)}::text[], ${notices.map(({ payload }) => payload)}::text[]) notice (channel, payload)`.execute(
      this.#kysely,
    )
  }
}
