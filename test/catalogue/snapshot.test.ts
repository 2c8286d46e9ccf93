// The catalogue in memory compared with a naive one: random changes through the database, random queries, equal results.
import { sql } from 'kysely'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { codeSortKey } from '#catalogue/records/code-order.ts'
import { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import type { ItemFilter } from '#catalogue/snapshot/queries.ts'
import { SORT_DIRECTIONS, SORT_FIELDS } from '#catalogue/index/sort-keys.ts'
import { type Market, MARKETS, marketPosition } from '#core/markets.ts'
import { ChangeFeed } from '#db/changes/change-feed.ts'
import { noteCollector, type Note } from '#db/changes/change.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Db, Schema, Tx } from '#db/schema.ts'
import { fold } from '#index/fold.ts'
import { packPrices } from '#prices/records/price-payload.ts'
import { readConfig } from '#config.ts'
import { freshDatabase } from '../support/postgres.ts'
import { runs } from '../support/runs.ts'

const NAMES = ['Kaplan', 'kaplan', 'Ara Kaplan', 'Tekir', 'Çınar', 'Cinar Ağacı', 'Kap', 'Tekir Kaplan']
const SETS = ['Set', 'Kaplan Seti', 'Ara']
const CODES = [null, '1/10', '2/10', '10/10', '001', '7']
const GAMES = ['pokemon', 'onepiece', 'chess']
const KINDS = ['single', 'card', 'sealed', 'bundle'] as const
const SEARCHES = ['kap', 'ka', 'tek kap', 'cin', 'ÇIN', 'ara', 'set', 'ara set', 'yok', ' ']
/** Ids that the first migration assigns: Ungraded, Near Mint, Lightly Played, and two grades. */
const UNGRADED = [3, 4, 5]
const NEAR_MINT = 4
const LABELS = [...UNGRADED, 8, 9]

let database: Awaited<ReturnType<typeof freshDatabase>>
let db: Db

beforeAll(async () => {
  database = await freshDatabase()
  db = openPool<Schema>({ url: database.url, max: 4, applicationName: 'mintmark test' })
})

afterAll(async () => {
  await db.close()
  await database.drop()
})

interface NaiveItem {
  id: number
  name: string
  code: string | null
  market: Market
  game: string
  genre: string
  category_id: number
  set: string
  updated: number
  prices: { market: number; label: number; minor: number; updated: number }[]
}

/** Not the default order, and without source_b. */
const MARKET_ORDER = ['service', 'source_c', 'source_a'] as const
const CURRENCIES = { service: 'TRY', source_a: 'USD', source_b: 'EUR', source_c: 'USD' }
const DAYS = ['2026-01-01', '2026-02-01', '2026-03-01']
const NOW = new Date('2026-02-15T12:00:00Z')

const newCatalogue = () => new Catalogue(db, { ...readConfig({ MARKET_ORDER: MARKET_ORDER.join(',') }), readyBytesMb: 1, now: () => NOW })

/** The catalogue as plain arrays. */
class Naive {
  items: NaiveItem[] = []
  /** lira per unit, by currency */
  rates = new Map<string, number>()
  parents = new Map<number, number | null>()

  static async read(): Promise<Naive> {
    const naive = new Naive()
    const { rows } = await sql<NaiveItem>`
      select i.id, i.name, i.code, i.market, i.game, i.genre, i.category_id, c.name as set,
        round(extract(epoch from i.updated_at) * 1000)::float8 as updated,
        (select coalesce(json_agg(json_build_object('market', p.market, 'label', p.label_id, 'minor', (p.price * 100)::int,
          'updated', (extract(epoch from p.updated_at) * 1000)::float8)), '[]') from prices p where p.item_id = i.id) as prices
      from items i join categories c on c.id = i.category_id`.execute(db.kysely)
    naive.items = rows
    const rates = await db.kysely.selectFrom('rates').selectAll().where('day', '<=', sql<string>`${NOW}::date`).orderBy('day').execute()
    naive.rates = new Map([['TRY', 1], ...rates.map(({ currency, try_rate }) => [currency, Number(try_rate)] as const)])
    const categories = await db.kysely.selectFrom('categories').select(['id', 'parent_id']).execute()
    naive.parents = new Map(categories.map(({ id, parent_id }) => [id, parent_id]))
    return naive
  }

  matching({ market, game, genre, categoryId, search }: ItemFilter): NaiveItem[] {
    const words = fold(search ?? '')
      .split(' ')
      .filter(Boolean)
    return this.items.filter(
      (item) =>
        (market === undefined || item.market === market || pricesIn(item, market).length > 0) &&
        (game === undefined || item.game === game) &&
        (genre === undefined || item.genre === genre) &&
        (categoryId === undefined || this.#isBelow(item.category_id, categoryId)) &&
        words.every((word) => fold(item.name).includes(word) || fold(item.set).includes(word)),
    )
  }

  sorted(items: NaiveItem[], market: Market | undefined, field: (typeof SORT_FIELDS)[number], direction: (typeof SORT_DIRECTIONS)[number]): number[] {
    const key = (item: NaiveItem): string | number | null => {
      if (field === 'name') return fold(item.name)
      if (field === 'code') return item.code === null ? null : codeSortKey(item.code)
      if (field === 'id') return item.id
      const shown = market ?? shownOf(item)
      const prices = pricesIn(item, shown)
      if (field === 'updated_at') return Math.max(item.updated, ...prices.map(({ updated }) => updated))
      const ungraded = prices.filter(({ label }) => UNGRADED.includes(label)).sort((a, b) => a.minor - b.minor)
      const price = ungraded.find(({ label }) => label === NEAR_MINT) ?? ungraded[0]
      if (!price || market) return price?.minor ?? null
      const rate = this.rates.get(CURRENCIES[shown])
      return rate === undefined ? null : price.minor * rate
    }
    const compare = (a: NaiveItem, b: NaiveItem): number => {
      const [one, other] = [key(a), key(b)]
      if (one === null || other === null) return Number(one === null) - Number(other === null) || a.id - b.id
      const order = one < other ? -1 : one > other ? 1 : 0
      return (direction === 'asc' ? order : -order) || a.id - b.id
    }
    return [...items].sort(compare).map((item) => item.id)
  }

  #isBelow(categoryId: number, ancestorId: number): boolean {
    for (let id: number | null | undefined = categoryId; id != null; id = this.parents.get(id)) if (id === ancestorId) return true
    return false
  }
}

function pricesIn({ prices }: NaiveItem, market: Market): NaiveItem['prices'] {
  return prices.filter((price) => price.market === MARKETS.indexOf(market))
}

function shownOf(item: NaiveItem): Market {
  return [item.market, ...MARKET_ORDER].find((market) => pricesIn(item, market).length > 0) ?? item.market
}

type Change = (tx: Tx, note: Note) => Promise<void>
const pick = <T>(list: readonly T[], n: number): T => list[n % list.length]!

const idsOf = async (tx: Tx, table: 'items' | 'categories') => (await tx.selectFrom(table).select('id').orderBy('id').execute()).map(({ id }) => id)

async function addCategory(tx: Tx, n: number): Promise<number> {
  const parent = pick([null, ...(await idsOf(tx, 'categories'))], n)
  const ref = `c${n}-${await nextNumber(tx)}`
  const values = {
    market: pick(MARKETS, n),
    ref,
    name: pick(SETS, n),
    slug: ref,
    game: pick(GAMES, n),
    parent_id: parent,
    created_at: new Date(),
    updated_at: new Date(),
  }
  return (await tx.insertInto('categories').values(values).returning('id').executeTakeFirstOrThrow()).id
}

async function addItem(tx: Tx, n: number, categoryId: number): Promise<number> {
  const ref = `i${n}-${await nextNumber(tx)}`
  const values = { market: pick(MARKETS, n >> 1), ref, slug: ref, name: pick(NAMES, n), code: pick(CODES, n >> 2), group_ids: [1, 2] }
  const place = { genre: pick(KINDS, n >> 3), game: pick(GAMES, n >> 4), category_id: categoryId }
  return (
    await tx
      .insertInto('items')
      .values({ ...values, ...place, images: '[]', attributes: '[]', details: '{}', created_at: new Date(), updated_at: new Date() })
      .returning('id')
      .executeTakeFirstOrThrow()
  ).id
}

async function nextNumber(tx: Tx): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int + coalesce(max(seq), 0)::int as n from change_log`.execute(tx)
  return rows[0]!.n + Math.floor(performance.now() * 1000)
}

/** The changes that a random number selects. */
const CHANGES: Record<string, (n: number) => Change> = {
  addItems: (n) => async (tx, note) => {
    const categories = await idsOf(tx, 'categories')
    const category = categories.length > 0 ? pick(categories, n) : await addCategory(tx, n)
    const ids: number[] = []
    for (let i = 0; i <= n % 5; i += 1) ids.push(await addItem(tx, n * 7 + i * 13, category))
    note.changed('items', ids)
    if (categories.length === 0) note.changed('categories', [category])
  },
  // Announces the items before the category that contains them.
  addItemsWithCategory: (n) => async (tx, note) => {
    const category = await addCategory(tx, n)
    note.changed('items', [await addItem(tx, n, category), await addItem(tx, n * 3, category)])
    note.changed('categories', [category])
  },
  changeItem: (n) => async (tx, note) => {
    const id = pick(await idsOf(tx, 'items'), n)
    if (id === undefined) return
    const category_id = pick(await idsOf(tx, 'categories'), n >> 3)
    const values = { name: pick(NAMES, n >> 1), code: pick(CODES, n >> 2), genre: pick(KINDS, n >> 4), market: pick(MARKETS, n >> 5) }
    await tx
      .updateTable('items')
      .set({ ...values, category_id, updated_at: sql<Date>`clock_timestamp()` })
      .where('id', '=', id)
      .execute()
    note.changed('items', [id])
  },
  removeItem: (n) => async (tx, note) => {
    const id = pick(await idsOf(tx, 'items'), n)
    if (id === undefined) return
    await tx.deleteFrom('prices').where('item_id', '=', id).execute()
    await tx.deleteFrom('items').where('id', '=', id).execute()
    note.changed('items', [id])
  },
  renameCategory: (n) => async (tx, note) => {
    const id = pick(await idsOf(tx, 'categories'), n)
    if (id === undefined) return
    await tx
      .updateTable('categories')
      .set({ name: pick(SETS, n >> 2) })
      .where('id', '=', id)
      .execute()
    note.changed('categories', [id])
  },
  moveCategory: (n) => async (tx, note) => {
    const ids = await idsOf(tx, 'categories')
    const id = pick(ids, n)
    // Only below an older category, so that there is no cycle.
    const parent = pick([null, ...ids.filter((other) => other < id)], n >> 3)
    if (id === undefined) return
    await tx.updateTable('categories').set({ parent_id: parent }).where('id', '=', id).execute()
    note.changed('categories', [id])
  },
  setPrices: (n) => async (tx, note) => {
    const items = await idsOf(tx, 'items')
    if (items.length === 0) return
    const writes = [0, 1, 2, 3].slice(0, 1 + (n % 4)).map((i) => ({
      itemId: pick(items, n + i),
      market: (n + i * 3) % MARKETS.length,
      labelId: pick(LABELS, (n >> 2) + i),
      minor: 100 + ((n * 37 + i * 11) % 900),
      updatedAtMs: Date.UTC(2026, 9, 1 + (n % 300)),
    }))
    for (const { itemId, market, labelId, minor, updatedAtMs } of writes) {
      await sql`insert into prices (item_id, market, label_id, price, updated_at, import_id)
        values (${itemId}, ${market}, ${labelId}, ${minor / 100}, ${new Date(updatedAtMs)}, 1)
        on conflict (item_id, market, label_id) do update set price = excluded.price, updated_at = excluded.updated_at`.execute(tx)
    }
    await note.changedPrices(packPrices(writes))
  },
  removePrice: (n) => async (tx, note) => {
    const found = await tx.selectFrom('prices').select(['item_id', 'market', 'label_id']).orderBy('item_id').orderBy('label_id').execute()
    if (found.length === 0) return
    const { item_id: itemId, market, label_id: labelId } = pick(found, n)
    await tx.deleteFrom('prices').where('item_id', '=', itemId).where('market', '=', market).where('label_id', '=', labelId).execute()
    await note.changedPrices(packPrices([{ itemId, market, labelId, minor: 0, updatedAtMs: 0 }]))
  },
  setRate: (n) => async (tx, note) => {
    const [day, currency, rate] = [pick(DAYS, n), pick(['USD', 'EUR'], n >> 2), pick([0.5, 2, 40], n >> 3)]
    await sql`insert into rates (day, currency, try_rate) values (${day}, ${currency}, ${rate})
      on conflict (day, currency) do update set try_rate = excluded.try_rate`.execute(tx)
    note.changed('rates', [Date.parse(day) / 86_400_000])
  },
}

const change = fc.record({ what: fc.constantFrom(...Object.keys(CHANGES)), n: fc.nat(100_000) })
const query = fc.record(
  {
    market: fc.constantFrom(...MARKETS),
    game: fc.constantFrom(...GAMES, 'unknown'),
    genre: fc.constantFrom(...KINDS),
    categoryId: fc.integer({ min: 1, max: 4 }),
    search: fc.constantFrom(...SEARCHES),
  },
  { requiredKeys: [] },
)
const pageRequest = fc.record({
  filter: query,
  field: fc.constantFrom(...SORT_FIELDS),
  direction: fc.constantFrom(...SORT_DIRECTIONS),
  offset: fc.nat(12),
  limit: fc.integer({ min: 1, max: 20 }),
})
type Asked = typeof pageRequest extends fc.Arbitrary<infer Value> ? Value : never

// Several transactions between two reads of the log, and several changes in one transaction.
const round = fc.array(fc.array(change, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
const rounds = fc.array(
  fc.oneof(
    round,
    change.map((one) => [[one]]),
  ),
  { minLength: 2, maxLength: 6 },
)
// The same queries run after every round: cached results must not outlive a change.
const queries = fc.array(pageRequest, { minLength: 6, maxLength: 10 })

test('answers every query like a naive catalogue, after any changes', async () => {
  await fc.assert(
    fc.asyncProperty(rounds, queries, async (all, asks) => {
      const { catalogue, feed } = await emptyCatalogue()
      let earlier: EarlierPage[] = []
      for (const transactions of all) {
        for (const changes of transactions) await commit(changes)
        await feed.pull()
        for (const page of earlier) {
          const { asked, shown, isCurrent } = page
          if (isCurrent()) expect(earlierPage(catalogue, asked).shown, JSON.stringify(asked)).toBe(shown)
        }
        await compare(catalogue, asks)
        earlier = [...earlier, ...asks.map((asked) => earlierPage(catalogue, asked))]
      }
    }),
    { numRuns: runs(50) },
  )
})

async function emptyCatalogue() {
  await sql`truncate items, categories, prices, rates, change_log restart identity cascade`.execute(db.kysely)
  const feed = new ChangeFeed(db, { warn: () => {}, info: () => {} })
  const catalogue = newCatalogue()
  await feed.open()
  feed.add(catalogue)
  await catalogue.load()
  return { catalogue, feed }
}

test('finds items by their current category, also after they moved', async () => {
  const { catalogue, feed } = await emptyCatalogue()
  await db.kysely.transaction().execute(async (tx) => {
    const [root, leaf] = [await addCategory(tx, 0), await addCategory(tx, 0)]
    await tx.updateTable('categories').set({ parent_id: null }).where('id', '=', leaf).execute()
    await addItem(tx, 0, leaf)
    await tx
      .insertInto('change_log')
      .values([
        { kind: 'categories', ids: [root, leaf], at: new Date() },
        { kind: 'items', ids: [1], at: new Date() },
      ])
      .execute()
  })
  await feed.pull()
  const totals = () => [
    catalogue.queries.page({ categoryId: 1 }, 'name', 'asc', 0, 1).total,
    catalogue.queries.page({ categoryId: 1, search: 'kap' }, 'name', 'asc', 0, 1).total,
    catalogue.queries.search('kap', { categoryId: 1 }, 0, 1).total,
  ]
  for (const [parent, expected] of [
    [null, 0],
    [1, 1],
    [null, 0],
  ] as const) {
    await db.kysely.updateTable('categories').set({ parent_id: parent }).where('id', '=', 2).execute()
    await db.kysely
      .insertInto('change_log')
      .values({ kind: 'categories', ids: [2], at: new Date() })
      .execute()
    await feed.pull()
    expect(totals()).toEqual([expected, expected, expected])
  }
})

test('answers correctly for categories large enough to be stored as sets', { tags: 'slow' }, async () => {
  const { catalogue, feed } = await emptyCatalogue()
  await db.kysely.transaction().execute(async (tx) => {
    const [root, leaf] = [await addCategory(tx, 0), await addCategory(tx, 1)]
    await tx.updateTable('categories').set({ parent_id: root }).where('id', '=', leaf).execute()
    const first = await addItem(tx, 0, leaf)
    await sql`insert into items (market, ref, slug, name, code, group_ids, genre, game, category_id, images, attributes, details)
      select market, ref || n, slug || n, name || n % 50, code, group_ids, genre, game, category_id, images, attributes, details
      from items, generate_series(1, 5000) n where id = ${first}`.execute(tx)
  })
  await catalogue.load()
  const asks = SORT_FIELDS.flatMap((field) =>
    [{ categoryId: 1 }, { categoryId: 2, search: 'kap' }, { categoryId: 1, genre: 'single' as const }].map((filter) => ({
      filter,
      field,
      direction: 'asc' as const,
      offset: 4_400,
      limit: 20,
    })),
  )
  const changes = ['addItems', 'changeItem', 'setPrices', 'removeItem', 'moveCategory', 'changeItem']
  for (const [i, what] of ['renameCategory', ...changes].entries()) {
    await commit([{ what, n: 6_001 + i * 37 }])
    await feed.pull()
    await compare(catalogue, asks)
  }
})

async function commit(changes: { what: string; n: number }[]): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const { noteOf, write } = noteCollector(tx, () => new Date())
    const note = noteOf({ viewer: { kind: 'operator', name: 'test' }, requestId: null })
    for (const { what, n } of changes) await CHANGES[what]!(n)(tx, note)
    await write()
  })
}

/** A page that was read earlier. */
interface EarlierPage {
  asked: Asked
  shown: string
  isCurrent: () => boolean
}

/** Everything that responses show of a page of the list and, if there is a search, of the ranked search. */
function earlierPage(catalogue: Catalogue, asked: Asked): EarlierPage {
  const { filter, field, direction, offset, limit } = asked
  const { search, ...others } = filter
  const market = marketPosition(filter.market)
  const { rows, total } = catalogue.queries.page(filter, field, direction, offset, limit)
  const listed = catalogue.follow(rows, (queries) => queries.listVersion(filter, field, direction))
  const found = search?.trim() ? catalogue.queries.search(search, others, offset, limit) : { rows, total }
  const ranked = catalogue.follow(found.rows, (queries) => queries.listVersion(others, null))
  const bytes = (of: Int32Array) =>
    (['starter', 'full', 'stats'] as const).map((shape) => catalogue.pageBytes(of, shape, market, '[', ']').toString())
  return {
    asked,
    shown: JSON.stringify([total, bytes(rows), found.total, bytes(found.rows)]),
    isCurrent: () => listed() && ranked(),
  }
}

/** All items of a list, page by page with cursors. */
function byCursor({ queries, items }: Catalogue, { filter, field, direction, limit }: Omit<Asked, 'offset'>): number[] {
  const market = marketPosition(filter.market)
  const ids: number[] = []
  for (let after: Parameters<typeof queries.pageAfter>[3] = null; ; ) {
    const { rows, more } = queries.pageAfter(filter, field, direction, after, limit)
    ids.push(...[...rows].map((row) => items.id[row]!))
    if (!more) return ids
    after = { value: queries.sorts.cursorValue(field, market, rows.at(-1)!), id: ids.at(-1)! }
  }
}

async function compare(catalogue: Catalogue, asks: Asked[]): Promise<void> {
  const naive = await Naive.read()
  const fresh = newCatalogue()
  await fresh.load()
  for (const { filter, field, direction, offset, limit } of asks) {
    const expected = naive.matching(filter)
    const { rows, total } = catalogue.queries.page(filter, field, direction, offset, limit)
    const ids = [...rows].map((row) => catalogue.items.id[row]!)
    expect([filter, total, ids]).toEqual([
      filter,
      expected.length,
      naive.sorted(expected, filter.market, field, direction).slice(offset, offset + limit),
    ])
    const again = fresh.queries.page(filter, field, direction, offset, limit)
    const market = marketPosition(filter.market)
    for (const shape of ['starter', 'full'] as const) {
      const page = catalogue.pageBytes(rows, shape, market, '[', ']').toString()
      expect(page).toBe(fresh.pageBytes(again.rows, shape, market, '[', ']').toString())
      expect(catalogue.pageTag(rows, shape, market, total)).toBe(fresh.pageTag(again.rows, shape, market, total))
      const items = JSON.parse(page) as { id: number; market?: string; prices: { price: number }[] }[]
      for (const item of items) {
        const stored = naive.items.find(({ id }) => id === item.id)!
        const shown = filter.market ?? shownOf(stored)
        if (shape === 'full') expect(item.market).toBe(shown)
        const prices = pricesIn(stored, shown).map(({ minor }) => minor / 100)
        expect(item.prices.map(({ price }) => price).sort()).toEqual(prices.sort())
      }
    }
    expect(byCursor(catalogue, { filter, field, direction, limit })).toEqual(naive.sorted(expected, filter.market, field, direction))
    if (!filter.search?.trim()) continue
    // The words are too short for typos: ranked and filtered searches must find the same items.
    const { search, ...others } = filter
    const ranked = catalogue.queries.search(search, others, 0, 10_000)
    expect([...ranked.rows].map((row) => catalogue.items.id[row]!).sort((a, b) => a - b)).toEqual(expected.map(({ id }) => id).sort((a, b) => a - b))
    expect(ranked.rows).toEqual(fresh.queries.search(search, others, 0, 10_000).rows.map((row) => catalogue.items.rowOf(fresh.items.id[row]!)))
  }
}
