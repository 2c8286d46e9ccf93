// Writes what a price feed reads: each row is matched to an item, and what cannot be matched is reported, not invented.
import { ItemLookup } from '#catalogue/item-lookup.ts'
import { MARKETS } from '#core/markets.ts'
import { Rates } from '#prices/rates.ts'
import type { FeedRow, ItemKey, PriceFormat, PriceRow } from '#prices/records.ts'
import type { Hold } from '#prices/quarantine.ts'
import { DescribedItems } from './described-items.ts'
import { PriceBatcher } from './price-batcher.ts'
import type { Importer, ImportRun } from './importer.ts'

/** Rows that wait until enough are there to learn from what the file calls the sets. */
const MOST_DESCRIBED = 50_000

export class PriceImporter implements Importer {
  readonly #run: ImportRun
  readonly #format: PriceFormat
  readonly #items: ItemLookup
  readonly #prices: PriceBatcher
  readonly #described: DescribedItems
  readonly #rates: Rates
  /** rows that no id leads to an item */
  #waiting: PriceRow[] = []
  #lastLine = 0

  private constructor(run: ImportRun, format: PriceFormat, prices: PriceBatcher, rates: Rates) {
    this.#run = run
    this.#format = format
    // Beside the transaction, which is busy writing; no price feed brings items of its own.
    this.#items = new ItemLookup(run.ctx.db.kysely)
    this.#described = new DescribedItems(run.tx)
    this.#prices = prices
    this.#rates = rates
  }

  static async open(run: ImportRun, format: PriceFormat): Promise<PriceImporter> {
    const prices = await PriceBatcher.open(run, { rules: run.ctx.rules, rowsArePrices: true })
    return new PriceImporter(run, format, prices, await Rates.load(run.tx))
  }

  async read(source: Parameters<PriceFormat['read']>[0]): Promise<void> {
    this.#lastLine = 0
    const { market, mapping } = this.#run
    const options = { market, ...(mapping && { mapping }), nowMs: this.#run.ctx.now().getTime() }
    try {
      for await (const rows of this.#format.read(source, options)) {
        await this.#items.load(keysOf(rows))
        for (const row of rows) {
          const waited = this.#take(row)
          if (waited) await waited
        }
        if (this.#waiting.length >= MOST_DESCRIBED) await this.#takeDescribed()
        await this.#run.breathe()
      }
      await this.#takeDescribed()
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
    const found = this.#find(row)
    if (found === null) {
      this.#waiting.push(row)
      return null
    }
    if ('reject' in found) return this.#refuse(row, found.reject)
    if (!('ambiguous' in found)) return this.#put(row, found.itemId)
    return this.#put(row, found.itemId, { rule: 'foreign_id', reason: found.ambiguous, compared: null, timesOff: null })
  }

  /** The item by its keys, the first that leads to one; null where none does and the row describes it in words, too. */
  #find({ item }: PriceRow): { itemId: number } | { ambiguous: string; itemId: number } | { reject: string } | null {
    if (!('anyOf' in item)) {
      const found = this.#items.find(item)
      return 'reject' in found && found.unknown && DescribedItems.canFind(item) ? null : found
    }
    let refused: string | null = null
    for (const key of item.anyOf) {
      const found = this.#items.find(key)
      if (!('reject' in found) || !found.unknown) return found
      refused ??= found.reject
    }
    return refused === null || DescribedItems.canFind(item) ? null : { reject: refused }
  }

  /** Finds the items of the rows that wait by what they say in words. */
  async #takeDescribed(): Promise<void> {
    if (this.#waiting.length === 0) return
    const rows = this.#waiting
    this.#waiting = []
    await this.#described.load(rows)
    for (const [n, row] of rows.entries()) {
      const found = this.#described.find(row.item)
      if ('reject' in found) this.#refuse(row, found.reject)
      else {
        const waited = this.#put(row, found.itemId)
        if (waited) await waited
      }
      if (n % 1_000 === 999) await this.#run.breathe()
    }
  }

  #put(row: PriceRow, itemId: number, hold?: Hold): Promise<void> | null {
    const { line, market, priceMinor, updatedAtMs, currency, label } = row
    const own = this.#run.ctx.rules.currencies[market]
    const minor = currency === undefined ? priceMinor : this.#rates.convert(priceMinor, currency, own, updatedAtMs)
    if (minor === null) return this.#refuse(row, `there is no rate from ${currency} to ${own} for ${new Date(updatedAtMs).toISOString().slice(0, 10)}: load one`)
    return this.#prices.put({ row: line, itemId, market: MARKETS.indexOf(market), minor, updatedAtMs, ...(hold && { hold }) }, label)
  }

  #refuse(row: FeedRow, reason: string): null {
    this.#run.refuse(row.line, reason)
    return null
  }
}

function isPrice(row: FeedRow): row is PriceRow {
  return 'priceMinor' in row
}

function* keysOf(rows: readonly FeedRow[]): Generator<ItemKey> {
  for (const row of rows) {
    if (!isPrice(row)) continue
    if ('anyOf' in row.item) yield* row.item.anyOf
    else yield row.item
  }
}
