// Many lists of small integers in one array: no object per list, and freed space is reused.
import { withCapacity } from '#index/columns.ts'
import type { ColumnStore } from '#index/stored.ts'

const NONE = -1

/** The owner numbers the lists from 0; an empty list takes no space. */
export class Postings {
  // A list's space is a power of two; free spaces are chained by size, each with the next position in its first entry.
  // Packed lists come before the others and have no spare space until something is added to them.
  #pool = new Int32Array(64)
  #used = 0
  #packed = 0
  #entries = 0
  #freed: Int32Array = new Int32Array(32).fill(NONE)
  #starts = new Int32Array(0)
  #lengths = new Int32Array(0)

  store(columns: ColumnStore): void {
    this.#pool = columns.column(this.#pool)
    this.#starts = columns.column(this.#starts)
    this.#lengths = columns.column(this.#lengths)
    this.#freed = columns.column(this.#freed)
    ;[this.#used, this.#packed, this.#entries] = columns.value([this.#used, this.#packed, this.#entries] as const)
  }

  length(list: number): number {
    return list < this.#lengths.length ? this.#lengths[list]! : 0
  }

  /** The list's entry at an index below its length; entries are in no order. */
  at(list: number, place: number): number {
    return this.#pool[this.#starts[list]! + place]!
  }

  /** The whole list, as a view that is valid until the next change of any list. */
  view(list: number): Int32Array {
    const start = this.#starts[list]!
    return this.#pool.subarray(start, start + this.length(list))
  }

  /** Sets a bit of `into` at every entry of the lists. */
  mark(lists: readonly number[], into: Int32Array, bit: number): void {
    const pool = this.#pool
    for (const list of lists) {
      const start = this.#starts[list]!
      const end = start + this.length(list)
      for (let at = start; at < end; at++) into[pool[at]!]! |= bit
    }
  }

  /** Appends a value, which must not be in the list. */
  add(list: number, value: number): void {
    if (list >= this.#lengths.length) {
      this.#starts = withCapacity(this.#starts, list + 1, NONE)
      this.#lengths = withCapacity(this.#lengths, list + 1)
    }
    const length = this.#lengths[list]!
    if (this.#isPacked(list)) this.#move(list, 0, roomFor(length + 1))
    // The space is always the smallest power of two that fits the list, so it is full exactly at such a length.
    else if ((length & (length - 1)) === 0) this.#move(list, length, roomFor(length + 1))
    this.#pool[this.#starts[list]! + length] = value
    this.#lengths[list] = length + 1
    this.#entries++
  }

  /** Removes a value if the list has it. */
  remove(list: number, value: number): void {
    const start = this.#starts[list]!
    const length = this.#lengths[list]!
    const place = this.#pool.subarray(start, start + length).indexOf(value)
    if (place < 0) return
    const left = length - 1
    this.#pool[start + place] = this.#pool[start + left]!
    this.#lengths[list] = left
    this.#entries--
    if (this.#isPacked(list)) this.#starts[list] = left === 0 ? NONE : start
    else if ((left & (left - 1)) === 0) this.#move(list, left === 0 ? 1 : left * 2, left)
  }

  /** Removes everything. */
  clear(list: number): void {
    const length = this.length(list)
    if (length === 0) return
    const room = this.#isPacked(list) ? 0 : roomFor(length)
    this.#lengths[list] = 0
    this.#entries -= length
    this.#move(list, room, 0)
  }

  /** Packs all lists without spare space, because loaded data is mostly read. */
  pack(): void {
    const pool = new Int32Array(Math.max(64, this.#entries))
    let used = 0
    for (let list = 0; list < this.#lengths.length; list++) {
      const length = this.#lengths[list]!
      if (length === 0) continue
      const start = this.#starts[list]!
      pool.set(this.#pool.subarray(start, start + length), used)
      this.#starts[list] = used
      used += length
    }
    this.#pool = pool
    this.#used = used
    this.#packed = used
    this.#freed.fill(NONE)
  }

  #isPacked(list: number): boolean {
    const start = this.#starts[list]!
    return start !== NONE && start < this.#packed
  }

  /** Moves a list to a space of another size (powers of two, 0 for none) and copies what fits. */
  #move(list: number, oldRoom: number, newRoom: number): void {
    const to = newRoom === 0 ? NONE : this.#take(newRoom)
    const from = this.#starts[list]!
    const length = Math.min(this.#lengths[list]!, newRoom)
    for (let at = 0; at < length; at++) this.#pool[to + at] = this.#pool[from + at]!
    this.#starts[list] = to
    if (oldRoom === 0) return
    const size = 31 - Math.clz32(oldRoom)
    this.#pool[from] = this.#freed[size]!
    this.#freed[size] = from
  }

  #take(room: number): number {
    const size = 31 - Math.clz32(room)
    const freed = this.#freed[size]!
    if (freed !== NONE) {
      this.#freed[size] = this.#pool[freed]!
      return freed
    }
    const start = this.#used
    this.#used += room
    this.#pool = withCapacity(this.#pool, this.#used)
    return start
  }
}

/** The smallest power of two that holds this many entries. */
function roomFor(length: number): number {
  return 2 ** (32 - Math.clz32(length - 1))
}
