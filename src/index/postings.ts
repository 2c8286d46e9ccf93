// Many lists of small integers in one array: no object per list, and freed room is used again.
import { grown } from '#index/columns.ts'

const NONE = -1

/** Lists are numbered by the owner from 0; one that nothing was added to, or all was taken from, takes no room. */
export class Postings {
  // A list's room is a power of two; room given up is chained by size, the next place written into its first entry.
  #pool = new Int32Array(64)
  #used = 0
  #freed = new Int32Array(32).fill(NONE)
  #starts = new Int32Array(0)
  #lengths = new Int32Array(0)

  length(list: number): number {
    return list < this.#lengths.length ? this.#lengths[list] : 0
  }

  /** The list's entry at a place below its length; entries are in no order. */
  at(list: number, place: number): number {
    return this.#pool[this.#starts[list] + place]
  }

  /** The whole list; it holds until the next change of any list. */
  view(list: number): Int32Array {
    const start = this.#starts[list]
    return this.#pool.subarray(start, start + this.length(list))
  }

  /** Appends a value, which must not be in the list. */
  add(list: number, value: number): void {
    this.#starts = grown(this.#starts, list + 1, NONE)
    this.#lengths = grown(this.#lengths, list + 1)
    const length = this.#lengths[list]
    // Room is always the least power of two that holds the list, so it is full exactly at such a length.
    if ((length & (length - 1)) === 0) this.#move(list, length, length === 0 ? 1 : length * 2)
    this.#pool[this.#starts[list] + length] = value
    this.#lengths[list] = length + 1
  }

  /** Takes a value out, if it is there. */
  remove(list: number, value: number): void {
    const start = this.#starts[list]
    const length = this.#lengths[list]
    const place = this.#pool.subarray(start, start + length).indexOf(value)
    if (place < 0) return
    const left = length - 1
    this.#pool[start + place] = this.#pool[start + left]
    this.#lengths[list] = left
    if ((left & (left - 1)) === 0) this.#move(list, left === 0 ? 1 : left * 2, left)
  }

  /** Takes everything out. */
  clear(list: number): void {
    const length = this.length(list)
    if (length === 0) return
    this.#lengths[list] = 0
    this.#move(list, 2 ** (32 - Math.clz32(length - 1)), 0)
  }

  /** Gives a list other room (sizes are powers of two, 0 for none) and takes along what fits. */
  #move(list: number, oldRoom: number, newRoom: number): void {
    const from = this.#starts[list]
    const to = newRoom === 0 ? NONE : this.#take(newRoom)
    const length = this.#lengths[list]
    for (let at = 0; at < length; at++) this.#pool[to + at] = this.#pool[from + at]
    this.#starts[list] = to
    if (oldRoom === 0) return
    const size = 31 - Math.clz32(oldRoom)
    this.#pool[from] = this.#freed[size]
    this.#freed[size] = from
  }

  #take(room: number): number {
    const size = 31 - Math.clz32(room)
    const freed = this.#freed[size]
    if (freed !== NONE) {
      this.#freed[size] = this.#pool[freed]
      return freed
    }
    const start = this.#used
    this.#used += room
    this.#pool = grown(this.#pool, this.#used)
    return start
  }
}
