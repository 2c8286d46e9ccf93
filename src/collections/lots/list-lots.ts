// The lots and the disposals of a record, each with its cost, rest and gain.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { minorToNumber } from '#core/money.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import type { Queryable } from '#db/schema.ts'
import { fetchRecord } from '../records/store.ts'
import { numberOf } from '../worth.ts'
import { figuresCtx, firstLots } from './figures-ctx.ts'
import type { Disposal, Lot, LotReadCtx } from './lot-types.ts'
import { conversionTo, CurrencyField, type Money } from './moneys.ts'
import { type DisposalFigures, type LotFigures, recordFigures, type RecordFigures, unrealisedOf } from './record-figures.ts'
import { historiesOf } from './stored-history.ts'

const Input = Type.Object({ id: id('collection'), itemId: id('record'), currency: CurrencyField })

export const listCollectionLots = verb(
  { name: 'listCollectionLots', needs: OPERATION_PLAN.listCollectionLots, input: Input },
  async (ctx: LotReadCtx, { id: collectionId, itemId: recordId, currency: money = 'TRY' }): Promise<Lot[]> => {
    const { lots } = await readFigures(ctx.db.kysely, ctx, collectionId, recordId, money)
    return lots.map((lot) => lotResponse(lot, money))
  },
)

export const listCollectionDisposals = verb(
  { name: 'listCollectionDisposals', needs: OPERATION_PLAN.listCollectionDisposals, input: Input },
  async (ctx: LotReadCtx, { id: collectionId, itemId: recordId, currency: money = 'TRY' }): Promise<Disposal[]> => {
    const { disposals } = await readFigures(ctx.db.kysely, ctx, collectionId, recordId, money)
    return disposals.map((disposal) => disposalResponse(disposal, money))
  },
)

/** The figures of a record of the caller. @throws NOT_FOUND, CONFLICT */
export async function readFigures(on: Queryable, ctx: LotReadCtx, collectionId: number, recordId: number, money: Money): Promise<RecordFigures> {
  await fetchRecord(on, ctx.viewer, collectionId, recordId)
  const figures = { ...(await figuresCtx(on, ctx, collectionId)), conversion: await conversionTo(on, ctx.catalogue.rates, money) }
  const [history] = await historiesOf(on, firstLots(ctx), [recordId])
  // The record may have been removed in the meantime.
  return history ? recordFigures(figures, history) : { ...NOTHING }
}

const NOTHING: RecordFigures = { lots: [], disposals: [], price: null, value: null, withoutCost: false, withoutRate: false }

/** A lot as responses show it. */
export function lotResponse(lot: LotFigures, money: Money): Lot {
  const { flow, restCost, value } = lot
  const { stored } = flow
  const known = flow.cost !== null
  return {
    id: stored.id,
    acquired_at: stored.day,
    quantity: stored.quantity,
    unit_cost: numberOrNull(stored.unitCost),
    fees: minorToNumber(Number(stored.fees)),
    currency: stored.currency,
    source: stored.source,
    money,
    cost: numberOrNull(flow.cost),
    rest: lot.rest,
    rest_cost: numberOrNull(restCost),
    realised: known ? numberOf(lot.realised) : null,
    value: numberOrNull(value),
    gain: known ? numberOf(lot.realised + (unrealisedOf(lot) ?? 0n)) : null,
  }
}

/** A disposal as responses show it. */
export function disposalResponse(disposal: DisposalFigures, money: Money): Disposal {
  const { flow, unknown } = disposal
  const { stored } = flow
  const known = unknown < stored.quantity
  return {
    id: stored.id,
    at: stored.day,
    quantity: stored.quantity,
    gross: minorToNumber(Number(stored.gross)),
    fees: minorToNumber(Number(stored.fees)),
    shipping: minorToNumber(Number(stored.shipping)),
    currency: stored.currency,
    order_id: stored.orderId,
    line: stored.line,
    returned_at: stored.returnedDay,
    money,
    net: numberOrNull(flow.proceeds),
    cost: known ? numberOf(disposal.cost) : null,
    realised: known ? numberOf(disposal.realised) : null,
    without_cost: unknown,
  }
}

function numberOrNull(minor: bigint | null): number | null {
  return minor === null ? null : numberOf(minor)
}
