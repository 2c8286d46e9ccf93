// The sort orders of the item list. Each direction is maintained separately, so that rows without a key are last and ties are sorted
// by id in both.
import { MARKETS } from '#core/markets.ts'
import type { Compare } from '#index/order.ts'
import { SortedRows } from '#index/order.ts'
import type { ColumnStore } from '#index/stored.ts'
import type { ItemTable } from './items.ts'
import type { LabelTree } from './label-tree.ts'
import { MarketOrders } from './market-orders.ts'
import { hasMarket, type MarketSet } from './market-rule.ts'
import { compareSortKeys, type CursorValue, SORT_DIRECTIONS, type SortDirection, type SortField, type SortValue } from './sort-keys.ts'

/** Fields whose order depends on the displayed market. */
const MARKET_FIELDS = ['price', 'updated_at'] as const
type MarketField = (typeof MARKET_FIELDS)[number]
type ItemField = Exclude<SortField, MarketField>

/** Maintained orders by field, direction and, if relevant, market; each is built on first use. */
export class ItemSorts {
  readonly #items: ItemTable
  readonly #labels: LabelTree
  readonly #byItem: Record<SortDirection, Map<ItemField, SortedRows>> = { asc: new Map(), desc: new Map() }
  /** by field and market; null for no requested market */
  readonly #byMarket: Record<MarketField, Map<number | null, MarketOrders>> = { price: new Map(), updated_at: new Map() }
  #rates: readonly number[] = MARKETS.map(() => Number.NaN)

  constructor(items: ItemTable, labels: LabelTree) {
    this.#items = items
    this.#labels = labels
  }

  /** Stores only the order that exists from the start; the others are built on first use. */
  store(columns: ColumnStore): void {
    if (columns.reading) this.#byItem.asc.set('name', new SortedRows(comparer(this.#items, 'name', 'asc')))
    this.order('name', 'asc', null).store(columns)
  }

  /**
   * The order of a field.
   * @param market position in MARKETS: only the items that it selects, by its prices; null: all items, by the prices of their displayed
   *   market
   */
  order(field: SortField, direction: SortDirection, market: number | null): SortedRows {
    if (isMarketField(field)) return this.#ofMarket(field, market).order(direction)
    const cached = this.#byItem[direction].get(field)
    if (cached) return cached
    const order = new SortedRows(comparer(this.#items, field, direction))
    order.load(this.#items.live.toRows(), loadKey(this.#items, field, direction))
    this.#byItem[direction].set(field, order)
    return order
  }

  /** The sort value of a row in that order. */
  value(field: SortField, market: number | null, row: number): SortValue {
    return isMarketField(field) ? this.#ofMarket(field, market).value(row) : itemValue(this.#items, field, row)
  }

  /** The sort value as stored in a cursor. */
  cursorValue(field: SortField, market: number | null, row: number): CursorValue {
    const value = this.value(field, market, row)
    if (field !== 'price' || value === null) return value
    const shown = market ?? this.#items.shown[row]!
    return { minor: amountOf(this.#items, this.#labels, row, shown), market: shown }
  }

  /** The current sort value of a value that is stored in a cursor. */
  valueOf(cursorValue: CursorValue, market: number | null): SortValue {
    if (cursorValue === null || typeof cursorValue !== 'object') return cursorValue
    const value = market === null ? cursorValue.minor * this.#rates[cursorValue.market]! : cursorValue.minor
    return Number.isNaN(value) ? null : value
  }

  /**
   * Sets the exchange rates for comparing prices of different markets.
   * @param rates by market: value of a minor unit of its currency; NaN if unknown
   * @returns whether they have changed
   */
  compareBy(rates: readonly number[]): boolean {
    if (rates.every((rate, market) => Object.is(rate, this.#rates[market]))) return false
    this.#rates = rates
    // The prices of a single market share a currency, so only the order of all markets depends on the rates.
    this.#byMarket.price.get(null)?.reload()
    return true
  }

  /** Call when an item is new or any of its data has changed. */
  mark(row: number): void {
    this.#eachByItem((order) => order.mark(row))
    this.#eachByMarket((orders) => orders.mark(row))
  }

  /**
   * Call when only prices of an item have changed.
   * @param markets whose prices have changed
   * @param reselected those of the markets whose selection of the item has changed
   */
  markPrices(row: number, markets: MarketSet, reselected: MarketSet): void {
    this.#eachByMarket((orders, market) => {
      if (market !== null && hasMarket(reselected, market)) orders.mark(row)
      else if (market === null || hasMarket(markets, market)) orders.review(row)
    })
  }

  drop(row: number): void {
    this.#eachByItem((order) => order.drop(row))
    this.#eachByMarket((orders) => orders.drop(row))
  }

  #ofMarket(field: MarketField, market: number | null): MarketOrders {
    const cached = this.#byMarket[field].get(market)
    if (cached) return cached
    const orders = new MarketOrders(this.#items, market, this.#keyOf(field, market))
    this.#byMarket[field].set(market, orders)
    return orders
  }

  #keyOf(field: MarketField, market: number | null): (row: number) => number {
    const items = this.#items
    if (field === 'updated_at') return (row) => changedAtMs(items, row, market ?? items.shown[row]!)
    if (market !== null) return (row) => amountOf(items, this.#labels, row, market)
    return (row) => {
      const shown = items.shown[row]!
      return amountOf(items, this.#labels, row, shown) * this.#rates[shown]!
    }
  }

  #eachByItem(visit: (order: SortedRows) => void): void {
    for (const direction of SORT_DIRECTIONS) for (const order of this.#byItem[direction].values()) visit(order)
  }

  #eachByMarket(visit: (orders: MarketOrders, market: number | null) => void): void {
    for (const field of MARKET_FIELDS) for (const [market, orders] of this.#byMarket[field]) visit(orders, market)
  }
}

function isMarketField(field: SortField): field is MarketField {
  return (MARKET_FIELDS as readonly string[]).includes(field)
}

/** The price by which an item is sorted in a market, in minor units: Near Mint, otherwise the lowest ungraded one; NaN without either. */
export function amountOf({ prices }: ItemTable, { nearMint, ungraded }: LabelTree, row: number, market: number): number {
  const start = prices.start(row)
  const end = start + prices.count(row)
  let lowest = Number.NaN
  for (let i = start; i < end; i += 1) {
    if (prices.market[i] !== market) continue
    const label = prices.label[i]!
    if (label === nearMint) return prices.minor[i]!
    if (ungraded.has(label) && !(prices.minor[i]! >= lowest)) lowest = prices.minor[i]!
  }
  return lowest
}

/** The time of the last change that responses show: of the item itself or of a price of the market. */
function changedAtMs({ prices, updatedAtMs }: ItemTable, row: number, market: number): number {
  const start = prices.start(row)
  const end = start + prices.count(row)
  let changed = updatedAtMs[row]!
  for (let i = start; i < end; i += 1) {
    if (prices.market[i] === market) changed = Math.max(changed, prices.updatedAtMs.at(i))
  }
  return changed
}

/** Whether `changedAtMs` is at least a time; reads no further price once one is. */
export function hasChangedSince({ prices, updatedAtMs }: ItemTable, row: number, market: number, ms: number): boolean {
  if (updatedAtMs[row]! >= ms) return true
  const start = prices.start(row)
  const end = start + prices.count(row)
  for (let i = start; i < end; i += 1) if (prices.updatedAtMs.at(i) >= ms && prices.market[i] === market) return true
  return false
}

function itemValue(items: ItemTable, field: ItemField, row: number): SortValue {
  switch (field) {
    case 'name':
      return items.names.keys[items.name[row]!]!
    case 'code':
      return items.code[row]! < 0 ? null : items.codes.keys[items.code[row]!]!
    case 'id':
      return items.id[row]!
  }
}

function comparer(items: ItemTable, field: ItemField, direction: SortDirection): Compare {
  const sign = direction === 'asc' ? 1 : -1
  switch (field) {
    case 'name':
      return (a, b) => sign * items.names.compare(items.name[a]!, items.name[b]!) || items.id[a]! - items.id[b]!
    case 'code':
      return (a, b) => compareSortKeys(itemValue(items, field, a), items.id[a]!, itemValue(items, field, b), items.id[b]!, direction)
    case 'id':
      return (a, b) => sign * (items.id[a]! - items.id[b]!)
  }
}

/** A number per row that is consistent with the comparison and speeds up the first sort. */
function loadKey(items: ItemTable, field: ItemField, direction: SortDirection): (row: number) => number {
  const sign = direction === 'asc' ? 1 : -1
  switch (field) {
    case 'name': {
      const ranks = items.names.ranks()
      return (row) => sign * ranks[items.name[row]!]!
    }
    case 'code': {
      const ranks = items.codes.ranks()
      return (row) => (items.code[row]! < 0 ? Number.MAX_SAFE_INTEGER : sign * ranks[items.code[row]!]!)
    }
    case 'id':
      return (row) => sign * items.id[row]!
  }
}
