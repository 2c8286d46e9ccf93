// The caller's parked rows: listed, made a listing of the item that the caller chose, or discarded.
import { ServiceError } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Reason, textOf } from '#core/problems.ts'
import { localTime } from '#core/time.ts'
import { ownAccount } from '#core/verb.ts'
import { change, type ReadCtx, type WriteCtx } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { parkedPage } from '#intake/parked.ts'
import { addListings } from '../listings/add-listings.ts'
import { QUEUED } from '../records/rules.ts'
import { requireLiveItem } from '../references.ts'
import type { MarketCtx } from '../marketplace-types.ts'
import { listingOf } from './import-listings.ts'
import type { IntakeEntry } from './read-rows.ts'
import { lockIntake, takeParked } from './store.ts'
import type { IntakeCtx, ParkedListing, PlacedListing } from './types.ts'

const COLUMNS = ['id', 'line', 'entry', 'rule', 'params', 'candidates', 'parked_at'] as const

export const listParkedListings = listVerb(
  { name: 'listParkedListings', needs: OPERATION_PLAN.listParkedListings },
  ({ db, viewer, market: { timeZone } }: ReadCtx & Pick<MarketCtx, 'market'>, _all, range) => {
    const own = db.kysely.selectFrom('parked_listings').where('account_id', '=', ownAccount(viewer))
    return parkedPage(
      db.kysely,
      own.select(COLUMNS).orderBy('id'),
      range,
      ({ id, line, entry, rule, params, candidates, parked_at }): ParkedListing => {
        const { item, sku, grade, fields } = entry as IntakeEntry
        const { name, number, set, finish } = item
        return {
          id,
          line,
          sku,
          name,
          number,
          set,
          finish,
          grade,
          title: fields.title ?? null,
          price: fields.price,
          quantity: fields.quantity ?? 1,
          why: { message: textOf({ rule, params } as Reason), rule, params: params as Record<string, unknown> },
          candidates,
          parked_at: localTime(parked_at, timeZone),
        }
      },
    )
  },
)

export const placeParkedListing = writeVerb(
  {
    name: 'placeParkedListing',
    needs: OPERATION_PLAN.placeParkedListing,
    input: Type.Object({ id: id('parked row'), item_id: Type.Integer({ description: 'Item to use for the row' }) }),
  },
  (ctx: IntakeCtx, { id: parkedId, item_id: itemId }): Promise<PlacedListing> => {
    const sellerId = ownAccount(ctx.viewer)
    return change(ctx, async (tx, note) => {
      await lockIntake(tx, sellerId)
      const entry = await takeParked(tx, sellerId, parkedId)
      const row = ctx.catalogue.items.rowOf(itemId)
      const live = requireLiveItem(new Map(row < 0 ? [] : [[itemId, ctx.catalogue.items.id[row]!]]), itemId)
      const [added] = await addListings(tx, note, { sellerId, now: ctx.now() }, [listingOf(ctx.catalogue, entry, live)])
      if (added instanceof ServiceError) throw added
      return { id: added!.id, title: added!.title, status: QUEUED }
    })
  },
)

export const dropParkedListing = writeVerb(
  {
    name: 'dropParkedListing',
    needs: OPERATION_PLAN.dropParkedListing,
    input: Type.Object({ id: id('parked row') }),
  },
  (ctx: WriteCtx, { id: parkedId }): Promise<void> => {
    const accountId = ownAccount(ctx.viewer)
    return change(ctx, async (tx, note) => {
      const before = await takeParked(tx, accountId, parkedId)
      note.audit({ action: 'parked_listing.drop', subject: 'parked_listing', id: parkedId, before })
    })
  },
)
