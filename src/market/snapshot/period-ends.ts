// Ends of publication periods: those of the next hours are kept in a heap, later ones are found by scanning the column.
import { HOUR_MS } from '#core/duration.ts'
import { Deadlines } from './deadlines.ts'
import type { PublishedTable } from './published.ts'

/** How far ahead ends are kept in the heap; scanning all listings takes a few milliseconds at five million. */
const AHEAD_MS = 6 * HOUR_MS

export class PeriodEnds {
  readonly #table: PublishedTable
  #soon = new Deadlines()
  #untilMs = -Infinity

  constructor(table: PublishedTable) {
    this.#table = table
  }

  /** Records the new end of a listing's period. */
  push(atMs: number, id: number): void {
    if (atMs <= this.#untilMs) this.#soon.push(atMs, id)
  }

  /** Visits the listings whose period has ended, and possibly others: the callback checks again. */
  popDue(nowMs: number, visit: (id: number) => void): void {
    if (nowMs >= this.#untilMs) this.#lookAhead(nowMs)
    this.#soon.popDue(nowMs, visit)
  }

  #lookAhead(nowMs: number): void {
    this.#soon = new Deadlines()
    this.#untilMs = nowMs + AHEAD_MS
    const { expiresMs, id, rows } = this.#table
    for (let row = 0; row < rows; row += 1) if (expiresMs[row]! <= this.#untilMs) this.#soon.push(expiresMs[row]!, id[row]!)
  }
}
