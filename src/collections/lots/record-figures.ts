// What the copies of one record cost, brought in and are worth, in one money.
import { type FittingPrice, type Missing, priceForGrade } from '../worth.ts'
import type { Method, PricingCtx } from '../records/types.ts'
import type { Conversion } from './moneys.ts'
import { type DisposalFlow, type LotFlow, settle, shareOf, type SettledDisposal, type SettledLot } from './settle.ts'
import type { RecordHistory, StoredDisposal, StoredLot } from './stored-history.ts'

/** How the figures of records are computed. */
export interface FiguresCtx extends PricingCtx {
  method: Method
  conversion: Conversion
  /** last day whose flows count */
  until: string
  today: string
}

/** A lot in one money. */
interface OwnLot extends LotFlow {
  stored: StoredLot
}

/** A disposal in one money. */
interface OwnDisposal extends DisposalFlow {
  stored: StoredDisposal
}

export interface LotFigures extends SettledLot<OwnLot> {
  /** of the copies left; null if they have no trusted price, and on earlier days */
  value: bigint | null
}

export type DisposalFigures = SettledDisposal<OwnDisposal>

/** Figures of a record, in minor units of the money. */
export interface RecordFigures {
  lots: LotFigures[]
  disposals: DisposalFigures[]
  /** the price of the copies left, or why there is none; null on earlier days and without copies */
  price: FittingPrice | Missing | null
  /** of all copies left; null without a price */
  value: bigint | null
  withoutCost: boolean
  /** whether an amount could not be converted */
  withoutRate: boolean
}

/** The price of a record's copies, or why there is none; null on days before today. */
export function priceOfCopies(
  ctx: PricingCtx & Pick<FiguresCtx, 'until' | 'today'>,
  { itemId, groupLabel }: RecordHistory,
): FittingPrice | Missing | null {
  return ctx.until < ctx.today ? null : priceForGrade(ctx, itemId, groupLabel)
}

/** Computes the figures of a record, by the price of its copies. Copies of unknown cost are in no gain. */
export function recordFigures(ctx: FiguresCtx, history: RecordHistory, priceOfCopy = priceOfCopies(ctx, history)): RecordFigures {
  const { conversion, until } = ctx
  const settled = settle(ctx.method, flowsOf(history, conversion), until)
  const rest = settled.lots.reduce((sum, lot) => sum + lot.rest, 0)
  const price = rest === 0 ? null : priceOfCopy
  const value = price === null || typeof price === 'string' ? null : conversion.convert(BigInt(price.minor) * BigInt(rest), price.currency, ctx.today)
  let withoutCost = false
  let withoutRate = (price !== null && typeof price !== 'string' && value === null) || settled.disposals.some(({ flow }) => flow.proceeds === null)
  for (const { flow, acquired } of settled.lots) {
    if (!acquired || flow.cost !== null) continue
    if (unitCostOf(flow.stored) === null) withoutCost = true
    else withoutRate = true
  }
  return { lots: withValues(settled.lots, value, rest), disposals: settled.disposals, price, value, withoutCost, withoutRate }
}

/** The flows of a record in one money. */
export function flowsOf(
  { lots, disposals }: Pick<RecordHistory, 'lots' | 'disposals'>,
  conversion: Conversion,
): { lots: OwnLot[]; disposals: OwnDisposal[] } {
  return {
    lots: lots.map((stored) => ({ id: stored.id, day: stored.day, quantity: stored.quantity, cost: costOf(stored, conversion), stored })),
    disposals: disposals.map((stored) => {
      const { id, day, returnedDay, quantity } = stored
      return { id, day, returnedDay, quantity, proceeds: netOf(stored, conversion), stored }
    }),
  }
}

/** Copies from packs and gifts cost nothing unless a cost is stated. */
function unitCostOf({ unitCost, source }: StoredLot): bigint | null {
  return unitCost ?? (source === 'pulled' || source === 'gift' ? 0n : null)
}

function costOf(stored: StoredLot, { convert }: Conversion): bigint | null {
  const unit = unitCostOf(stored)
  return unit === null ? null : convert(unit * BigInt(stored.quantity) + stored.fees, stored.currency, stored.day)
}

function netOf({ gross, fees, shipping, currency, day }: StoredDisposal, { convert }: Conversion): bigint | null {
  return convert(gross - fees - shipping, currency, day)
}

/** Adds to the lots their parts of the value of all copies; that of lots without copies left is 0. */
function withValues(lots: SettledLot<OwnLot>[], value: bigint | null, rest: number): LotFigures[] {
  let before = 0
  return lots.map((lot) => {
    const from = before
    before += lot.rest
    return Object.assign(lot, { value: lot.rest === 0 ? 0n : value && shareOf(value, from, before, rest) })
  })
}

/** Value less cost of the copies left of a lot; null if either is unknown. */
export function unrealisedOf({ value, restCost }: Pick<LotFigures, 'value' | 'restCost'>): bigint | null {
  return value === null || restCost === null ? null : value - restCost
}
