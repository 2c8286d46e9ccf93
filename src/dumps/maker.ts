// The dumps of a node: one at a time, every night and when an operator asks, with how far the one under way is.
import { conflict } from '#core/errors.ts'
import { HOUR_MS } from '#core/duration.ts'
import type { Log } from '#core/context.ts'
import type { Market } from '#core/markets.ts'
import { localTime } from '#core/time.ts'
import type { Db } from '#db/schema.ts'
import { type DumpProgress, makeDump } from './make-dump.ts'
import type { PriceArchive } from '#prices/archive/price-archive.ts'
import type { DumpStore } from './store.ts'
import type { Dump } from './types.ts'

export interface DumpMakerOptions {
  db: Db
  log: Log
  store: DumpStore
  archive: PriceArchive
  currencies: Readonly<Record<Market, string>>
  /** the hour of the day at which dumps are made, in the zone; null for none by itself */
  dumpHour: number | null
  timeZone: string
  now: () => Date
}

export interface MakingState {
  /** the dump that this node makes, null while it makes none */
  running: (DumpProgress & { started_at: string }) | null
  /** why the last one failed on this node, null where it did not */
  failure: string | null
}

/** What verbs of dumps need of the node. */
export interface DumpCtx {
  dumps: DumpMaker
}

/** Makes the dumps of a node, and knows where they are kept. */
export class DumpMaker {
  readonly #options: DumpMakerOptions
  readonly store: DumpStore
  #state: MakingState = { running: null, failure: null }
  #making: Promise<Dump> | null = null

  constructor(options: DumpMakerOptions) {
    this.#options = options
    this.store = options.store
  }

  get progress(): MakingState {
    return this.#state
  }

  /** Begins a dump. @throws CONFLICT where this node is making one; another node's is met when it is `made` */
  begin(): { made: Promise<Dump> } {
    if (this.#making) throw conflict('dump_running')
    const { db, store, archive, currencies, now } = this.#options
    const running = { tables: 0, of: 0, rows: 0, started_at: now().toISOString() }
    this.#state = { running, failure: null }
    const onProgress = (progress: DumpProgress) => {
      this.#state = { running: { ...running, ...progress }, failure: null }
    }
    this.#making = makeDump({ db, store, archive, currencies, onProgress }).then(
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
    return { made: this.#making }
  }

  /** Makes the dump of the night where there is none yet and the catalogue has something. */
  async makeDue(isEmpty: boolean): Promise<void> {
    const { dumpHour, timeZone, now, log } = this.#options
    if (dumpHour === null || isEmpty || this.#making) return
    const latest = await this.store.latest()
    if (latest && Date.parse(latest.as_of) >= lastTimeOf(dumpHour, now(), timeZone)) return
    const { made } = this.begin()
    const dump = await made
    log.info({ files: dump.files.length }, 'Nightly dump created')
  }

  /** Resolves when nothing is under way any more. */
  async close(): Promise<void> {
    await this.#making?.catch(() => {})
  }
}

/** For operators: of a store that cannot be used, what the log has. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message
}

/** The latest moment at which it was this hour in the zone, in epoch milliseconds. */
function lastTimeOf(hour: number, now: Date, zone: string): number {
  const wanted = String(hour).padStart(2, '0')
  let time = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS
  // A day of 25 hours has each hour, one of 23 may lack it: then that of the day before counts.
  for (let hours = 0; hours < 49 && localTime(new Date(time), zone).slice(11, 13) !== wanted; hours += 1) time -= HOUR_MS
  return time
}
