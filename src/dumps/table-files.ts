// Writes the rows of a table as NDJSON (gzip) and as Parquet, batch by batch.
import { createReadStream, createWriteStream } from 'node:fs'
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { fileWriter, ParquetWriter } from 'hyparquet-writer'
import type { DumpColumn, Row } from './tables.ts'
import type { DumpFile } from './types.ts'

interface TableFile {
  write(rows: readonly Row[]): Promise<void>
  end(): Promise<void>
}

/** One row on each line. */
export function ndjsonFile(path: string): TableFile {
  const gzip = createGzip()
  const file = createWriteStream(path)
  const written = finished(gzip.pipe(file))
  // Met at the end; a write that waits for a broken file would wait for ever.
  written.catch((error: Error) => gzip.destroy(error))
  return {
    async write(rows) {
      const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
      if (text !== '' && !gzip.write(text)) await Promise.race([once(gzip, 'drain'), written])
    },
    async end() {
      gzip.end()
      await written
    },
  }
}

/** Each batch is a row group. */
export function parquetFile(path: string, columns: readonly DumpColumn[]): TableFile {
  const schema = [{ name: 'root', num_children: columns.length }, ...columns.map(({ name, element }) => ({ name, ...element }))]
  const parquet = new ParquetWriter({ writer: fileWriter(path), schema, createdBy: 'mintmark' })
  return {
    async write(rows) {
      if (rows.length === 0) return
      const columnData = columns.map(({ name, value }) => ({ name, data: rows.map(value ?? ((row) => row[name])) }))
      await parquet.write({ columnData, rowGroupSize: rows.length })
    },
    async end() {
      await parquet.finish()
    },
  }
}

/** What the manifest tells of a file that is written. */
export async function fileFacts(path: string, rows: number): Promise<DumpFile> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return { name: basename(path), rows, bytes: (await stat(path)).size, sha256: hash.digest('hex') }
}
