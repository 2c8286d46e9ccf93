// Formats the figures of a run as tables.
import type { Comparison } from './compare.ts'
import type { ImportedFile } from './real-data.ts'
import { show, type Table, whole } from './tables.ts'
import type { Measured } from './workload.ts'

export interface Results {
  at: string
  machine: string
  data: string
  /** duration of the run, of which the rounds are a part */
  seconds: number
  measured: Measured[]
  files: ImportedFile[]
}

export function printResults({ machine, data, measured, files }: Results, markdown: boolean): void {
  const comparisons = comparisonsOf(measured)
  console.log(`\n${machine}; ${data}`)
  if (comparisons.length > 0) {
    console.log(`\n${show(sharesTable(comparisons), markdown)}`)
    const notes = comparisons.filter(({ note }) => note).map(({ id, note }) => `${markdown ? '- ' : ''}${id}: ${note}.`)
    if (notes.length > 0) console.log(`\n${notes.join('\n')}`)
  }
  for (const one of measured) if ('table' in one) console.log(`\n${show(one.table, markdown)}`)
  if (files.length > 0) console.log(`\n${show(filesTable(files), markdown)}`)
}

export function comparisonsOf(measured: Measured[]): Comparison[] {
  return measured.filter((one) => 'shareOfBare' in one)
}

function sharesTable(comparisons: Comparison[]): Table {
  const rows = comparisons.map(({ id, title, bytes, ours, bare, plain, shareOfBare, goal }) => [
    id,
    title,
    whole(bytes),
    whole(ours.requestsPerSecond),
    whole(bare.requestsPerSecond),
    rateOfPlain(plain),
    shareOfBare.toFixed(2),
    goal?.toFixed(2) ?? '-',
    plain && plain.requests > 0 ? times(ours.requestsPerSecond / plain.requestsPerSecond) : '-',
    ours.cpuMicros.toFixed(1),
    bare.cpuMicros.toFixed(1),
    ours.p50.toFixed(2),
    ours.p99.toFixed(2),
    plain && plain.requests > 0 ? whole(plain.p99) : '-',
  ])
  const head = [
    '#',
    'Workload',
    'Bytes',
    'Ours',
    'Bare',
    'Plain',
    'Ours/bare',
    'Goal',
    'Ours/plain',
    'CPU µs',
    'Bare CPU µs',
    'p50 ms',
    'p99 ms',
    'Plain p99',
  ]
  return { title: 'Requests a second on one core', head, rows, words: 2 }
}

function rateOfPlain(plain: Comparison['plain']): string {
  if (!plain) return '-'
  return plain.requests === 0 ? `none in ${plain.seconds} s` : whole(plain.requestsPerSecond)
}

function times(ratio: number): string {
  return `${ratio < 10 ? ratio.toFixed(1) : whole(ratio)}×`
}

const OUTCOMES = ['rows', 'created', 'updated', 'unchanged', 'accepted', 'held', 'rejected'] as const

function filesTable(files: ImportedFile[]): Table {
  const rows = files.map((file) => [
    file.file,
    file.format,
    ...OUTCOMES.map((field) => whole(file[field])),
    file.seconds.toFixed(1),
    whole(file.rowsPerSecond),
    file.reasons.join('; '),
  ])
  for (const kind of ['catalogue', 'prices'] as const) {
    const some = files.filter((file) => file.kind === kind)
    const sum = (field: (typeof OUTCOMES)[number] | 'seconds') => some.reduce((total, file) => total + file[field], 0)
    rows.push([`all ${kind}`, '', ...OUTCOMES.map((field) => whole(sum(field))), sum('seconds').toFixed(1), whole(sum('rows') / sum('seconds')), ''])
  }
  const head = ['File', 'Format', 'Rows', 'Created', 'Updated', 'Unchanged', 'Accepted', 'Held', 'Rejected', 's', 'Rows/s', 'Main reasons of refusal']
  return { title: 'Import of the real files', head, rows, words: 2 }
}
