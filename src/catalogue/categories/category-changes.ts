// SQL of category changes by imports, of reverting them, and of the codes that sources use for a set.
import { sql } from 'kysely'
import type { Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import type { CategoryRecord } from '../records/catalogue-records.ts'
import type { CategoryState, SavedCategory } from '../records/category-store.ts'

interface Change {
  category_id: number
  before: CategoryState | null
  after: CategoryState
}

/** Category changes of one import, collected until they are written at its end. */
export class CategoryChanges {
  readonly #changes = new Map<number, Change & { market: string; ref: string }>()
  readonly #codes = new Map<number, { category_id: number; codes: string[]; shop_ids: object[] }>()

  add({ id, outcome, before, after }: SavedCategory, { market, ref, codes, foreignIds }: CategoryRecord): void {
    const earlier = this.#changes.get(id)
    if (outcome !== 'unchanged') this.#changes.set(id, { category_id: id, market, ref, before: earlier ? earlier.before : before, after })
    if (codes || foreignIds) this.#codes.set(id, { category_id: id, codes: codes ?? [], shop_ids: foreignIds ?? [] })
  }

  /** @returns whether a set's codes changed */
  async write(tx: Tx, importId: number): Promise<boolean> {
    await sql`
      insert into category_changes (import_id, category_id, market, ref, before, after)
      select ${importId}::int4, category_id, market, ref, nullif(before, 'null'::jsonb), after
      from jsonb_to_recordset(${JSON.stringify([...this.#changes.values()])}::jsonb)
        as c(category_id int4, market text, ref text, before jsonb, after jsonb)`.execute(tx)
    const { rows } = await sql<{ category_id: number }>`
      insert into category_codes as k (category_id, codes, shop_ids)
      select category_id, array(select jsonb_array_elements_text(codes)), shop_ids
      from jsonb_to_recordset(${JSON.stringify([...this.#codes.values()])}::jsonb) as c(category_id int4, codes jsonb, shop_ids jsonb)
      on conflict (category_id) do update
      set codes = case when excluded.codes = '{}' then k.codes else excluded.codes end,
        shop_ids = case when excluded.shop_ids = '[]' then k.shop_ids else excluded.shop_ids end
      where (k.codes, k.shop_ids) is distinct from (excluded.codes, excluded.shop_ids)
      returning category_id`.execute(tx)
    return rows.length > 0
  }
}

/**
 * Reverts category changes of an import: deletes created categories that are empty, and restores the fields of the others. Later
 * changes are kept.
 */
export async function revertCategories(tx: Tx, note: Note, importId: number): Promise<void> {
  const { rows } = await sql<Change & { now: CategoryState }>`
    select h.category_id, h.before, h.after,
      json_build_object('name', c.name, 'game', c.game, 'image', c.image, 'parent_id', c.parent_id, 'printed_total', c.printed_total, 'slug', c.slug) as now
    from category_changes h join categories c on c.id = h.category_id
    where h.import_id = ${importId}::int4 and not exists (
      select from category_changes l join imports i on i.id = l.import_id
      where l.category_id = h.category_id and l.import_id > h.import_id and i.reverted_by_import_id is null
    )
    order by h.category_id desc`.execute(tx)
  const changed: number[] = []
  for (const { category_id: id, before, after, now } of rows) {
    if (before === null) continue
    const fields = Object.entries(before).filter(([field, value]) => {
      const key = field as keyof CategoryState
      return now[key] === after[key] && value !== after[key]
    })
    if (fields.length === 0) continue
    await tx.updateTable('categories').set(Object.fromEntries(fields)).where('id', '=', id).execute()
    changed.push(id)
  }
  const createdIds = rows.filter(({ before }) => before === null).map((row) => row.category_id)
  changed.push(...(await removeEmpty(tx, createdIds)))
  if (changed.length > 0) note.changed('categories', changed)
}

/** Deletes those of the categories that contain neither items nor categories, starting at the lowest level. */
async function removeEmpty(tx: Tx, ids: readonly number[]): Promise<number[]> {
  const removed: number[] = []
  for (;;) {
    const { rows } = await sql<{ id: number }>`
      delete from categories c
      where c.id = any(${ids}::int4[]) and not exists (select from items i where i.category_id = c.id)
        and not exists (select from categories d where d.parent_id = c.id)
      returning c.id`.execute(tx)
    if (rows.length === 0) return removed
    removed.push(...rows.map((row) => row.id))
  }
}

/** Applies the category changes of a reverted import again. */
export async function reinstateCategories(tx: Tx, note: Note, importId: number): Promise<void> {
  const { rows } = await sql<Change & { market: string; ref: string; there: boolean }>`
    select h.category_id, h.before, h.after, h.market, h.ref, c.id is not null as there
    from category_changes h left join categories c on c.id = h.category_id
    where h.import_id = ${importId}::int4 order by h.category_id`.execute(tx)
  for (const { category_id: id, before, after, market, ref, there } of rows) {
    if (there) {
      const changed = Object.entries(after).filter(([field, value]) => before === null || before[field as keyof CategoryState] !== value)
      if (changed.length > 0) await tx.updateTable('categories').set(Object.fromEntries(changed)).where('id', '=', id).execute()
      continue
    }
    await sql`
      insert into categories (id, market, ref, name, slug, game, parent_id, image, printed_total, created_at, updated_at) overriding system value
      values (${id}, ${market}, ${ref}, ${after.name}, ${after.slug}, ${after.game}, ${after.parent_id}, ${after.image}, ${after.printed_total},
        ${note.at}, ${note.at})`.execute(tx)
  }
  if (rows.length > 0)
    note.changed(
      'categories',
      rows.map((row) => row.category_id),
    )
}
