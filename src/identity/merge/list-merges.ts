// Merges of items, newest first.
import { sql } from 'kysely'
import { idForSql } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { countIn, where, withTotal } from '#db/page.ts'
import { MERGE_STATES, mergesWhere } from './stored-merges.ts'

export const listMerges = listVerb(
  {
    name: 'listMerges',
    needs: 'operator',
    filters: {
      item_id: Type.Optional(Type.Integer({ description: 'Only merges from or into this item' })),
      state: Type.Optional(Type.Enum([...MERGE_STATES])),
    },
  },
  ({ db }: ReadCtx, { item_id: itemId, state }, { limit, offset }) => {
    const matching = where(
      itemId !== undefined && sql`${idForSql(itemId)} in (m.from_item, m.into_item)`,
      state !== undefined && sql`m.undone_at is ${state === 'undone' ? sql`not null` : sql`null`}`,
    )
    const rows = mergesWhere(db.kysely, sql`${matching} order by m.id desc limit ${limit} offset ${offset}`)
    return withTotal(rows, countIn(db.kysely, sql`from merges m ${matching}`))
  },
)
