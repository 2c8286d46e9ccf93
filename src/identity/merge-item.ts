// Merges an item into another one; its id means the survivor from then on.
import { invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { liveItemId } from '#db/live-item.ts'
import { mergeItems } from './merge.ts'
import { fetchMerge, type Merge } from './stored-merges.ts'

export const mergeItem = verb(
  {
    name: 'mergeItem',
    needs: 'operator',
    input: Type.Object(
      { id: id('item'), into: Type.Integer({ description: 'Id of the item that survives and gets everything' }) },
      { additionalProperties: false },
    ),
  },
  (ctx: WriteCtx, { id, into }) =>
    change(ctx, async (tx, note): Promise<Merge> => {
      if ((await liveItemId(tx, into)) === null) throw invalid([{ field: 'into', message: 'must be the id of an item' }])
      const [mergeId] = await mergeItems(ctx, tx, note, [{ from: id, into }])
      return fetchMerge(tx, mergeId!)
    }),
)
