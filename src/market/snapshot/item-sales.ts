// In-memory sales of each item: the last ten with their mean, and the number of the last 30 days.
import { DAY_MS } from '#core/duration.ts'
import { minorToNumber } from '#core/money.ts'
import { localTime } from '#core/time.ts'
import { withCapacity } from '#index/columns.ts'
import type { ColumnStore } from '#index/stored.ts'
import { Deadlines } from './deadlines.ts'

export const LAST_SALES = 10
export const POPULAR_MS = 30 * DAY_MS

export interface LastSale {
  kurus: number
  atMs: number
}

export class ItemSales {
  readonly #zone: string
  readonly #ageing = new Deadlines()
  /** by item id: index in the columns below, plus 1 (0 for none); and the number of sales of the last 30 days */
  #places = new Int32Array(0)
  #recent = new Int32Array(0)
  #sold = 0
  /** by index: mean of the last sales, their number, and the next deadline (Infinity for none) */
  #average = new Int32Array(0)
  #counts = new Uint8Array(0)
  #dueMs = new Float64Array(0)
  /** ten per index, newest first */
  #kurus = new Int32Array(0)
  #atMs = new Float64Array(0)
  /** by item id, only if more than the last ten count: times of all sales that counted at the last read, ascending */
  readonly #times = new Map<number, Float64Array>()

  constructor(zone: string) {
    this.#zone = zone
  }

  store(columns: ColumnStore): void {
    this.#ageing.store(columns)
    this.#places = columns.column(this.#places)
    this.#recent = columns.column(this.#recent)
    this.#average = columns.column(this.#average)
    this.#counts = columns.column(this.#counts)
    this.#dueMs = columns.column(this.#dueMs)
    this.#kurus = columns.column(this.#kurus)
    this.#atMs = columns.column(this.#atMs)
    this.#sold = columns.value(this.#sold)
    const items = columns.numbers(this.#times.keys())
    const times = columns.chunks([...this.#times.values()])
    if (columns.reading) for (const [i, itemId] of items.entries()) this.#times.set(itemId, times[i]!)
  }

  /** Number of sales of the item in the last 30 days, as of the last `age`. */
  recent(itemId: number): number {
    return this.#recent[itemId] ?? 0
  }

  /** Replaces the sales of an item; `last` newest first, `times` of the last 30 days, ascending. */
  set(itemId: number, last: LastSale[], times: Float64Array): void {
    const place = this.#placeFor(itemId)
    last.forEach(({ kurus, atMs }, i) => {
      this.#kurus[place * LAST_SALES + i] = kurus
      this.#atMs[place * LAST_SALES + i] = atMs
    })
    this.#counts[place] = last.length
    this.#average[place] = last.length === 0 ? 0 : Math.round(last.reduce((sum, sale) => sum + sale.kurus, 0) / last.length)
    this.#recent[itemId] = times.length
    if (times.length > LAST_SALES) this.#times.set(itemId, times)
    else this.#times.delete(itemId)
    this.#schedule(itemId, place)
  }

  /** Stops counting sales older than 30 days, and calls `aged` for each affected item. */
  age(nowMs: number, aged: (itemId: number) => void): void {
    this.#ageing.popDue(nowMs, (itemId) => {
      const place = this.#placeOf(itemId)
      const before = this.#recent[itemId]!
      this.#dueMs[place] = Infinity
      while (this.#recent[itemId]! > 0 && this.#oldestMs(itemId, place) + POPULAR_MS <= nowMs) this.#recent[itemId]! -= 1
      if (this.#recent[itemId]! <= LAST_SALES) this.#times.delete(itemId)
      this.#schedule(itemId, place)
      if (this.#recent[itemId] !== before) aged(itemId)
    })
  }

  /** Mean of the last ten sales in kuruş, half a kuruş rounded up; null without sales. */
  averageKurus(itemId: number): number | null {
    const place = this.#placeOf(itemId)
    return place < 0 || this.#counts[place] === 0 ? null : this.#average[place]!
  }

  /** The last ten sales as returned to clients, newest first. */
  last(itemId: number): { price: number; sold_at: string }[] {
    const place = this.#placeOf(itemId)
    return Array.from({ length: place < 0 ? 0 : this.#counts[place]! }, (_, i) => ({
      price: minorToNumber(this.#kurus[place * LAST_SALES + i]!),
      sold_at: localTime(new Date(this.#atMs[place * LAST_SALES + i]!), this.#zone),
    }))
  }

  /** Time of the oldest sale that counts; there must be at least one. */
  #oldestMs(itemId: number, place: number): number {
    const recent = this.#recent[itemId]!
    const times = this.#times.get(itemId)
    return times ? times[times.length - recent]! : this.#atMs[place * LAST_SALES + recent - 1]!
  }

  #schedule(itemId: number, place: number): void {
    if (this.#recent[itemId] === 0) return
    const dueMs = this.#oldestMs(itemId, place) + POPULAR_MS
    if (dueMs >= this.#dueMs[place]!) return
    this.#ageing.push(dueMs, itemId)
    this.#dueMs[place] = dueMs
  }

  #placeOf(itemId: number): number {
    return (this.#places[itemId] ?? 0) - 1
  }

  #placeFor(itemId: number): number {
    const existing = this.#placeOf(itemId)
    if (existing >= 0) return existing
    const place = this.#sold++
    this.#places = withCapacity(this.#places, itemId + 1)
    this.#recent = withCapacity(this.#recent, itemId + 1)
    this.#places[itemId] = place + 1
    this.#average = withCapacity(this.#average, place + 1)
    this.#counts = withCapacity(this.#counts, place + 1)
    this.#dueMs = withCapacity(this.#dueMs, place + 1, Infinity)
    this.#kurus = withCapacity(this.#kurus, (place + 1) * LAST_SALES)
    this.#atMs = withCapacity(this.#atMs, (place + 1) * LAST_SALES)
    return place
  }
}
