// Sales of each item in memory: the last ten with their mean, and how many there were in the last 30 days.
import { minorToNumber } from '#core/money.ts'
import { localTime } from '#core/time.ts'
import { grown } from '#index/columns.ts'
import { Deadlines } from './deadlines.ts'

export const LAST_SALES = 10
export const POPULAR_MS = 30 * 86_400_000

export interface LastSale {
  kurus: number
  atMs: number
}

interface Record {
  /** newest first */
  last: LastSale[]
  /** moments of sales that counted when they were read, ascending; those before `from` have aged */
  times: Float64Array
  from: number
  /** the next deadline of the item, Infinity for none */
  dueMs: number
  /** mean of `last`, null without any */
  averageKurus: number | null
}

export class ItemSales {
  readonly #zone: string
  readonly #records = new Map<number, Record>()
  readonly #ageing = new Deadlines()
  #recent = new Int32Array(0)

  constructor(zone: string) {
    this.#zone = zone
  }

  /** Sales of the item in the last 30 days, as of the last `age`. */
  recent(itemId: number): number {
    return this.#recent[itemId] ?? 0
  }

  /** Puts the sales of an item in place of those it had; `last` newest first, `times` of the last 30 days, ascending. */
  set(itemId: number, last: LastSale[], times: Float64Array): void {
    const dueMs = this.#records.get(itemId)?.dueMs ?? Infinity
    const record = { last, times, from: 0, dueMs, averageKurus: meanKurus(last) }
    this.#records.set(itemId, record)
    this.#recent = grown(this.#recent, itemId + 1)
    this.#recent[itemId] = times.length
    this.#schedule(itemId, record)
  }

  /** Lets sales older than 30 days no longer count, and tells the items of which. */
  age(nowMs: number, aged: (itemId: number) => void): void {
    this.#ageing.popDue(nowMs, (itemId) => {
      const record = this.#records.get(itemId)!
      const { times } = record
      record.dueMs = Infinity
      while (record.from < times.length && times[record.from]! + POPULAR_MS <= nowMs) record.from += 1
      this.#schedule(itemId, record)
      if (this.#recent[itemId] === times.length - record.from) return
      this.#recent[itemId] = times.length - record.from
      aged(itemId)
    })
  }

  /** Mean of the last ten sales in kuruş, half a kuruş rounded up; null without sales. */
  averageKurus(itemId: number): number | null {
    return this.#records.get(itemId)?.averageKurus ?? null
  }

  /** The last ten sales as answers show them, newest first. */
  last(itemId: number): { price: number; sold_at: string }[] {
    const sales = this.#records.get(itemId)?.last ?? []
    return sales.map(({ kurus, atMs }) => ({ price: minorToNumber(kurus), sold_at: localTime(new Date(atMs), this.#zone) }))
  }

  #schedule(itemId: number, record: Record): void {
    if (record.from === record.times.length) return
    const dueMs = record.times[record.from]! + POPULAR_MS
    if (dueMs >= record.dueMs) return
    this.#ageing.push(dueMs, itemId)
    record.dueMs = dueMs
  }
}

function meanKurus(sales: LastSale[]): number | null {
  return sales.length === 0 ? null : Math.round(sales.reduce((sum, sale) => sum + sale.kurus, 0) / sales.length)
}
