// Records failed authentications of operators in the audit log, in a limited number of rows, however many there are.
import { type Timer, startTimer, stopTimer } from '#core/process/time-and-chance.ts'
import type { Log } from '#core/context.ts'
import type { Viewer } from '#core/verb.ts'
import { noteCollector } from '#db/changes/change.ts'
import type { Db } from '#db/schema.ts'
import { inTransaction } from '#db/connection/transaction.ts'

const PERIOD_MS = 60_000
/** Addresses that get their own rows in a period; all others share one row. */
const ADDRESSES = 100
const OTHERS = 'others'
const UNKNOWN: Viewer = { kind: 'operator', name: 'unknown' }

/**
 * An address gets a row at its first failure and another at the end of the minute for the following ones, so that the sum of
 * `attempts` is exact.
 */
export class FailureAudit {
  readonly #db: Db
  readonly #log: Log
  readonly #now: () => Date
  /** address → failures in this period that are not in a row yet */
  #attempts = new Map<string, number>()
  #timer: Timer | null = null
  #writing: Promise<void> = Promise.resolve()

  constructor({ db, log, now }: { db: Db; log: Log; now: () => Date }) {
    this.#db = db
    this.#now = now
    this.#log = log
  }

  add(address: string): void {
    const attempts = this.#attempts.get(address)
    if (attempts !== undefined || this.#attempts.size >= ADDRESSES) {
      const counted = attempts === undefined ? OTHERS : address
      this.#attempts.set(counted, (this.#attempts.get(counted) ?? 0) + 1)
    } else {
      this.#attempts.set(address, 0)
      this.#write([[address, 1]])
    }
    this.#timer ??= startTimer(() => this.#endPeriod(), PERIOD_MS).unref()
  }

  async close(): Promise<void> {
    this.#endPeriod()
    await this.#writing
  }

  #endPeriod(): void {
    stopTimer(this.#timer)
    this.#timer = null
    const open = [...this.#attempts].filter(([, attempts]) => attempts > 0)
    this.#attempts = new Map()
    if (open.length > 0) this.#write(open)
  }

  #write(rows: [address: string, attempts: number][]): void {
    this.#writing = this.#writing.then(async () => {
      try {
        await inTransaction(this.#db, async (tx) => {
          const { noteOf, write } = noteCollector(tx, this.#now)
          const note = noteOf({ viewer: UNKNOWN, requestId: null })
          for (const [address, attempts] of rows) {
            note.audit({ action: 'operator.authentication-failed', subject: 'address', id: address, after: { attempts } })
          }
          await write()
        })
      } catch (error) {
        this.#log.warn({ err: error, attempts: Object.fromEntries(rows) }, 'Failed to record failed authentications in the audit log')
      }
    })
  }
}
