// The id of an item that was merged into another one means that one: how SQL follows aliases. In memory `ItemTable.rowOf` does.
import { type RawBuilder, sql } from 'kysely'
import { idForSql } from '#core/fields.ts'
import type { Queryable } from './schema.ts'

/** The id of the item that an id means, as SQL; an id that nothing has stays as it is and finds nothing. */
export function liveItem(id: number): RawBuilder<number> {
  return sql<number>`live_item(${idForSql(id)}::int4)`
}

/** The id of the item that an id means, null where there is none. */
export async function liveItemId(on: Queryable, id: number): Promise<number | null> {
  const row = await on.selectFrom('items').select('id').where('id', '=', liveItem(id)).executeTakeFirst()
  return row?.id ?? null
}

/** The same of many: by the id that was given; one that nothing has is missing. */
export async function liveItemIds(on: Queryable, ids: readonly number[]): Promise<Map<number, number>> {
  const { rows } = await sql<{ given: number; id: number }>`
    select given.id as given, i.id from unnest(${[...new Set(ids)].filter((id) => idForSql(id) === id)}::int4[]) as given (id)
    join items i on i.id = live_item(given.id)`.execute(on)
  return new Map(rows.map(({ given, id }) => [given, id]))
}

/** Those of the ids that are aliases, with the id of the item that each means. */
export async function survivorsOf(on: Queryable, ids: readonly number[]): Promise<Map<number, number>> {
  const { rows } = await sql<{ old_id: number; item_id: number }>`
    select old_id, live_item(item_id) as item_id from item_aliases where old_id = any(${`{${ids.map(idForSql).join(',')}}`}::int4[])`.execute(on)
  return new Map(rows.map((row) => [row.old_id, row.item_id]))
}
