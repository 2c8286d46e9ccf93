// Writes what a catalogue format reads: categories as they come, items in batches, and the prices that items carry.
import type { CatalogueFormat, CatalogueReader, CatalogueRow, CategoryRecord, ItemRecord, KnownCategory } from '#catalogue/records.ts'
import { categoriesByRef, type ItemWrite, saveCategory, saveItems } from '#catalogue/store.ts'
import type { Market } from '#core/markets.ts'
import { reason } from '#core/problems.ts'
import { PriceBatcher } from './price-batcher.ts'
import type { Importer, ImportRun } from './importer.ts'

/** Text of items that are saved at once; a thousand cards have a fifth of it. */
const PART_CHARACTERS = 4 * 1024 * 1024

/** Categories kept by ref: each item of a file may name another one. */
const MOST_KEPT_CATEGORIES = 100_000

interface Resolved {
  id: number
  name: string
}

export class CatalogueImporter implements Importer {
  readonly #run: ImportRun
  readonly #read: CatalogueReader
  readonly #groups: Map<string, number>
  readonly #prices: PriceBatcher
  /** by market and ref; null: looked for and not there */
  readonly #categories = new Map<string, Resolved | null>()
  #lastLine = 0

  private constructor(run: ImportRun, read: CatalogueReader, groups: Map<string, number>, prices: PriceBatcher) {
    this.#run = run
    this.#read = read
    this.#groups = groups
    this.#prices = prices
  }

  /** Prices that come with items were accepted where they were exported from: only what is far from ours is held. */
  static async open(run: ImportRun, format: CatalogueFormat): Promise<CatalogueImporter> {
    const market = run.market ?? format.defaultMarket
    const groups = await run.tx.selectFrom('groups').select(['id', 'slug']).where('parent_id', 'is', null).execute()
    const read = format.open(market, await knownCategories(run, market))
    return new CatalogueImporter(run, read, new Map(groups.map((group) => [group.slug, group.id])), await PriceBatcher.open(run, { rules: { ...run.ctx.rules, only: ['jump'] }, rowsArePrices: false }))
  }

  async read(source: Parameters<CatalogueReader>[0]): Promise<void> {
    this.#lastLine = 0
    for await (const rows of this.#read(source)) {
      await this.#take(rows)
      await this.#run.breathe()
    }
  }

  async finish(): Promise<void> {
    await this.#prices.flush()
  }

  async #take(rows: CatalogueRow[]): Promise<void> {
    await this.#loadCategories(rows)
    let items: { line: number; record: ItemRecord }[] = []
    for (const row of rows) {
      if (row.line !== this.#lastLine) this.#run.counts.rowsRead += 1
      this.#lastLine = row.line
      if ('reject' in row) this.#run.refuse(row.line, row.reject)
      else if ('category' in row) await this.#saveCategory(row.line, row.category)
      else items.push({ line: row.line, record: row.item })
    }
    // Items of one market at a time; one ref twice in a batch is two writes, the later one last.
    while (items.length > 0) {
      const market = items[0]!.record.market
      const refs = new Set<string>()
      const now: typeof items = []
      const later: typeof items = []
      for (const item of items) {
        const fits = item.record.market === market && !refs.has(item.record.ref)
        refs.add(item.record.ref)
        ;(fits ? now : later).push(item)
      }
      await this.#saveItems(now)
      items = later
    }
  }

  async #loadCategories(rows: CatalogueRow[]): Promise<void> {
    if (this.#categories.size > MOST_KEPT_CATEGORIES) this.#categories.clear()
    const wanted = new Map<Market, Set<string>>()
    for (const row of rows) {
      const [market, ref] = 'item' in row ? [row.item.market, row.item.category] : 'category' in row ? [row.category.market, row.category.parent] : []
      if (!market || !ref || this.#categories.has(`${market}\t${ref}`)) continue
      wanted.set(market, (wanted.get(market) ?? new Set()).add(ref))
    }
    for (const [market, refs] of wanted) {
      const found = await categoriesByRef(this.#run.tx, market, [...refs])
      for (const ref of refs) this.#categories.set(`${market}\t${ref}`, found.get(ref) ?? null)
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
    const parentId = record.parent === undefined ? undefined : (parent?.id ?? null)
    const { id, outcome } = await saveCategory(this.#run.tx, this.#run.note, record, parentId)
    this.#run.counts[outcome] += 1
    this.#categories.set(`${record.market}\t${record.ref}`, { id, name: record.name })
  }

  async #saveItems(items: { line: number; record: ItemRecord }[]): Promise<void> {
    const writes: (ItemWrite & { line: number })[] = []
    for (const { line, record } of items) {
      const category = this.#categories.get(`${record.market}\t${record.category}`)
      const unknown = record.groups.find((slug) => !this.#groups.has(slug))
      if (!category) this.#run.refuse(line, reason('no_category', { ref: record.category }))
      else if (unknown !== undefined) this.#run.refuse(line, reason('no_group', { ref: unknown }))
      else {
        const groupIds = record.groups.map((slug) => this.#groups.get(slug)!)
        writes.push({ line, record, categoryId: category.id, categoryName: category.name, groupIds })
      }
    }
    for (const part of inParts(writes)) {
      const { created, updated, unchanged, ids } = await saveItems(this.#run.tx, this.#run.note, part)
      this.#run.counts.created += created
      this.#run.counts.updated += updated
      this.#run.counts.unchanged += unchanged
      for (const [i, { line, record }] of part.entries()) {
        for (const point of record.prices ?? []) await this.#prices.add(line, ids[i]!, point)
      }
    }
  }
}

/** Writes that go to the database as one text: items of one line share their texts in memory, but not there. */
function* inParts<T extends ItemWrite>(writes: T[]): Generator<T[]> {
  let part: T[] = []
  let characters = 0
  for (const write of writes) {
    part.push(write)
    characters += charactersOf(write.record)
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

async function knownCategories(run: ImportRun, market: Market): Promise<Map<string, KnownCategory>> {
  const rows = await run.tx
    .selectFrom('categories as c')
    .leftJoin('categories as p', 'p.id', 'c.parent_id')
    .select(['c.ref', 'c.printed_total', 'p.ref as parent'])
    .where('c.market', '=', market)
    .execute()
  return new Map(rows.map((row) => [row.ref, { parent: row.parent, printedTotal: row.printed_total }]))
}
