// Refused rows of an import: the first thousand as they came, and all of them counted by reason with a few samples.
import { type Params, type Problem, type Reason, reason, type Rule, textOf } from '#core/problems.ts'

/** Refused rows kept with an import; the rest are only counted. */
export const KEPT_ERRORS = 1_000

const KEPT_SAMPLES = 3
const MOST_REASONS = 100
const LONGEST_VALUE = 500

/** Where a refused row is. */
interface Place {
  row: number
  /** name of the file where an import has one */
  file?: string | null
}

/** A refused row as it is stored; those of earlier programs have only the message. */
export interface RefusedRow extends Place {
  message: string
  field?: string
  rule?: Rule
  params?: Params
}

/** Why rows were refused, with `…` for what differs from row to row, such as `no item has the ref …`. */
export interface RefusalReason {
  reason: string
  field?: string
  rule?: Rule
  params?: Params
  count: number
  /** the first rows refused for it */
  samples: RefusedRow[]
}

/** Reasons of rows beyond the hundredth kind are counted as this. */
const OTHER_REASONS = reason('other')

/** Parameters that say what is in a row; all others say what is allowed. */
const OF_A_ROW = new Set(['value', 'id', 'ref', 'line', 'name', 'other', 'count', 'finish', 'markets', 'items'])
const ANY = '…'

/** The reason without what only one row has: the same for all rows that are refused for it. */
function kindOf<Of extends Reason>({ params, ...why }: Of): Of {
  const kinds = Object.entries(params).map(([name, value]) => [name, OF_A_ROW.has(name) ? ANY : nested(value)])
  const field = 'field' in why && { field: (why.field as string).split('.').map((part) => (/^\d+$/.test(part) ? ANY : part)).join('.') }
  return { ...why, ...field, params: Object.fromEntries(kinds) } as unknown as Of
}

function nested(value: Params[string]): Params[string] {
  if (Array.isArray(value)) return value.map(nested) as Params[string]
  return typeof value === 'object' && 'rule' in value ? kindOf(value) : value
}

/** The reason as it can be stored: the database holds neither NUL nor halves of surrogate pairs, and long values are cut. */
export function storable<Of extends Reason>(why: Of): Of {
  return JSON.parse(JSON.stringify(why, (_name, value: unknown) => (typeof value === 'string' ? storableText(value) : value))) as Of
}

function storableText(text: string): string {
  const cut = text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}${ANY}` : text
  return cut.toWellFormed().replaceAll('\0', '\ufffd')
}

/** Collects the refused rows of one import. */
export class Refusals {
  readonly rows: RefusedRow[] = []
  readonly #reasons = new Map<string, RefusalReason>()

  /** @returns the row as it is stored */
  add(place: Place, why: Reason | Problem): RefusedRow {
    const stored = storable(why)
    const row = { ...place, message: textOf(stored), ...stored }
    if (this.rows.length < KEPT_ERRORS) this.rows.push(row)
    this.#count(row, kindOf(stored))
    return row
  }

  #count(row: RefusedRow, kind: Reason | Problem): void {
    const text = textOf(kind)
    const isNew = !this.#reasons.has(text)
    const why = isNew && this.#reasons.size >= MOST_REASONS ? OTHER_REASONS : kind
    const name = textOf(why)
    const known = this.#reasons.get(name)
    if (!known) this.#reasons.set(name, { reason: name, ...why, count: 1, samples: [row] })
    else {
      known.count += 1
      if (known.samples.length < KEPT_SAMPLES) known.samples.push(row)
    }
  }

  /** Most frequent first. */
  get reasons(): RefusalReason[] {
    return [...this.#reasons.values()].sort((a, b) => b.count - a.count)
  }
}

/** Reasons of rows that earlier programs stored without counting them: each message is one. */
export function reasonsOf(rows: readonly RefusedRow[]): RefusalReason[] {
  const byMessage = Map.groupBy(rows, (row) => row.message)
  const reasons = [...byMessage].map(([reason, all]) => ({ reason, count: all.length, samples: all.slice(0, KEPT_SAMPLES) }))
  return reasons.sort((a, b) => b.count - a.count).slice(0, MOST_REASONS)
}
