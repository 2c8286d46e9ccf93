// Reverts a merge, by moving everything back and keeping the items apart, or a split, by merging the split item back.
import { sql } from 'kysely'
import { CatalogueNames, recompose } from '#catalogue/items/compose-items.ts'
import { lockIdentity } from '#catalogue/records/identity-lock.ts'
import { conflict } from '#core/errors.ts'
import { existing, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { type Batch, fetchBatch } from './merge/batches.ts'
import { decidePairs, decidingRecords, type EndedJoin, type Pair, withdrawPairs } from './records/decisions.ts'
import type { World } from './records/game-records.ts'
import { mergeItems } from './merge/merge.ts'
import { settle } from './merge/settle.ts'
import { undoMerges } from './merge/undo.ts'

export const revertBatch = verb({ name: 'revertBatch', needs: 'catalogue', input: Type.Object({ id: id('batch') }) }, (ctx: PriceWriteCtx, { id }) =>
  change(ctx, async (tx, note): Promise<Batch> => {
    await lockIdentity(tx)
    const split = await tx.selectFrom('splits').selectAll().where('id', '=', existing('batch', id)).executeTakeFirst()
    if (split) await revertSplit(ctx, tx, note, split)
    else await revertMerge(ctx, tx, note, id)
    return fetchBatch(tx, id)
  }),
)

async function revertMerge(ctx: PriceWriteCtx, tx: Tx, note: Note, id: number): Promise<void> {
  await undoMerges(ctx, tx, note, [id])
  const { from, into } = await fetchBatch(tx, id)
  const items = [from.id, into.id]
  const records = await decidingRecords(tx, items)
  const [one, other] = items.map((item) => records.get(item))
  if (one && other && one !== other) await decidePairs(tx, 'apart', [[one, other]], actorOf(ctx.viewer), ctx.now())
  await recompose(tx, note, new CatalogueNames(tx), items)
}

interface Split {
  id: number
  item_id: number
  split_item: number
  pairs: object
  ended: object
  reverted_at: Date | null
}

async function revertSplit(ctx: PriceWriteCtx, tx: Tx, note: Note, split: Split): Promise<void> {
  const { id, item_id: into, split_item: from } = split
  if (split.reverted_at) throw conflict('batch_reverted', { id })
  await sql`update splits set reverted_by = ${actorOf(ctx.viewer)}, reverted_at = ${ctx.now()} where id = ${id}`.execute(tx)
  await withdrawPairs(tx, 'apart', split.pairs as Pair[])
  for (const { a, b, author } of split.ended as EndedJoin[]) await decidePairs(tx, 'same', [[a, b]], author, ctx.now())
  const { rows: worlds } = await sql<World>`
    select distinct r.game, r.world from item_sources s join source_records r on r.id = s.record_id where s.item_id = ${from} and r.active`.execute(
    tx,
  )
  await mergeItems(ctx, tx, note, [{ from, into }])
  // Recomposes the item's other finishes, so that they get their facts back as well.
  for (const world of worlds) await settle(ctx, tx, note, world, { importId: null, touched: new Set() })
  await recompose(tx, note, new CatalogueNames(tx), [into])
}
