// In-memory state of published listings, and how a change propagates to everything that depends on it. No SQL.
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { MARKETS } from '#core/markets.ts'
import { fold } from '#index/fold.ts'
import type { ColumnStore } from '#index/stored.ts'
import { copyOf, utf8 } from '#index/utf8.ts'
import { Deadlines } from './deadlines.ts'
import { type FilterWorld, conditionsOf, type ListingFilter } from './filters.ts'
import { ItemSales, type LastSale } from './item-sales.ts'
import { PageVersions } from './page-versions.ts'
import { PeriodEnds } from './period-ends.ts'
import { type ListingSource, PublishedTable } from './published.ts'
import { type ListingPage, ListingQueries, type ListingSort } from './queries.ts'
import { isOnVacation, type Vacation } from '../records/vacation.ts'

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
  /** by seller, including future ones */
  readonly #vacations = new Map<number, Vacation>()
  /** starts and ends of vacations, by seller */
  readonly #vacationMoments = new Deadlines()
  /** published listings of sellers on vacation, by id; shown again when the vacation ends */
  readonly #away = new Map<number, ListingSource>()
  readonly #world: FilterWorld
  readonly #ends: PeriodEnds
  readonly #highlightEnds = new Deadlines()
  /** called when the minimal form of a row has changed */
  readonly #touched: (row: number) => void
  readonly versions = new PageVersions()

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

  /** Reserves capacity for `listings` listings with ids up to `largestId`. */
  reserve(listings: number, largestId: number): void {
    this.table.reserve(listings, largestId)
    this.queries.texts.reserve(listings)
  }

  /** Adds a listing during the initial load, when there are no cached results to update. */
  fill(listing: ListingSource, nowMs: number): void {
    if (!this.#isShown(listing, nowMs)) return
    if (this.#isAway(listing.sellerId, nowMs)) this.#away.set(listing.id, { ...listing, title: copyOf(listing.title) })
    else this.queries.texts.setTitle(this.#write(listing, nowMs), listing.title)
  }

  /** Ends the initial load. */
  filled(): void {
    this.table.pack()
    this.queries.texts.pack()
    this.queries.sorts.order('popular')
  }

  /**
   * Adds or replaces a published listing. It is removed if its period has ended or its seller is suspended, and set aside during a vacation of its
   * seller.
   */
  put(listing: ListingSource, nowMs: number): void {
    this.#away.delete(listing.id)
    if (!this.#isShown(listing, nowMs)) return this.remove(listing.id)
    if (this.#isAway(listing.sellerId, nowMs)) return this.#keepAway(listing)
    const { table, queries } = this
    const previous = table.rowOf(listing.id)
    const inOrders = previous >= 0 && this.#isAsOrdered(previous, listing)
    const row = this.#write(listing, nowMs)
    this.versions.changed(row)
    if (queries.setTitle(row, listing.title)) this.#touched(row)
    if (inOrders) queries.sorts.mark('price', row)
    else queries.move(row)
    queries.review(row)
  }

  /** Sets the price of a listing, published or not, whose other values have not changed. */
  reprice(id: number, kurus: number): void {
    const away = this.#away.get(id)
    if (away) away.kurus = kurus
    const row = this.table.rowOf(id)
    if (row < 0 || this.table.kurus[row] === kurus) return
    this.versions.changed(row)
    this.table.kurus[row] = kurus
    this.#comparePrice(row)
    this.queries.sorts.mark('price', row)
    this.queries.review(row)
  }

  remove(id: number): void {
    this.#away.delete(id)
    const row = this.table.remove(id)
    if (row < 0) return
    this.versions.changed(row)
    this.queries.drop(row)
    this.#touched(row)
  }

  setSales(itemId: number, last: LastSale[], times: Float64Array): void {
    const before = this.sales.recent(itemId)
    for (const row of this.table.ofItem(itemId)) this.versions.changed(row)
    this.sales.set(itemId, last, times)
    if (this.sales.recent(itemId) !== before) this.#markPopularity(itemId)
  }

  /** Call when an item's name, kind, game, category or prices have changed. */
  reviewItem(itemId: number): void {
    if (this.table.countOfItem(itemId) === 0) return
    this.#nameItem(itemId)
    this.reviewPrices(itemId)
    for (const row of this.table.ofItem(itemId)) this.queries.review(row)
  }

  /** Call when only source_a prices of an item have changed. */
  reviewPrices(itemId: number): void {
    for (const row of this.table.ofItem(itemId)) {
      this.versions.changed(row)
      if (this.#comparePrice(row)) this.queries.reviewPc(row)
    }
  }

  hasSeller(id: number): boolean {
    return this.#sellers.has(id)
  }

  isSuspended(sellerId: number): boolean {
    return this.#suspended.has(sellerId)
  }

  /** Ids of a seller's listings that this node shows. */
  shownOf(sellerId: number): number[] {
    const { live, sellerId: sellers, id } = this.table
    const ids: number[] = []
    // A column scan takes milliseconds at five million listings, and an index by seller would cost every write.
    for (let row = 0; row < this.table.rows; row += 1) if (sellers[row] === sellerId && live.has(row)) ids.push(id[row]!)
    return ids
  }

  /** Hides the listings of a seller from now on; those already in the table remain until they are removed or put again. */
  suspend(sellerId: number): void {
    this.#suspended.add(sellerId)
    for (const { id } of this.#awayOf(sellerId)) this.#away.delete(id)
  }

  resume(sellerId: number): void {
    this.#suspended.delete(sellerId)
  }

  /** Sets a seller's vacation (null for none): listings are hidden exactly at its start and shown again exactly at its end. */
  setVacation(sellerId: number, vacation: Vacation | null, nowMs: number): void {
    const previous = this.#vacations.get(sellerId)
    if (previous?.from.getTime() === vacation?.from.getTime() && previous?.to.getTime() === vacation?.to.getTime()) return
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

  /** Call when the meaning of conditions has changed: categories, grades or sellers' names. */
  forgetViews(): void {
    this.versions.changedOthers()
    this.queries.forgetViews()
  }

  /** Applies all that is due by now: starts and ends of vacations, ends of periods and highlights, sales that no longer count. */
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

  /** Index in the price table of the source_a price of an item and label; -1 for none. */
  sourcePrice(itemId: number, labelId: number): number {
    const { items } = this.#catalogue
    const itemRow = items.rowOf(itemId)
    return itemRow < 0 ? -1 : items.prices.find(itemRow, SOURCE_A, labelId)
  }

  /** Price ÷ source_a price of the item and label, in hundredths; NaN if there is no such price or it is not trusted. */
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

  /** Hides or shows the listings of a seller whose vacation starts, ends or changes. */
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

  /** Writes everything except the title. @returns the row */
  #write(listing: ListingSource, nowMs: number): number {
    const { table } = this
    const previous = table.rowOf(listing.id)
    const endsAsBefore = previous >= 0 && table.expiresMs[previous] === listing.expiresMs
    const row = table.set(listing)
    if (!endsAsBefore) this.#ends.push(listing.expiresMs, listing.id)
    this.#highlight(row, listing.highlightedMs, nowMs)
    this.#comparePrice(row)
    // Names of items with listings are kept up to date; an item may have been renamed before its first listing.
    if (table.countOfItem(listing.itemId) === 1) this.#nameItem(listing.itemId)
    return row
  }

  #nameItem(itemId: number): void {
    const { items } = this.#catalogue
    const row = items.rowOf(itemId)
    this.queries.nameItem(itemId, row < 0 ? '' : items.nameOf(row))
  }

  /** Whether a listing keeps its position in the orders that do not depend on its price. */
  #isAsOrdered(row: number, { itemId, publishedMs }: ListingSource): boolean {
    return this.table.itemId[row] === itemId && this.table.publishedMs[row] === publishedMs
  }

  /** Sets the end of a row's highlight; one in the past removes it. */
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
    this.versions.changed(row)
    this.queries.sorts.mark('popular', row)
  }

  /** @returns whether the multiplier of the listing has changed */
  #comparePrice(row: number): boolean {
    const { table, queries } = this
    const pc = this.pcHundredths(table.itemId[row]!, table.kindOf(row).labelId, table.kurus[row]!)
    if (Number.isNaN(pc)) queries.sorts.withPc.delete(row)
    else queries.sorts.withPc.add(row)
    if (Object.is(table.pcHundredths(row), pc)) return false
    table.setPcHundredths(row, pc)
    queries.sorts.mark('pc', row)
    return true
  }

  #markPopularity(itemId: number): void {
    for (const row of this.table.ofItem(itemId)) {
      this.versions.changed(row)
      this.queries.sorts.mark('popular', row)
    }
  }
}

function* asTexts(listings: Iterable<ListingSource>): Generator<string> {
  for (const { title, ...listing } of listings) {
    yield JSON.stringify({ ...listing, title: title.bytes.toString('utf8', title.from, title.to) })
  }
}
