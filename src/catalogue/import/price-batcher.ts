// Collects prices of known items and writes them in large batches.
import { MARKETS } from '#core/markets.ts'
import { parseMinor } from '#core/money.ts'
import { addLabel, labelIds } from '#prices/labels.ts'
import type { PriceRules } from '#prices/quarantine.ts'
import type { PricePoint } from '#prices/records.ts'
import type { PriceWrite } from '#prices/types.ts'
import { PriceWriter } from '#prices/writer.ts'
import type { ImportRun } from './run.ts'

const BATCH = 20_000

export class PriceBatcher {
  readonly #run: ImportRun
  readonly #writer: PriceWriter
  readonly #labels: Map<string, number>
  #batch: PriceWrite[] = []

  private constructor(run: ImportRun, rules: PriceRules, labels: Map<string, number>) {
    this.#run = run
    this.#labels = labels
    this.#writer = new PriceWriter({
      db: run.ctx.db,
      tx: run.tx,
      note: run.note,
      importId: run.importId,
      rules,
      nowMs: run.ctx.now().getTime(),
    })
  }

  static async open(run: ImportRun, rules: PriceRules): Promise<PriceBatcher> {
    return new PriceBatcher(run, rules, await labelIds(run.tx))
  }

  /** A price as files and exports carry it. */
  async add(row: number, itemId: number, point: PricePoint): Promise<void> {
    const minor = parseMinor(point.price)!
    await this.put({ row, itemId, market: MARKETS.indexOf(point.market), minor, updatedAtMs: Date.parse(point.updatedAt) }, point.label)
  }

  /**
   * Takes a price under a canonical label; a grade met for the first time is added to the tree. Gives something to wait
   * for only where there is something: to wait for nothing a million times takes longer than all else here.
   */
  put(price: Omit<PriceWrite, 'labelId'>, label: string): Promise<void> | null {
    const labelId = this.#labels.get(label)
    if (labelId === undefined) return this.#putUnderNew(price, label)
    this.#batch.push({ ...price, labelId })
    return this.#batch.length >= BATCH ? this.flush() : null
  }

  async #putUnderNew(price: Omit<PriceWrite, 'labelId'>, label: string): Promise<void> {
    this.#labels.set(label, await addLabel(this.#run.tx, this.#run.note, label))
    await this.put(price, label)
  }

  async flush(): Promise<void> {
    if (this.#batch.length === 0) return
    const { accepted, unchanged, held } = await this.#writer.write(this.#batch)
    this.#run.counts.accepted += accepted
    this.#run.counts.unchanged += unchanged
    this.#run.counts.held += held
    this.#batch = []
    await this.#run.breathe()
  }
}
