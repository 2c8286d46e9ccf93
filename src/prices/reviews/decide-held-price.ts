// Accepts or discards one held price.
import { conflict, invalid } from '#core/errors.ts'
import { boundedId, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { liveItemId } from '#db/live-item.ts'
import type { Tx } from '#db/schema.ts'
import { decide, fetchHeld, type HeldPrice } from '../writing/held.ts'
import type { PriceWriteCtx } from '../records/price-types.ts'

export const acceptHeldPrice = verb(
  {
    name: 'acceptHeldPrice',
    needs: 'catalogue',
    input: Type.Object({
      id: id('held price'),
      item_id: boundedId('Item to publish the price for, if several items share the foreign id'),
    }),
  },
  (ctx: PriceWriteCtx, { id, item_id: itemId }) => decideOne(ctx, id, 'accepted', itemId),
)

export const discardHeldPrice = verb(
  { name: 'discardHeldPrice', needs: 'catalogue', input: Type.Object({ id: id('held price') }) },
  (ctx: PriceWriteCtx, { id }) => decideOne(ctx, id, 'discarded'),
)

function decideOne(ctx: PriceWriteCtx, id: number, decision: 'accepted' | 'discarded', itemId?: number): Promise<HeldPrice> {
  return change(ctx, async (tx, note) => {
    const before = await fetchHeld(tx, id)
    const liveId = itemId === undefined ? undefined : await itemOf(tx, itemId)
    if ((await decide(ctx, tx, note, decision, { ids: [id], itemId: liveId })) === 0) {
      const { state } = await fetchHeld(tx, id)
      throw conflict('already', { thing: 'held price', state })
    }
    const after = await fetchHeld(tx, id)
    note.audit({ action: `held-price.${decision === 'accepted' ? 'accept' : 'discard'}`, subject: 'held-price', id, before, after })
    return after
  })
}

async function itemOf(tx: Tx, id: number): Promise<number> {
  const liveId = await liveItemId(tx, id)
  if (liveId === null) throw invalid('item_id', 'unknown_id', { thing: 'item', id })
  return liveId
}
