// Merges of items, newest first.
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { type Merge, MERGE_STATES, pageOfMerges } from './stored-merges.ts'

export const listMerges = verb(
  {
    name: 'listMerges',
    needs: 'operator',
    input: Type.Object(
      {
        item_id: Type.Optional(Type.Integer({ description: 'Only merges from or into this item' })),
        state: Type.Optional(Type.Enum([...MERGE_STATES])),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  (ctx: ReadCtx, input): Promise<Page<Merge>> => readPage(input, (filter, limit, offset) => pageOfMerges(ctx.db.kysely, filter, limit, offset)),
)
