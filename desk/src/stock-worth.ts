// The worth of the seller's stock: price × stock of the active listings, from at most three pages of them.
import type { Loaded } from '#ui/data.ts'
import type { OwnListing } from '../../client/src/api.ts'
import { useData } from './api.ts'
import { ROWS_PER_PAGE } from './to-do.ts'

const MAX_PAGES = 3

export interface StockWorth {
  /** in TL, exact; null until all pages have loaded */
  amount: number | null
  /** active listings that are included; with more than the pages hold, those with the highest prices */
  included: number
  total: number
  /** requests beside that of the stock */
  loads: Loaded<OwnListing[]>[]
}

/** @param stock the first page of the active listings, in another order than by price */
export function useStockWorth(stock: Loaded<OwnListing[]>): StockWorth {
  const total = stock.pagination?.total ?? 0
  const isPartial = total > MAX_PAGES * ROWS_PER_PAGE
  const first = usePage(1, isPartial, isPartial)
  const second = usePage(2, isPartial, total > ROWS_PER_PAGE)
  const third = usePage(3, isPartial, total > 2 * ROWS_PER_PAGE)
  const pages = [isPartial ? first : stock, second, third].slice(0, Math.max(1, Math.ceil(total / ROWS_PER_PAGE)))
  const rows = pages.flatMap(({ data }) => data ?? [])
  const kurus = rows.reduce((sum, { price, quantity }) => sum + Math.round(price * 100) * quantity, 0)
  const isComplete = pages.every(({ data }) => data !== null)
  return { amount: isComplete ? kurus / 100 : null, included: rows.length, total, loads: [first, second, third] }
}

function usePage(page: number, isPartial: boolean, isNeeded: boolean): Loaded<OwnListing[]> {
  const sort_by = isPartial ? 'price_high' : 'quantity_low'
  return useData(isNeeded ? '/plus/my-listings' : null, { query: { status: 'active', sort_by, page, per_page: ROWS_PER_PAGE } })
}
