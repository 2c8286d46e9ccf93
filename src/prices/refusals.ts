// Refused rows of an import: the first thousand as they came, and all of them counted by reason with a few samples.

/** Refused rows kept with an import; the rest are only counted. */
export const KEPT_ERRORS = 1_000

const KEPT_SAMPLES = 3
const MOST_REASONS = 100
const LONGEST_MESSAGE = 500

export interface RefusedRow {
  row: number
  message: string
  /** name of the file where an import has one */
  file?: string | null
}

export interface RefusalReason {
  /** a message with `…` for what differs from row to row, such as `no item has the ref …` */
  reason: string
  count: number
  /** the first rows refused for it */
  samples: RefusedRow[]
}

/** Reasons of rows beyond the hundredth kind are counted as this. */
export const OTHER_REASONS = 'other reasons'

/** Messages that name something without quotes; quoted text and positions in lists are recognised in any message. */
const KINDS = [
  'no item has the ref …',
  'no item has the … id …',
  'no item of the … id … has the finish …',
  "items of … have the ref …: use the item's id",
  'several items fit …',
  'no item that fits … has the finish …',
  'no item fits … in name, number and set (like it: …)',
  'there is no rate from … to … for …: load one',
  'there is no item with the id …',
  'the item … came before, in line …',
  'the category … came before, in line …',
  'the parent category … is not in the catalogue: import it first',
  'the category … is not in the catalogue: import it first',
  'the category … cannot be its own parent',
  'the group … does not exist',
  'the id … names no set',
  'the card … has more than 200 printings',
  'the product … is of no known category (…)',
  'the pack … of the card … is of no known language',
  'the pack … is of no known language',
  ...['series', 'set', 'card', 'pack', 'product'].flatMap((thing) =>
    ['name', 'title', 'set', 'localId', 'number'].map((field) => `the ${thing} … has no ${field}`),
  ),
  'the row has … cells, the header …',
].map((kind) => ({ kind, pieces: kind.split('…') }))

/** The kind of a message: the same for all rows that are refused for the same reason. */
export function kindOf(message: string): string {
  return message.split('; ').map(kindOfPart).join('; ')
}

function kindOfPart(part: string): string {
  const colon = part.indexOf(': ')
  const named = kindAmong(part)
  if (named !== null) return named
  // `item_ref: no item has the ref x`: what stands before is a column.
  const afterColumn = colon < 0 ? null : kindAmong(part.slice(colon + 2))
  if (afterColumn !== null) return `${part.slice(0, colon)}: ${afterColumn}`
  return withoutQuoted(part).replace(/\.\d+\./g, '.….')
}

function kindAmong(text: string): string | null {
  return KINDS.find(({ pieces }) => matches(text, pieces))?.kind ?? null
}

/** Whether the text consists of the pieces with something between them; in linear time, whatever the text. */
function matches(text: string, pieces: readonly string[]): boolean {
  if (!text.startsWith(pieces[0]!) || !text.endsWith(pieces.at(-1)!)) return false
  let at = 0
  for (const piece of pieces) {
    const found = text.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return true
}

/** `"x" is no id` → `"…" is no id`: from the first quote to the last, because quoted text can hold quotes. */
function withoutQuoted(text: string): string {
  const first = text.indexOf('"')
  const last = text.lastIndexOf('"')
  return last > first ? `${text.slice(0, first)}"…"${text.slice(last + 1)}` : text
}

/** Collects the refused rows of one import. */
export class Refusals {
  readonly rows: RefusedRow[] = []
  readonly #reasons = new Map<string, RefusalReason>()

  add(refused: RefusedRow): void {
    const kept = { ...refused, message: cut(refused.message) }
    if (this.rows.length < KEPT_ERRORS) this.rows.push(kept)
    const kind = kindOf(kept.message)
    const reason = this.#reasons.has(kind) || this.#reasons.size < MOST_REASONS ? kind : OTHER_REASONS
    const known = this.#reasons.get(reason)
    if (!known) this.#reasons.set(reason, { reason, count: 1, samples: [kept] })
    else {
      known.count += 1
      if (known.samples.length < KEPT_SAMPLES) known.samples.push(kept)
    }
  }

  /** Most frequent first. */
  get reasons(): RefusalReason[] {
    return [...this.#reasons.values()].sort((a, b) => b.count - a.count)
  }

  static of(rows: readonly RefusedRow[]): Refusals {
    const refusals = new Refusals()
    for (const row of rows) refusals.add(row)
    return refusals
  }
}

/** A copy, because a message quotes the file: a slice of a text keeps that whole text in memory. */
function cut(message: string): string {
  return Buffer.from(message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message).toString()
}
