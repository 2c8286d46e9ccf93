// Parquet files of a store: each is opened once, and a new one is only used after it has been read back and verified.
import { createHash } from 'node:crypto'
import type { AsyncBuffer, SchemaElement } from 'hyparquet'
import { type ColumnSource, fileWriter, ParquetWriter } from 'hyparquet-writer'
import { Cache } from '#core/cache.ts'
import type { FileStore } from './file-store.ts'

/** Describes a file's content: the number of rows, and the SHA-256 of all rows in file order. */
export interface FileFacts {
  rows: number
  checksum: string
}

export interface OpenFile {
  /** computed from the whole file */
  facts: () => Promise<FileFacts>
}

/** The schema of a file with these columns. */
export function schemaOf(columns: readonly SchemaElement[]): SchemaElement[] {
  return [{ name: 'root', num_children: columns.length }, ...columns]
}

/**
 * Writes rows to a new file, each `groupRows` of them as a row group.
 * @param dataOf the columns of a row group; statistics only where they say so
 */
export async function writeRowGroups<Row>(
  path: string,
  { columns, groupRows }: { columns: readonly SchemaElement[]; groupRows: number },
  rows: AsyncIterable<Row>,
  dataOf: (group: Row[]) => ColumnSource[],
): Promise<void> {
  const parquet = new ParquetWriter({ writer: fileWriter(path), schema: schemaOf(columns), statistics: false, createdBy: 'mintmark' })
  let group: Row[] = []
  const writeGroup = () => parquet.write({ columnData: dataOf(group), rowGroupSize: group.length })
  for await (const row of rows) {
    group.push(row)
    if (group.length < groupRows) continue
    await writeGroup()
    group = []
  }
  if (group.length > 0) await writeGroup()
  await parquet.finish()
}

/** Counts the rows of a file and computes their checksum, group by group. */
export class RunningFacts {
  readonly #hash = createHash('sha256')
  #rows = 0

  add(rows: number, content: Iterable<string | NodeJS.ArrayBufferView>): void {
    this.#rows += rows
    for (const part of content) this.#hash.update(part)
  }

  end(): FileFacts {
    return { rows: this.#rows, checksum: this.#hash.digest('hex') }
  }
}

/** Maximum files whose footers are kept in memory. */
const MAX_OPEN = 60

/** The files of an archive; a name never gets other content. */
export class ParquetFiles<File extends OpenFile> {
  readonly store: FileStore
  readonly #parse: (file: AsyncBuffer) => Promise<File>
  readonly #open = new Cache<string, Promise<File>>({ limit: MAX_OPEN })

  /** @param parse reads the footer of a file */
  constructor(store: FileStore, parse: (file: AsyncBuffer) => Promise<File>) {
    this.store = store
    this.#parse = parse
  }

  /** The open file, with its footer in memory. */
  async open(name: string): Promise<File> {
    const cached = this.#open.get(name)
    if (cached) return cached
    const opening = this.openAgain(name)
    this.#open.set(name, opening)
    opening.catch(() => this.#open.delete(name))
    return opening
  }

  /** Opens the file again, to see the store's current version. */
  async openAgain(name: string): Promise<File> {
    const byteLength = await this.store.size(name)
    if (byteLength === null) throw new Error(`${name} not found in ${this.store.place}`)
    return this.#parse({ byteLength, slice: (from, to = byteLength) => this.store.read(name, from, to) })
  }

  /**
   * Adds a staged file under this name, and reads it back.
   * @throws Error if its content differs from what was written
   */
  async add(staged: string, name: string, written: FileFacts, reached: (step: 'stored' | 'verified') => Promise<void>): Promise<void> {
    await this.store.store(staged, name)
    await reached('stored')
    const stored = await (await this.openAgain(name)).facts()
    if (stored.rows !== written.rows || stored.checksum !== written.checksum) {
      throw new Error(`${name} in ${this.store.place} differs from what was written: ${stored.rows} rows instead of ${written.rows}`)
    }
    await reached('verified')
  }

  /** Opens a file to restore it. @throws Error if it is damaged */
  async openVerified(name: string, { rows, checksum }: FileFacts): Promise<File> {
    const file = await this.openAgain(name)
    const facts = await file.facts()
    if (facts.rows !== rows || facts.checksum !== checksum) throw new Error(`The file ${name} is damaged`)
    return file
  }
}
