// The file of an archived month: Parquet with row groups sorted by item, so that the points of an item are in one or two groups.
import { type AsyncBuffer, type ColumnMetaData, type FileMetaData, parquetMetadataAsync, parquetRead } from 'hyparquet'
import { type FileFacts, RunningFacts, schemaOf, writeRowGroups } from '#files/parquet-files.ts'

/** A point of the history in an archive file. */
export interface ArchivedPoint {
  itemId: number
  /** position in MARKETS */
  market: number
  labelId: number
  atMs: number
  minor: number
  importId: number
}

/** The points of a row group, column by column. */
interface PointGroup {
  rows: number
  columns: readonly ArrayLike<number>[]
}

/** A chart reads about this many rows of each month; smaller groups enlarge the footer by more than they save. */
const GROUP_ROWS = 4_096
const INTEGER = { type: 'INT32', repetition_type: 'REQUIRED' } as const
const COLUMNS = [
  { name: 'item_id', ...INTEGER },
  { name: 'market', ...INTEGER },
  { name: 'label_id', ...INTEGER },
  { name: 'at', type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', repetition_type: 'REQUIRED' },
  { name: 'price', type: 'INT64', converted_type: 'DECIMAL', precision: 12, scale: 2, repetition_type: 'REQUIRED' },
  { name: 'import_id', ...INTEGER },
] as const
const SCHEMA = schemaOf(COLUMNS)

/**
 * Writes a file of points, which must arrive sorted by item.
 * @returns facts about its content, and the imports that its points belong to
 */
export async function writeArchiveFile(path: string, points: AsyncIterable<ArchivedPoint>): Promise<FileFacts & { importIds: number[] }> {
  const facts = new RunningFacts()
  const importIds = new Set<number>()
  await writeRowGroups(path, { columns: COLUMNS, groupRows: GROUP_ROWS }, points, (group) => {
    const column = (name: keyof ArchivedPoint) => group.map((point) => point[name])
    const [items, markets, labels] = [column('itemId'), column('market'), column('labelId')]
    const [times, minors, imports] = [column('atMs'), column('minor'), column('importId')]
    addGroup(facts, { rows: group.length, columns: [items, markets, labels, times, minors, imports] })
    for (const id of imports) importIds.add(id)
    const data = [
      { name: 'item_id', data: items, statistics: true },
      { name: 'market', data: markets },
      { name: 'label_id', data: labels },
      { name: 'at', data: times.map((atMs) => new Date(atMs)) },
      { name: 'price', data: minors.map(BigInt) },
      { name: 'import_id', data: imports },
    ]
    // Reads search by item only and fetch whole row groups; more statistics in the footer would slow down opening the file.
    return data.map((source) => ({ ...source, offsetIndex: false }))
  })
  return { ...facts.end(), importIds: [...importIds].sort((a, b) => a - b) }
}

/** Adds the points of a group; identical for the points written and the points read back. */
function addGroup(facts: RunningFacts, { rows, columns }: PointGroup): void {
  facts.add(
    rows,
    columns.map((column) => Float64Array.from(column)),
  )
}

/** Numbers per column of a row group: offset of its data, offset of its dictionary (-1: none), and length in bytes. */
const NUMBERS_PER_COLUMN = 3

/** An open file: its footer is read once and kept in memory, about 180 bytes per row group. */
export class ArchiveFile {
  readonly #file: AsyncBuffer
  /** first item, last item and number of rows, by group */
  readonly #firstItem: Int32Array
  readonly #lastItem: Int32Array
  readonly #rows: Int32Array
  readonly #offsets: Float64Array
  /** the columns of the first group, for properties that are the same in all groups */
  readonly #columns: readonly ColumnMetaData[]

  private constructor(file: AsyncBuffer, { row_groups: groups }: FileMetaData) {
    this.#file = file
    this.#columns = groups[0]?.columns.map((chunk) => chunk.meta_data!) ?? []
    this.#firstItem = new Int32Array(groups.length)
    this.#lastItem = new Int32Array(groups.length)
    this.#rows = new Int32Array(groups.length)
    this.#offsets = new Float64Array(groups.length * COLUMNS.length * NUMBERS_PER_COLUMN)
    for (const [g, { columns, num_rows: rows }] of groups.entries()) {
      const { min_value: first, max_value: last } = columns[0]!.meta_data!.statistics!
      this.#firstItem[g] = Number(first)
      this.#lastItem[g] = Number(last)
      this.#rows[g] = Number(rows)
      for (const [c, { meta_data: column }] of columns.entries()) {
        const { data_page_offset: data, dictionary_page_offset: dictionary, total_compressed_size: bytes } = column!
        this.#offsets.set([Number(data), Number(dictionary ?? -1), Number(bytes)], (g * COLUMNS.length + c) * NUMBERS_PER_COLUMN)
      }
    }
  }

  static async open(file: AsyncBuffer): Promise<ArchiveFile> {
    return new ArchiveFile(file, await parquetMetadataAsync(file))
  }

  /** Points of items, in file order. */
  async pointsOf(itemIds: readonly number[]): Promise<ArchivedPoint[]> {
    const wanted = new Set<number>()
    for (const id of itemIds) for (let g = this.#groupOf(id); this.#firstItem[g]! <= id; g++) wanted.add(g)
    const groups = await Promise.all([...wanted].sort((a, b) => a - b).map((g) => this.#read(g)))
    return groups.flatMap((group) => pointsIn(group, (id) => itemIds.includes(id)))
  }

  /** All points, in file order. */
  async *points(): AsyncGenerator<ArchivedPoint> {
    for (let g = 0; g < this.#rows.length; g++) yield* pointsIn(await this.#read(g), () => true)
  }

  /** Computes the row count and checksum by reading the whole file. */
  async facts(): Promise<FileFacts> {
    const facts = new RunningFacts()
    for (let g = 0; g < this.#rows.length; g++) addGroup(facts, await this.#read(g))
    return facts.end()
  }

  /** The first group whose last item is this one or a later one. */
  #groupOf(itemId: number): number {
    let [from, to] = [0, this.#lastItem.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (this.#lastItem[middle]! < itemId) from = middle + 1
      else to = middle
    }
    return from
  }

  async #read(group: number): Promise<PointGroup> {
    const rows = this.#rows[group]!
    const columns: ArrayLike<number>[] = COLUMNS.map(() => [])
    await parquetRead({
      file: this.#file,
      metadata: this.#metadataOf(group),
      parsers: { timestampFromMilliseconds: Number as never },
      onChunk: ({ columnName, columnData }) => {
        const c = COLUMNS.findIndex(({ name }) => name === columnName)
        columns[c] =
          columns[c]!.length === 0 ? (columnData as ArrayLike<number>) : [...Array.from(columns[c]!), ...Array.from(columnData as ArrayLike<number>)]
      },
    })
    // Converted to whole hundredths because the reader returns decimals as fractional numbers.
    columns[PRICE] = Array.from(columns[PRICE]!, (price) => Math.round(price * 100))
    if (columns.some((column) => column.length !== rows)) throw new Error(`Row group ${group} of the archive file is damaged`)
    return { rows, columns }
  }

  #metadataOf(group: number): FileMetaData {
    const rows = BigInt(this.#rows[group]!)
    const columns = this.#columns.map((column, c) => {
      const [data, dictionary, bytes] = this.#offsets.subarray((group * COLUMNS.length + c) * NUMBERS_PER_COLUMN)
      const meta_data: ColumnMetaData = {
        ...column,
        num_values: rows,
        data_page_offset: BigInt(data!),
        dictionary_page_offset: dictionary! < 0 ? undefined : BigInt(dictionary!),
        total_compressed_size: BigInt(bytes!),
        statistics: undefined,
      }
      return { file_offset: 0n, meta_data }
    })
    return { version: 2, schema: SCHEMA, num_rows: rows, row_groups: [{ columns, total_byte_size: 0n, num_rows: rows }], metadata_length: 0 }
  }
}

const PRICE = COLUMNS.findIndex(({ name }) => name === 'price')

function pointsIn({ rows, columns }: PointGroup, isWanted: (itemId: number) => boolean): ArchivedPoint[] {
  const [items, markets, labels, times, minors, importIds] = columns as [ArrayLike<number>, ...ArrayLike<number>[]]
  const points: ArchivedPoint[] = []
  for (let i = 0; i < rows; i++) {
    const itemId = items[i]!
    if (!isWanted(itemId)) continue
    points.push({ itemId, market: markets![i]!, labelId: labels![i]!, atMs: times![i]!, minor: minors![i]!, importId: importIds![i]! })
  }
  return points
}
