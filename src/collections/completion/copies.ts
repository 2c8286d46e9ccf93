// SQL of the copies in a collection, for completion. Records whose copies are all sold count for nothing.
import { sql } from 'kysely'
import type { Queryable } from '#db/schema.ts'

/** Copies of an item under one condition or grade. */
export interface Copies {
  item_id: number
  group_label: string | null
  quantity: number
}

/** The copies of some items in a collection. */
export async function copiesOf(on: Queryable, collectionId: number, itemIds: readonly number[]): Promise<Copies[]> {
  const { rows } = await sql<Copies>`
    select r.item_id, g.name as group_label, sum(r.quantity) as quantity
    from collection_items r left join groups g on g.id = r.grade_id
    where r.collection_id = ${collectionId} and r.quantity > 0 and r.item_id = any(${`{${itemIds.join()}}`}::int4[]) group by r.item_id, g.name`.execute(
    on,
  )
  return rows
}

/** Ids of all items in a collection, each once. */
export async function itemsIn(on: Queryable, collectionId: number): Promise<number[]> {
  const { rows } = await sql<{ item_id: number }>`
    select item_id from collection_items where collection_id = ${collectionId} and quantity > 0 group by item_id`.execute(on)
  return rows.map(({ item_id: id }) => id)
}
