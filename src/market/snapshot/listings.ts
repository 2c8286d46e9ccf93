// In-memory snapshot of published listings: loaded at start, kept current by the change log, exact to the second.
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { Freezable } from '#core/freezable.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import type { ChangeFollower, ChangeRow } from '#db/changes/change-feed.ts'
import type { Db } from '#db/schema.ts'
import type { Shown } from '#http/response.ts'
import { RowBits } from '#index/bits.ts'
import type { ColumnStore } from '#index/stored.ts'
import { copyOf } from '#index/utf8.ts'
import { eachPackedEvidence, packedEvidenceCount } from '#prices/evidence/evidence-payload.ts'
import { eachPackedPrice, packedCount } from '#prices/records/price-payload.ts'
import { eachNewPrice, newPriceCount } from '../records/packed-prices.ts'
import { findVacations } from '../records/vacation-store.ts'
import type { ListingFilter } from './filters.ts'
import { explainListing } from './explain-listing.ts'
import { type Flags, itemOf, ListingJson } from './listing-json.ts'
import { countPublished, loadPublished, loadSales, loadSellers, loadSuspended, publishedOf } from './load.ts'
import type { LastSale } from './item-sales.ts'
import type { ListingSource } from './published.ts'
import type { ListingPage, ListingSort } from './queries.ts'
import { ListingState, SOURCE_A } from './state.ts'

export interface ListingSnapshotOptions {
  db: Db
  /** a snapshot that is loaded and follows the same feed before this one */
  catalogue: Catalogue
  now: () => Date
  /** IANA zone of local times */
  timeZone: string
  readyBytesMb: number
  /** see `ReadyBytes` */
  readyOnce?: boolean
  /** passed to `ListingQueries` */
  cachedRows?: number
}

/** A listing on sale that no other undercuts. */
export interface CheapestOffer {
  listingId: number
  itemId: number
  /** label whose prices it is compared with */
  label: string
  kurus: number
}

/** Rows reloaded per statement. */
const RELOAD = 1_000

/** The published listings in memory. Load them once with `load`; the change feed then keeps them up to date. Never writes to the database. */
export class ListingSnapshot extends Freezable implements ChangeFollower {
  readonly #options: ListingSnapshotOptions
  #state: ListingState
  #json: ListingJson

  constructor(options: ListingSnapshotOptions) {
    super()
    this.#options = options
    const { state, json } = this.#empty()
    this.#state = state
    this.#json = json
  }

  /** Loads everything into a new state, then replaces the current one with it; later commits arrive through `apply`. */
  async load({ kysely: db } = this.#options.db): Promise<void> {
    const { state, json } = this.#empty()
    const sellers = new RowBits()
    const nowMs = this.#nowMs()
    // Read before the listings: suspensions after this time arrive through `apply`.
    for (const id of await loadSuspended(db)) state.suspend(id)
    for (const [id, vacation] of await findVacations(db, null, new Date(nowMs))) state.setVacation(id, vacation, nowMs)
    await loadSales(db, null, nowMs, (itemId, last, times) => state.setSales(itemId, last, times))
    const { count, largestId } = await countPublished(db)
    state.reserve(count, largestId)
    await loadPublished(db, null, (listing) => {
      sellers.add(listing.sellerId)
      state.fill(listing, nowMs)
    })
    await this.#nameSellers(state, [...sellers.toRows()], db)
    state.filled()
    state.versions.all += this.#state.versions.all + 1
    this.#state = state
    this.#json = json
  }

  /** Restores the columns that `store` wrote; later commits arrive through `apply`. */
  restore(columns: ColumnStore): void {
    const { state, json } = this.#empty()
    state.store(columns)
    state.versions.all += this.#state.versions.all + 1
    this.#state = state
    this.#json = json
  }

  /** Passes all columns to the store. */
  store(columns: ColumnStore): void {
    this.#state.store(columns)
  }

  reload(): Promise<void> {
    return this.load()
  }

  async apply(changes: ChangeRow[]): Promise<void> {
    for (const { kind, ids, payload } of changes) {
      if (kind === 'listings' && payload) await this.#reprice(payload)
      else if (kind === 'listings') await this.#reloadListings(ids!)
      else if (kind === 'sales') await this.#reloadSales(ids!)
      else if (kind === 'items') this.#reviewItems(ids!)
      else if (kind === 'prices') await this.#applyPrices(payload!)
      else if (kind === 'evidence') await this.#applyEvidence(payload!)
      else if (kind === 'accounts') await this.#reloadSellers(ids!)
      else if (kind === 'categories' || kind === 'groups') this.#state.forgetViews()
    }
  }

  /** Number of published listings. */
  get size(): number {
    return this.#present().table.live.size
  }

  /** Increases with every change of what a search finds or shows, including ends of periods and highlights. */
  get version(): number {
    return this.#present().versions.all
  }

  page(filter: ListingFilter, search: string | undefined, sort: ListingSort, offset: number, limit: number): ListingPage {
    return this.#present().page(filter, search, sort, offset, limit)
  }

  /** A function that tells later whether a page would still be the same, although listings or prices have changed. */
  follow(page: ListingPage): () => boolean {
    const state = this.#state
    const isSame = state.versions.follow(page)
    return () => this.#present() === state && isSame()
  }

  /**
   * A JSON array of the listings of a page between a head and a tail, as bytes.
   * @param more as in `ListingJson.page`
   */
  pageBytes(rows: Int32Array, flags: Flags, head: string, tail: string, more: readonly string[] | null = null): Buffer {
    return this.#json.page(this.#state, this.#options.catalogue, rows, flags, head, tail, more)
  }

  /** Whether a search can find the listing now. */
  isPublished(id: number): boolean {
    return this.rowOf(id) >= 0
  }

  /** Current prices of other sellers for an item under a label, ascending, in kuruş. */
  pricesOfOthers(itemId: number, labelId: number, sellerId: number): Int32Array {
    const { table } = this.#present()
    const others = table.ofItem(itemId).filter((row) => table.kindOf(row).labelId === labelId && table.sellerId[row] !== sellerId)
    return others.map((row) => table.kurus[row]!).sort()
  }

  /**
   * The cheapest listing on sale of some items, in any condition; null if there is none.
   * @param exceptSeller account whose own listings do not count
   * @param language code; null for any, also unstated ones
   */
  cheapestOffer(itemIds: readonly number[], exceptSeller: number | null, language: string | null): CheapestOffer | null {
    const { table } = this.#present()
    let cheapest = -1
    for (const itemId of itemIds) {
      for (const row of table.ofItem(itemId)) {
        if (table.sellerId[row] === exceptSeller || (language !== null && table.kindOf(row).language !== language)) continue
        const isCheaper = cheapest < 0 || table.kurus[row]! < table.kurus[cheapest]!
        if (isCheaper || (table.kurus[row] === table.kurus[cheapest] && table.id[row]! < table.id[cheapest]!)) cheapest = row
      }
    }
    if (cheapest < 0) return null
    const label = this.#options.catalogue.labels.name(table.kindOf(cheapest).labelId)
    return { listingId: table.id[cheapest]!, itemId: table.itemId[cheapest]!, label, kurus: table.kurus[cheapest]! }
  }

  /** Row of a published listing; -1 for any other. */
  rowOf(id: number): number {
    return this.#present().table.rowOf(id)
  }

  /** Ids of listings by their rows. */
  idsOf(rows: Int32Array): number[] {
    return Array.from(rows, (row) => this.#state.table.id[row]!)
  }

  /** The listings of these rows with their sellers, for counting views. */
  shownOf(rows: Int32Array): Shown {
    const { table } = this.#state
    return { ids: rows.map((row) => table.id[row]!), owners: rows.map((row) => table.sellerId[row]!) }
  }

  /** A grade with its label; null without one. */
  gradeOf(id: number | null): { id: number; label: string } | null {
    return id === null ? null : { id, label: this.#options.catalogue.labels.name(id) }
  }

  /** Entity tag of a page: changes with its listings, their order or `extra`; identical on every node. */
  pageTag(rows: Int32Array, flags: Flags, extra: number): string {
    return this.#json.tag(this.#state, this.#options.catalogue, rows, flags, extra)
  }

  /** The parts that the flags add to a listing, published or not. */
  extrasOf({ item_id: itemId, label_id: labelId, kurus }: { item_id: number; label_id: number; kurus: number }, flags: Flags) {
    const state = this.#present()
    const pc = state.pcHundredths(itemId, labelId, kurus)
    const average = state.sales.averageKurus(itemId)
    return {
      ...(flags.item && { item: itemOf(this.#options.catalogue, itemId) }),
      ...(flags.pc && { pc_multiplier: Number.isNaN(pc) ? null : pc / 100 }),
      ...(flags.average && { average_price: average === null ? null : average / 100 }),
      ...(flags.lastSales && { last_sales: state.sales.last(itemId) }),
      ...(flags.explain && { explain: explainListing(state, this.#options.catalogue, { itemId, labelId, kurus }) }),
    }
  }

  #empty(): { state: ListingState; json: ListingJson } {
    const { catalogue, timeZone, readyBytesMb, readyOnce, cachedRows } = this.#options
    const json = new ListingJson(readyBytesMb, readyOnce)
    return { json, state: new ListingState(catalogue, timeZone, (row) => json.drop(row), cachedRows) }
  }

  #nowMs(): number {
    return this.#options.now().getTime()
  }

  #present(): ListingState {
    if (!this.isFrozen) this.#state.advance(this.#nowMs())
    return this.#state
  }

  async #reloadListings(ids: number[]): Promise<void> {
    const state = this.#state
    for (let from = 0; from < ids.length; from += RELOAD) {
      const some = ids.slice(from, from + RELOAD)
      const found: ListingSource[] = []
      await loadPublished(this.#options.db.kysely, some, (listing) => found.push({ ...listing, title: copyOf(listing.title) }))
      await this.#nameSellers(
        state,
        [...new Set(found.map((one) => one.sellerId))].filter((id) => !state.hasSeller(id)),
      )
      const published = new Set(found.map((one) => one.id))
      for (const id of some) if (!published.has(id)) state.remove(id)
      for (const listing of found) state.put(listing, this.#nowMs())
    }
  }

  async #reloadSellers(ids: number[]): Promise<void> {
    const state = this.#state
    const { kysely: db } = this.#options.db
    const vacations = await findVacations(db, ids, this.#options.now())
    for (const { id, name, suspended } of await loadSellers(db, ids)) {
      if (state.hasSeller(id)) state.nameSeller(id, name)
      state.setVacation(id, vacations.get(id) ?? null, this.#nowMs())
      if (suspended === state.isSuspended(id)) continue
      if (suspended) {
        state.suspend(id)
        const hidden = state.shownOf(id)
        await runInSlices(hidden.length, (from, to) => {
          for (let i = from; i < to; i += 1) state.remove(hidden[i]!)
        })
      } else {
        const hidden = await publishedOf(db, id)
        state.resume(id)
        await this.#reloadListings(hidden).catch((error: unknown) => {
          // The seller must be found as before if the change is applied again.
          state.suspend(id)
          throw error
        })
      }
    }
  }

  #reprice(packed: Buffer): Promise<void> {
    const count = newPriceCount(packed)
    return runInSlices(count, (from, to) => {
      eachNewPrice(packed, from, to, (id, kurus) => this.#state.reprice(id, kurus))
      if (to < count) this.#state.queries.sorts.settle()
    })
  }

  async #reloadSales(itemIds: number[]): Promise<void> {
    const set = (itemId: number, last: LastSale[], times: Float64Array) => {
      this.#state.setSales(itemId, last, times)
      this.#json.dropSales(itemId)
    }
    for (let from = 0; from < itemIds.length; from += RELOAD) {
      const some = new Set(itemIds.slice(from, from + RELOAD))
      await loadSales(this.#options.db.kysely, [...some], this.#nowMs(), (itemId, last, times) => {
        some.delete(itemId)
        set(itemId, last, times)
      })
      // Their sales have been moved to other items or cancelled.
      for (const itemId of some) set(itemId, [], new Float64Array(0))
    }
  }

  #reviewItems(itemIds: number[]): void {
    const { items } = this.#options.catalogue
    for (const itemId of itemIds) {
      this.#json.dropItem(items.rowOf(itemId))
      this.#state.reviewItem(itemId)
    }
  }

  #applyPrices(packed: Buffer): Promise<void> {
    return runInSlices(packedCount(packed), (from, to) => {
      eachPackedPrice(packed, from, to, ({ itemId, market }) => {
        if (market === SOURCE_A) this.#state.reviewPrices(itemId)
      })
    })
  }

  #applyEvidence(packed: Buffer): Promise<void> {
    return runInSlices(packedEvidenceCount(packed), (from, to) => {
      eachPackedEvidence(packed, from, to, ({ itemId, market }) => {
        if (market === SOURCE_A) this.#state.reviewPrices(itemId)
      })
    })
  }

  async #nameSellers(state: ListingState, ids: number[], db = this.#options.db.kysely): Promise<void> {
    if (ids.length === 0) return
    for (const { id, name } of await loadSellers(db, ids)) state.nameSeller(id, name)
  }
}
