// Reads the change log for clients of this node that have waited: those that a change wakes together share one statement.
import { type LogPage, type LogPosition, type LogRead, readLog, seenByAll, wasVisible } from './logged-changes.ts'
import type { Db } from '../schema.ts'

interface Reader {
  /** a position between two ranges */
  after: LogPosition
  done: (page: Promise<LogPage | 'expired'>) => void
}

type Asked = Omit<LogRead, 'after'>

/** Only for readers that have reached the end of the log: they lack only a few entries, mostly the same ones. */
export class SharedLogReads {
  readonly #db: Db
  /** by request: the readers that the next statement serves */
  readonly #due = new Map<string, { request: Asked; readers: Reader[] }>()
  /** moment and ids → rows that are being read for several readers */
  readonly #data = new Map<string, Promise<unknown>>()

  constructor(db: Db) {
    this.#db = db
  }

  /** The same page as `readLog`. */
  read(after: LogPosition, request: Asked): Promise<LogPage | 'expired'> {
    const key = JSON.stringify([after.cluster, request])
    const { promise, resolve: done } = Promise.withResolvers<LogPage | 'expired'>()
    const due = this.#due.get(key)
    if (due) due.readers.push({ after, done })
    else {
      this.#due.set(key, { request, readers: [{ after, done }] })
      // All readers that the same change wakes have been added by then.
      setImmediate(() => this.#readDue(key))
    }
    return promise
  }

  /** Shares a read of current data among readers of the same changes up to the same moment. */
  share<T>(key: string, make: () => Promise<T>): Promise<T> {
    let shared = this.#data.get(key) as Promise<T> | undefined
    if (!shared) {
      shared = make().finally(() => this.#data.delete(key))
      this.#data.set(key, shared)
    }
    return shared
  }

  #readDue(key: string): void {
    const { request, readers } = this.#due.get(key)!
    this.#due.delete(key)
    const { cluster } = readers[0]!.after
    const after = { cluster, seen: seenByAll(readers.map(({ after }) => after.seen)), range: null }
    const page = readLog(this.#db.kysely, { ...request, after })
    for (const reader of readers) reader.done(page.then((found) => (found === 'expired' ? found : unseenBy(reader.after, found))))
  }
}

/** The page without the parts that a reader has already seen. */
function unseenBy({ seen }: LogPosition, page: LogPage): LogPage {
  const next = page.next.range === null ? page.next : { ...page.next, seen }
  return { ...page, seen, next, parts: page.parts.filter((part) => !wasVisible(part, seen)) }
}
