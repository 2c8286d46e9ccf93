// Records that are added at the same time go in with one statement and one commit: each caller is answered after it.
import type { Db } from '#db/schema.ts'
import { inTransaction } from '#db/transaction.ts'
import { type Added, insertRecords, type NewRecord } from './insert-records.ts'

interface Waiting {
  record: NewRecord
  resolve: (added: Added) => void
  reject: (error: unknown) => void
}

/** Most records of one statement: what a commit on a slow disk lets gather. */
const MOST = 200

class Writer {
  readonly #db: Db
  #waiting: Waiting[] = []
  #writing = false

  constructor(db: Db) {
    this.#db = db
  }

  add(record: NewRecord): Promise<Added> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, resolve, reject })
      if (!this.#writing) void this.#write()
    })
  }

  async #write(): Promise<void> {
    this.#writing = true
    // Requests that arrive in the same turn of the loop are let in before the first statement leaves.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) await this.#writeSome(this.#waiting.splice(0, MOST))
    this.#writing = false
  }

  async #writeSome(batch: Waiting[]): Promise<void> {
    try {
      const added = await insertAll(this.#db, batch.map((waiting) => waiting.record))
      batch.forEach((waiting, i) => waiting.resolve(added[i]!))
    } catch (error) {
      if (batch.length === 1) return batch[0]!.reject(error)
      // What broke the statement is one record's trouble, such as an item deleted meanwhile: the others get in without it.
      await Promise.all(batch.map(async ({ record, resolve, reject }) => insertAll(this.#db, [record]).then(([one]) => resolve(one!), reject)))
    }
  }
}

function insertAll(db: Db, records: NewRecord[]): Promise<Added[]> {
  return inTransaction(db, (tx) => insertRecords(tx, records))
}

const writers = new WeakMap<Db, Writer>()

/** Adds a record, together with those that others add meanwhile. It is committed when the promise resolves. */
export function insertTogether(db: Db, record: NewRecord): Promise<Added> {
  let writer = writers.get(db)
  if (!writer) {
    writer = new Writer(db)
    writers.set(db, writer)
  }
  return writer.add(record)
}
