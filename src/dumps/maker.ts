// The dumps of a node, one at a time: every night and on demand, with the progress of the current one.
import { conflict } from '#core/errors.ts'
import type { Log } from '#core/context.ts'
import type { Market } from '#core/markets.ts'
import type { Db } from '#db/schema.ts'
import { type DumpProgress, makeDump } from './make-dump.ts'
import type { PriceArchive } from '#prices/archive/price-archive.ts'
import type { DumpStore } from './dump-store.ts'
import type { Dump } from './dump-types.ts'

export interface DumpMakerOptions {
  db: Db
  log: Log
  store: DumpStore
  archive: PriceArchive
  currencies: Readonly<Record<Market, string>>
  /** hour of the nightly dump in the time zone; null for no automatic dumps */
  dumpHour: number | null
  timeZone: string
  now: () => Date
}

export interface DumpMakerState {
  /** the dump in progress on this node; null if there is none */
  running: (DumpProgress & { started_at: string }) | null
  /** why the last dump of this node failed; null if it succeeded */
  failure: string | null
}

/** The part of the node that verbs of dumps need. */
export interface DumpCtx {
  dumps: DumpMaker
}

/** Creates the dumps of a node in its dump store. */
export class DumpMaker {
  readonly #options: DumpMakerOptions
  readonly store: DumpStore
  #state: DumpMakerState = { running: null, failure: null }
  #making: Promise<Dump> | null = null

  constructor(options: DumpMakerOptions) {
    this.#options = options
    this.store = options.store
  }

  get progress(): DumpMakerState {
    return this.#state
  }

  /** Starts a dump. @throws CONFLICT if this node has one in progress; if another node has one, `finished` rejects */
  begin(): { finished: Promise<Dump> } {
    if (this.#making) throw conflict('dump_running')
    const { db, store, archive, currencies, now } = this.#options
    const running = { tables: 0, of: 0, rows: 0, started_at: now().toISOString() }
    this.#state = { running, failure: null }
    const onProgress = (progress: DumpProgress) => {
      this.#state = { running: { ...running, ...progress }, failure: null }
    }
    this.#making = makeDump({ db, now, store, archive, currencies, onProgress }).then(
      (dump) => {
        this.#state = { running: null, failure: null }
        return dump
      },
      (error: Error) => {
        this.#state = { running: null, failure: reasonOf(error) }
        throw error
      },
    )
    const over = () => {
      this.#making = null
    }
    this.#making.then(over, over)
    return { finished: this.#making }
  }

  /** Creates the nightly dump if it is due and the catalogue is not empty. */
  async makeDue(isEmpty: boolean): Promise<void> {
    const { dumpHour, timeZone, now, log } = this.#options
    if (dumpHour === null || isEmpty || this.#making) return
    const latest = await this.store.latest()
    if (latest && Date.parse(latest.as_of) >= lastTimeOf(dumpHour, now(), timeZone)) return
    const { finished } = this.begin()
    const dump = await finished
    log.info({ files: dump.files.length }, 'Nightly dump created')
  }

  /** Resolves when no dump is in progress. */
  async close(): Promise<void> {
    await this.#making?.catch(() => {})
  }
}

/** The error as operators see it; for an unavailable store, the cause from the log. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message
}

/** The last time that this hour of a day began in the zone, in epoch milliseconds: once a day, also if clocks skip or repeat the hour. */
function lastTimeOf(hour: number, now: Date, zone: string): number {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(zone).toPlainDate()
  const timeOn = (day: Temporal.PlainDate) => day.toZonedDateTime({ timeZone: zone, plainTime: { hour } }).epochMilliseconds
  const time = timeOn(today)
  return time <= now.getTime() ? time : timeOn(today.subtract({ days: 1 }))
}
