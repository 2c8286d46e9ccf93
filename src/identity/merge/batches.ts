// Batches that change which records are one item, in the form in which operators see a reverted one: merges and splits share one id sequence.
import { sql } from 'kysely'
import { existing } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import type { Queryable } from '#db/schema.ts'
import { fetchMerge, MergedItem } from './stored-merges.ts'

export const BatchSchema = Type.Object(
  {
    batch_id: Type.Integer(),
    kind: Type.Enum(['merge', 'split'] as const),
    from: Type.Object(MergedItem.properties, { description: 'Item removed by the merge or created by the split' }),
    into: Type.Object(MergedItem.properties, { description: 'Item it was merged into or split from' }),
    author: Type.String(),
    at: Type.String({ format: 'date-time', description: 'UTC' }),
  },
  { title: 'Batch' },
)
export type Batch = Static<typeof BatchSchema>

type SplitRow = Pick<Batch, 'from' | 'into' | 'author'> & { at: Date }

/** @throws NOT_FOUND */
export async function fetchBatch(on: Queryable, id: number): Promise<Batch> {
  // An item that has since been merged is described by the merge that emptied it.
  const described = (column: 'split_item' | 'item_id') => sql`(
    select jsonb_build_object('id', s.${sql.id(column)}, 'name', d.name, 'ref', d.ref, 'market', d.market) from (
      select name, ref, market from items where id = s.${sql.id(column)}
      union all (select item->>'name', item->>'ref', item->>'market' from merges where from_item = s.${sql.id(column)} order by id desc limit 1)
      limit 1
    ) d)`
  const { rows } = await sql<SplitRow>`
    select s.author, s.at, ${described('split_item')} as "from", ${described('item_id')} as "into"
    from splits s where s.id = ${existing('batch', id)}`.execute(on)
  if (rows[0]) return { batch_id: id, kind: 'split', ...rows[0], at: rows[0].at.toISOString() }
  const { from, into, author, at } = await fetchMerge(on, id)
  return { batch_id: id, kind: 'merge', from, into, author, at }
}
