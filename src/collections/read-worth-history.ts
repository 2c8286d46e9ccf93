// The worth of a collection on each recorded day, oldest first.
import { day, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { localTime } from '#core/time.ts'
import { verb } from '#core/verb.ts'
import { requireCollection } from './records/store.ts'
import type { CollectionReadCtx, WorthDay } from './records/types.ts'
import { currencyOrder, costCurrency, worthResponse } from './worth.ts'
import { worthDaysOf } from './worth-store.ts'

export const MAX_DAYS = 1_000

export const readWorthHistory = verb(
  {
    name: 'readWorthHistory',
    needs: OPERATION_PLAN.readWorthHistory,
    input: Type.Object({
      id: id('collection'),
      from: Type.Optional(day('First day, inclusive')),
      to: Type.Optional(day('Last day, inclusive')),
    }),
  },
  async (ctx: CollectionReadCtx, { id: collectionId, from, to }): Promise<WorthDay[]> => {
    await requireCollection(ctx.db.kysely, ctx.viewer, collectionId)
    const days = await worthDaysOf(ctx.db.kysely, { collectionId, from, to }, MAX_DAYS)
    const order = currencyOrder(costCurrency(ctx))
    return days.map(({ day: of, at, ...worth }) => ({
      day: of,
      at: localTime(at, ctx.market.timeZone),
      ...worthResponse({ ...worth, currencies: worth.currencies.sort(order) }),
    }))
  },
)
