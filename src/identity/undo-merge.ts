// Undoes a merge: what it moved goes back, what came in since stays with the survivor.
import { existing, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { fetchMerge, type Merge } from './stored-merges.ts'
import { undoMerges } from './undo.ts'

export const undoMerge = verb(
  { name: 'undoMerge', needs: 'operator', input: Type.Object({ id: id('merge') }, { additionalProperties: false }) },
  (ctx: WriteCtx, { id }) =>
    change(ctx, async (tx, note): Promise<Merge> => {
      await undoMerges(ctx, tx, note, [existing('merge', id)])
      return fetchMerge(tx, id)
    }),
)
