// Creates a dump: every table from one database snapshot, without blocking writes.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { conflict } from '#core/errors.ts'
import type { Market } from '#core/markets.ts'
import { positionText, currentPosition } from '#db/changes/logged-changes.ts'
import type { Db, Tx } from '#db/schema.ts'
import { holdPriceMonths } from '#db/price-months.ts'
import { rowBatches } from '#db/row-batches.ts'
import type { PriceArchive } from '#prices/archive/price-archive.ts'
import { recordDump } from './published-dump.ts'
import type { DumpStore } from './dump-store.ts'
import { fileFacts, ndjsonFile, parquetFile } from './table-files.ts'
import { dumpTables, type DumpTable, type Row } from './tables.ts'
import type { Dump, DumpFile } from './dump-types.ts'

export interface DumpProgress {
  /** number of finished tables */
  tables: number
  of: number
  /** rows written so far */
  rows: number
}

interface DumpOptions {
  db: Db
  now: () => Date
  store: DumpStore
  archive: PriceArchive
  currencies: Readonly<Record<Market, string>>
  onProgress?: (progress: DumpProgress) => void
}

/** Advisory lock: a database has at most one dump in progress. */
const LOCK = 7312
const BATCH = 20_000

/** Creates a dump and publishes it, completely or not at all. @throws CONFLICT if another one is in progress */
export async function makeDump({ db, now, store, archive, currencies, onProgress = () => {} }: DumpOptions): Promise<Dump> {
  const published = await db.kysely
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (tx) => {
      await holdPriceMonths(tx)
      const asOf = now()
      const { rows } = await sql<{ got: boolean }>`
        select pg_try_advisory_xact_lock(${sql.lit(LOCK)}) as got`.execute(tx)
      const { got } = rows[0]!
      if (!got) throw conflict('dump_running')
      const stamp = asOf.toISOString().replace(/[-:.]/g, '')
      const folder = store.stage(stamp)
      try {
        await rm(folder, { recursive: true, force: true })
        await mkdir(folder, { recursive: true })
        const change_cursor = positionText(await currentPosition(tx))
        const files: DumpFile[] = []
        const tables = await dumpTables(tx, archive, currencies)
        for (const [i, table] of tables.entries()) {
          const rowsBefore = files.reduce((sum, file) => sum + file.rows, 0) / 2
          const onRows = (rows: number) => onProgress({ tables: i, of: tables.length, rows: rowsBefore + rows })
          onRows(0)
          files.push(...(await writeTable(tx, table, join(folder, `${table.name}-${stamp}`), onRows)))
        }
        const dump: Dump = { as_of: asOf.toISOString(), change_cursor, files }
        await store.publish(stamp, dump)
        return dump
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })
  await recordDump(db.kysely, published)
  return published
}

async function writeTable(tx: Tx, table: DumpTable, path: string, onRows: (rows: number) => void): Promise<DumpFile[]> {
  const paths = [`${path}.ndjson.gz`, `${path}.parquet`] as const
  const files = [ndjsonFile(paths[0]), parquetFile(paths[1], table.columns)]
  let count = 0
  const write = async (rows: readonly unknown[]) => {
    const dumped = rows.map((row) => table.rowOf(row as never) as Row)
    for (const file of files) await file.write(dumped)
    count += rows.length
    onRows(count)
  }
  for await (const rows of table.archived?.() ?? []) await write(rows)
  for await (const rows of rowBatches(tx, table.select, BATCH)) await write(rows)
  for (const file of files) await file.end()
  return Promise.all(paths.map((file) => fileFacts(file, count)))
}
