// Writes price feeds: each row is matched to an item, and unmatched rows are reported.
import { ItemLookup } from '#catalogue/items/item-lookup.ts'
import { MARKETS } from '#core/markets.ts'
import { type Reason, reason } from '#core/problems.ts'
import { Rates } from '#prices/rates/rates.ts'
import { convertedFigures } from '#prices/records/feed-figures.ts'
import type { Hold } from '#prices/evidence/hold.ts'
import { type FeedRow, type ItemKey, keysOf, type PriceFormat, type PriceRow, wordsOf } from '#prices/records/feed-rows.ts'
import { DescribedItems } from './described-items.ts'
import { PriceBatcher } from './price-batcher.ts'
import type { Importer, ImportRun } from './importer.ts'

/** Number of rows that are read while the previous prices are being written; their items are looked up in one query. */
const ROWS_AHEAD = 10_000
/** Maximum rows without a known id that are collected to learn the file's set names. */
const MAX_DESCRIBED_ROWS = 50_000
const MAX_DESCRIBED_CHARACTERS = 8 * 1024 * 1024

type RowResult = { itemId: number } | { ambiguous: Reason; itemId: number } | { reject: Reason }

export class PriceImporter implements Importer {
  readonly #run: ImportRun
  readonly #format: PriceFormat
  readonly #items: ItemLookup
  readonly #prices: PriceBatcher
  readonly #described: DescribedItems
  readonly #rates: Rates
  /** rows whose items have not been looked up yet */
  #ahead: FeedRow[] = []
  /** rows whose ids no item has, and the total length of their texts */
  #unidentified: PriceRow[] = []
  #characters = 0
  #lastLine = 0

  private constructor(run: ImportRun, format: PriceFormat, prices: PriceBatcher, rates: Rates) {
    this.#run = run
    this.#format = format
    this.#items = new ItemLookup(run.tx)
    this.#described = new DescribedItems(run.tx)
    this.#prices = prices
    this.#rates = rates
  }

  static async open(run: ImportRun, format: PriceFormat): Promise<PriceImporter> {
    const prices = await PriceBatcher.open(run, { rules: run.ctx.rules, rowsArePrices: true, terms: format.terms })
    return new PriceImporter(run, format, prices, await Rates.load(run.tx))
  }

  async read(source: Parameters<PriceFormat['read']>[0]): Promise<void> {
    this.#lastLine = 0
    const { market, mapping } = this.#run
    const options = { market, ...(mapping && { mapping }), nowMs: this.#run.ctx.now().getTime() }
    try {
      for await (const rows of this.#format.read(source, options)) {
        for (const row of rows) this.#ahead.push(row)
        if (this.#ahead.length >= ROWS_AHEAD) await this.#takeAhead()
        await this.#run.yieldToEventLoop()
      }
      await this.#takeAhead()
      await this.#takeUnidentified()
    } catch (error) {
      await this.#prices.settled()
      throw error
    }
  }

  async finish(): Promise<void> {
    await this.#prices.flush()
  }

  async #takeAhead(): Promise<void> {
    const rows = this.#ahead
    this.#ahead = []
    await this.#prices.written()
    await this.#items.load(keysIn(rows))
    for (const row of rows) {
      const waited = this.#take(row)
      if (waited) await waited
    }
    if (this.#unidentified.length >= MAX_DESCRIBED_ROWS || this.#characters >= MAX_DESCRIBED_CHARACTERS) await this.#takeUnidentified()
  }

  #take(row: FeedRow): Promise<void> | null {
    if (row.line !== this.#lastLine) this.#run.counts.rowsRead += 1
    this.#lastLine = row.line
    if ('reject' in row) return this.#refuse(row, row.reject)
    if (!isPrice(row)) return null
    const found = this.#find(row)
    if (found) return this.#put(row, found)
    this.#unidentified.push(row)
    for (const text of Object.values(wordsOf(row.item))) this.#characters += text.length
    return null
  }

  /** The item of the first key that matches. Null if no key matches, but the row describes the item by other fields. */
  #find({ item }: PriceRow): RowResult | null {
    let unknown: RowResult | null = null
    for (const key of keysOf(item)) {
      const found = this.#items.find(key)
      if (!('reject' in found) || !found.unknown) return found
      unknown ??= found
    }
    return unknown === null || DescribedItems.canFind(item) ? null : unknown
  }

  /** Finds the items of rows by their descriptions. */
  async #takeUnidentified(): Promise<void> {
    const rows = this.#unidentified
    if (rows.length === 0) return
    this.#unidentified = []
    this.#characters = 0
    await this.#prices.written()
    await this.#described.load(rows)
    for (const [n, row] of rows.entries()) {
      const waited = this.#put(row, this.#described.find(row.item))
      if (waited) await waited
      if (n % 1_000 === 999) await this.#run.yieldToEventLoop()
    }
  }

  #put(row: PriceRow, found: RowResult): Promise<void> | null {
    if ('reject' in found) return this.#refuse(row, found.reject)
    const { line, market, priceMinor, updatedAtMs, currency, label, figures = null } = row
    const own = this.#run.ctx.rules.currencies[market]
    const from = currency ?? own
    const minor = this.#rates.convert(priceMinor, from, own, updatedAtMs)
    if (minor === null) return this.#refuse(row, this.#withoutRate(from, own, updatedAtMs))
    const price = {
      row: line,
      itemId: found.itemId,
      market: MARKETS.indexOf(market),
      minor,
      updatedAtMs,
      figures: figures && convertedFigures(figures, (amount) => this.#rates.convert(amount, from, own, updatedAtMs)),
    }
    if (!('ambiguous' in found)) return this.#prices.put(price, label)
    const hold: Hold = { rule: 'foreign_id', params: found.ambiguous.params, compared: null, timesOff: null }
    return this.#prices.put({ ...price, hold }, label)
  }

  #withoutRate(from: string, to: string, atMs: number): Reason {
    const missing = [from, to].filter((currency) => currency !== 'TRY' && this.#rates.on(currency, atMs) === null)
    return reason('no_rate_between', { from, to, missing, date: new Date(atMs).toISOString().slice(0, 10) })
  }

  #refuse(row: FeedRow, why: Reason): null {
    this.#run.refuse(row.line, why)
    return null
  }
}

function isPrice(row: FeedRow): row is PriceRow {
  return 'priceMinor' in row
}

function* keysIn(rows: readonly FeedRow[]): Generator<ItemKey> {
  for (const row of rows) if (isPrice(row)) yield* keysOf(row.item)
}
