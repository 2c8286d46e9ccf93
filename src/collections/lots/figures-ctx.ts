// Prepares the computation of figures for a collection of the caller.
import { existing } from '#core/fields.ts'
import { localDay } from '#core/time.ts'
import type { Queryable } from '#db/schema.ts'
import { requireCollection } from '../records/store.ts'
import { costCurrency } from '../worth.ts'
import type { LotReadCtx } from './lot-types.ts'
import type { FiguresCtx } from './record-figures.ts'
import type { FirstLots } from './stored-history.ts'

/** The current day of the service. */
export function todayOf({ now, market }: Pick<LotReadCtx, 'now' | 'market'>): string {
  return localDay(now(), market.timeZone)
}

/** Currency and time zone of first lots. */
export function firstLots(ctx: Pick<LotReadCtx, 'currencies' | 'market'>): FirstLots {
  return { currency: costCurrency(ctx), timeZone: ctx.market.timeZone }
}

/** What the figures of a collection's records have in common in all moneys, as of today. @throws NOT_FOUND, CONFLICT */
export async function figuresCtx(on: Queryable, ctx: LotReadCtx, collectionId: number): Promise<Omit<FiguresCtx, 'conversion'>> {
  await requireCollection(on, ctx.viewer, collectionId)
  const { method } = await on
    .selectFrom('collections')
    .select('method')
    .where('id', '=', existing('collection', collectionId))
    .executeTakeFirstOrThrow()
  const today = todayOf(ctx)
  return { ...ctx, method, until: today, today }
}
