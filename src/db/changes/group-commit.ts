// Group commit: concurrent writes commit as one batch with one fsync, and each gets its response afterwards.
import { startTimer, stopTimer } from '#core/process/time-and-chance.ts'
import type { Db } from '../schema.ts'
import { isUnavailable } from '../connection/transaction.ts'

export interface GroupCommitOptions<Write, Result> {
  /** Writes with the same key are never in two concurrent batches: the second would only wait for the first. */
  keyOf: (write: Write) => number
  /** Writes all or nothing, and returns a result for each in order. */
  commit: (writes: Write[]) => Promise<Result[]>
}

interface PendingWrite<Write, Result> {
  write: Write
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/** Maximum writes of a batch; further ones wait for the next. */
const BATCH_WRITES = 500
/** Concurrent batches. There is more than one only while the others wait for a lock, so that unrelated writes continue. */
const PARALLEL_BATCHES = 3
const HELD_UP_MS = 50
/** Event-loop turns without a further write after which a batch starts: callers that just got a response send their next write by then. */
const QUIET_TURNS = 2

class Group<Write, Result> {
  readonly #grouping: GroupCommitOptions<Write, Result>
  #waiting: PendingWrite<Write, Result>[] = []
  readonly #busy = new Set<number>()
  #running = 0
  /** runs whose current batch takes longer than `HELD_UP_MS`: each lets one more run start */
  #slow = 0

  constructor(grouping: GroupCommitOptions<Write, Result>) {
    this.#grouping = grouping
  }

  submit(write: Write): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject })
      this.#start()
    })
  }

  #isFree({ write }: PendingWrite<Write, Result>): boolean {
    return !this.#busy.has(this.#grouping.keyOf(write))
  }

  #start(): void {
    const mayRun = this.#running === this.#slow && this.#running < PARALLEL_BATCHES
    if (mayRun && this.#waiting.some((waiting) => this.#isFree(waiting))) void this.#run()
  }

  /** Writes batch after batch, until no writes are left or another run has taken over. */
  async #run(): Promise<void> {
    this.#running += 1
    let isSlow = false
    while (!isSlow) {
      await this.#gather()
      const batch = this.#take()
      if (batch.length === 0) break
      const timer = startTimer(() => {
        isSlow = true
        this.#slow += 1
        this.#start()
      }, HELD_UP_MS)
      const keys = new Set(batch.map(({ write }) => this.#grouping.keyOf(write)))
      for (const key of keys) this.#busy.add(key)
      await this.#commit(batch)
      for (const key of keys) this.#busy.delete(key)
      stopTimer(timer)
    }
    if (isSlow) this.#slow -= 1
    this.#running -= 1
    this.#start()
  }

  async #gather(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS && this.#waiting.length < BATCH_WRITES; ) {
      const before = this.#waiting.length
      await new Promise((resolve) => setImmediate(resolve))
      quiet = this.#waiting.length > before ? 0 : quiet + 1
    }
  }

  #take(): PendingWrite<Write, Result>[] {
    const batch: PendingWrite<Write, Result>[] = []
    const left: PendingWrite<Write, Result>[] = []
    for (const waiting of this.#waiting) (batch.length < BATCH_WRITES && this.#isFree(waiting) ? batch : left).push(waiting)
    this.#waiting = left
    return batch
  }

  async #commit(batch: PendingWrite<Write, Result>[]): Promise<void> {
    try {
      const results = await this.#grouping.commit(batch.map(({ write }) => write))
      batch.forEach(({ resolve }, i) => resolve(results[i]!))
    } catch (error) {
      // A lost database may have committed: nothing is written twice. Any other error comes from one of the
      // writes, such as one for a deleted item: the others commit without it.
      if (batch.length === 1 || isUnavailable(error)) for (const { reject } of batch) reject(error)
      else for (const waiting of batch) await this.#commit([waiting])
    }
  }
}

/** Returns a function that commits a write with all others waiting for the same database, and resolves when it is durable. */
export function groupCommit<Write, Result>(grouping: GroupCommitOptions<Write, Result>): (db: Db, write: Write) => Promise<Result> {
  const groups = new WeakMap<Db, Group<Write, Result>>()
  return (db, write) => {
    const group = groups.get(db) ?? new Group(grouping)
    groups.set(db, group)
    return group.submit(write)
  }
}
