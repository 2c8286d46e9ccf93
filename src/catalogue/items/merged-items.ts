// Catalogue part of a merge: deletes the emptied item and turns its id into an alias. Undoing reverses these steps.
import { sql } from 'kysely'
import { mergeIds, type MergePair, pairTable } from '#db/merge-pairs.ts'
import type { Tx } from '#db/schema.ts'
import { freeSlugs } from '../records/slugs.ts'
import { refuseTaken } from '../records/unique-violations.ts'

/** Deletes the emptied items, from which all rows have moved to the survivors. */
export async function replaceByAliases(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  await sql`
    with gone as (
      delete from items i using ${pairTable(pairs)} where i.id = m.from_item returning m.merge_id, m.into_item, i.id, i.market, i.ref, i.slug
    )
    insert into item_aliases (old_id, item_id, merge_id, market, ref, slug)
    select id, into_item, merge_id, market, ref, slug from gone`.execute(tx)
}

/**
 * Restores items as they were before merges that are already marked as undone.
 * @throws CONFLICT if another item now has the ref or slug of one of them
 */
export async function restoreItems(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  const ids = mergeIds(pairs)
  await sql`delete from item_aliases where merge_id = any(${ids})`.execute(tx)
  await refuseTaken('item', () =>
    sql`
      insert into items overriding system value
      select i.* from merges cross join lateral jsonb_populate_record(null::items, merges.item) i
      where merges.id = any(${ids}) order by i.id`.execute(tx),
  )
}

/** Gives another slug to survivors that have the merged item's: up to 0.2.0, a merge passed on the slug that a catalogue stated. */
export async function replaceTakenSlugs(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  const { rows } = await sql<{ id: number; preferred: string; ref: string }>`
    select distinct i.id, i.slug as preferred, i.ref from merges m join items i on i.id = m.into_item and i.slug = m.item->>'slug'
    where m.id = any(${mergeIds(pairs)}) and not exists (
      select from source_records r where r.source = 'operator' and r.foreign_id = i.id::text and r.facts->>'slug' = i.slug
    )`.execute(tx)
  const slugs = await freeSlugs(tx, 'items', rows)
  for (const [n, { id }] of rows.entries()) await sql`update items set slug = ${slugs[n]} where id = ${id}`.execute(tx)
}
