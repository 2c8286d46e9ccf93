// Lists shop ids and figures shared by several items, to be corrected in the catalogue or at the source.
import { sql } from 'kysely'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { listVerb } from '#core/paging.ts'
import { orNull } from '#core/fields.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { countIn } from '#db/page.ts'
import { IDENTICAL } from '../records/current.ts'
import { shopSources } from '../judging/shared-ids.ts'

const SharedItem = Type.Object({ id: Type.Integer(), name: Type.String(), ref: Type.String() })

export const SharedIdSchema = Type.Object(
  {
    kind: Type.Enum(['foreign_id', 'figures'], {
      description: '`foreign_id`: a shop id shared by several items; `figures`: identical price figures',
    }),
    source: Type.String({ description: 'The shop, or the market of the prices' }),
    foreign_id: orNull(Type.String()),
    finish: orNull(Type.String()),
    price: orNull(Type.Number()),
    items: Type.Array(SharedItem),
  },
  { title: 'SharedId' },
)
export type SharedId = Static<typeof SharedIdSchema>

export const listSharedIds = listVerb(
  {
    name: 'listSharedIds',
    needs: 'operator',
    filters: {
      kind: Type.Optional(Type.Enum(['foreign_id', 'figures'])),
      source: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Only this shop or market' })),
    },
    perPage: 100,
  },
  async ({ db }: ReadCtx, { kind, source }, { limit, offset }) => {
    const on = db.kysely
    const from = sql`from (
      select 'foreign_id' as kind, source, foreign_id, finish, null::numeric as price, array_agg(item_id order by item_id) as ids
      from item_foreign_ids where source = any(${shopSources}) group by source, foreign_id, finish having count(*) > 1
      union all
      select 'figures', (${[...MARKETS]}::text[])[market + 1], null, null, price, array_agg(item_id order by item_id)
      from prices where flags & ${sql.lit(IDENTICAL)} <> 0
      group by market, label_id, price, avg_1, avg_7, avg_30, low, mid, high
    ) s where kind = coalesce(${kind ?? null}::text, kind) and source = coalesce(${source ?? null}::text, source)`
    const total = await countIn(on, from)
    const { rows } = await sql<SharedId>`
      select kind, source, foreign_id, finish, price::float8 as price, (
        select coalesce(jsonb_agg(jsonb_build_object('id', i.id, 'name', i.name, 'ref', i.ref) order by i.id), '[]')
        from items i where i.id = any(s.ids)
      ) as items
      ${from} order by kind, source, foreign_id, s.price desc, finish, ids limit ${limit} offset ${offset}`.execute(on)
    return { rows, total }
  },
)
