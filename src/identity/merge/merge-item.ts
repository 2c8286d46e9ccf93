// Merges an item into another one; afterwards, its id redirects to the survivor.
import { adoptItems } from '#catalogue/items/adopt-items.ts'
import { CatalogueNames, recompose } from '#catalogue/items/compose-items.ts'
import { lockIdentity } from '#catalogue/records/identity-lock.ts'
import { invalid } from '#core/errors.ts'
import { existing, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, executeDryRun } from '#db/changes/change.ts'
import { liveItemId } from '#db/live-item.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { decidePairs, decidingRecords } from '../records/decisions.ts'
import { mergeItems } from './merge.ts'
import { fetchMerge, type Merge } from './stored-merges.ts'

export const mergeItem = verb(
  {
    name: 'mergeItem',
    needs: 'catalogue',
    input: Type.Object({
      id: id('item'),
      into: Type.Integer({ description: 'Id of the item to keep; it receives everything' }),
      dry_run: Type.Optional(Type.Boolean({ description: '`1` changes nothing; `moved` is what the merge would move' })),
    }),
  },
  async (ctx: PriceWriteCtx, { dry_run: dryRun = false, ...pair }): Promise<Merge> =>
    dryRun ? { ...(await executeDryRun(ctx, (_tx, rehearsal) => merge(rehearsal, pair))), dry_run: true } : merge(ctx, pair),
)

function merge(ctx: PriceWriteCtx, { id, into }: { id: number; into: number }): Promise<Merge> {
  return change(ctx, async (tx, note) => {
    if ((await liveItemId(tx, into)) === null) throw invalid('into', 'unknown_id', { thing: 'item', id: into })
    await lockIdentity(tx)
    await adoptItems(tx, note.at, { ids: [existing('item', id), into] })
    const records = await decidingRecords(tx, [id, into])
    const [mergeId] = await mergeItems(ctx, tx, note, [{ from: id, into }])
    const [one, other] = [records.get(id), records.get(into)]
    if (one && other) await decidePairs(tx, 'same', [[one, other]], actorOf(ctx.viewer), note.at)
    const merged = await fetchMerge(tx, mergeId!)
    await recompose(tx, note, new CatalogueNames(tx), [merged.into.id])
    return merged
  })
}
