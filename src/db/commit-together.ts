// Writes that wait at the same time commit together: one statement and one fsync for all, each answered after it.
import type { Db } from './schema.ts'
import { isUnavailable, retrying } from './transaction.ts'

/** The outcome of a write that met another one: it is tried anew. */
export const AGAIN = Symbol('again')

export interface Together<Write, Result> {
  /** Writes of one key are never in two batches that are under way: the second would only wait for the first. */
  keyOf: (write: Write) => number
  /** Writes all or nothing, and gives an outcome for each in their order. It may run again after a deadlock. */
  commit: (db: Db, writes: Write[]) => Promise<(Result | typeof AGAIN)[]>
}

interface Waiting<Write, Result> {
  write: Write
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/** Most writes of a batch; more wait for the next. */
const MOST = 500
/** Batches under way at once. More than one only while the others are held up by a lock, so that strangers go on. */
const MOST_BATCHES = 3
const HELD_UP_MS = 50
/** Turns of the event loop without a further write, after which a batch goes: callers just answered send their next by then. */
const QUIET_TURNS = 2

class Group<Write, Result> {
  readonly #db: Db
  readonly #together: Together<Write, Result>
  #waiting: Waiting<Write, Result>[] = []
  readonly #busy = new Set<number>()
  #lanes = 0
  #heldUp = 0

  constructor(db: Db, together: Together<Write, Result>) {
    this.#db = db
    this.#together = together
  }

  submit(write: Write): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject })
      if (this.#mayOpenLane() && this.#isFree(write)) void this.#serve()
    })
  }

  #isFree(write: Write): boolean {
    return !this.#busy.has(this.#together.keyOf(write))
  }

  #mayOpenLane(): boolean {
    return this.#lanes === this.#heldUp && this.#lanes < MOST_BATCHES
  }

  #openLane(): void {
    if (this.#mayOpenLane() && this.#waiting.some(({ write }) => this.#isFree(write))) void this.#serve()
  }

  /** Batch after batch, until nothing can be written or another lane has taken over. */
  async #serve(): Promise<void> {
    this.#lanes += 1
    let heldUp = false
    while (!heldUp) {
      await this.#gather()
      const batch = this.#take()
      if (batch.length === 0) break
      const timer = setTimeout(() => {
        heldUp = true
        this.#heldUp += 1
        this.#openLane()
      }, HELD_UP_MS)
      await this.#write(batch)
      clearTimeout(timer)
    }
    if (heldUp) this.#heldUp -= 1
    this.#lanes -= 1
    this.#openLane()
  }

  async #gather(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS && this.#waiting.length < MOST; ) {
      const known = this.#waiting.length
      await new Promise((resolve) => setImmediate(resolve))
      quiet = this.#waiting.length > known ? 0 : quiet + 1
    }
  }

  #take(): Waiting<Write, Result>[] {
    const batch: Waiting<Write, Result>[] = []
    const left: Waiting<Write, Result>[] = []
    for (const waiting of this.#waiting) {
      if (batch.length < MOST && this.#isFree(waiting.write)) batch.push(waiting)
      else left.push(waiting)
    }
    this.#waiting = left
    return batch
  }

  async #write(batch: Waiting<Write, Result>[]): Promise<void> {
    const keys = new Set(batch.map(({ write }) => this.#together.keyOf(write)))
    for (const key of keys) this.#busy.add(key)
    await this.#commit(batch)
    for (const key of keys) this.#busy.delete(key)
  }

  async #commit(batch: Waiting<Write, Result>[]): Promise<void> {
    try {
      const writes = batch.map(({ write }) => write)
      const outcomes = await retrying(() => this.#together.commit(this.#db, writes))
      const again: Waiting<Write, Result>[] = []
      batch.forEach((waiting, i) => {
        const outcome = outcomes[i]!
        if (outcome === AGAIN) again.push(waiting)
        else waiting.resolve(outcome)
      })
      if (again.length > 0) this.#waiting = [...again, ...this.#waiting]
    } catch (error) {
      // A database that went away may have committed: nothing is written twice. All else that breaks a statement is one
      // write's trouble, such as an item deleted meanwhile: the others get in without it.
      if (batch.length === 1 || isUnavailable(error)) for (const { reject } of batch) reject(error)
      else for (const waiting of batch) await this.#commit([waiting])
    }
  }
}

/** Makes a function that writes together with all who call it meanwhile, and resolves when the write is durable. */
export function committingTogether<Write, Result>(together: Together<Write, Result>): (db: Db, write: Write) => Promise<Result> {
  const groups = new WeakMap<Db, Group<Write, Result>>()
  return (db, write) => {
    let group = groups.get(db)
    if (!group) {
      group = new Group(db, together)
      groups.set(db, group)
    }
    return group.submit(write)
  }
}
