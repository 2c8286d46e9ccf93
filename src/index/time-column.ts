// Times in four bytes each instead of eight, because feeds date their prices to the second or day.
import { entriesAt, fitting, withCapacity } from '#index/columns.ts'
import type { ColumnStore } from '#index/stored.ts'

/** Epoch milliseconds; those that are not whole seconds from 1970 to 2106 cost more memory. */
export class TimeColumn {
  #seconds: Uint32Array | Float64Array = new Uint32Array(0)
  /** empty as long as all times are whole seconds */
  #ms: Uint16Array | Uint32Array | Float64Array = new Uint16Array(0)

  store(columns: ColumnStore): void {
    this.#seconds = columns.column(this.#seconds)
    this.#ms = columns.column(this.#ms)
  }

  reserve(length: number): void {
    this.#seconds = withCapacity(this.#seconds, length)
    if (this.#ms.length > 0) this.#ms = withCapacity(this.#ms, length)
  }

  /** The time at a position that has been set. */
  at(position: number): number {
    return this.#seconds[position]! * 1_000 + (position < this.#ms.length ? this.#ms[position]! : 0)
  }

  set(position: number, time: number): void {
    const seconds = Math.floor(time / 1_000)
    const ms = time - seconds * 1_000
    this.#seconds = fitting(withCapacity(this.#seconds, position + 1), seconds)
    this.#seconds[position] = seconds
    if (ms === 0 && position >= this.#ms.length) return
    this.#ms = fitting(withCapacity(this.#ms, this.#seconds.length), ms)
    this.#ms[position] = ms
  }

  /** Keeps exactly the times at these positions, in this order. */
  keep(positions: Uint32Array): void {
    if (this.#ms.length > 0) this.#ms = entriesAt(withCapacity(this.#ms, this.#seconds.length), positions)
    this.#seconds = entriesAt(this.#seconds, positions)
  }

  get bytes(): number {
    return this.#seconds.byteLength + this.#ms.byteLength
  }
}
