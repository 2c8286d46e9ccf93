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
import type { DumpFile } from './dump-types.ts'

interface TableFile {
  write(rows: readonly Row[]): Promise<void>
  end(): Promise<void>
}

/** Writes one row per line. */
export function ndjsonFile(path: string): TableFile {
  const gzip = createGzip()
  const file = createWriteStream(path)
  const written = finished(gzip.pipe(file))
  // `end` reports the error; without destroying the stream, a write to a broken file would wait forever.
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

/** Writes each batch as a row group. */
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

/** The entry of a finished file in the manifest. */
export async function fileFacts(path: string, rows: number): Promise<DumpFile> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return { name: basename(path), rows, bytes: (await stat(path)).size, sha256: hash.digest('hex') }
}
