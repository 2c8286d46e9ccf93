// SQL of merges as operators see them.
import { type RawBuilder, sql } from 'kysely'
import { existing, missing, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import { mergeIds, type MergePair } from '#db/merge-pairs.ts'
import type { Queryable, Tx } from '#db/schema.ts'

/** What a merge moves from the emptied items, and under which name it is recorded. */
const MOVED = {
  foreign_ids: { name: 'item_foreign_ids', description: 'Foreign ids' },
  price_points: { name: 'price_points', description: 'Points of the price history' },
  held_prices: { name: 'held_prices', description: 'Held prices' },
  listings: { name: 'listings', description: 'Listings' },
  sales: { name: 'sales', description: 'Sales' },
  collection_records: { name: 'collection_items', description: 'Records of collections' },
} as const
type MovedKind = keyof typeof MOVED
const MOVED_KINDS = Object.keys(MOVED) as MovedKind[]

const Time = Type.String({ format: 'date-time', description: 'UTC' })
export const MergedItem = Type.Object({ id: Type.Integer(), name: Type.String(), ref: Type.String(), market: Type.Enum([...MARKETS]) })

export const MergeSchema = Type.Object(
  {
    id: Type.Integer(),
    batch_id: Type.Integer({ description: 'Same as `id`: every merge is a batch' }),
    from: MergedItem,
    into: MergedItem,
    moved: Type.Object(
      Object.fromEntries(MOVED_KINDS.map((kind) => [kind, Type.Integer({ description: MOVED[kind].description })])) as Record<
        MovedKind,
        ReturnType<typeof Type.Integer>
      >,
      { description: 'Number of objects moved to the remaining item' },
    ),
    author: Type.String(),
    at: Time,
    undone_by: orNull(Type.String()),
    undone_at: orNull(Time),
    dry_run: Type.Optional(Type.Literal(true, { description: 'Only in a preview: nothing was changed, and `id` has no meaning' })),
  },
  { title: 'Merge' },
)
export type Merge = Static<typeof MergeSchema>

export const MERGE_STATES = ['in_effect', 'undone'] as const

/** Stores how many rows each merge has moved. */
export async function countMoved(tx: Tx, pairs: readonly MergePair[]): Promise<void> {
  const ids = mergeIds(pairs)
  const counts = MOVED_KINDS.map((kind) => sql`${sql.lit(kind)}, coalesce(max(n) filter (where name = ${sql.lit(MOVED[kind].name)}), 0)`)
  await sql`
    with counted as (
      select merge_id, name, count(*)::int4 as n from merged_rows where merge_id = any(${ids}) group by 1, 2
      union all
      select merge_id, 'price_points', count(*)::int4 from merged_points where merge_id = any(${ids}) and state <> 'made' group by 1
    )
    update merges set moved = c.moved from (
      select id, jsonb_build_object(${sql.join(counts)}) as moved from unnest(${ids}) as given(id) left join counted on merge_id = id group by id
    ) c where merges.id = c.id`.execute(tx)
}

/** @throws NOT_FOUND */
export async function fetchMerge(on: Queryable, id: number): Promise<Merge> {
  const [merge] = await mergesWhere(on, sql`where m.id = ${existing('batch', id)}`)
  if (!merge) throw missing('batch', id)
  return merge
}

interface MergeRow {
  id: number
  item: { id: number; name: string; ref: string; market: Market }
  into_item: number
  into_name: string
  into_ref: string
  into_market: Market
  moved: Record<MovedKind, number>
  author: string
  at: Date
  undone_by: string | null
  undone_at: Date | null
}

/** Merges `m` as operators see them. */
export async function mergesWhere(on: Queryable, which: RawBuilder<unknown>): Promise<Merge[]> {
  // A survivor that was itself merged later is described by the merge that emptied it.
  const { rows } = await sql<MergeRow>`
    select m.id, m.item, m.into_item, coalesce(i.name, n.item->>'name') as into_name, coalesce(i.ref, n.item->>'ref') as into_ref,
      coalesce(i.market, n.item->>'market') as into_market, m.moved, m.author, m.at, m.undone_by, m.undone_at
    from merges m left join items i on i.id = m.into_item left join merges n on n.from_item = m.into_item and n.undone_at is null
    ${which}`.execute(on)
  return rows.map(({ item, moved, ...row }) => ({
    id: row.id,
    batch_id: row.id,
    from: { id: item.id, name: item.name, ref: item.ref, market: item.market },
    into: { id: row.into_item, name: row.into_name, ref: row.into_ref, market: row.into_market },
    moved: Object.fromEntries(MOVED_KINDS.map((kind) => [kind, moved[kind]])) as Record<MovedKind, number>,
    author: row.author,
    at: row.at.toISOString(),
    undone_by: row.undone_by,
    undone_at: row.undone_at?.toISOString() ?? null,
  }))
}
