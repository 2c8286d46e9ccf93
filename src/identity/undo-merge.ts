// Undoes a merge: what it moved goes back, what came in since stays with the survivor.
import { CatalogueNames, composeAgain } from '#catalogue/compose-items.ts'
import { existing, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type WriteCtx } from '#db/change.ts'
import { decidePairs, decidingRecords } from './decisions.ts'
import { fetchMerge, type Merge } from './stored-merges.ts'
import { undoMerges } from './undo.ts'

export const undoMerge = verb(
  { name: 'undoMerge', needs: 'operator', input: Type.Object({ id: id('batch') }, { additionalProperties: false }) },
  (ctx: WriteCtx, { id }) =>
    change(ctx, async (tx, note): Promise<Merge> => {
      await undoMerges(ctx, tx, note, [existing('batch', id)])
      const merge = await fetchMerge(tx, id)
      const items = [merge.from.id, merge.into.id]
      const records = await decidingRecords(tx, items)
      const [one, other] = items.map((item) => records.get(item))
      if (one && other && one !== other) await decidePairs(tx, 'apart', [[one, other]], actorOf(ctx.viewer))
      await composeAgain(tx, note, new CatalogueNames(tx), items)
      return merge
    }),
)
