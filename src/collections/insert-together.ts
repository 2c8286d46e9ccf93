// Records that are added at the same time go in with one statement and one commit: each caller is answered after it.
import type { WriteCtx } from '#db/change.ts'
import type { Db } from '#db/schema.ts'
import { retrying } from '#db/transaction.ts'
import { type Added, type By, insertRecords, type NewRecord } from './insert-records.ts'

interface Addition {
  record: NewRecord
  by: By
}

interface Waiting extends Addition {
  resolve: (added: Added) => void
  reject: (error: unknown) => void
}

/** Most records of one statement: what a commit on a slow disk lets gather. */
const MOST = 200
/** Batches under way at once: while one waits for a collection that is locked, the others go on. */
const MOST_BATCHES = 3

class Writer {
  readonly #db: Db
  #waiting: Waiting[] = []
  #batches = 0
  /** collections that a batch under way writes to: a second one would only wait for the first */
  readonly #busy = new Set<number>()

  constructor(db: Db) {
    this.#db = db
  }

  add(addition: Addition): Promise<Added> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...addition, resolve, reject })
      if (this.#batches < MOST_BATCHES && !this.#busy.has(addition.record.collectionId)) void this.#write()
    })
  }

  async #write(): Promise<void> {
    this.#batches += 1
    for (;;) {
      // What arrives in the same turn of the loop is let in: also the next of callers who were just answered.
      await new Promise((resolve) => setImmediate(resolve))
      const batch = this.#take()
      if (batch.length === 0) break
      const collections = new Set(batch.map(({ record }) => record.collectionId))
      for (const id of collections) this.#busy.add(id)
      await this.#writeSome(batch)
      for (const id of collections) this.#busy.delete(id)
    }
    this.#batches -= 1
  }

  #take(): Waiting[] {
    const batch: Waiting[] = []
    const left: Waiting[] = []
    for (const waiting of this.#waiting) {
      const free = batch.length < MOST && !this.#busy.has(waiting.record.collectionId)
      if (free) batch.push(waiting)
      else left.push(waiting)
    }
    this.#waiting = left
    return batch
  }

  async #writeSome(batch: Waiting[]): Promise<void> {
    try {
      const added = await insertAll(this.#db, batch)
      batch.forEach((waiting, i) => waiting.resolve(added[i]!))
    } catch (error) {
      if (batch.length === 1) return batch[0]!.reject(error)
      // What broke the statement is one record's trouble, such as an item deleted meanwhile: the others get in without it.
      for (const waiting of batch) {
        await insertAll(this.#db, [waiting]).then(([added]) => waiting.resolve(added!), waiting.reject)
      }
    }
  }
}

function insertAll(db: Db, additions: Addition[]): Promise<Added[]> {
  const records = additions.map(({ record }) => record)
  const by = additions.map((addition) => addition.by)
  return retrying(() => insertRecords(db.kysely, records, by))
}

const writers = new WeakMap<Db, Writer>()

/** Adds a record, together with those that others add meanwhile. It is committed when the promise resolves. */
export function insertTogether(ctx: By & Pick<WriteCtx, 'db'>, record: NewRecord): Promise<Added> {
  const { db, viewer, requestId } = ctx
  let writer = writers.get(db)
  if (!writer) {
    writer = new Writer(db)
    writers.set(db, writer)
  }
  return writer.add({ record, by: { viewer, requestId } })
}
