// Builds items from the facts of their source records, looking up category and groups by name.
import { sql } from 'kysely'
import type { Market } from '#core/markets.ts'
import type { Note } from '#db/changes/change.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { detailsFromRow } from '../records/details.ts'
import { type Facts, factsOf, refKey, type StatedFacts, suffixedRefs } from '../records/facts.ts'
import type { ForeignId } from '../records/catalogue-records.ts'
import { statedFacts } from './source-records.ts'
import { type ItemWrite, saveItems, type SavedItems } from '../records/item-store.ts'
import { categoriesByRef } from '../records/category-store.ts'

interface CategoryNamed {
  id: number
  name: string
}

/** Finds categories and groups by name, and caches them. */
export class CatalogueNames {
  readonly #db: Queryable
  readonly #categories = new Map<string, CategoryNamed>()
  #groups: Map<string, number> | null = null

  constructor(db: Queryable) {
    this.#db = db
  }

  /** Loads the categories named in these facts. */
  async load(facts: readonly Facts[]): Promise<void> {
    const missing = new Map<Market, Set<string>>()
    for (const { market, category } of facts) {
      if (!market || category === undefined || this.#categories.has(`${market}\t${category}`)) continue
      missing.set(market, (missing.get(market) ?? new Set()).add(category))
    }
    for (const [market, refs] of missing) {
      for (const [ref, { id, name }] of await categoriesByRef(this.#db, market, [...refs])) this.#categories.set(`${market}\t${ref}`, { id, name })
    }
    if (this.#groups) return
    const rows = await this.#db.selectFrom('groups').select(['id', 'slug']).where('parent_id', 'is', null).execute()
    this.#groups = new Map(rows.map((row) => [row.slug, row.id]))
  }

  categoryOf({ market, category }: Facts): CategoryNamed | undefined {
    return this.#categories.get(`${market}\t${category}`)
  }

  groupIds({ groups = [] }: Facts): number[] {
    return groups.flatMap((slug) => this.#groups!.get(slug) ?? [])
  }
}

/** An item composed of facts; `id` is null for a new one. */
export interface Composition {
  id: number | null
  facts: Facts
  /** the record that a new item is copied from; `facts` then needs only what refs and slugs are derived from */
  copies?: number
}

/**
 * Saves items with these facts.
 * @throws Error if an item's category is not in the catalogue
 */
export async function composeItems(
  tx: Tx,
  note: Note,
  names: CatalogueNames,
  items: readonly Composition[],
  options: { keepSlugs?: boolean } = {},
): Promise<SavedItems> {
  await names.load(items.map(({ facts }) => facts))
  return saveItems(
    tx,
    note,
    items.map((item) => writeOf(item, names)),
    options,
  )
}

function writeOf({ id, facts, copies }: Composition, names: CatalogueNames): ItemWrite {
  const category = names.categoryOf(facts)
  if (!category) throw new Error(`The category ${facts.category} of ${facts.ref} is not in the catalogue of ${facts.market}`)
  return {
    id,
    record: {
      market: facts.market!,
      ref: facts.ref!,
      name: facts.name!,
      code: facts.code ?? null,
      ...(facts.slug !== undefined && { slug: facts.slug }),
      genre: facts.genre ?? 'single',
      game: facts.game!,
      category: facts.category!,
      images: facts.images ?? [],
      attributes: (facts.attributes ?? []) as { name: string; value: string }[],
      groups: facts.groups ?? [],
      details: detailsFromRow(facts.details ?? {}),
      foreignIds: (facts.foreign_ids ?? []) as ForeignId[],
    },
    categoryId: category.id,
    categoryName: category.name,
    groupIds: names.groupIds(facts),
    ...(copies !== undefined && { copies }),
  }
}

/**
 * Composes existing items again from the current facts of their records. Their slugs change only if an operator states another one. `reserved` are
 * refs by `refKey` that these items give up, because they belong to merged items about to be restored.
 */
export async function recompose(
  tx: Tx,
  note: Note,
  names: CatalogueNames,
  ids: readonly number[],
  reserved: ReadonlySet<string> = new Set(),
): Promise<SavedItems> {
  const items = [...(await statedFacts(tx, ids))].map(([id, records]) => ({ id, records, ...factsOf(records) }))
  await completeIdentity(tx, items)
  for (const { facts, provenance } of items) if (provenance.slug !== 'operator') delete facts.slug
  await keepRefs(
    tx,
    items.filter(({ provenance }) => provenance.ref !== 'operator'),
    reserved,
  )
  return composeItems(tx, note, names, items)
}

/** Adds the item's current category and name to facts that lack them, for example because only an operator describes the item. */
async function completeIdentity(tx: Tx, items: readonly Stated[]): Promise<void> {
  const incomplete = items.filter(({ facts }) => facts.category === undefined || facts.name === undefined)
  if (incomplete.length === 0) return
  const { rows } = await sql<{ id: number } & Pick<Facts, 'market' | 'ref' | 'category' | 'name' | 'code' | 'genre' | 'game'>>`
    select i.id, i.market, i.ref, c.ref as category, i.name, i.code, i.genre, i.game from items i join categories c on c.id = i.category_id
    where i.id = any(${incomplete.map(({ id }) => id)}::int4[])`.execute(tx)
  const current = new Map(rows.map(({ id, ...identity }) => [id, identity]))
  for (const { id, facts } of incomplete) Object.assign(facts, { ...current.get(id), ...facts })
}

interface Stated {
  id: number
  records: readonly StatedFacts[]
  facts: Facts
}

/**
 * Keeps an item's ref if another item has the ref stated by its records: a source may give two finishes the same ref. If the item must give up its
 * own ref as well, or has it in another market, its finish is appended to the stated one.
 */
async function keepRefs(tx: Tx, items: readonly Stated[], reserved: ReadonlySet<string>): Promise<void> {
  const { rows } = await sql<{ id: number; market: Market; ref: string; taken: boolean }>`
    select own.id, own.market, own.ref, exists (
      select from items other where other.id <> own.id and other.market = stated.market and other.ref = stated.ref
    ) as taken
    from unnest(${items.map(({ id }) => id)}::int4[], ${items.map(({ facts }) => facts.market!)}::text[], ${items.map(({ facts }) => facts.ref!)}::text[])
      as stated(id, market, ref)
    join items own on own.id = stated.id`.execute(tx)
  const current = new Map(rows.map((row) => [row.id, row]))
  const used = new Set(reserved)
  for (const { id, records, facts } of items) {
    const market = facts.market!
    const own = current.get(id)!
    if (!own.taken && !reserved.has(refKey(market, facts.ref!))) continue
    const keeps = own.market === market && !reserved.has(refKey(market, own.ref))
    facts.ref = keeps ? own.ref : await freeRef(tx, { id, market, ref: facts.ref!, finish: records.map(({ finish }) => finish).find(Boolean) }, used)
    used.add(refKey(market, facts.ref))
  }
}

async function freeRef(
  tx: Tx,
  { id, market, ref, finish }: { id: number; market: Market; ref: string; finish: string | undefined },
  used: ReadonlySet<string>,
): Promise<string> {
  for (const free of suffixedRefs(ref, finish)) {
    if (used.has(refKey(market, free))) continue
    const other = tx.selectFrom('items').select('id').where('market', '=', market).where('ref', '=', free).where('id', '<>', id)
    if ((await other.executeTakeFirst()) === undefined) return free
  }
  throw new Error('unreachable')
}
