// The file of an archived month of the audit log: Parquet in the order of ids, with Bloom filters of subjects and actors.
import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, type ParquetQueryFilter, parquetReadObjects, parquetScan } from 'hyparquet'
import type { BucketSettings } from '#core/files/bucket-settings.ts'
import type { StoredAuditEntry } from '#db/changes/audit-log.ts'
import { openFileStore } from '#files/file-store.ts'
import { type FileFacts, ParquetFiles, RunningFacts, writeRowGroups } from '#files/parquet-files.ts'

export type AuditArchive = ParquetFiles<AuditFile>

/** Opens the archive, next to that of the price history; does not access its store yet. */
export function openAuditArchive({ archiveDir, dumpsS3 }: { archiveDir: string; dumpsS3: BucketSettings | null }): AuditArchive {
  return new ParquetFiles(openFileStore(archiveDir, dumpsS3, 'archive'), (file) => AuditFile.open(file))
}

/** Conditions on entries; all of them apply. */
export interface AuditFilter {
  actor?: string
  action?: string
  subject_type?: string
  subject_id?: string
  /** inclusive */
  from?: Date
  /** exclusive */
  to?: Date
}

/** A page reads whole groups, and each group has a Bloom filter of its subjects: smaller groups enlarge the footer. */
const GROUP_ROWS = 10_000
const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const
const REQUIRED = { repetition_type: 'REQUIRED' } as const
const OPTIONAL = { repetition_type: 'OPTIONAL' } as const
const COLUMNS = [
  { name: 'id', type: 'INT64', ...REQUIRED },
  { name: 'at', type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', ...REQUIRED },
  { name: 'actor', ...TEXT, ...REQUIRED },
  { name: 'action', ...TEXT, ...REQUIRED },
  { name: 'subject_type', ...TEXT, ...REQUIRED },
  { name: 'subject_id', ...TEXT, ...REQUIRED },
  { name: 'before', ...TEXT, ...OPTIONAL },
  { name: 'after', ...TEXT, ...OPTIONAL },
  { name: 'request_id', ...TEXT, ...OPTIONAL },
] as const
const WITH_STATISTICS: readonly string[] = ['at', 'action', 'subject_type']
const WITH_BLOOM_FILTER: readonly string[] = ['actor', 'subject_id']

/** Writes a file of entries, which must arrive sorted by id. */
export async function writeAuditFile(path: string, entries: AsyncIterable<StoredAuditEntry>): Promise<FileFacts> {
  const facts = new RunningFacts()
  await writeRowGroups(path, { columns: COLUMNS, groupRows: GROUP_ROWS }, entries, (group) => {
    addGroup(facts, group)
    return COLUMNS.map(({ name }) => ({
      name,
      data: group.map((entry) => (name === 'id' ? BigInt(entry.id) : entry[name])),
      statistics: WITH_STATISTICS.includes(name),
      bloomFilter: WITH_BLOOM_FILTER.includes(name),
    }))
  })
  return facts.end()
}

/** Adds the entries of a group; identical for the entries written and the entries read back. */
function addGroup(facts: RunningFacts, group: readonly StoredAuditEntry[]): void {
  facts.add(
    group.length,
    group.map((entry) => `${JSON.stringify(COLUMNS.map(({ name }) => entry[name]))}\n`),
  )
}

/** An open file, with its footer in memory. */
export class AuditFile {
  readonly rows: number
  readonly #file: AsyncBuffer
  readonly #metadata: FileMetaData
  /** the first row of each group, and the number of rows at the end */
  readonly #starts: number[] = [0]

  private constructor(file: AsyncBuffer, metadata: FileMetaData) {
    this.#file = file
    this.#metadata = metadata
    for (const { num_rows: rows } of metadata.row_groups) this.#starts.push(this.#starts.at(-1)! + Number(rows))
    this.rows = this.#starts.at(-1)!
  }

  static async open(file: AsyncBuffer): Promise<AuditFile> {
    return new AuditFile(file, await parquetMetadataAsync(file))
  }

  async facts(): Promise<FileFacts> {
    const facts = new RunningFacts()
    for await (const group of this.groups()) addGroup(facts, group)
    return facts.end()
  }

  /** All entries by id, in groups. */
  async *groups(): AsyncGenerator<StoredAuditEntry[]> {
    for (let g = 1; g < this.#starts.length; g++) yield await this.#read(this.#starts[g - 1]!, this.#starts[g]!)
  }

  /** Positions of the matching entries, in ascending order. */
  async matching({ from, to, ...equal }: AuditFilter): Promise<number[]> {
    const conditions: [name: string, matches: (value: unknown) => boolean][] = Object.entries(equal).map(([name, wanted]) => [
      name,
      (value) => value === wanted,
    ])
    const pruning: ParquetQueryFilter = Object.fromEntries(Object.entries(equal).map(([name, wanted]) => [name, { $eq: wanted }]))
    if (from || to) {
      const [fromMs, toMs] = [from?.getTime() ?? -Infinity, to?.getTime() ?? Infinity]
      conditions.push(['at', (value) => (value as Date).getTime() >= fromMs && (value as Date).getTime() < toMs])
      Object.assign(pruning, { at: { ...(from && { $gte: from }), ...(to && { $lt: to }) } })
    }
    const scan = await parquetScan({
      file: this.#file,
      metadata: this.#metadata,
      columns: conditions.map(([name]) => name),
      pruningFilter: pruning,
      useBloomFilters: true,
    })
    const found: number[] = []
    for (const { rowStart, rowEnd } of scan.ranges) {
      let positions = Array.from({ length: rowEnd - rowStart }, (_, i) => i)
      for (const [column, matches] of conditions) {
        if (positions.length === 0) break
        const values = await scan.readColumn({ column, rowStart, rowEnd })
        positions = positions.filter((i) => matches(values[i]))
      }
      for (const i of positions) found.push(rowStart + i)
    }
    return found
  }

  /** Entries at these positions, in their order. */
  async at(positions: readonly number[]): Promise<StoredAuditEntry[]> {
    const found = new Map<number, StoredAuditEntry>()
    for (let g = 1; g < this.#starts.length; g++) {
      const inGroup = positions.filter((position) => position >= this.#starts[g - 1]! && position < this.#starts[g]!)
      if (inGroup.length === 0) continue
      const first = Math.min(...inGroup)
      const entries = await this.#read(first, Math.max(...inGroup) + 1)
      for (const position of inGroup) found.set(position, entries[position - first]!)
    }
    return positions.map((position) => found.get(position)!)
  }

  async #read(rowStart: number, rowEnd: number): Promise<StoredAuditEntry[]> {
    const rows = await parquetReadObjects({ file: this.#file, metadata: this.#metadata, rowStart, rowEnd })
    if (rows.length !== rowEnd - rowStart) throw new Error('The archive file is damaged')
    return rows.map((row) => ({
      ...(row as StoredAuditEntry),
      id: Number(row.id),
      before: (row.before as string | undefined) ?? null,
      after: (row.after as string | undefined) ?? null,
      request_id: (row.request_id as string | undefined) ?? null,
    }))
  }
}
