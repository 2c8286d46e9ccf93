// Writes catalogue files: categories as they are read, source statements in batches, and finally the resulting items and their prices.
import { sql } from 'kysely'
import { adoptItems } from '#catalogue/items/adopt-items.ts'
import { CategoryChanges } from '#catalogue/categories/category-changes.ts'
import { factsOfRecord } from '#catalogue/records/facts.ts'
import type {
  CatalogueFormat,
  CatalogueReader,
  CatalogueRow,
  CategoryRecord,
  IdMove,
  ItemRecord,
  StoredCategory,
  SourceKey,
} from '#catalogue/records/catalogue-records.ts'
import { worldOf } from '#catalogue/records/record-origin.ts'
import { statementsOfMoves } from '#catalogue/items/moved-records.ts'
import { type Statement, stateRecords } from '#catalogue/items/source-records.ts'
import { categoriesByRef, saveCategory } from '#catalogue/records/category-store.ts'
import type { Market } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import { settle } from '#identity/merge/settle.ts'
import { judgePrices } from '#prices/judging/judge-prices.ts'
import type { PricePoint } from '#prices/records/feed-rows.ts'
import { itemsWithOtherSharing } from '#prices/judging/shared-ids.ts'
import { PriceBatcher } from './price-batcher.ts'
import type { Importer, ImportRun } from './importer.ts'

/** Maximum characters of a batch of items; a thousand typical cards have a fifth of that. */
const PART_CHARACTERS = 4 * 1024 * 1024

/** Maximum number of categories cached by ref, because each item of a file may name a different one. */
const MAX_CACHED_CATEGORIES = 100_000

/** Number of prices per read. */
const PRICES_READ = 5_000

interface ReadItem {
  line: number
  record: ItemRecord
  key: SourceKey
}

export class CatalogueImporter implements Importer {
  readonly #run: ImportRun
  readonly #read: CatalogueReader
  readonly #groups: ReadonlySet<string>
  /** ids by market and ref; null: looked up and not found */
  readonly #categories = new Map<string, number | null>()
  readonly #categoryChanges = new CategoryChanges()
  /** ids of records that changed, by game and world */
  readonly #touched = new Map<string, { game: string; world: string; ids: Set<number> }>()
  #unchanged = 0
  #hasPrices = false
  #lastLine = 0
  /** the write of the previous records, while it is running */
  #writing: Promise<void> = Promise.resolve()

  private constructor(run: ImportRun, read: CatalogueReader, groups: ReadonlySet<string>) {
    this.#run = run
    this.#read = read
    this.#groups = groups
  }

  static async open(run: ImportRun, format: CatalogueFormat): Promise<CatalogueImporter> {
    const market = run.market ?? format.defaultMarket
    const groups = await run.tx.selectFrom('groups').select('slug').where('parent_id', 'is', null).execute()
    const read = format.open(market, await storedCategories(run, market))
    return new CatalogueImporter(run, read, new Set(groups.map((group) => group.slug)))
  }

  async read(source: Parameters<CatalogueReader>[0]): Promise<void> {
    this.#lastLine = 0
    try {
      for await (const rows of this.#read(source)) {
        await this.#take(rows)
        await this.#run.yieldToEventLoop()
      }
    } finally {
      // After an error in the file the transaction ends, so wait until nothing is being written.
      await this.#writing.catch(() => {})
    }
    await this.#writing
  }

  async finish(): Promise<void> {
    const { tx, ctx, note, counts, importId } = this.#run
    const renamed = await this.#categoryChanges.write(tx, importId)
    counts.unchanged += this.#unchanged
    let settled = false
    for (const { ids: touched, ...world } of this.#touched.values()) {
      if (touched.size === 0 && !renamed) continue
      const { createdFor, updatedFor } = await settle(ctx, tx, note, world, { importId, touched })
      counts.created += createdFor.size
      counts.updated += updatedFor.size
      counts.unchanged += touched.size - createdFor.size - updatedFor.size
      settled = true
      await this.#run.yieldToEventLoop()
    }
    if (this.#hasPrices) await this.#writePrices()
    if (settled) await judgePrices(ctx, tx, note, await itemsWithOtherSharing(tx))
  }

  async #take(rows: CatalogueRow[]): Promise<void> {
    await this.#loadCategories(rows)
    let items: ReadItem[] = []
    const moves: { line: number; move: IdMove }[] = []
    for (const row of rows) {
      if (row.line !== this.#lastLine) this.#run.counts.rowsRead += 1
      this.#lastLine = row.line
      if ('reject' in row) this.#run.refuse(row.line, row.reject)
      else if ('moved' in row) moves.push({ line: row.line, move: row.moved })
      else if ('category' in row) await this.#saveCategory(row.line, row.category)
      else if (this.#isSound(row.line, row.item)) items.push({ line: row.line, record: row.item, key: row.key })
    }
    // A record that occurs twice in a batch gets two statements, which must be written in order.
    while (items.length > 0) {
      const keys = new Set<string>()
      const now: ReadItem[] = []
      const later: ReadItem[] = []
      for (const item of items) {
        const key = `${item.key.source}\t${item.key.id}\t${item.key.finish}`
        ;(keys.has(key) ? later : now).push(item)
        keys.add(key)
      }
      for (const part of chunksOf(now)) await this.#state(part)
      items = later
    }
    if (moves.length > 0) await this.#move(moves)
  }

  /** Joins the records of ids that a source has given up with those of its newer ids. Ids that the catalogue does not have are ignored. */
  async #move(moves: readonly { line: number; move: IdMove }[]): Promise<void> {
    await this.#writing
    const { statements, open } = await statementsOfMoves(
      this.#run.tx,
      moves.map(({ move }) => move),
    )
    for (const n of open) {
      const {
        line,
        move: { source, from, into },
      } = moves[n]!
      this.#run.refuse(line, into === null ? reason('id_withdrawn', { source, id: from }) : reason('no_foreign_id', { source, id: into }))
    }
    await this.#stateRecords(statements)
  }

  async #loadCategories(rows: CatalogueRow[]): Promise<void> {
    if (this.#categories.size > MAX_CACHED_CATEGORIES) this.#categories.clear()
    const missing = new Map<Market, Set<string>>()
    for (const row of rows) {
      const [market, ref] = 'item' in row ? [row.item.market, row.item.category] : 'category' in row ? [row.category.market, row.category.parent] : []
      if (!market || !ref || this.#categories.has(`${market}\t${ref}`)) continue
      missing.set(market, (missing.get(market) ?? new Set()).add(ref))
    }
    if (missing.size === 0) return
    await this.#writing
    for (const [market, refs] of missing) {
      const found = await categoriesByRef(this.#run.tx, market, [...refs])
      for (const ref of refs) this.#categories.set(`${market}\t${ref}`, found.get(ref)?.id ?? null)
    }
  }

  async #saveCategory(line: number, record: CategoryRecord): Promise<void> {
    const parent = record.parent ? this.#categories.get(`${record.market}\t${record.parent}`) : null
    if (record.parent && !parent) {
      this.#run.refuse(line, reason('no_category', { ref: record.parent }))
      return
    }
    if (record.parent === record.ref) {
      this.#run.refuse(line, reason('own_parent', { ref: record.ref }))
      return
    }
    await this.#writing
    const parentId = record.parent === undefined ? undefined : (parent ?? null)
    const saved = await saveCategory(this.#run.tx, this.#run.note, record, parentId, { statedOnly: true })
    this.#run.counts[saved.outcome] += 1
    this.#categoryChanges.add(saved, record)
    this.#categories.set(`${record.market}\t${record.ref}`, saved.id)
  }

  #isSound(line: number, record: ItemRecord): boolean {
    const unknown = record.groups.find((slug) => !this.#groups.has(slug))
    if (!this.#categories.get(`${record.market}\t${record.category}`)) {
      this.#run.refuse(line, reason('no_category', { ref: record.category }))
    } else if (unknown !== undefined) this.#run.refuse(line, reason('no_group', { ref: unknown }))
    else return true
    return false
  }

  /** Writes records while the next ones are being read. */
  async #state(items: readonly ReadItem[]): Promise<void> {
    const statements = items.map(({ key, record }) => ({ key, facts: factsOfRecord(record) }))
    await this.#writing
    this.#writing = this.#write(items, statements)
    // The next await of this promise throws its error.
    this.#writing.catch(() => {})
  }

  async #write(items: readonly ReadItem[], statements: readonly Statement[]): Promise<void> {
    const states = await this.#stateRecords(statements)
    await this.#keepPrices(items.flatMap(({ line, record }, n) => (record.prices ?? []).map((price) => ({ line, record_id: states[n]!.id, price }))))
  }

  async #stateRecords(statements: readonly Statement[]): Promise<{ id: number; changed: boolean }[]> {
    // Items without records get theirs before the first statement is stored, because one of the stated records may be where they came from.
    if (this.#touched.size === 0) await adoptItems(this.#run.tx, this.#run.note.at)
    const states = await stateRecords(this.#run.tx, this.#run.importId, statements)
    for (const [n, { id, changed }] of states.entries()) {
      const { key, facts } = statements[n]!
      const [game, world] = [facts.game!, worldOf(key, facts)]
      const touched = this.#touched.get(`${game}\t${world}`) ?? { game, world, ids: new Set() }
      this.#touched.set(`${game}\t${world}`, touched)
      if (changed) touched.ids.add(id)
      else this.#unchanged += 1
    }
    return states
  }

  /** Stores prices in a temporary table until their items exist. */
  async #keepPrices(prices: readonly { line: number; record_id: number; price: PricePoint }[]): Promise<void> {
    if (prices.length === 0) return
    if (!this.#hasPrices) {
      await sql`
        create temporary table imported_prices (n int generated always as identity primary key, line int4, record_id int4, price jsonb)
        on commit drop`.execute(this.#run.tx)
    }
    this.#hasPrices = true
    await sql`
      insert into imported_prices (line, record_id, price)
      select line, record_id, price
      from jsonb_to_recordset(${JSON.stringify(prices)}::jsonb) as p(line int4, record_id int4, price jsonb)`.execute(this.#run.tx)
  }

  /** Prices in an export were already accepted where they came from, so only those far from ours are held. */
  async #writePrices(): Promise<void> {
    const prices = await PriceBatcher.open(this.#run, { rules: { ...this.#run.ctx.rules, only: ['jump'] }, rowsArePrices: false })
    for (let last = 0; ; ) {
      const { rows } = await sql<{ n: number; line: number; price: PricePoint; item_id: number | null }>`
        select p.n, p.line, p.price, (select min(s.item_id) from item_sources s where s.record_id = p.record_id) as item_id
        from imported_prices p where p.n > ${last}::int4 order by p.n limit ${PRICES_READ}`.execute(this.#run.tx)
      for (const { line, price, item_id: itemId } of rows) if (itemId !== null) await prices.add(line, itemId, price)
      if (rows.length < PRICES_READ) break
      last = rows.at(-1)!.n
      await this.#run.yieldToEventLoop()
    }
    await prices.flush()
  }
}

/** Splits records into batches by the size of their SQL text: records of one line share their texts in memory, but not in SQL. */
function* chunksOf(items: readonly ReadItem[]): Generator<ReadItem[]> {
  let part: ReadItem[] = []
  let characters = 0
  for (const item of items) {
    part.push(item)
    characters += charactersOf(item.record)
    if (characters < PART_CHARACTERS) continue
    yield part
    part = []
    characters = 0
  }
  if (part.length > 0) yield part
}

function charactersOf({ name, images, attributes, details, foreignIds }: ItemRecord): number {
  let sum = name.length + 50 * foreignIds.length
  for (const { url } of images) sum += url.length
  for (const attribute of attributes) sum += attribute.name.length + attribute.value.length
  for (const value of Object.values(details)) sum += lengthOf(value)
  return sum
}

function lengthOf(value: string | number | string[] | number[] | undefined): number {
  if (typeof value === 'string') return value.length
  return Array.isArray(value) ? value.reduce<number>((sum, each) => sum + lengthOf(each), 0) : 10
}

async function storedCategories(run: ImportRun, market: Market): Promise<Map<string, StoredCategory>> {
  const rows = await run.tx
    .selectFrom('categories as c')
    .leftJoin('categories as p', 'p.id', 'c.parent_id')
    .select(['c.ref', 'c.printed_total', 'p.ref as parent'])
    .where('c.market', '=', market)
    .execute()
  return new Map(rows.map((row) => [row.ref, { parent: row.parent, printedTotal: row.printed_total }]))
}
