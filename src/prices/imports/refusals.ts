// Rejected rows of an import: the first thousand rows, counts of all rows by reason with a few samples, and a CSV.
import { mapValues, type Params, type Problem, type Reason, reason, textOf, type Value } from '#core/problems.ts'
import type { Rule } from '#core/problem-texts/rules.ts'
import { RefusedRowsCsv } from './refused-rows-csv.ts'

/** Maximum rejected rows that are stored with an import. */
export const MAX_STORED_ERRORS = 1_000

const MAX_SAMPLES = 3
const MAX_REASONS = 100
const MAX_VALUE_LENGTH = 500

/** The position of a rejected row. */
interface RowLocation {
  row: number
  /** name of the file, if the import has one */
  file?: string | null
}

/** A rejected row as stored; rows stored by earlier versions have only the message. */
export interface RefusedRow extends RowLocation {
  message: string
  field?: string
  rule?: Rule
  params?: Params
}

/** A reason of rejected rows, with `…` for what differs between rows, such as `no item has the ref …`. */
export interface RefusalReason {
  reason: string
  field?: string
  rule?: Rule
  params?: Params
  count: number
  /** the first rows rejected for it */
  samples: RefusedRow[]
}

/** Rows with further reasons are counted under this one. */
const OTHER_REASONS = reason('other')

/** Parameters that quote the row; all others state what is allowed. */
const OF_A_ROW = new Set(['value', 'id', 'ref', 'line', 'name', 'other', 'count', 'finish', 'markets', 'items'])
const ANY = '…'

/** The reason without parameters that are specific to one row: the same for all rows rejected for it. */
function kindOf<Of extends Reason>(why: Of): Of {
  return mapValues(why, (name, value) => {
    if (OF_A_ROW.has(name)) return ANY
    return name === 'field'
      ? (value as string)
          .split('.')
          .map((part) => (/^\d+$/.test(part) ? ANY : part))
          .join('.')
      : value
  })
}

/** The reason as it can be stored: the database holds neither NUL nor halves of surrogate pairs, and long values are cut. */
export function toStorable<Of extends Reason>(why: Of): Of {
  return mapValues(why, (_name, value) => {
    if (typeof value === 'string') return storableText(value)
    return Array.isArray(value) ? ((value as (string | number)[]).map((one) => (typeof one === 'string' ? storableText(one) : one)) as Value) : value
  })
}

/** Copies the text: values quote the file, and a slice would keep the whole file's text in memory. */
function storableText(text: string): string {
  const cut = text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}${ANY}` : text
  return Buffer.from(cut).toString().replaceAll('\0', '\ufffd')
}

/** Collects the refused rows of one import. */
export class Refusals {
  readonly rows: RefusedRow[] = []
  readonly csv = new RefusedRowsCsv()
  readonly #reasons = new Map<string, RefusalReason>()

  /** @returns the row as it is stored */
  add(place: RowLocation, why: Reason | Problem): RefusedRow {
    const stored = toStorable(why)
    const row = { ...place, message: textOf(stored), ...stored }
    if (this.rows.length < MAX_STORED_ERRORS) this.rows.push(row)
    this.csv.add({ file: place.file ?? null, line: place.row, rule: why.rule, reason: row.message })
    this.#count(row, kindOf(stored))
    return row
  }

  #count(row: RefusedRow, kind: Reason | Problem): void {
    const text = textOf(kind)
    const isOther = !this.#reasons.has(text) && this.#reasons.size >= MAX_REASONS
    const reason = isOther ? textOf(OTHER_REASONS) : text
    const counted = this.#reasons.get(reason)
    if (!counted) this.#reasons.set(reason, { reason, ...(isOther ? OTHER_REASONS : kind), count: 1, samples: [row] })
    else {
      counted.count += 1
      if (counted.samples.length < MAX_SAMPLES) counted.samples.push(row)
    }
  }

  /** Most frequent first. */
  get reasons(): RefusalReason[] {
    return [...this.#reasons.values()].sort((a, b) => b.count - a.count)
  }
}

/** Reasons of rows stored by earlier versions without counts: each message counts as one. */
export function reasonsOf(rows: readonly RefusedRow[]): RefusalReason[] {
  const byMessage = Map.groupBy(rows, (row) => row.message)
  const reasons = [...byMessage].map(([reason, all]) => ({ reason, count: all.length, samples: all.slice(0, MAX_SAMPLES) }))
  return reasons.sort((a, b) => b.count - a.count).slice(0, MAX_REASONS)
}
