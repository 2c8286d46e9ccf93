// Reads archived months: the points of an item from the files that a time window needs.
import { sql } from 'kysely'
import type { BucketSettings } from '#core/files/bucket-settings.ts'
import type { Queryable } from '#db/schema.ts'
import { fromArchive, readWithArchive } from '#files/archive-reads.ts'
import { type FileStore, openFileStore } from '#files/file-store.ts'
import { ParquetFiles } from '#files/parquet-files.ts'
import { type ArchivedPoint, ArchiveFile } from './archive-file.ts'

export interface HistoryWindow {
  /** inclusive; default: no lower bound */
  from?: Date
  /** exclusive; default: now */
  to?: Date
}

interface NeededFiles {
  /** the item and the items merged into it, earliest merge first */
  ids: number[]
  files: string[]
}

/** Opens the archive chosen by the settings: a folder, or `archive` in the bucket of the dumps. Does not access its store yet. */
export function openPriceArchive({ archiveDir, dumpsS3 }: { archiveDir: string; dumpsS3: BucketSettings | null }): PriceArchive {
  return new PriceArchive(openFileStore(archiveDir, dumpsS3, 'archive'))
}

/** Reads the archived part of the price history for `pointsOf` and `periodsOf`. */
export class PriceArchive {
  readonly files: ParquetFiles<ArchiveFile>
  /** whether some month is archived or has been, as far as this process has seen */
  #isUsed = false

  constructor(store: FileStore) {
    this.files = new ParquetFiles(store, (file) => ArchiveFile.open(file))
  }

  /**
   * Reads the history consistently although months may move between database and archive: `read` receives the archived points of the item and is
   * called again if a month moved meanwhile. Points of merged items count as the survivor's.
   * @param read joins the archived points with those of the database; of two points of the same time, the one of the later import counts
   * @throws UNAVAILABLE if the archive cannot be read
   */
  async joined<T>(on: Queryable, itemId: number, window: HistoryWindow, read: (archived: ArchivedPoint[]) => Promise<T>): Promise<T> {
    if (!this.#isUsed) {
      const result = await read([])
      this.#isUsed = await isArchiveUsed(on)
      if (!this.#isUsed) return result
    }
    return readWithArchive(
      () => neededFiles(on, itemId, window),
      async (needed) => read(await this.#pointsOf(needed)),
    )
  }

  async #pointsOf({ ids, files }: NeededFiles): Promise<ArchivedPoint[]> {
    if (files.length === 0) return []
    const pointsIn = async (name: string) => (await this.files.open(name)).pointsOf(ids)
    const found = (await fromArchive('price_archive', Promise.all(files.map(pointsIn)))).flat()
    return ids.length === 1 ? found : withoutCovered(found, ids)
  }
}

/** Of points of merged items at the same time, keeps the one of the later import; within one import, the item's own, as merges do. */
export function withoutCovered(points: readonly ArchivedPoint[], ids: readonly number[]): ArchivedPoint[] {
  const seen = new Map<string, ArchivedPoint>()
  for (const point of points.toSorted((a, b) => b.importId - a.importId || ids.indexOf(a.itemId) - ids.indexOf(b.itemId))) {
    const key = `${point.market} ${point.labelId} ${point.atMs}`
    if (!seen.has(key)) seen.set(key, point)
  }
  return [...seen.values()]
}

/** Whether any month is archived or has been. Its row remains after a restore: without rows after a read, no month was archived during the read. */
async function isArchiveUsed(on: Queryable): Promise<boolean> {
  const { rows } = await sql<{ used: boolean }>`select exists (select from price_archives) as used`.execute(on)
  return rows[0]!.used
}

/** The files that a window needs. Each file has a time by which all its points had been replaced; windows that begin later do not need it. */
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
