// Writes categories as catalogues and operators state them.
import { sql } from 'kysely'
import type { Market } from '#core/markets.ts'
import type { Note } from '#db/changes/change.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import type { CategoryRecord } from './catalogue-records.ts'
import { freeSlugs, slugWords } from './slugs.ts'

interface CategoryRow extends Required<Omit<CategoryRecord, 'codes' | 'foreignIds' | 'fillsOnly'>> {
  id: number
  parentId: number | null
  printedTotal: number | null
}

/** Categories by ref in one market; refs that do not exist are absent. */
export async function categoriesByRef(db: Queryable, market: Market, refs: string[]): Promise<Map<string, CategoryRow>> {
  const rows = await db
    .selectFrom('categories as c')
    .leftJoin('categories as p', 'p.id', 'c.parent_id')
    .select(['c.id', 'c.market', 'c.ref', 'c.name', 'c.slug', 'c.game', 'c.image', 'c.parent_id', 'c.printed_total', 'p.ref as parent'])
    .where('c.market', '=', market)
    .where('c.ref', '=', (eb) => eb.fn.any(eb.val(refs)))
    .execute()
  return new Map(rows.map(({ parent_id, printed_total, ...row }) => [row.ref, { ...row, parentId: parent_id, printedTotal: printed_total }]))
}

/** A category before or after a change. */
export type CategoryState = Pick<CategoryRecord, 'name' | 'game' | 'image'> & { slug: string; parent_id: number | null; printed_total: number | null }

/** How a category was saved; `before` is null for a new one. */
export interface SavedCategory {
  id: number
  outcome: 'created' | 'updated' | 'unchanged'
  before: CategoryState | null
  after: CategoryState
}

/**
 * Creates or updates one category by market and ref; if `parentId` is undefined, a stored parent is kept.
 * @param statedOnly if the record has no image or parent, the stored one is kept
 */
export async function saveCategory(
  tx: Tx,
  note: Note,
  record: CategoryRecord,
  parentId: number | null | undefined,
  { statedOnly = false } = {},
): Promise<SavedCategory> {
  const { market, ref, name, game } = record
  const existing = (await categoriesByRef(tx, market, [ref])).get(ref)
  const stays = parentId === undefined || (statedOnly && parentId === null)
  const stated = {
    name,
    game,
    image: record.image ?? (statedOnly ? (existing?.image ?? null) : null),
    parent_id: stays ? (existing?.parentId ?? null) : parentId,
    printed_total: record.printedTotal ?? existing?.printedTotal ?? null,
  }
  const values =
    record.fillsOnly && existing
      ? {
          ...stated,
          name: existing.name,
          game: existing.game,
          image: existing.image ?? stated.image,
          printed_total: existing.printedTotal ?? stated.printed_total,
        }
      : stated
  if (!existing) {
    const preferred = record.slug ?? ([slugWords(game), slugWords(name)].filter(Boolean).join('-') || slugWords(ref))
    const [slug] = await freeSlugs(tx, 'categories', [{ preferred, ref }])
    const row = await tx
      .insertInto('categories')
      .values({ market, ref, slug: slug!, ...values, created_at: note.at, updated_at: note.at })
      .returning('id')
      .executeTakeFirstOrThrow()
    note.changed('categories', [row.id])
    return { id: row.id, outcome: 'created', before: null, after: { ...values, slug: slug! } }
  }
  const before: CategoryState = {
    name: existing.name,
    game: existing.game,
    image: existing.image,
    parent_id: existing.parentId,
    printed_total: existing.printedTotal,
    slug: existing.slug,
  }
  const after: CategoryState = { ...values, slug: record.slug ?? existing.slug }
  const { id } = existing
  if (CATEGORY_FIELDS.every((field) => before[field] === after[field])) return { id, outcome: 'unchanged', before, after }
  await tx
    .updateTable('categories')
    .set({ ...after, updated_at: note.at })
    .where('id', '=', id)
    .execute()
  note.changed('categories', [id])
  return { id, outcome: 'updated', before, after }
}

const CATEGORY_FIELDS = ['name', 'game', 'image', 'parent_id', 'printed_total', 'slug'] as const

/** Changes a category's ref, also in source records. */
export async function renameCategory(tx: Tx, note: Note, id: number, ref: string): Promise<void> {
  await sql`
    with renamed as (
      update categories c set ref = ${ref}, updated_at = ${note.at} from categories old
      where c.id = ${id}::int4 and old.id = c.id
      returning c.market, old.ref
    ), records as (
      -- Operators' records of earlier releases may have a category without its market, which is then that of the item.
      update source_records s set facts = jsonb_set(s.facts, '{category}', to_jsonb(${ref}::text)) from renamed r
      where s.facts->>'category' = r.ref and r.market = coalesce(s.facts->>'market',
        (select i.market from item_sources l join items i on i.id = l.item_id where l.record_id = s.id limit 1))
    )
    update source_statements s set facts = jsonb_set(s.facts, '{category}', to_jsonb(${ref}::text)) from renamed r
    where s.facts->>'category' = r.ref and s.facts->>'market' = r.market`.execute(tx)
  note.changed('categories', [id])
}
