// Accepts or discards all held prices that match a filter.
import { invalid } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { decide, type HeldFilter } from '../writing/held.ts'
import { HeldFields } from './list-held-prices.ts'
import type { PriceWriteCtx } from '../records/price-types.ts'

const input = Type.Object(HeldFields)

export const acceptHeldPrices = verb({ name: 'acceptHeldPrices', needs: 'catalogue', input }, (ctx: PriceWriteCtx, filter) =>
  decideMany(ctx, filter, 'accepted'),
)

export const discardHeldPrices = verb({ name: 'discardHeldPrices', needs: 'catalogue', input }, (ctx: PriceWriteCtx, filter) =>
  decideMany(ctx, filter, 'discarded'),
)

export interface DecidedCount {
  decided: number
}

function decideMany(ctx: PriceWriteCtx, filter: Omit<HeldFilter, 'state'>, decision: 'accepted' | 'discarded'): Promise<DecidedCount> {
  return change(ctx, async (tx, note) => {
    // Without a filter, one mistaken request would decide every held price.
    if (Object.keys(filter).length === 0) {
      throw invalid('body', 'at_least_one', { fields: ['rule', 'market', 'import_id', 'item_id'] })
    }
    const decided = await decide(ctx, tx, note, decision, filter)
    const action = `held-prices.${decision === 'accepted' ? 'accept' : 'discard'}`
    note.audit({ action, subject: 'held-prices', id: filter.rule ?? 'some', after: { ...filter, decided } })
    return { decided }
  })
}
