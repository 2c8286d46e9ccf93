// Collects prices of known items and writes them in large batches.
import { FeedError } from '#core/files/feed.ts'
import { reason } from '#core/problems.ts'
import { MARKETS } from '#core/markets.ts'
import { parseMinor } from '#core/money.ts'
import { addLabel, labelIds } from '#prices/records/labels.ts'
import { PriceBatch } from '#prices/records/price-batch.ts'
import type { PriceRules } from '#prices/evidence/hold.ts'
import type { PricePoint } from '#prices/records/feed-rows.ts'
import { addFormatTerms, type FormatTerms } from '#prices/records/source-terms.ts'
import type { PriceWrite } from '#prices/records/price-types.ts'
import { refuseDrift } from '#prices/judging/refuse-drift.ts'
import { PriceWriter } from '#prices/writing/writer.ts'
import type { ImportRun } from './importer.ts'

const BATCH = 20_000
/** Maximum number of labels. Only a few hundred companies and grades exist; a file with more than this would flood the group tree. */
const MAX_LABELS = 10_000

interface PriceBatcherOptions {
  rules: PriceRules
  /** whether the file consists of prices: they then count as its created and updated rows, and not as parts of items */
  rowsArePrices: boolean
  /** of the format */
  terms?: FormatTerms | undefined
}

export class PriceBatcher {
  readonly #run: ImportRun
  readonly #rowsArePrices: boolean
  readonly #writer: PriceWriter
  readonly #labels: Map<string, number>
  readonly #terms: FormatTerms
  readonly #markets = new Set<number>()
  #filling = new PriceBatch()
  #spare = new PriceBatch()
  /** the write of the previous batch, while it is running */
  #writing: Promise<void> = Promise.resolve()

  private constructor(run: ImportRun, { rules, rowsArePrices, terms = {} }: PriceBatcherOptions, labels: Map<string, number>) {
    this.#run = run
    this.#rowsArePrices = rowsArePrices
    this.#labels = labels
    this.#terms = terms
    this.#writer = new PriceWriter({
      db: run.ctx.db,
      tx: run.tx,
      note: run.note,
      importId: run.importId,
      rules,
      nowMs: run.ctx.now().getTime(),
    })
  }

  static async open(run: ImportRun, batching: PriceBatcherOptions): Promise<PriceBatcher> {
    return new PriceBatcher(run, batching, await labelIds(run.tx))
  }

  /** Adds a price as files and exports contain it. Nothing is being written when this resolves, because items use the same transaction. */
  async add(row: number, itemId: number, point: PricePoint): Promise<void> {
    const minor = parseMinor(point.price)!
    await this.put({ row, itemId, market: MARKETS.indexOf(point.market), minor, updatedAtMs: Date.parse(point.updatedAt) }, point.label)
    await this.#writing
  }

  /**
   * Adds a price under a canonical label; a new grade is added to the group tree. Returns a promise only if there is something to wait for, because
   * awaiting a million times takes longer than everything else here. A full batch is written while the next one is filled; a caller that stops before
   * `flush` must await `settled`.
   */
  put(price: Omit<PriceWrite, 'labelId'>, label: string): Promise<void> | null {
    const labelId = this.#labels.get(label)
    if (labelId === undefined) return this.#putUnderNew(price, label)
    this.#markets.add(price.market)
    this.#filling.add(price, labelId)
    return this.#filling.size >= BATCH ? this.#beginWrite() : null
  }

  async flush(): Promise<void> {
    await this.#beginWrite()
    await this.#writing
    const { tx, note, ctx, importId, acceptDrift } = this.#run
    if (this.#rowsArePrices && !acceptDrift) await refuseDrift(tx, importId, this.#writer.moves, this.#markets, ctx.rules, ctx.now())
    await this.#writer.finish({ whole: true })
    await addFormatTerms(tx, note, [...this.#markets], this.#terms, ctx.now())
  }

  /** Resolves when no write is running any more, so that the transaction can be read; rejects if writing failed. */
  written(): Promise<void> {
    return this.#writing
  }

  /** Resolves when no write is running any more, even if writing failed. */
  settled(): Promise<void> {
    return this.#writing.catch(() => {})
  }

  async #putUnderNew(price: Omit<PriceWrite, 'labelId'>, label: string): Promise<void> {
    if (this.#labels.size >= MAX_LABELS) throw new FeedError(reason('at_most', { part: 'file', units: 'grades', max: MAX_LABELS }))
    await this.#writing
    this.#labels.set(label, await addLabel(this.#run.tx, this.#run.note, label))
    await this.put(price, label)
  }

  /** Starts to write the full batch; resolves when the previous one is written. */
  async #beginWrite(): Promise<void> {
    await this.#writing
    const full = this.#filling
    this.#filling = this.#spare
    this.#spare = full
    this.#writing = this.#write(full)
    // The next await of this promise throws its error.
    this.#writing.catch(() => {})
  }

  async #write(batch: PriceBatch): Promise<void> {
    if (batch.size === 0) return
    const { accepted, created, unchanged, held } = await this.#writer.write(batch)
    batch.clear()
    const { counts } = this.#run
    counts.accepted += accepted
    counts.unchanged += unchanged
    counts.held += held
    if (this.#rowsArePrices) {
      counts.created += created
      counts.updated += accepted - created
    }
    await this.#run.yieldToEventLoop()
  }
}
