// A maintained sort order of rows: returns any page under any filter without sorting, and applies pending changes when it is read.
import type { RowBits } from '#index/bits.ts'
import { type Compare, firstAfter, type Probe, RowBlocks } from '#index/blocks.ts'
import { withCapacity } from '#index/columns.ts'
import { sortByKeys } from '#index/sort.ts'
import type { ColumnStore } from '#index/stored.ts'

export { type Compare, firstAfter as firstPast, type Probe } from '#index/blocks.ts'

/** For filters up to this size, their sorted rows are cached instead of counts per block. */
const SPARSE = 512

/** A row's pending change, applied by the next read. */
const MARKED = 1
const DROPPED = 2

/** What is cached for a filter: its rows if it is small, otherwise their number in each block. */
interface CachedRows {
  sparse: { rows: Int32Array; filterVersion: number; orderVersion: number }
  filterVersion: number
  orderVersion: number
  /** by block; valid while `countedAt` equals the block's version */
  counts: Float64Array
  countedAt: Float64Array
  /** by position in the sequence: total of the counts up to the end of that block, computed for this many positions */
  ends: Float64Array
  endsKnown: number
}

/** Keeps row numbers sorted by `compare`. Mark a row whose key has changed; the next read repairs the order. */
export class SortedRows {
  readonly #compare: Compare
  readonly #blocks = new RowBlocks()
  readonly #countsByFilter = new WeakMap<RowBits, CachedRows>()
  readonly #countsOfAll = noCounts()
  #pendingOf = new Uint8Array(0)
  #pending: number[] = []

  constructor(compare: Compare) {
    this.#compare = compare
  }

  store(columns: ColumnStore): void {
    this.#repaired().store(columns)
  }

  /** How many rows are in the order. */
  get size(): number {
    return this.#repaired().size
  }

  /** Incremented by every change of the order. */
  get version(): number {
    return this.#repaired().version
  }

  /**
   * Replaces the order by exactly these rows (the array is not kept).
   * @param keyOf a number per row that sorts it, to load faster; `compare` then orders rows with equal numbers
   */
  load(rows: Int32Array, keyOf?: Probe): void {
    for (const row of this.#pending) this.#pendingOf[row] = 0
    this.#pending = []
    const sorted = rows.slice()
    if (keyOf) this.#sortByKey(sorted, keyOf)
    else sorted.sort(this.#compare)
    this.#blocks.layOut(sorted)
  }

  /** Marks a row as added or its key as changed; the next read does the work. */
  mark(row: number): void {
    this.#note(row, MARKED)
  }

  /** Marks a row as removed; the next read does the work. */
  drop(row: number): void {
    this.#note(row, DROPPED)
  }

  /** Repairs the order now instead of at the next read. */
  settle(): void {
    this.#repaired()
  }

  /** The rows at positions `offset` to `offset + limit` among those of the filter (all rows for null), in order. */
  slice(filter: RowBits | null, offset: number, limit: number): Int32Array {
    const blocks = this.#repaired()
    if (filter !== null && filter.size <= SPARSE) return this.#sparse(filter).slice(offset, offset + limit)
    const counted = this.#counted(filter)
    const at = this.#placeOf(offset, filter, counted)
    if (at === blocks.sequence.length) return new Int32Array(0)
    const skip = at === 0 ? offset : offset - counted.ends[at - 1]!
    return filter === null ? this.#walk(at, skip, 0, null, counted, limit) : this.#walk(at, 0, skip, filter, counted, limit)
  }

  /**
   * Up to `limit` rows of the filter strictly after the key that `probe` compares with.
   * @returns the rows in order, and whether more follow them
   */
  sliceAfter(probe: Probe, filter: RowBits | null, limit: number): { rows: Int32Array; more: boolean } {
    const blocks = this.#repaired()
    let rows: Int32Array
    if (filter !== null && filter.size <= SPARSE) {
      const sorted = this.#sparse(filter)
      const from = firstAfter(sorted, sorted.length, probe, false)
      rows = sorted.slice(from, from + limit + 1)
    } else {
      const [at, from] = blocks.locate(probe, false)
      rows = this.#walk(at, from, 0, filter, this.#counted(filter), limit + 1)
    }
    return rows.length > limit ? { rows: rows.subarray(0, limit), more: true } : { rows, more: false }
  }

  /** Adds to `into` the rows from key `from` to key `to`, both inclusive; null means no bound on that side. */
  collectRange(from: Probe | null, to: Probe | null, into: RowBits): RowBits {
    this.#eachInRange(from, to, (rows) => into.addRows(rows))
    return into
  }

  /** Number of rows from key `from` to key `to`, both inclusive; null means no bound on that side. */
  countRange(from: Probe | null, to: Probe | null): number {
    let count = 0
    this.#eachInRange(from, to, (rows) => {
      count += rows.length
    })
    return count
  }

  /** Number of rows of the filter (all for null) before the key that `probe` compares with; also those at it if `withEqual`. */
  rank(filter: RowBits | null, probe: Probe, withEqual: boolean): number {
    const blocks = this.#repaired()
    if (filter !== null && filter.size <= SPARSE) {
      const sorted = this.#sparse(filter)
      return firstAfter(sorted, sorted.length, probe, !withEqual)
    }
    const [at, place] = blocks.locate(probe, !withEqual)
    const counted = this.#counted(filter)
    const { sequence } = blocks
    const { ends } = counted
    for (; counted.endsKnown < at; counted.endsKnown++) {
      const before = counted.endsKnown === 0 ? 0 : ends[counted.endsKnown - 1]!
      ends[counted.endsKnown] = before + this.#count(sequence[counted.endsKnown]!, filter, counted)
    }
    const before = at === 0 ? 0 : ends[at - 1]!
    if (at === sequence.length) return before
    return before + (filter === null ? place : filter.countIn(blocks.rows[sequence[at]!]!, place))
  }

  /** Sorts the given rows in place; all of them must be in this order. */
  sortRows(rows: Int32Array): Int32Array {
    sortByKeys(rows, this.#repaired().keysOf(rows))
    return rows
  }

  /** Returns `sortRows(rows).slice(offset, offset + limit)` without sorting the rest; `rows` is reordered. */
  firstRows(rows: Int32Array, offset: number, limit: number): Int32Array {
    const to = Math.min(rows.length, offset + limit)
    sortByKeys(rows, this.#repaired().keysOf(rows), offset, to)
    return rows.slice(offset, Math.max(offset, to))
  }

  #sortByKey(rows: Int32Array, keyOf: Probe): void {
    const keys = new Float64Array(rows.length)
    for (let at = 0; at < rows.length; at++) keys[at] = keyOf(rows[at]!)
    sortByKeys(rows, keys)
    for (let from = 0, at = 1; at <= rows.length; at++) {
      if (at < rows.length && keys[at] === keys[from]) continue
      if (at - from > 1) this.#sortTies(rows.subarray(from, at))
      from = at
    }
  }

  /** Row numbers mostly follow the ids that break ties: sorting by number and then checking the order is faster than sorting with `compare`. */
  #sortTies(rows: Int32Array): void {
    rows.sort()
    for (let at = 1; at < rows.length; at++) if (this.#compare(rows[at - 1]!, rows[at]!) > 0) return void rows.sort(this.#compare)
  }

  #note(row: number, what: number): void {
    this.#pendingOf = withCapacity(this.#pendingOf, row + 1)
    if (this.#pendingOf[row] === 0) this.#pending.push(row)
    this.#pendingOf[row] = what
  }

  /** The blocks after applying pending changes: every pending row is removed from its old place before one is inserted by its new key. */
  #repaired(): RowBlocks {
    const pending = this.#pending
    const blocks = this.#blocks
    if (pending.length === 0) return blocks
    const pendingOf = this.#pendingOf
    blocks.takeOut(pending, (row) => row < pendingOf.length && pendingOf[row] !== 0)
    const marked = pending.filter((row) => pendingOf[row] === MARKED)
    for (const row of pending) pendingOf[row] = 0
    this.#pending = []
    if (marked.length * 8 > blocks.size) blocks.merge(Int32Array.from(marked).sort(this.#compare), this.#compare)
    else for (const row of marked) blocks.insert(row, this.#compare)
    return blocks
  }

  #eachInRange(from: Probe | null, to: Probe | null, visit: (rows: Int32Array) => void): void {
    const { sequence, rows, lengths } = this.#repaired()
    const [first, start] = from === null ? [0, 0] : this.#blocks.locate(from, true)
    const [last, end] = to === null ? [sequence.length, 0] : this.#blocks.locate(to, false)
    for (let at = first; at <= last && at < sequence.length; at++) {
      const block = sequence[at]!
      const low = at === first ? start : 0
      const high = at === last ? end : lengths[block]!
      if (low < high) visit(rows[block]!.subarray(low, high))
    }
  }

  /** Collects rows of the filter from a position on, without the first `skip` of them. */
  #walk(at: number, from: number, skip: number, filter: RowBits | null, counted: CachedRows, limit: number): Int32Array {
    const { sequence, lengths, size: all } = this.#blocks
    const found = new Int32Array(Math.max(0, Math.min(limit, all)))
    let size = 0
    for (let place = from; at < sequence.length && size < found.length; at++, place = 0) {
      const block = sequence[at]!
      const rows = this.#blocks.rows[block]!
      if (filter === null) {
        const taken = rows.subarray(place + skip, Math.min(lengths[block]!, place + skip + found.length - size))
        found.set(taken, size)
        size += taken.length
      } else if (this.#count(block, filter, counted) > 0) {
        size = filter.pick(rows, place, lengths[block]!, skip, found, size)
      }
      skip = 0
    }
    return size === found.length ? found : found.slice(0, size)
  }

  /** Number of the filter's rows in a block, counted only if the block has changed. */
  #count(block: number, filter: RowBits | null, counted: CachedRows): number {
    const { lengths, versions } = this.#blocks
    if (filter === null) return lengths[block]!
    if (counted.countedAt[block] !== versions[block]) {
      counted.counts[block] = filter.countIn(this.#blocks.rows[block]!, lengths[block]!)
      counted.countedAt[block] = versions[block]!
    }
    return counted.counts[block]!
  }

  /** Position of the block that contains the filter's row at this offset, or the end of the sequence if the filter has fewer rows. */
  #placeOf(offset: number, filter: RowBits | null, counted: CachedRows): number {
    const { sequence } = this.#blocks
    const { ends } = counted
    let at = counted.endsKnown
    let end = at === 0 ? 0 : ends[at - 1]!
    for (; end <= offset && at < sequence.length; at++) ends[at] = end += this.#count(sequence[at]!, filter, counted)
    counted.endsKnown = at
    let low = 0
    while (low < at) {
      const middle = (low + at) >>> 1
      if (ends[middle]! > offset) at = middle
      else low = middle + 1
    }
    return low
  }

  #countsFor(filter: RowBits): CachedRows {
    let counted = this.#countsByFilter.get(filter)
    if (!counted) this.#countsByFilter.set(filter, (counted = noCounts()))
    return counted
  }

  /** The counts of a filter, updated by its changes: only blocks that have changed are recounted. */
  #counted(filter: RowBits | null): CachedRows {
    const counted = filter === null ? this.#countsOfAll : this.#countsFor(filter)
    const blocks = this.#blocks
    const { versions, version } = blocks
    if (counted.orderVersion !== version) {
      counted.counts = withCapacity(counted.counts, versions.length)
      counted.countedAt = withCapacity(counted.countedAt, versions.length)
      counted.ends = withCapacity(counted.ends, versions.length)
      counted.endsKnown = 0
      counted.orderVersion = version
    }
    if (filter === null || counted.filterVersion === filter.version) return counted
    const isComplete = filter.changesSince(counted.filterVersion, (row, added) => {
      if (!blocks.has(row)) return
      const block = blocks.blockOf(row)
      if (counted.countedAt[block]! === versions[block]!) counted.counts[block]! += added ? 1 : -1
    })
    if (!isComplete) counted.countedAt.fill(0)
    counted.filterVersion = filter.version
    counted.endsKnown = 0
    return counted
  }

  /** All rows of a small filter in order. */
  #sparse(filter: RowBits): Int32Array {
    const { sparse } = this.#countsFor(filter)
    const blocks = this.#blocks
    if (sparse.filterVersion !== filter.version || sparse.orderVersion !== blocks.version) {
      sparse.rows = filter.toRows().filter((row) => blocks.has(row))
      sortByKeys(sparse.rows, blocks.keysOf(sparse.rows))
      sparse.filterVersion = filter.version
      sparse.orderVersion = blocks.version
    }
    return sparse.rows
  }
}

function noCounts(): CachedRows {
  const none = new Float64Array(0)
  return {
    sparse: { rows: new Int32Array(0), filterVersion: -1, orderVersion: -1 },
    filterVersion: -1,
    orderVersion: -1,
    counts: none,
    countedAt: none,
    ends: none,
    endsKnown: 0,
  }
}
