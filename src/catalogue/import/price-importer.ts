// Writes what a price feed reads: each row is matched to an item, and what cannot be matched is reported, not invented.
import { readAhead } from '#core/feed.ts'
import { MARKETS } from '#core/markets.ts'
import type { FeedRow, PriceFormat, PriceRow } from '#prices/records.ts'
import { ItemLookup } from './item-lookup.ts'
import { PriceBatcher } from './price-batcher.ts'
import type { Importer, ImportRun } from './run.ts'

/** Batches of a feed read while the database writes those before: more than one write takes. */
const READ_AHEAD = 24

export class PriceImporter implements Importer {
  readonly #run: ImportRun
  readonly #format: PriceFormat
  readonly #items: ItemLookup
  readonly #prices: PriceBatcher
  #lastLine = 0

  private constructor(run: ImportRun, format: PriceFormat, prices: PriceBatcher) {
    this.#run = run
    this.#format = format
    this.#items = new ItemLookup(run.tx)
    this.#prices = prices
  }

  static async open(run: ImportRun, format: PriceFormat): Promise<PriceImporter> {
    return new PriceImporter(run, format, await PriceBatcher.open(run, run.rules))
  }

  async read(source: Parameters<PriceFormat['read']>[0]): Promise<void> {
    this.#lastLine = 0
    const options = { market: this.#run.market, nowMs: this.#run.ctx.now().getTime() }
    for await (const rows of readAhead(this.#format.read(source, options), READ_AHEAD)) {
      await this.#items.load(rows.filter(isPrice).map((row) => row.item))
      for (const row of rows) {
        const written = this.#take(row)
        if (written) await written
      }
      await this.#run.breathe()
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
    const { line, market, priceMinor: minor, updatedAtMs } = row
    const price = { row: line, itemId: found.itemId, market: MARKETS.indexOf(market), minor, updatedAtMs }
    if (!('ambiguous' in found)) return this.#prices.put(price, row.label)
    const hold = { rule: 'foreign_id', reason: found.ambiguous, compared: null, timesOff: null } as const
    return this.#prices.put({ ...price, hold }, row.label)
  }

  #refuse(row: FeedRow, reason: string): null {
    this.#run.refuse(row.line, reason)
    return null
  }
}

function isPrice(row: FeedRow): row is PriceRow {
  return 'priceMinor' in row
}
