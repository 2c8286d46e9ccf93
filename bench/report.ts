// The figures of a run as tables for a terminal or for Markdown.
import type { LoadFigures } from './load.ts'
import type { PriceImportFigures } from './price-import.ts'
import type { ImportedFile } from './real-data.ts'

/** Medians over the rounds of one workload. */
export interface WorkloadFigures {
  id: string
  title: string
  /** mean size of an answer */
  bytes: number
  ours: LoadFigures
  bare: LoadFigures
  plain: LoadFigures
  /** median of ours ÷ bare in each round */
  shareOfBare: number
  goal: number | null
}

export interface StartFigures {
  items: number
  prices: number
  /** from the start of the process */
  firstAnswerMs: number
  /** resident memory after the first answer and after all read workloads, null where none ran */
  memoryMb: number
  memoryAfterLoadMb: number | null
}

export interface Results {
  at: string
  machine: string
  data: string
  files: ImportedFile[]
  workloads: WorkloadFigures[]
  priceImport: PriceImportFigures | null
  start: StartFigures | null
}

interface Table {
  title: string
  head: string[]
  rows: string[][]
  /** for a terminal: how many columns are words */
  words: number
}

export function printResults(results: Results, markdown: boolean): void {
  const tables = [
    ...(results.files.length > 0 ? [filesTable(results.files)] : []),
    ...(results.workloads.length > 0 ? [workloadsTable(results.workloads)] : []),
    ...(results.priceImport ? [importTable(results.priceImport)] : []),
    ...(results.start ? [startTable(results.start)] : []),
  ]
  console.log(`\n${results.machine}; ${results.data}`)
  for (const table of tables) console.log(`\n${markdown ? `**${table.title}**\n\n` : `${table.title}\n`}${markdown ? asMarkdown(table) : asText(table)}`)
}

function filesTable(files: ImportedFile[]): Table {
  const rows = files.map((file) => [
    file.file, file.format, ...[file.rows, file.created, file.updated, file.unchanged, file.accepted, file.held, file.rejected].map(whole),
    file.seconds.toFixed(1), whole(file.rowsPerSecond), file.reasons.join('; '),
  ])
  for (const kind of ['catalogue', 'prices'] as const) {
    const some = files.filter((file) => file.kind === kind)
    const sum = (field: 'rows' | 'created' | 'updated' | 'unchanged' | 'accepted' | 'held' | 'rejected' | 'seconds') =>
      some.reduce((total, file) => total + file[field], 0)
    const counts = (['rows', 'created', 'updated', 'unchanged', 'accepted', 'held', 'rejected'] as const).map((field) => whole(sum(field)))
    rows.push([`all ${kind}`, '', ...counts, sum('seconds').toFixed(1), whole(sum('rows') / sum('seconds')), ''])
  }
  const head = ['File', 'Format', 'Rows', 'Created', 'Updated', 'Unchanged', 'Accepted', 'Held', 'Rejected', 's', 'Rows/s', 'Main reasons of refusal']
  return { title: 'Import of the real files', head, rows, words: 2 }
}

function workloadsTable(workloads: WorkloadFigures[]): Table {
  const rows = workloads.map(({ id, title, bytes, ours, bare, plain, shareOfBare, goal }) => [
    id, title, whole(bytes), whole(ours.requestsPerSecond), whole(bare.requestsPerSecond), whole(plain.requestsPerSecond),
    shareOfBare.toFixed(2), (bare.cpuMicros / ours.cpuMicros).toFixed(2), goal?.toFixed(2) ?? '-', `${(ours.requestsPerSecond / plain.requestsPerSecond).toFixed(1)}×`,
    ours.cpuMicros.toFixed(1), bare.cpuMicros.toFixed(1), ours.p50.toFixed(2), ours.p99.toFixed(2), plain.p99.toFixed(1),
  ])
  const head = ['#', 'Workload', 'Bytes', 'Ours', 'Bare', 'Plain', 'Ours/bare', 'by CPU', 'Goal', 'Ours/plain', 'CPU µs', 'Bare CPU µs', 'p50 ms', 'p99 ms', 'Plain p99']
  return { title: 'Requests a second on one core', head, rows, words: 2 }
}

function importTable({ rows: count, copyUpsert, ours, readers, seenAfterMs }: PriceImportFigures): Table {
  const share = (which: 'alone' | 'withReaders') => (ours[which] / copyUpsert[which]).toFixed(2)
  return {
    title: `10: import of ${count} prices of known items`,
    head: ['', 'COPY + upsert rows/s', 'Our import rows/s', 'Share', 'Goal', "Readers' p99 ms: calm", 'COPY + upsert', 'Our import'],
    rows: [
      ['alone', whole(copyUpsert.alone), whole(ours.alone), share('alone'), '', '', '', ''],
      [
        'while readers ask', whole(copyUpsert.withReaders), whole(ours.withReaders), share('withReaders'), '0.80',
        readers.calm.p99.toFixed(2), readers.duringCopy.p99.toFixed(2), readers.duringImport.p99.toFixed(2),
      ],
      [`last price seen ${Math.round(seenAfterMs)} ms after the import's end`, '', '', '', '', '', '', ''],
    ],
    words: 1,
  }
}

function startTable({ items, prices, firstAnswerMs, memoryMb, memoryAfterLoadMb }: StartFigures): Table {
  return {
    title: '11: start and memory of the node, without PostgreSQL',
    head: ['Items', 'Prices', 'First right answer after ms', 'Memory MB', 'After the workloads MB'],
    rows: [[whole(items), whole(prices), whole(firstAnswerMs), whole(memoryMb), memoryAfterLoadMb === null ? '-' : whole(memoryAfterLoadMb)]],
    words: 0,
  }
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function asText({ head, rows, words }: Table): string {
  const widths = head.map((title, i) => Math.max(...[head, ...rows].map((row) => row[i]!.length), title.length))
  const last = head.length - 1
  return [head, ...rows]
    .map((row) => row.map((cell, i) => (i < words || i === last ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  ').trimEnd())
    .join('\n')
}

function asMarkdown({ head, rows, words }: Table): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map((_, i) => (i < words ? '---' : '--:'))), ...rows.map(line)].join('\n')
}
