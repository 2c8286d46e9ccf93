// Sorted rows in blocks, with a label per row for its place, so that no single change costs by the number of rows.
import { grown } from '#index/columns.ts'

/** Orders two rows by their current keys; total: owners end ties in the id, so 0 only for the same row. */
export type Compare = (rowA: number, rowB: number) => number

/** Compares a row's key with a fixed key: negative before it, 0 at it, positive after it. */
export type Probe = (row: number) => number

/** A block is split when it is full, filled to `FILL` by bulk loads, and joined with its neighbour below `THIN`. */
const BLOCK = 1024
const FILL = 768
const THIN = 256

/** Distance of labels after a bulk load; 2^24 rows stay within doubles that count in ones. */
const GAP = 2 ** 28
const FARTHEST = 2 ** 52
/** A relabelled neighbourhood is widened until its labels lie this far apart. */
const ROOMY = 2 ** 8

export class RowBlocks {
  /** by block: its rows in order, how many, and the version of the whole when it last changed (1 or more) */
  readonly rows: Int32Array[] = []
  readonly lengths: number[] = []
  readonly versions: number[] = []
  /** block numbers in sort order; none of these blocks is empty */
  sequence: number[] = []
  /** by row: its block, -1 when it is not here, and its label, which rises along the order */
  blockOf = new Int32Array(0)
  labels = new Float64Array(0)
  size = 0
  version = 0
  #spare: number[] = []

  has(row: number): boolean {
    return row < this.blockOf.length && this.blockOf[row] >= 0
  }

  /** Replaces everything by the given rows, which must be in order. */
  layOut(sorted: Int32Array): void {
    this.version++
    this.blockOf.fill(-1)
    for (const block of this.sequence) this.#spare.push(block)
    this.sequence = []
    this.#makeRoom(rowSpace(sorted))
    for (let from = 0; from < sorted.length; from += FILL) {
      this.sequence.push(this.#newBlock(sorted.subarray(from, from + FILL)))
    }
    for (let at = 0; at < sorted.length; at++) this.labels[sorted[at]] = at * GAP
    this.size = sorted.length
  }

  /** Takes out `gone`, and whatever else of their blocks `leaves` is true for. Looks at no key. */
  takeOut(gone: readonly number[], leaves: (row: number) => boolean): void {
    this.version++
    let thin = false
    for (const each of gone) {
      // The first row of a block to come takes the others along, so each block is swept once.
      if (!this.has(each)) continue
      const block = this.blockOf[each]
      const rows = this.rows[block]
      const length = this.lengths[block]
      let kept = 0
      for (let place = 0; place < length; place++) {
        const row = rows[place]
        if (leaves(row)) this.blockOf[row] = -1
        else rows[kept++] = row
      }
      this.#resize(block, kept)
      this.size -= length - kept
      thin ||= kept < THIN
    }
    if (thin) this.#join()
  }

  /** Places one row that is not here yet. */
  insert(row: number, compare: Compare): void {
    if (this.sequence.length === 0) return this.layOut(Int32Array.of(row))
    this.version++
    this.#makeRoom(row + 1)
    let [at, place] = this.locate((other) => compare(other, row), false)
    // Between two blocks a row goes to the end of the first, and so it does past the last.
    if (place === 0 && at > 0) place = this.lengths[this.sequence[--at]]
    const block = this.sequence[at]
    const rows = this.rows[block]
    const length = this.lengths[block]
    rows.copyWithin(place + 1, place, length)
    rows[place] = row
    this.blockOf[row] = block
    this.#resize(block, length + 1)
    this.size++
    this.#label(at, place)
    if (length + 1 === BLOCK) this.#split(at)
  }

  /** Places many rows at once, in time by the size of the whole; they must be in order. */
  merge(added: Int32Array, compare: Compare): void {
    const merged = new Int32Array(this.size + added.length)
    let size = 0
    let next = 0
    for (const block of this.sequence) {
      const rows = this.rows[block]
      for (let place = 0; place < this.lengths[block]; place++) {
        while (next < added.length && compare(added[next], rows[place]) < 0) merged[size++] = added[next++]
        merged[size++] = rows[place]
      }
    }
    merged.set(added.subarray(next), size)
    this.layOut(merged)
  }

  /** Place in the sequence, and in that block, of the first row past the probe's key, or at it when inclusive. */
  locate(probe: Probe, inclusive: boolean): [at: number, place: number] {
    let low = 0
    let high = this.sequence.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const block = this.sequence[middle]
      if (isPast(probe(this.rows[block][this.lengths[block] - 1]), inclusive)) high = middle
      else low = middle + 1
    }
    if (low === this.sequence.length) return [low, 0]
    const block = this.sequence[low]
    return [low, firstPast(this.rows[block], this.lengths[block], probe, inclusive)]
  }

  #makeRoom(rows: number): void {
    this.blockOf = grown(this.blockOf, rows, -1)
    this.labels = grown(this.labels, rows)
  }

  #resize(block: number, length: number): void {
    this.lengths[block] = length
    this.versions[block] = this.version
  }

  #newBlock(rows: Int32Array): number {
    const block = this.#spare.pop() ?? this.rows.length
    this.rows[block] ??= new Int32Array(BLOCK)
    this.rows[block].set(rows)
    for (let place = 0; place < rows.length; place++) this.blockOf[rows[place]] = block
    this.#resize(block, rows.length)
    return block
  }

  #split(at: number): void {
    const block = this.sequence[at]
    const half = this.lengths[block] >>> 1
    const upper = this.#newBlock(this.rows[block].subarray(half, this.lengths[block]))
    this.#resize(block, half)
    this.sequence.splice(at + 1, 0, upper)
  }

  /** Joins each block with the one before it where both fit well into one, and frees the empty ones. */
  #join(): void {
    const sequence: number[] = []
    for (const block of this.sequence) {
      const length = this.lengths[block]
      const before = sequence.at(-1)
      if (length > 0 && (before === undefined || this.lengths[before] + length > FILL)) {
        sequence.push(block)
        continue
      }
      this.#spare.push(block)
      if (length === 0 || before === undefined) continue
      const rows = this.rows[block].subarray(0, length)
      this.rows[before].set(rows, this.lengths[before])
      for (const row of rows) this.blockOf[row] = before
      this.#resize(before, this.lengths[before] + length)
    }
    this.sequence = sequence
  }

  /** Labels the row at a place of a block between its neighbours, or makes room around it. */
  #label(at: number, place: number): void {
    const block = this.sequence[at]
    const rows = this.rows[block]
    const low = place > 0 ? this.labels[rows[place - 1]] : this.#edge(at - 1, true)
    const high = place + 1 < this.lengths[block] ? this.labels[rows[place + 1]] : this.#edge(at + 1, false)
    const label = low === null ? high! - GAP : high === null ? low + GAP : low + (high - low) / 2
    const fits = (low === null || label > low) && (high === null || label < high) && Math.abs(label) < FARTHEST
    if (fits) this.labels[rows[place]] = label
    else this.#relabel(at)
  }

  /** The label of the last or first row of a block, null past the ends of the sequence. */
  #edge(at: number, last: boolean): number | null {
    if (at < 0 || at >= this.sequence.length) return null
    const block = this.sequence[at]
    return this.labels[this.rows[block][last ? this.lengths[block] - 1 : 0]]
  }

  /** Spreads labels evenly over the block and as many blocks around it as it takes to give them room. */
  #relabel(at: number): void {
    for (let width = 0; ; width = width * 2 + 1) {
      const first = Math.max(0, at - width)
      const last = Math.min(this.sequence.length - 1, at + width)
      let count = 1
      for (let each = first; each <= last; each++) count += this.lengths[this.sequence[each]]
      const before = this.#edge(first - 1, true)
      const after = this.#edge(last + 1, false)
      const low = before ?? (after === null ? -GAP : after - GAP * count)
      const high = after ?? low + GAP * count
      const step = (high - low) / count
      const everything = before === null && after === null
      if (!everything && (step < ROOMY || low < -FARTHEST || high > FARTHEST)) continue
      let label = low
      for (let each = first; each <= last; each++) {
        const block = this.sequence[each]
        for (let place = 0; place < this.lengths[block]; place++) this.labels[this.rows[block][place]] = label += step
      }
      return
    }
  }
}

/** Place of the first of `length` sorted rows past the probe's key, or at it when inclusive. */
export function firstPast(rows: Int32Array, length: number, probe: Probe, inclusive: boolean): number {
  let low = 0
  let high = length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isPast(probe(rows[middle]), inclusive)) high = middle
    else low = middle + 1
  }
  return low
}

/** How long a column must be to hold all of the rows. */
export function rowSpace(rows: Int32Array): number {
  let space = 0
  for (let at = 0; at < rows.length; at++) if (rows[at] >= space) space = rows[at] + 1
  return space
}

function isPast(compared: number, inclusive: boolean): boolean {
  return inclusive ? compared >= 0 : compared > 0
}
