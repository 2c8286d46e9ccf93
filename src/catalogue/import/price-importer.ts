// Writes what a price feed reads: each row is matched to an item, and what cannot be matched is reported, not invented.
import { MARKETS } from '#core/markets.ts'
import type { FeedRow, PriceFormat, PriceRow } from '#prices/records.ts'
import { ItemLookup } from './item-lookup.ts'
import { PriceBatcher } from './price-batcher.ts'
import type { Importer, ImportRun } from './run.ts'

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
    for await (const rows of this.#format.read(source, options)) {
      await this.#items.load(rows.filter(isPrice).map((row) => row.item))
      for (const row of rows) await this.#take(row)
      await this.#run.breathe()
    }
  }

  async finish(): Promise<void> {
    await this.#prices.flush()
  }

  async #take(row: FeedRow): Promise<void> {
    if (row.line !== this.#lastLine) this.#run.counts.rowsRead += 1
    this.#lastLine = row.line
    if ('reject' in row) return this.#run.refuse(row.line, row.reject)
    if (!isPrice(row)) return
    const found = this.#items.find(row.item)
    if ('reject' in found) return this.#run.refuse(row.line, found.reject)
    await this.#prices.put({
      row: row.line,
      itemId: found.itemId,
      market: MARKETS.indexOf(row.market),
      labelId: await this.#prices.labelId(row.label),
      minor: row.priceMinor,
      updatedAtMs: row.updatedAtMs,
      ...('ambiguous' in found && { hold: { rule: 'foreign_id', reason: found.ambiguous, compared: null, timesOff: null } }),
    })
  }
}

function isPrice(row: FeedRow): row is PriceRow {
  return 'priceMinor' in row
}
