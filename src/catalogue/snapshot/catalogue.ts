// The in-memory catalogue of a node: loaded at start, updated from the change log, and serving queries with ready bytes.
import { Freezable } from '#core/freezable.ts'
import { type MarketNames, MARKETS, type Market } from '#core/markets.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import type { ChangeFollower, ChangeRow } from '#db/changes/change-feed.ts'
import type { Db, Queryable } from '#db/schema.ts'
import { eachPackedEvidence, packedEvidenceCount } from '#prices/evidence/evidence-payload.ts'
import { loadChangedItems, loadImportEnds } from '#prices/records/changed-items.ts'
import { eachPackedPrice, packedCount } from '#prices/records/price-payload.ts'
import { DEFAULT_TERMS, loadSourceTerms, marketsFor, type SourceTerms } from '#prices/records/source-terms.ts'
import { Rates } from '#prices/rates/rates.ts'
import type { CostToMove } from '#prices/own/cost-to-move.ts'
import { costsToMove } from '#prices/own/costs-to-move.ts'
import type { ColumnStore } from '#index/stored.ts'
import type { TextOptions } from '#index/text.ts'
import { type ImageAddresses, imageAddresses } from '../records/image-addresses.ts'
import { tagOrder, tagWords } from '../index/search-tags.ts'
import { loadSynonyms, Synonyms } from '../index/synonyms.ts'
import { CategoryTree } from '../index/category-tree.ts'
import { itemJson, type ItemShape } from './item-json.ts'
import { copyOfItem, type ItemSource, ItemTable } from '../index/items.ts'
import { LabelTree } from '../index/label-tree.ts'
import { countItems, loadAliases, loadCategories, loadGroups, loadItems, type LoadedPrice, loadPrices } from './load.ts'
import { hasMarket, type MarketSet } from '../index/market-rule.ts'
import { ItemQueries } from './queries.ts'
import { ReadyBytes } from './ready-bytes.ts'
import { SearchDocs } from '../index/search-docs.ts'

/** Items reloaded in one statement. */
const RELOAD_ITEMS = 1_000
/** Maximum attempts to cache all items of a page at once, because adding an entry may evict another one. */
const PASSES = 4

const SEPARATOR = 44
const SERVICE = MARKETS.indexOf('service')
const ALL_MARKETS: MarketSet = 2 ** MARKETS.length - 1
/** Suffixes that keep the entity tags of different shapes distinct. */
const TAG_ENDS: Record<ItemShape, string> = { starter: 's', full: 'p', stats: 'e' }

/** Shapes whose bytes are cached. Items with evidence are serialised per request: caching them would leave less memory for the others. */
type ReadyShape = Exclude<ItemShape, 'stats'>

const AS_STORED = imageAddresses(() => '', false)

export interface CatalogueSettings {
  readyBytesMb: number
  /** see `ReadyBytes` */
  readyOnce?: boolean
  /** see `ItemQueries` */
  cachedRows?: number | undefined
  /** markets whose prices are shown if an item has none in its home market, in order of preference */
  marketOrder: readonly Market[] | (() => readonly Market[])
  /** languages in the order in which searches rank them */
  catalogueLanguages: readonly string[]
  sourceCurrencies: Readonly<Record<Market, string>>
  /** display names of markets; default: their codes */
  marketNames?: MarketNames
  now: () => Date
  /** how responses write image addresses; default: as stored */
  addresses?: ImageAddresses
}

function currentOrder({ marketOrder }: CatalogueSettings): readonly Market[] {
  return typeof marketOrder === 'function' ? marketOrder() : marketOrder
}

/** Positions of all markets, those of the setting first. */
function allMarkets(order: readonly Market[]): readonly number[] {
  return [...new Set([...order, ...MARKETS])].map((market) => MARKETS.indexOf(market))
}

/** The in-memory catalogue. Load it once with `load`; afterwards the change feed keeps it up to date. It never writes to the database. */
export class Catalogue extends Freezable implements ChangeFollower {
  readonly #db: Db
  readonly #settings: CatalogueSettings
  readonly addresses: ImageAddresses
  readonly currencies: Readonly<Record<Market, string>>
  readonly marketNames: MarketNames
  items: ItemTable
  categories = new CategoryTree()
  labels = new LabelTree()
  queries: ItemQueries
  #ready: Record<ReadyShape, ReadyBytes>
  #rates = new Rates()
  /** by item id and label id */
  #costs = new Map<number, ReadonlyMap<number, CostToMove>>()
  synonyms = new Synonyms()
  /** by position in MARKETS; prices of internal sources are not in memory, so no response shows or uses them */
  terms: readonly SourceTerms[] = DEFAULT_TERMS
  #shown: ReadonlySet<number> = new Set(marketsFor(DEFAULT_TERMS, 'show'))
  #docs: SearchDocs
  readonly #search: TextOptions
  /** all markets, as positions in MARKETS: those of the setting MARKET_ORDER first */
  marketOrder: readonly number[]
  loaded = false
  /** counts changes that affect many items at once: of categories, of groups, of everything */
  generation = 0
  /** counts changes of data that responses show: of the prices of single items, and all others */
  #priceChanges = 0
  #otherChanges = 0

  constructor(db: Db, settings: CatalogueSettings) {
    super()
    this.#db = db
    this.#settings = settings
    this.addresses = settings.addresses ?? AS_STORED
    this.currencies = settings.sourceCurrencies
    this.marketNames = settings.marketNames ?? {}
    const order = currentOrder(settings)
    this.marketOrder = allMarkets(order)
    this.items = new ItemTable(order)
    this.#search = {
      meanings: (phrase) => this.synonyms.of(phrase),
      splits: true,
      tagWords,
      order: tagOrder(settings.catalogueLanguages),
    }
    this.queries = new ItemQueries(this.items, this.categories, this.labels, this.#search, settings.cachedRows)
    this.#docs = new SearchDocs(this.items, this.categories)
    this.#ready = this.#emptyReady()
  }

  /** Loads everything; later commits arrive through `apply`. */
  async load(from = this.#db): Promise<void> {
    const fresh = new Catalogue(this.#db, this.#settings)
    await fresh.#fill(from)
    this.#take(fresh)
  }

  /** Loads what `store` wrote; commits since that moment must be applied with `apply`. */
  async restore(columns: ColumnStore): Promise<void> {
    const fresh = new Catalogue(this.#db, this.#settings)
    await fresh.#fillSmall(this.#db.kysely)
    fresh.store(columns)
    fresh.followClock()
    this.#take(fresh)
  }

  /** Passes all columns to the store, to be written or read. Small lookup tables are loaded from the database instead. */
  store(columns: ColumnStore): void {
    this.categories.store(columns)
    this.items.store(columns)
    this.queries.store(columns)
    this.#docs.store(columns)
  }

  #take(fresh: Catalogue): void {
    this.items = fresh.items
    this.categories = fresh.categories
    this.labels = fresh.labels
    this.queries = fresh.queries
    this.#docs = fresh.#docs
    this.synonyms = fresh.synonyms
    this.terms = fresh.terms
    this.#shown = fresh.#shown
    this.#ready = fresh.#ready
    this.#rates = fresh.#rates
    this.#costs = fresh.#costs
    this.marketOrder = fresh.marketOrder
    this.generation += 1
    this.#otherChanges += 1
    this.loaded = true
  }

  reload(): Promise<void> {
    return this.load()
  }

  async apply(changes: ChangeRow[]): Promise<void> {
    for (const { kind, ids, payload } of changes) {
      if (kind === 'items') await this.#reloadItems(ids!)
      else if (kind === 'categories') await this.#reloadCategories(ids!)
      else if (kind === 'groups') await this.#reloadGroups()
      else if (kind === 'prices') await this.#applyPrices(payload!)
      else if (kind === 'evidence') await this.#applyEvidence(payload!)
      else if (kind === 'rates') await this.#reloadRates()
      // The items with prices of a source whose use changes follow as changed items.
      else if (kind === 'sources') await this.#reloadTerms()
      else if (kind === 'settings') await this.#followSettings()
      else if (kind === 'synonyms') await this.#reloadSynonyms()
      else if (kind === 'sales') await this.#reloadCosts(this.#db.kysely, ids)
    }
  }

  /** What it would cost to move our own price of an item; null without one. */
  readonly costToMove = (itemId: number, labelId: number): CostToMove | null => this.#costs.get(itemId)?.get(labelId) ?? null

  /** The exchange rates of this node. */
  get rates(): Rates {
    return this.#rates
  }

  /** Increases with every change of data that responses show. */
  get version(): number {
    return this.#priceChanges + this.#otherChanges
  }

  /**
   * A function that tells later whether a page would still be the same, although prices have changed.
   * @param list version of the list, besides changes of items (`ItemQueries.listVersion`)
   * @param isSame reads the page again and compares its rows, if the list has changed; without it, every change of the list counts
   */
  follow(rows: Int32Array, list: (queries: ItemQueries) => number = () => 0, isSame: (queries: ItemQueries) => boolean = () => false): () => boolean {
    const others = this.#otherChanges
    const versions = this.#versionsOf(rows)
    let listed = list(this.queries)
    return () => {
      if (others !== this.#otherChanges || versions !== this.#versionsOf(rows)) return false
      const now = list(this.queries)
      if (now !== listed && !isSame(this.queries)) return false
      listed = now
      return true
    }
  }

  /** Whether responses may show prices of a market, by its position in MARKETS. */
  shows(market: number): boolean {
    return this.#shown.has(market)
  }

  /** Uses the current day's exchange rates for comparing prices of different markets; call it when a new day may have begun. */
  followClock(): void {
    if (this.isFrozen) return
    const { sourceCurrencies, now } = this.#settings
    const nowMs = now().getTime()
    const rates = MARKETS.map((market) => this.#rates.microLira(sourceCurrencies[market], nowMs) ?? Number.NaN)
    if (this.queries.sorts.compareBy(rates)) this.#otherChanges += 1
  }

  /**
   * A JSON array of items between a head and a tail, as bytes ready to send.
   * @param market position in MARKETS of the requested market; null for none
   */
  pageBytes(rows: Int32Array, shape: ItemShape, market: number | null, head: string, tail: string): Buffer {
    if (shape === 'stats') {
      const items = Array.from(rows, (row) => itemJson(this, { row, market: market ?? this.items.shown[row]!, shape }))
      return Buffer.from(`${head}${items.join(',')}${tail}`)
    }
    const ready = this.#readyFor(rows, shape, market)
    let size = Buffer.byteLength(head) + Buffer.byteLength(tail) + Math.max(0, rows.length - 1)
    for (let i = 0; i < rows.length; i += 1) size += ready.length(this.#readyKey(rows[i]!, market))
    const page = Buffer.allocUnsafe(size)
    let at = page.write(head, 0, 'utf8')
    for (let i = 0; i < rows.length; i += 1) {
      if (i > 0) page[at++] = SEPARATOR
      at = ready.copy(this.#readyKey(rows[i]!, market), page, at)
    }
    page.write(tail, at, 'utf8')
    return page
  }

  /** Entity tag of a page: changes when one of its items, their order or `extra` changes; the same on every node. */
  pageTag(rows: Int32Array, shape: ItemShape, market: number | null, extra: number): string {
    const ready = this.#readyFor(rows, shape === 'stats' ? 'full' : shape, market)
    let high = 0x811c9dc5 ^ extra
    let low = 0x9747b28c ^ rows.length
    for (let i = 0; i < rows.length; i += 1) {
      const key = this.#readyKey(rows[i]!, market)
      high = Math.imul(high ^ ready.hashHigh(key), 0x01000193) + (high >>> 15)
      low = Math.imul(low ^ ready.hashLow(key), 0x85ebca6b) + (low >>> 13)
      if (shape !== 'stats') continue
      const evidence = this.items.prices.evidenceHash(rows[i]!, market ?? this.items.shown[rows[i]!]!)
      high = Math.imul(high ^ evidence, 0x01000193) + (high >>> 15)
      low = Math.imul(low ^ evidence, 0x85ebca6b) + (low >>> 13)
    }
    // Uses 31 bits of each: larger numbers are not small integers in V8, and formatting them takes several times as long.
    return `"${high >>> 1}-${low >>> 1}${TAG_ENDS[shape]}"`
  }

  /** Memory outside the JavaScript heap, in bytes. */
  memory(): { texts: number; prices: number; ready: number } {
    return {
      texts: this.items.texts.bytes,
      prices: this.items.prices.bytes,
      ready: this.#ready.starter.bytes + this.#ready.full.bytes,
    }
  }

  /** The cache of a shape, filled with the bytes of all these rows, as far as they fit its budget. */
  #readyFor(rows: Int32Array, shape: ReadyShape, market: number | null): ReadyBytes {
    const ready = this.#ready[shape]
    // Adding an entry may evict another one of the page, so the page is checked again.
    for (let pass = 0, missing = true; missing && pass < PASSES; pass += 1) {
      missing = false
      for (let i = 0; i < rows.length; i += 1) {
        const row = rows[i]!
        const key = this.#readyKey(row, market)
        if (ready.has(key)) continue
        ready.put(key, itemJson(this, { row, market: market ?? this.items.shown[row]!, shape }))
        missing = true
      }
    }
    return ready
  }

  /** Bytes are cached by the displayed market, whether it was requested or is the default. */
  #readyKey(row: number, market: number | null): number {
    return row * MARKETS.length + (market ?? this.items.shown[row]!)
  }

  #emptyReady(): Record<ReadyShape, ReadyBytes> {
    // Both budgets hold the same number of items; the rest is for whole responses (CACHED_ITEMS_SHARE).
    const bytes = this.#settings.readyBytesMb * 1024 * 1024
    const once = this.#settings.readyOnce
    return { starter: new ReadyBytes(bytes * 0.2, once), full: new ReadyBytes(bytes * 0.575, once) }
  }

  async #fill({ kysely: db }: Db): Promise<void> {
    await this.#fillSmall(db)
    for (const category of await loadCategories(db, null)) this.categories.set(category)
    const { items, queries } = this
    const { items: count, largestId, prices: priceCount } = await countItems(db)
    items.reserve(count, largestId, priceCount)
    queries.text.reserve(count)
    // Cards in other languages are also found by their English names, so they are indexed after all English cards are loaded.
    const borrowers: { row: number; names: readonly string[]; dexIds: readonly number[] }[] = []
    await loadItems(db, null, (item) => {
      const row = items.set(item)
      this.#docs.learn(row)
      if (this.#docs.borrows(row)) borrowers.push({ row, names: item.names, dexIds: item.dexIds })
      else queries.text.setFolded(row, this.#docs.docOf(row, item.names, item.dexIds))
    })
    for (const { row, names, dexIds } of borrowers) queries.text.setFolded(row, this.#docs.docOf(row, names, dexIds))
    this.#docs.pack()
    items.setAliases(await loadAliases(db, null))
    const { prices } = items
    const importEnds = await loadImportEnds(db)
    await loadPrices(db, null, (price) => {
      const row = items.rowOf(price.itemId)
      if (row < 0 || !this.shows(price.market)) return
      prices.setEvidence(prices.set(row, price.market, price.labelId, price.minor, price.updatedAtMs), price)
      // A feed may deliver prices with older dates, so the end of its import is the time of the change. Our own prices are dated when they are set.
      items.noteChange(row, price.market === SERVICE ? price.updatedAtMs : importEnds[price.importId]!)
    })
    for (const [itemId, changedAtMs] of await loadChangedItems(db)) {
      const row = items.rowOf(itemId)
      if (row >= 0) items.noteChange(row, changedAtMs)
    }
    items.pack()
    for (let row = 0; row < items.rows; row += 1) items.derive(row)
    this.followClock()
    queries.sorts.order('name', 'asc', null)
  }

  async #fillSmall(db: Queryable): Promise<void> {
    this.labels.replace(await loadGroups(db))
    this.#rates = await Rates.load(db)
    await this.#loadTerms(db)
    this.synonyms.replace(await loadSynonyms(db))
    await this.#reloadCosts(db, null)
  }

  /** @param ids items; null for all */
  async #reloadCosts(db: Queryable, ids: number[] | null): Promise<void> {
    const costs = Map.groupBy(await costsToMove(db, ids), ({ itemId }) => itemId)
    for (const id of ids ?? []) this.#costs.delete(id)
    for (const [id, ofItem] of costs) this.#costs.set(id, new Map(ofItem.map((cost) => [cost.labelId, cost])))
    if (ids === null) this.#otherChanges += 1
    else for (const id of ids) this.#touch(this.items.rowOf(id))
  }

  async #loadTerms(db: Queryable): Promise<void> {
    this.terms = await loadSourceTerms(db)
    this.#shown = new Set(marketsFor(this.terms, 'show'))
  }

  async #reloadTerms(): Promise<void> {
    await this.#loadTerms(this.#db.kysely)
    this.#otherChanges += 1
  }

  /** Names of markets are in responses; their order determines which market each item shows. */
  async #followSettings(): Promise<void> {
    this.#otherChanges += 1
    const order = currentOrder(this.#settings)
    const all = allMarkets(order)
    if (all.every((market, i) => market === this.marketOrder[i])) return
    this.marketOrder = all
    const { items } = this
    items.setMarketOrder(order)
    await runInSlices(items.rows, (from, to) => {
      for (let row = from; row < to; row += 1) {
        const before = items.shown[row]!
        items.derive(row)
        if (items.shown[row] === before) continue
        items.touch(row)
        this.#pricesChanged(row, ALL_MARKETS)
      }
    })
    this.#clearReady()
  }

  async #reloadGroups(): Promise<void> {
    this.labels.replace(await loadGroups(this.#db.kysely))
    this.#clearReady()
  }

  async #reloadSynonyms(): Promise<void> {
    this.synonyms.replace(await loadSynonyms(this.#db.kysely))
    this.queries.forgetSearches()
    this.#otherChanges += 1
  }

  async #reloadRates(): Promise<void> {
    this.#rates = await Rates.load(this.#db.kysely)
    this.followClock()
  }

  #clearReady(): void {
    this.generation += 1
    this.#otherChanges += 1
    this.#ready.starter.clear()
    this.#ready.full.clear()
  }

  async #reloadCategories(ids: number[]): Promise<void> {
    const found = await loadCategories(this.#db.kysely, ids)
    const renamed = new Set<number>()
    for (const category of found) {
      // Includes new categories, because an item of the same change may have been applied before its category.
      const previous = this.categories.get(category.id)
      if (previous?.name !== category.name || previous.codes.join() !== category.codes.join()) renamed.add(category.id)
      this.categories.set(category)
    }
    for (const id of ids) if (!found.some((category) => category.id === id)) this.categories.remove(id)
    if (renamed.size > 0) await this.#reindex((row) => renamed.has(this.items.categoryId[row]!))
    this.#clearReady()
  }

  async #reloadItems(ids: number[]): Promise<void> {
    const nowMs = this.#settings.now().getTime()
    for (let from = 0; from < ids.length; from += RELOAD_ITEMS) {
      const some = ids.slice(from, from + RELOAD_ITEMS)
      const missing = new Set(some)
      const sources: ItemSource[] = []
      /** codes of new or renamed English cards */
      const learned = new Set<number>()
      const prices = new Map<number, LoadedPrice[]>()
      await loadItems(this.#db.kysely, some, (item) => sources.push(copyOfItem(item)))
      await loadPrices(this.#db.kysely, some, (price) => {
        if (!this.shows(price.market)) return
        const others = prices.get(price.itemId)
        if (others) others.push(price)
        else prices.set(price.itemId, [price])
      })
      for (const { id } of sources) missing.delete(id)
      // Aliases are loaded before anything is applied, so that an id that becomes an alias can always be resolved.
      const merged = new Map(missing.size > 0 ? await loadAliases(this.#db.kysely, [...missing]) : [])
      for (const source of sources) {
        const row = this.items.set(source)
        this.items.noteChange(row, nowMs)
        this.items.prices.clear(row)
        for (const price of prices.get(source.id) ?? []) {
          const at = this.items.prices.set(row, price.market, price.labelId, price.minor, price.updatedAtMs)
          this.items.prices.setEvidence(at, price)
        }
        this.items.derive(row)
        if (this.#docs.learn(row)) learned.add(this.items.code[row]!)
        this.queries.set(row, this.#docs.docOf(row, source.names, source.dexIds))
        this.#dropReady(row)
      }
      if (learned.size > 0) await this.#reindex((row) => learned.has(this.items.code[row]!) && this.#docs.borrows(row))
      for (const id of missing) {
        const row = this.items.remove(id)
        if (row < 0) continue
        this.items.prices.clear(row)
        this.queries.drop(row)
        this.#dropReady(row)
      }
      this.items.setAliases(some.map((id) => [id, merged.get(id) ?? null]))
      this.#otherChanges += 1
    }
  }

  /** Rebuilds the search text of the affected items. */
  async #reindex(concerns: (row: number) => boolean): Promise<void> {
    const ids: number[] = []
    this.items.live.forEach((row) => {
      if (concerns(row)) ids.push(this.items.id[row]!)
    })
    for (let from = 0; from < ids.length; from += RELOAD_ITEMS) {
      await loadItems(this.#db.kysely, ids.slice(from, from + RELOAD_ITEMS), ({ id, names, dexIds }) => {
        const row = this.items.rowOf(id)
        if (row >= 0) this.queries.set(row, this.#docs.docOf(row, names, dexIds))
      })
    }
  }

  #dropReady(row: number): void {
    this.#otherChanges += 1
    for (const market of MARKETS.keys()) this.#dropReadyOf(row, market)
  }

  #dropReadyOf(row: number, market: number): void {
    const key = row * MARKETS.length + market
    this.#priceChanges += 1
    this.#ready.starter.drop(key)
    this.#ready.full.drop(key)
  }

  /** Applies packed prices in slices, so that a large import does not block reads. */
  #applyPrices(packed: Buffer): Promise<void> {
    const nowMs = this.#settings.now().getTime()
    return runInSlices(packedCount(packed), (from, to) => {
      // Prices of one item are mostly adjacent, so its derived data is updated once for all of them.
      let row = -1
      let markets: MarketSet = 0
      eachPackedPrice(packed, from, to, (change) => {
        if (!this.shows(change.market)) return
        const changed = this.items.rowOf(change.itemId)
        if (changed < 0) return
        if (row >= 0 && row !== changed) {
          this.#pricesChanged(row, markets)
          markets = 0
        }
        row = changed
        markets |= 1 << change.market
        if (change.minor === 0) this.items.prices.remove(row, change.market, change.labelId)
        else this.items.prices.set(row, change.market, change.labelId, change.minor, change.updatedAtMs)
        this.items.touch(row)
        this.items.noteChange(row, nowMs)
      })
      if (row >= 0) this.#pricesChanged(row, markets)
    })
  }

  /** Applies packed evidence in slices; skips prices that no longer exist. */
  #applyEvidence(packed: Buffer): Promise<void> {
    return runInSlices(packedEvidenceCount(packed), (from, to) => {
      const { items } = this
      eachPackedEvidence(packed, from, to, (change) => {
        const row = items.rowOf(change.itemId)
        const at = row < 0 ? -1 : items.prices.find(row, change.market, change.labelId)
        if (at < 0) return
        items.prices.setEvidence(at, change)
        this.#touch(row)
        // Another price of the item may now be the one that is shown.
        const before = items.shown[row]!
        items.derive(row)
        if (items.shown[row] !== before) this.#pricesChanged(row, ALL_MARKETS)
      })
    })
  }

  /** Counts a change of what responses show of a row besides its ready bytes. */
  #touch(row: number): void {
    if (row < 0) return
    this.items.touch(row)
    this.#priceChanges += 1
  }

  /** Versions of rows only increase, so their sum stays the same only if all do. */
  #versionsOf(rows: Int32Array): number {
    const { version } = this.items
    let sum = 0
    for (let i = 0; i < rows.length; i += 1) sum += version[rows[i]!]!
    return sum
  }

  #pricesChanged(row: number, markets: MarketSet): void {
    this.queries.setPrices(row, markets, this.items.derive(row))
    for (const market of MARKETS.keys()) if (hasMarket(markets, market)) this.#dropReadyOf(row, market)
  }
}
