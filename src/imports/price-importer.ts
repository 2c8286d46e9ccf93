// Writes what a price feed reads: each row is matched to an item, and what cannot be matched is reported, not invented.
import { ItemLookup } from '#catalogue/item-lookup.ts'
import { MARKETS } from '#core/markets.ts'
import type { Reason } from '#core/problems.ts'
import type { FeedRow, ItemKey, PriceFormat, PriceRow } from '#prices/records.ts'
import { PriceBatcher } from './price-batcher.ts'
import type { Importer, ImportRun } from './importer.ts'

export class PriceImporter implements Importer {
  readonly #run: ImportRun
  readonly #format: PriceFormat
  readonly #items: ItemLookup
  readonly #prices: PriceBatcher
  #lastLine = 0

  private constructor(run: ImportRun, format: PriceFormat, prices: PriceBatcher) {
    this.#run = run
    this.#format = format
    // Beside the transaction, which is busy writing; no price feed brings items of its own.
    this.#items = new ItemLookup(run.ctx.db.kysely)
    this.#prices = prices
  }

  static async open(run: ImportRun, format: PriceFormat): Promise<PriceImporter> {
    return new PriceImporter(run, format, await PriceBatcher.open(run, { rules: run.ctx.rules, rowsArePrices: true }))
  }

  async read(source: Parameters<PriceFormat['read']>[0]): Promise<void> {
    this.#lastLine = 0
    const options = { market: this.#run.market, nowMs: this.#run.ctx.now().getTime() }
    try {
      for await (const rows of this.#format.read(source, options)) {
        await this.#items.load(keysOf(rows))
        for (const row of rows) {
          const waited = this.#take(row)
          if (waited) await waited
        }
        await this.#run.breathe()
      }
    } catch (error) {
      await this.#prices.settled()
      throw error
    }
  }

  async finish(): Promise<void> {
    await this.#prices.flush()
  }

  #take(row: FeedRow): Promise<void> | null {
    if (row.line !== this.#lastLine) this.#run.counts.rowsRead += 1
    this.#lastLine = row.line
    if ('reject' in row) return this.#refuse(row, row.reject)
    if (!isPrice(row)) return null
    const found = this.#items.find(row.item)
    if ('reject' in found) return this.#refuse(row, found.reject)
    const { line, market, priceMinor: minor, updatedAtMs, figures = null } = row
    const price = { row: line, itemId: found.itemId, market: MARKETS.indexOf(market), minor, updatedAtMs, figures }
    if (!('ambiguous' in found)) return this.#prices.put(price, row.label)
    const hold = { rule: 'foreign_id', params: found.ambiguous.params, compared: null, timesOff: null } as const
    return this.#prices.put({ ...price, hold }, row.label)
  }

  #refuse(row: FeedRow, why: Reason): null {
    this.#run.refuse(row.line, why)
    return null
  }
}

function isPrice(row: FeedRow): row is PriceRow {
  return 'priceMinor' in row
}

function* keysOf(rows: readonly FeedRow[]): Generator<ItemKey> {
  for (const row of rows) if (isPrice(row)) yield row.item
}
