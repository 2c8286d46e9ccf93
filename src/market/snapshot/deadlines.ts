// Heap of deadlines with their ids. Postponed deadlines remain in the heap; the callback checks whether a deadline is still due.
import type { ColumnStore } from '#index/stored.ts'

export class Deadlines {
  #at = new Float64Array(64)
  #ids = new Int32Array(64)
  #size = 0

  store(columns: ColumnStore): void {
    this.#at = columns.column(this.#at)
    this.#ids = columns.column(this.#ids)
    this.#size = columns.value(this.#size)
  }

  push(atMs: number, id: number): void {
    if (this.#size === this.#at.length) this.#grow()
    let place = this.#size
    this.#size += 1
    while (place > 0) {
      const parent = (place - 1) >>> 1
      if (this.#at[parent]! <= atMs) break
      this.#move(parent, place)
      place = parent
    }
    this.#at[place] = atMs
    this.#ids[place] = id
  }

  /** Removes all deadlines that are due, earliest first. */
  popDue(nowMs: number, visit: (id: number) => void): void {
    while (this.#size > 0 && this.#at[0]! <= nowMs) {
      const id = this.#ids[0]!
      this.#pop()
      visit(id)
    }
  }

  #pop(): void {
    this.#size -= 1
    const atMs = this.#at[this.#size]!
    let place = 0
    for (;;) {
      let child = 2 * place + 1
      if (child >= this.#size) break
      if (child + 1 < this.#size && this.#at[child + 1]! < this.#at[child]!) child += 1
      if (this.#at[child]! >= atMs) break
      this.#move(child, place)
      place = child
    }
    this.#at[place] = atMs
    this.#ids[place] = this.#ids[this.#size]!
  }

  #move(from: number, to: number): void {
    this.#at[to] = this.#at[from]!
    this.#ids[to] = this.#ids[from]!
  }

  #grow(): void {
    const at = new Float64Array(Math.ceil(this.#at.length * 1.25))
    const ids = new Int32Array(at.length)
    at.set(this.#at)
    ids.set(this.#ids)
    this.#at = at
    this.#ids = ids
  }
}
