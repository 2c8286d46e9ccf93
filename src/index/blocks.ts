// Sorted rows in blocks, with four bytes per row for its position, so that the cost of a change does not depend on the number of rows.
import { withCapacity } from '#index/columns.ts'
import type { ColumnStore } from '#index/stored.ts'

/** Orders two rows by their current keys. The order is total: owners break ties by id, so that only the same row gives 0. */
export type Compare = (rowA: number, rowB: number) => number

/** Compares a row's key with a fixed key: negative if it is before it, 0 if equal, positive if after it. */
export type Probe = (row: number) => number

/** A block is split when it is full, filled up to `FILL` by bulk loads, and merged with its neighbour below `THIN`. */
const BLOCK = 1024
const FILL = 960
const THIN = 256

/** A place is the number of the row's block and, in the lower bits, a label that increases along the block. */
const LABEL_BITS = 16
const LABELS = 2 ** LABEL_BITS
const ABSENT = 2 ** 32 - 1
/** The last block number would make places equal ABSENT. */
const MAX_BLOCKS = 2 ** (32 - LABEL_BITS) - 1

export class RowBlocks {
  /** by block: its rows in order, their number, and the version of the order at which it last changed (1 or more) */
  rows: Int32Array[] = []
  lengths: number[] = []
  versions: number[] = []
  /** block numbers in sort order; none of these blocks is empty */
  sequence: number[] = []
  size = 0
  version = 0
  /** by row: its place; ABSENT if the row is not in the order */
  #places = new Uint32Array(0)
  /** by block: its position in the sequence */
  #turns = new Int32Array(0)
  #spare: number[] = []

  store(columns: ColumnStore): void {
    this.rows = columns.chunks(this.rows)
    this.lengths = columns.numbers(this.lengths)
    this.versions = columns.numbers(this.versions)
    this.sequence = columns.numbers(this.sequence)
    this.#spare = columns.numbers(this.#spare)
    this.#places = columns.column(this.#places)
    this.#turns = columns.column(this.#turns)
    ;[this.size, this.version] = columns.value([this.size, this.version] as const)
  }

  has(row: number): boolean {
    return row < this.#places.length && this.#places[row] !== ABSENT
  }

  /** The block of a row of this order. */
  blockOf(row: number): number {
    return this.#places[row]! >>> LABEL_BITS
  }

  /** Numbers that increase along the order, for the given rows; all of them must be in the order. */
  keysOf(rows: Int32Array): Float64Array {
    const places = this.#places
    const turns = this.#turns
    const keys = new Float64Array(rows.length)
    for (let at = 0; at < rows.length; at++) {
      const place = places[rows[at]!]!
      keys[at] = turns[place >>> LABEL_BITS]! * LABELS + (place & (LABELS - 1))
    }
    return keys
  }

  /** Replaces everything by the given rows, which must be in order. */
  layOut(sorted: Int32Array): void {
    this.version++
    this.#places.fill(ABSENT)
    for (const block of this.sequence) this.#spare.push(block)
    const sequence = []
    this.#places = withCapacity(this.#places, rowSpace(sorted), ABSENT)
    for (let from = 0; from < sorted.length; from += FILL) {
      sequence.push(this.#newBlock(sorted.subarray(from, from + FILL)))
    }
    this.#arrange(sequence)
    this.size = sorted.length
  }

  /** Removes `gone`, and all rows of their blocks for which `leaves` is true. Compares no keys. */
  takeOut(gone: readonly number[], leaves: (row: number) => boolean): void {
    this.version++
    let thin = false
    for (const each of gone) {
      // The first removed row of a block also removes the others, so that each block is swept once.
      if (!this.has(each)) continue
      const block = this.blockOf(each)
      const rows = this.rows[block]!
      const length = this.lengths[block]!
      let remaining = 0
      for (let place = 0; place < length; place++) {
        const row = rows[place]!
        if (leaves(row)) this.#places[row] = ABSENT
        else rows[remaining++] = row
      }
      this.#resize(block, remaining)
      this.size -= length - remaining
      thin ||= remaining < THIN
    }
    if (thin) this.#join()
  }

  /** Inserts a row that is not in the order yet. */
  insert(row: number, compare: Compare): void {
    if (this.sequence.length === 0) return this.layOut(Int32Array.of(row))
    this.version++
    this.#places = withCapacity(this.#places, row + 1, ABSENT)
    let [at, place] = this.locate((other) => compare(other, row), false)
    // A row between two blocks goes to the end of the first one, and a row after the last block to its end.
    if (place === 0 && at > 0) place = this.lengths[this.sequence[--at]!]!
    const block = this.sequence[at]!
    const rows = this.rows[block]!
    const length = this.lengths[block]!
    rows.copyWithin(place + 1, place, length)
    rows[place] = row
    this.#resize(block, length + 1)
    this.size++
    this.#label(block, place)
    if (length + 1 === BLOCK) this.#split(at)
  }

  /** Inserts many rows at once, in time proportional to the whole; they must be in order. */
  merge(added: Int32Array, compare: Compare): void {
    const merged = new Int32Array(this.size + added.length)
    let size = 0
    let next = 0
    for (const block of this.sequence) {
      const rows = this.rows[block]!
      for (let place = 0; place < this.lengths[block]!; place++) {
        while (next < added.length && compare(added[next]!, rows[place]!) < 0) merged[size++] = added[next++]!
        merged[size++] = rows[place]!
      }
    }
    merged.set(added.subarray(next), size)
    this.layOut(merged)
  }

  /** Position in the sequence of blocks, and in that block, of the first row after the probe's key, or at it if inclusive. */
  locate(probe: Probe, inclusive: boolean): [at: number, place: number] {
    let low = 0
    let high = this.sequence.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const block = this.sequence[middle]!
      if (isPast(probe(this.rows[block]![this.lengths[block]! - 1]!), inclusive)) high = middle
      else low = middle + 1
    }
    if (low === this.sequence.length) return [low, 0]
    const block = this.sequence[low]!
    return [low, firstAfter(this.rows[block]!, this.lengths[block]!, probe, inclusive)]
  }

  #arrange(sequence: number[]): void {
    this.sequence = sequence
    this.#turns = withCapacity(this.#turns, this.rows.length)
    for (let at = 0; at < sequence.length; at++) this.#turns[sequence[at]!] = at
  }

  #resize(block: number, length: number): void {
    this.lengths[block] = length
    this.versions[block] = this.version
  }

  #newBlock(rows: Int32Array): number {
    const block = this.#spare.pop() ?? this.rows.length
    if (block >= MAX_BLOCKS) throw new RangeError(`an order holds at most ${MAX_BLOCKS * BLOCK} rows`)
    this.rows[block] ??= new Int32Array(BLOCK)
    this.rows[block].set(rows)
    this.#resize(block, rows.length)
    this.#spread(block)
    return block
  }

  #split(at: number): void {
    const block = this.sequence[at]!
    const half = this.lengths[block]! >>> 1
    const upper = this.#newBlock(this.rows[block]!.subarray(half, this.lengths[block]!))
    this.#resize(block, half)
    this.#arrange(this.sequence.toSpliced(at + 1, 0, upper))
  }

  /** Merges each block with the previous one if both fit well into one block, and frees empty blocks. */
  #join(): void {
    const sequence: number[] = []
    for (const block of this.sequence) {
      const length = this.lengths[block]!
      const before = sequence.at(-1)
      if (length > 0 && (before === undefined || this.lengths[before]! + length > FILL)) {
        sequence.push(block)
        continue
      }
      this.#spare.push(block)
      if (length === 0 || before === undefined) continue
      const rows = this.rows[block]!.subarray(0, length)
      this.rows[before]!.set(rows, this.lengths[before]!)
      this.#resize(before, this.lengths[before]! + length)
      this.#spread(before)
    }
    this.#arrange(sequence)
  }

  /** Gives a row of a block a label between its neighbours', or relabels the whole block. */
  #label(block: number, place: number): void {
    const rows = this.rows[block]!
    const first = block * LABELS
    const low = place > 0 ? this.#places[rows[place - 1]!]! : first - 1
    const high = place + 1 < this.lengths[block]! ? this.#places[rows[place + 1]!]! : first + LABELS
    if (high - low < 2) this.#spread(block)
    else this.#places[rows[place]!] = low + ((high - low) >>> 1)
  }

  /** Spreads the labels of a block evenly. */
  #spread(block: number): void {
    const rows = this.rows[block]!
    const length = this.lengths[block]!
    const step = Math.floor(LABELS / (length + 1))
    let place = block * LABELS
    for (let at = 0; at < length; at++) this.#places[rows[at]!] = place += step
  }
}

/** Position of the first of `length` sorted rows after the probe's key, or at it if inclusive. */
export function firstAfter(rows: Int32Array, length: number, probe: Probe, inclusive: boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isPast(probe(rows[middle]!), inclusive)) high = middle
    else low = middle + 1
  }
  return low
}

/** Column length required for all rows. */
export function rowSpace(rows: Int32Array): number {
  let space = 0
  for (let at = 0; at < rows.length; at++) if (rows[at]! >= space) space = rows[at]! + 1
  return space
}

function isPast(compared: number, inclusive: boolean): boolean {
  return inclusive ? compared >= 0 : compared > 0
}
