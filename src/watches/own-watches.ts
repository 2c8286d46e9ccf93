// Reads and deletes an account's own watches.
import { id, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import { localDay } from '#core/time.ts'
import { ownAccount, verb } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import type { MarketWriteCtx } from '#market/marketplace-types.ts'
import { WATCH_KINDS } from '#webhooks/events/event-body.ts'
import { findWatch, pageOfWatches, removeWatches } from './watch-store.ts'
import type { Watch } from './watch-types.ts'

type WatchReadCtx = Pick<MarketWriteCtx, 'db' | 'viewer' | 'market'>

/** The caller's watches, newest first. */
export const listWatches = listVerb(
  {
    name: 'listWatches',
    needs: OPERATION_PLAN.listWatches,
    filters: {
      kind: Type.Optional(Type.Enum([...WATCH_KINDS], { description: 'Only watches of this kind' })),
      item_id: Type.Optional(Type.Integer({ description: 'Only watches of this item' })),
      collection_id: Type.Optional(Type.Integer({ description: 'Only watches of goals of this collection' })),
    },
  },
  ({ db, viewer, market }: WatchReadCtx, { kind, item_id: itemId, collection_id: collectionId }, range) =>
    pageOfWatches(db.kysely, { accountId: ownAccount(viewer), zone: market.timeZone, kind, itemId, collectionId }, range),
)

export const getWatch = verb(
  { name: 'getWatch', needs: OPERATION_PLAN.getWatch, input: Type.Object({ id: id('watch') }) },
  ({ db, viewer, market }: WatchReadCtx, input): Promise<Watch> => findWatch(db.kysely, ownAccount(viewer), market.timeZone, input.id),
)

export const deleteWatch = writeVerb(
  { name: 'deleteWatch', needs: OPERATION_PLAN.deleteWatch, input: Type.Object({ id: id('watch') }) },
  async (ctx: MarketWriteCtx, input): Promise<{ message: MessageText }> => {
    if ((await remove(ctx, input.id)) === 0) throw missing('watch', input.id)
    return { message: 'Watch deleted' }
  },
)

export const deleteWatches = writeVerb(
  { name: 'deleteWatches', needs: OPERATION_PLAN.deleteWatches, input: Type.Object({}) },
  async (ctx: MarketWriteCtx): Promise<{ message: MessageText }> => {
    const count = await remove(ctx, null)
    return { message: count === 1 ? 'Watch deleted' : 'Watches deleted' }
  },
)

/** @param watchId null: all */
function remove(ctx: MarketWriteCtx, watchId: number | null): Promise<number> {
  const accountId = ownAccount(ctx.viewer)
  return change(ctx, async (tx, note) => {
    const removed = await removeWatches(tx, accountId, watchId, localDay(ctx.now(), ctx.market.timeZone))
    const of = watchId === null ? ({ subject: 'account', id: accountId } as const) : ({ subject: 'watch', id: watchId } as const)
    if (removed > 0) note.audit({ action: 'watch.delete', ...of, before: { watches: removed } })
    return removed
  })
}
