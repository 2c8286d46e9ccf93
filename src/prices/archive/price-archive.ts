// Reads of archived months: the points of an item from the files that a window of time needs.
import { LRUCache } from 'lru-cache'
import { sql } from 'kysely'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { Queryable } from '#db/schema.ts'
import type { FileStore } from '#files/file-store.ts'
import { type ArchivedPoint, ArchiveFile } from './archive-file.ts'

export interface HistoryWindow {
  /** included; since ever when absent */
  from?: Date
  /** not included; until now when absent */
  to?: Date
}

/** Files whose footers are kept. */
const OPEN_FILES = 60
/** A month moves once in its life: that it moves twice during one read does not happen. */
const ATTEMPTS = 5

interface NeededFiles {
  /** the item, and items that were merged into it, the earliest merge first */
  ids: number[]
  files: string[]
}

/** The archived part of the price history, behind `pointsOf` and `periodsOf`. */
export class PriceArchive {
  readonly files: FileStore
  readonly #open = new LRUCache<string, Promise<ArchiveFile>>({ max: OPEN_FILES })

  constructor(files: FileStore) {
    this.files = files
  }

  /**
   * Reads the history while no month moves between database and archive: `read` gets the archived points of the item, and is
   * called again if one moved meanwhile. Points of items that were merged into it are the item's.
   * @param read joins them with what the database has; of two of the same moment that of the later import counts
   * @throws UNAVAILABLE where the archive cannot be read
   */
  async joined<T>(on: Queryable, itemId: number, window: HistoryWindow, read: (archived: ArchivedPoint[]) => Promise<T>): Promise<T> {
    let needed = await neededFiles(on, itemId, window)
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#pointsOf(needed).then(
        async (points) => ({ result: await read(points) }),
        (error: Error) => ({ error }),
      )
      const after = await neededFiles(on, itemId, window)
      const isSame = JSON.stringify(after) === JSON.stringify(needed)
      if (isSame && 'result' in outcome) return outcome.result
      if (isSame || attempt === ATTEMPTS) throw 'error' in outcome ? outcome.error : new Error('The archived months kept changing')
      needed = after
    }
  }

  /** The file, opened; its footer is kept. */
  async open(name: string): Promise<ArchiveFile> {
    const known = this.#open.get(name)
    if (known) return known
    const opening = this.openAgain(name)
    this.#open.set(name, opening)
    opening.catch(() => this.#open.delete(name))
    return opening
  }

  /** The file as the store has it now. */
  async openAgain(name: string): Promise<ArchiveFile> {
    const byteLength = await this.files.size(name)
    if (byteLength === null) throw new Error(`${this.files.place} has no file ${name}`)
    return ArchiveFile.open({ byteLength, slice: (from, to = byteLength) => this.files.read(name, from, to) })
  }

  async #pointsOf({ ids, files }: NeededFiles): Promise<ArchivedPoint[]> {
    if (files.length === 0) return []
    try {
      const found = await Promise.all(files.map(async (name) => (await this.open(name)).pointsOf(ids)))
      return ids.length === 1 ? found.flat() : withoutCovered(found.flat(), ids)
    } catch (error) {
      const cause = new Error(`The price archive cannot be read: ${(error as Error).message}`, { cause: error })
      throw new ServiceError('UNAVAILABLE', reason('price_archive'), { headers: { 'retry-after': '30' }, cause })
    }
  }
}

/** Of points of merged items at the same moment that of the later import counts, the item's own before others, as merges decide it. */
export function withoutCovered(points: readonly ArchivedPoint[], ids: readonly number[]): ArchivedPoint[] {
  const seen = new Map<string, ArchivedPoint>()
  for (const point of points.toSorted((a, b) => b.importId - a.importId || ids.indexOf(a.itemId) - ids.indexOf(b.itemId))) {
    const key = `${point.market} ${point.labelId} ${point.atMs}`
    if (!seen.has(key)) seen.set(key, point)
  }
  return [...seen.values()]
}

/** Archived points were all replaced before some moment: windows that begin later do not need the file. */
async function neededFiles(on: Queryable, itemId: number, { from, to }: HistoryWindow): Promise<NeededFiles> {
  const { rows } = await sql<NeededFiles>`
    with recursive merged as (
      select ${itemId}::int4 as id, 0 as merge_id
      union select m.from_item, m.id from merges m join merged on m.into_item = merged.id where m.undone_at is null
    )
    select (select array_agg(id order by merge_id) from merged) as ids,
      array(
        select file from price_archives
        where file is not null and replaced_before > ${from ?? '-infinity'}::timestamptz and month <= ${(to ?? LAST).toISOString().slice(0, 7)}
        order by month
      ) as files`.execute(on)
  return rows[0]!
}

const LAST = new Date('9999-12-31T00:00:00Z')
