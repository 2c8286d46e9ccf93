// Resolves ids of merged items to the surviving item in SQL. In memory, `ItemTable.rowOf` does the same.
import { type RawBuilder, sql } from 'kysely'
import { idForSql } from '#core/fields.ts'
import type { Queryable } from './schema.ts'

/** The current id for an item id, as SQL; an unknown id is unchanged and finds nothing. */
export function liveItem(id: number): RawBuilder<number> {
  return sql<number>`live_item(${idForSql(id)}::int4)`
}

/** The current id for an item id; null if there is no such item. */
export async function liveItemId(on: Queryable, id: number): Promise<number | null> {
  const row = await on.selectFrom('items').select('id').where('id', '=', liveItem(id)).executeTakeFirst()
  return row?.id ?? null
}

/** The same for many ids, by the given id; unknown ids are missing. */
export async function liveItemIds(on: Queryable, ids: readonly number[]): Promise<Map<number, number>> {
  const valid = `{${ids.filter((id) => idForSql(id) === id).join(',')}}`
  const { rows } = await sql<{ requested: number; id: number }>`
    select id as requested, id from items where id = any(${valid}::int4[])
    union all select old_id, live_item(item_id) from item_aliases where old_id = any(${valid}::int4[])`.execute(on)
  return new Map(rows.map(({ requested, id }) => [requested, id]))
}

/** The given ids that are aliases, with the current id of each. */
export async function resolveAliases(on: Queryable, ids: readonly number[]): Promise<Map<number, number>> {
  const { rows } = await sql<{ old_id: number; item_id: number }>`
    select old_id, live_item(item_id) as item_id from item_aliases where old_id = any(${`{${ids.map(idForSql).join(',')}}`}::int4[])`.execute(on)
  return new Map(rows.map((row) => [row.old_id, row.item_id]))
}
