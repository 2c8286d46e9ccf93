// In-memory state of published listings, and how a change propagates to everything that depends on it. No SQL.
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { MARKETS } from '#core/markets.ts'
import { fold } from '#index/fold.ts'
import type { ColumnStore } from '#index/stored.ts'
import { copyOf, utf8 } from '#index/utf8.ts'
import { Deadlines } from './deadlines.ts'
import { type FilterWorld, conditionsOf, type ListingFilter } from './filters.ts'
import { ItemSales, type LastSale } from './item-sales.ts'
import { PeriodEnds } from './period-ends.ts'
import { type ListingSource, PublishedTable } from './published.ts'
import { type ListingPage, ListingQueries, type ListingSort } from './queries.ts'
import { isOnVacation, type Vacation } from '../vacation.ts'

export const SOURCE_A = MARKETS.indexOf('source_a')

/** Price in hundredths of the source_a price, half a hundredth rounded up. */
export function pcHundredths(kurus: number, sourceMinor: number): number {
  return Math.floor((kurus * 200 + sourceMinor) / (2 * sourceMinor))
}

export class ListingState {
  readonly table = new PublishedTable()
  readonly sales: ItemSales
  /** IANA zone of local times */
  readonly zone: string
  readonly queries: ListingQueries
  readonly #catalogue: Catalogue
  readonly #sellers = new Map<number, string>()
  /** accounts whose listings are hidden */
  readonly #suspended = new Set<number>()
  /** by seller, those that are to come included */
  readonly #vacations = new Map<number, Vacation>()
  /** when vacations begin and end, by seller */
  readonly #vacationMoments = new Deadlines()
  /** published listings of sellers on vacation, by id: kept to be shown at its very end */
  readonly #away = new Map<number, ListingSource>()
  readonly #world: FilterWorld
  readonly #ends: PeriodEnds
  readonly #highlightEnds = new Deadlines()
  /** called when what the minimal answer shows of a row has changed */
  readonly #touched: (row: number) => void
  /** rises with every change of anything that a search finds or shows */
  version = 0

  constructor(catalogue: Catalogue, zone: string, touched: (row: number) => void, cachedRows?: number) {
    this.#catalogue = catalogue
    this.#touched = touched
    this.zone = zone
    this.sales = new ItemSales(zone)
    this.#ends = new PeriodEnds(this.table)
    this.queries = new ListingQueries(this.table, (itemId) => this.sales.recent(itemId), cachedRows)
    this.#world = { table: this.table, catalogue, sellers: this.#sellers }
  }

  page(filter: ListingFilter, search: string | undefined, sort: ListingSort, offset: number, limit: number): ListingPage {
    return this.queries.page(conditionsOf(filter, this.#world), search, sort, offset, limit)
  }

  store(columns: ColumnStore): void {
    for (const part of [this.table, this.sales, this.queries.texts, this.queries.sorts, this.#vacationMoments, this.#highlightEnds]) {
      part.store(columns)
    }
    const sellers = columns.numbers(this.#sellers.keys())
    const names = columns.texts(this.#sellers.values())
    const suspended = columns.numbers(this.#suspended)
    const vacations = columns.value(Array.from(this.#vacations, ([id, { from, to }]) => [id, from.getTime(), to.getTime()] as const))
    const away = columns.texts(asTexts(this.#away.values()))
    if (!columns.reading) return
    for (const [i, id] of sellers.entries()) this.#sellers.set(id, names[i]!)
    for (const id of suspended) this.#suspended.add(id)
    for (const [id, from, to] of vacations) this.#vacations.set(id, { from: new Date(from), to: new Date(to) })
    for (const text of away) {
      const listing = JSON.parse(text) as Omit<ListingSource, 'title'> & { title: string }
      this.#away.set(listing.id, { ...listing, title: utf8(listing.title) })
    }
  }

  /** Makes room for so many listings with ids up to this one. */
  reserve(listings: number, largestId: number): void {
    this.table.reserve(listings, largestId)
    this.queries.texts.reserve(listings)
  }

  /** Puts a new listing into a state that nothing was asked of yet, so that no results have to follow. */
  fill(listing: ListingSource, nowMs: number): void {
    if (!this.#isShown(listing, nowMs)) return
    if (this.#isAway(listing.sellerId, nowMs)) this.#away.set(listing.id, { ...listing, title: copyOf(listing.title) })
    else this.queries.texts.setTitle(this.#write(listing, nowMs), listing.title)
  }

  /** Ends the filling. */
  filled(): void {
    this.table.pack()
    this.queries.texts.pack()
    this.queries.sorts.order('popular')
  }

  /**
   * Puts a published listing in, new or changed. One whose period has ended or whose seller is suspended is taken out; that of
   * a seller on vacation is kept until they are back.
   */
  put(listing: ListingSource, nowMs: number): void {
    this.#away.delete(listing.id)
    if (!this.#isShown(listing, nowMs)) return this.remove(listing.id)
    if (this.#isAway(listing.sellerId, nowMs)) return this.#keepAway(listing)
    const { table, queries } = this
    this.version += 1
    const known = table.rowOf(listing.id)
    const inOrders = known >= 0 && this.#isAsOrdered(known, listing)
    const row = this.#write(listing, nowMs)
    if (queries.setTitle(row, listing.title)) this.#touched(row)
    if (inOrders) queries.sorts.mark('price', row)
    else queries.move(row)
    queries.review(row)
  }

  /** A listing, published or not, has a new price and is as it was otherwise. */
  reprice(id: number, kurus: number): void {
    const away = this.#away.get(id)
    if (away) away.kurus = kurus
    const row = this.table.rowOf(id)
    if (row < 0 || this.table.kurus[row] === kurus) return
    this.version += 1
    this.table.kurus[row] = kurus
    this.#comparePrice(row)
    this.queries.sorts.mark('price', row)
    this.queries.review(row)
  }

  remove(id: number): void {
    this.#away.delete(id)
    const row = this.table.remove(id)
    if (row < 0) return
    this.version += 1
    this.queries.drop(row)
    this.#touched(row)
  }

  setSales(itemId: number, last: LastSale[], times: Float64Array): void {
    const before = this.sales.recent(itemId)
    this.version += 1
    this.sales.set(itemId, last, times)
    if (this.sales.recent(itemId) !== before) this.#markPopularity(itemId)
  }

  /** An item's name, kind, game, category or prices have changed. */
  reviewItem(itemId: number): void {
    if (this.table.countOfItem(itemId) === 0) return
    this.version += 1
    this.#nameItem(itemId)
    this.reviewPrices(itemId)
  }

  /** Only source_a prices of an item have changed. */
  reviewPrices(itemId: number): void {
    for (const row of this.table.ofItem(itemId)) {
      this.version += 1
      this.#comparePrice(row)
      this.queries.review(row)
    }
  }

  hasSeller(id: number): boolean {
    return this.#sellers.has(id)
  }

  isSuspended(sellerId: number): boolean {
    return this.#suspended.has(sellerId)
  }

  /** Ids of listings that this node shows, of one seller. */
  shownOf(sellerId: number): number[] {
    const { live, sellerId: sellers, id } = this.table
    const ids: number[] = []
    // A column scan takes milliseconds at five million listings, and an index by seller would cost every write.
    for (let row = 0; row < this.table.rows; row += 1) if (sellers[row] === sellerId && live.has(row)) ids.push(id[row]!)
    return ids
  }

  /** Listings of a suspended seller are not shown from now on; those that are there stay until they are removed or put again. */
  suspend(sellerId: number): void {
    this.#suspended.add(sellerId)
    for (const { id } of this.#awayOf(sellerId)) this.#away.delete(id)
  }

  resume(sellerId: number): void {
    this.#suspended.delete(sellerId)
  }

  /** Tells when a seller is on vacation, null for never: their listings are hidden and shown again at these very moments. */
  setVacation(sellerId: number, vacation: Vacation | null, nowMs: number): void {
    const known = this.#vacations.get(sellerId)
    if (known?.from.getTime() === vacation?.from.getTime() && known?.to.getTime() === vacation?.to.getTime()) return
    if (vacation) {
      this.#vacations.set(sellerId, vacation)
      this.#vacationMoments.push(vacation.from.getTime(), sellerId)
      this.#vacationMoments.push(vacation.to.getTime(), sellerId)
    } else this.#vacations.delete(sellerId)
    this.#followVacation(sellerId, nowMs)
  }

  nameSeller(id: number, name: string): void {
    const folded = fold(name)
    if (this.#sellers.get(id) === folded) return
    this.#sellers.set(id, folded)
    this.forgetViews()
  }

  /** What conditions mean has changed: categories, grades or sellers' names. */
  forgetViews(): void {
    this.version += 1
    this.queries.forgetViews()
  }

  /** Brings everything to this moment: vacations that begin or end, periods and highlights that are over, sales that no longer count. */
  advance(nowMs: number): void {
    this.#vacationMoments.popDue(nowMs, (sellerId) => this.#followVacation(sellerId, nowMs))
    this.#ends.popDue(nowMs, (id) => {
      const row = this.table.rowOf(id)
      if (row >= 0 && this.table.expiresMs[row]! <= nowMs) this.remove(id)
    })
    this.#highlightEnds.popDue(nowMs, (id) => {
      const row = this.table.rowOf(id)
      if (row >= 0) this.#highlight(row, this.table.highlightedMs.get(row) ?? 0, nowMs)
    })
    this.sales.age(nowMs, (itemId) => this.#markPopularity(itemId))
  }

  /** Index in the table of prices of the source_a price of an item and label, -1 for none. */
  sourcePrice(itemId: number, labelId: number): number {
    const { items } = this.#catalogue
    const itemRow = items.rowOf(itemId)
    return itemRow < 0 ? -1 : items.prices.find(itemRow, SOURCE_A, labelId)
  }

  /** Multiplier of a price to the source_a price of an item and label, in hundredths; NaN without such a price, or where it is not trusted. */
  pcHundredths(itemId: number, labelId: number, kurus: number): number {
    const { prices } = this.#catalogue.items
    const at = this.sourcePrice(itemId, labelId)
    return at < 0 || !prices.isTrusted(at) ? Number.NaN : pcHundredths(kurus, prices.minor[at]!)
  }

  #isShown({ expiresMs, sellerId }: ListingSource, nowMs: number): boolean {
    return expiresMs > nowMs && !this.#suspended.has(sellerId)
  }

  #isAway(sellerId: number, nowMs: number): boolean {
    const vacation = this.#vacations.get(sellerId)
    return vacation !== undefined && isOnVacation(vacation, new Date(nowMs))
  }

  /** Hides or shows the listings of a seller whose vacation begins, ends or changes. */
  #followVacation(sellerId: number, nowMs: number): void {
    if (this.#isAway(sellerId, nowMs)) for (const id of this.shownOf(sellerId)) this.#keepAway(this.#sourceOf(this.table.rowOf(id)))
    else for (const listing of this.#awayOf(sellerId)) this.put(listing, nowMs)
  }

  #keepAway(listing: ListingSource): void {
    this.remove(listing.id)
    this.#away.set(listing.id, listing)
  }

  #awayOf(sellerId: number): ListingSource[] {
    return [...this.#away.values()].filter((listing) => listing.sellerId === sellerId)
  }

  /** A row as `put` takes it. */
  #sourceOf(row: number): ListingSource {
    const { table, queries } = this
    return {
      id: table.id[row]!,
      sellerId: table.sellerId[row]!,
      itemId: table.itemId[row]!,
      ...table.kindOf(row),
      kurus: table.kurus[row]!,
      publishedMs: table.publishedMs[row]!,
      expiresMs: table.expiresMs[row]!,
      highlightedMs: table.highlightedMs.get(row) ?? 0,
      title: utf8(queries.texts.titleOf(row)),
    }
  }

  /** Everything but the title; gives the row. */
  #write(listing: ListingSource, nowMs: number): number {
    const { table } = this
    const known = table.rowOf(listing.id)
    const endsAsBefore = known >= 0 && table.expiresMs[known] === listing.expiresMs
    const row = table.set(listing)
    if (!endsAsBefore) this.#ends.push(listing.expiresMs, listing.id)
    this.#highlight(row, listing.highlightedMs, nowMs)
    this.#comparePrice(row)
    // Names of items with listings are kept up to date; without any, the item may have got another since.
    if (table.countOfItem(listing.itemId) === 1) this.#nameItem(listing.itemId)
    return row
  }

  #nameItem(itemId: number): void {
    const { items } = this.#catalogue
    const row = items.rowOf(itemId)
    this.queries.nameItem(itemId, row < 0 ? '' : items.nameOf(row))
  }

  /** Whether a listing stays where it is in the orders that do not look at its price. */
  #isAsOrdered(row: number, { itemId, publishedMs }: ListingSource): boolean {
    return this.table.itemId[row] === itemId && this.table.publishedMs[row] === publishedMs
  }

  /** Notes until when a row is highlighted; an end that has passed is none. */
  #highlight(row: number, untilMs: number, nowMs: number): void {
    const { highlightedMs, id } = this.table
    const before = highlightedMs.get(row) ?? 0
    const until = untilMs > nowMs ? untilMs : 0
    if (before === until) return
    if (until === 0) highlightedMs.delete(row)
    else {
      highlightedMs.set(row, until)
      this.#highlightEnds.push(until, id[row]!)
    }
    this.version += 1
    this.queries.sorts.mark('popular', row)
  }

  #comparePrice(row: number): void {
    const { table, queries } = this
    const pc = this.pcHundredths(table.itemId[row]!, table.kindOf(row).labelId, table.kurus[row]!)
    if (Number.isNaN(pc)) queries.sorts.withPc.delete(row)
    else queries.sorts.withPc.add(row)
    if (Object.is(table.pcHundredths[row], pc)) return
    table.pcHundredths[row] = pc
    queries.sorts.mark('pc', row)
  }

  #markPopularity(itemId: number): void {
    this.version += 1
    for (const row of this.table.ofItem(itemId)) this.queries.sorts.mark('popular', row)
  }
}

function* asTexts(listings: Iterable<ListingSource>): Generator<string> {
  for (const { title, ...listing } of listings) {
    yield JSON.stringify({ ...listing, title: title.bytes.toString('utf8', title.from, title.to) })
  }
}
