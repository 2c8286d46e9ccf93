// The copy of a catalogue in a SQLite file: a page of changes and its cursor are written atomically.
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { CategoryRow, ItemRow, PriceRow } from '#catalogue/catalogue-rows.ts'
import type { Change } from '#catalogue/list-changes.ts'

const SCHEMA = `
  create table if not exists followed (url text not null, cursor text not null);
  create table if not exists categories (id integer primary key, row text not null) strict;
  create table if not exists items (id integer primary key, row text not null) strict;
  create table if not exists prices (
    item_id integer not null, market text not null, label text not null, price real not null, currency text not null, updated_at text not null,
    primary key (item_id, market, label)
  ) strict, without rowid;
`

/** The mirrored data and its position in the change feed. Only one process may open it. */
export class CatalogueCopy {
  readonly #db: DatabaseSync
  readonly #put: Record<'categories' | 'items', StatementSync>
  readonly #drop: Record<'categories' | 'items', StatementSync>
  readonly #putPrice: StatementSync
  readonly #dropPrice: StatementSync
  readonly #dropPrices: StatementSync
  readonly #moveTo: StatementSync

  /** @param path of the file, created if missing */
  constructor(path: string) {
    this.#db = new DatabaseSync(path)
    this.#db.exec('pragma journal_mode = wal; pragma synchronous = full')
    this.#db.exec(SCHEMA)
    const prepare = (text: string) => this.#db.prepare(text)
    this.#put = {
      categories: prepare('insert or replace into categories values (?, ?)'),
      items: prepare('insert or replace into items values (?, ?)'),
    }
    this.#drop = { categories: prepare('delete from categories where id = ?'), items: prepare('delete from items where id = ?') }
    this.#putPrice = prepare('insert or replace into prices values (?, ?, ?, ?, ?, ?)')
    this.#dropPrice = prepare('delete from prices where item_id = ? and market = ? and label = ?')
    this.#dropPrices = prepare('delete from prices where item_id = ?')
    this.#moveTo = prepare('update followed set cursor = ?')
  }

  /** The cursor to continue from; null before the first dump. @throws Error if the file mirrors another service */
  cursorOf(url: string): string | null {
    const followed = this.#db.prepare('select url, cursor from followed').get() as { url: string; cursor: string } | undefined
    if (!followed) return null
    if (followed.url !== url) throw new Error(`The file is a mirror of ${followed.url}`)
    return followed.cursor
  }

  /** Replaces all data with a dump. */
  async replace(
    url: string,
    cursor: string,
    rows: { categories: AsyncIterable<CategoryRow>; items: AsyncIterable<ItemRow>; prices: AsyncIterable<PriceRow> },
  ): Promise<void> {
    this.#db.exec('begin immediate')
    try {
      this.#db.exec('delete from followed; delete from categories; delete from items; delete from prices')
      for (const table of ['categories', 'items'] as const) {
        for await (const row of rows[table]) this.#put[table].run(row.id, JSON.stringify(row))
      }
      for await (const row of rows.prices) this.#setPrice(row)
      this.#db.prepare('insert into followed values (?, ?)').run(url, cursor)
      this.#db.exec('commit')
    } catch (error) {
      this.#db.exec('rollback')
      throw error
    }
  }

  /** Applies changes, which include the current data. */
  apply(changes: readonly Change[], cursor: string): void {
    this.#db.exec('begin immediate')
    try {
      for (const change of changes) this.#apply(change)
      this.#moveTo.run(cursor)
      this.#db.exec('commit')
    } catch (error) {
      this.#db.exec('rollback')
      throw error
    }
  }

  counts(): { categories: number; items: number; prices: number } {
    const count = (table: string) => (this.#db.prepare(`select count(*) as count from ${table}`).get() as { count: number }).count
    return { categories: count('categories'), items: count('items'), prices: count('prices') }
  }

  categories(): CategoryRow[] {
    return this.#db
      .prepare('select row from categories')
      .all()
      .map(({ row }) => JSON.parse(row as string) as CategoryRow)
  }

  items(): ItemRow[] {
    return this.#db
      .prepare('select row from items')
      .all()
      .map(({ row }) => JSON.parse(row as string) as ItemRow)
  }

  pricesOf(itemId: number): PriceRow[] {
    return this.#db.prepare('select * from prices where item_id = ?').all(itemId) as unknown as PriceRow[]
  }

  close(): void {
    this.#db.close()
  }

  #apply({ kind, id, item_id: itemId, market, label, data }: Change): void {
    if (kind === 'price') {
      if (data) this.#setPrice(data as PriceRow)
      else this.#dropPrice.run(id, market, label)
      return
    }
    const table = itemId === null ? 'categories' : 'items'
    if (table === 'items') this.#dropPrices.run(id)
    if (kind === 'merge' || kind === 'delete' || !data) {
      this.#drop[table].run(id)
      return
    }
    const { prices, ...row } = data as (CategoryRow | ItemRow) & { prices?: PriceRow[] }
    this.#put[table].run(id, JSON.stringify(row))
    for (const price of prices ?? []) this.#setPrice(price)
  }

  #setPrice({ item_id, market, label, price, currency, updated_at }: PriceRow): void {
    this.#putPrice.run(item_id, market, label, price, currency, updated_at)
  }
}
