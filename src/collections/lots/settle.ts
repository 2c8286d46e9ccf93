// The cost of copies that were disposed of, by FIFO or by the average of the pool: one record's flows in one currency, exact to the minor unit.
import { scaled } from '#core/money.ts'
import type { Method } from '../records/types.ts'

/** Copies acquired together. */
export interface LotFlow {
  /** null: the record's own first lot */
  id: number | null
  /** YYYY-MM-DD */
  day: string
  quantity: number
  /** of all copies, with fees; null if unknown */
  cost: bigint | null
}

/** Copies disposed of together. */
export interface DisposalFlow {
  id: number
  day: string
  /** when all of them came back; null if they did not */
  returnedDay: string | null
  quantity: number
  /** for all copies, less fees; null if unknown */
  proceeds: bigint | null
}

export interface SettledLot<Flow extends LotFlow = LotFlow> {
  flow: Flow
  /** whether it was acquired by the last day; its copies may be disposed of earlier */
  acquired: boolean
  /** of its copies with a gain that were disposed of */
  soldCost: bigint
  realised: bigint
  /** copies left */
  rest: number
  /** of the copies left; null if unknown */
  restCost: bigint | null
}

export interface SettledDisposal<Flow extends DisposalFlow = DisposalFlow> {
  flow: Flow
  returned: boolean
  /** copies whose cost or proceeds are unknown: they are in none of the amounts */
  unknown: number
  cost: bigint
  /** of the copies with a gain */
  proceeds: bigint
  realised: bigint
}

/** Lots in the order in which their copies are disposed of; disposals in the order of their days. */
export interface Settlement<Lot extends LotFlow = LotFlow, Disposal extends DisposalFlow = DisposalFlow> {
  lots: SettledLot<Lot>[]
  disposals: SettledDisposal<Disposal>[]
}

/** Copies `from` to `to` (exclusive) of a lot. */
interface Parcel {
  lot: number
  from: number
  to: number
}

/** A parcel that was disposed of, with its cost. */
interface Piece extends Parcel {
  cost: bigint | null
}

interface Stock {
  method: Method
  lots: readonly LotFlow[]
  /** copies at hand, oldest first */
  parcels: Parcel[]
  /** number of lots acquired so far */
  acquired: number
  /** by lot: copies that were disposed of before the lot was acquired */
  early: number[]
  /** copies at hand whose cost is known */
  pool: { copies: bigint; cost: bigint }
}

/** A disposal with the pieces that it took. */
interface Taken {
  flow: DisposalFlow
  pieces: Piece[]
  missing: number
  returned: boolean
}

/**
 * Settles the flows of a record up to and including a day.
 *
 * FIFO: copy `n` of a lot costs the difference between `n` and `n - 1` shares of the lot's cost. Average: a disposal takes its share of the pool's cost,
 * and the rest stays in the pool. With both, copies leave the oldest lots first; copies disposed of before they were acquired come from the next lots.
 * Copies that come back are again the first ones, at the cost at which they left, and gains before that day stay as they are.
 */
export function settle<Lot extends LotFlow, Disposal extends DisposalFlow>(
  method: Method,
  flows: { lots: readonly Lot[]; disposals: readonly Disposal[] },
  until: string,
): Settlement<Lot, Disposal> {
  // Most records: nothing was divided yet.
  if (flows.disposals.length === 0 && flows.lots.length === 1) return { lots: [undivided(flows.lots[0]!, until)], disposals: [] }
  const lots = flows.lots.toSorted(byDay)
  const stock: Stock = { method, lots, parcels: [], acquired: 0, early: lots.map(() => 0), pool: { copies: 0n, cost: 0n } }
  const taken: Taken[] = []
  for (const step of stepsOf(flows.disposals, until)) {
    acquireUntil(stock, step.day)
    if (!step.isReturn) taken.push(dispose(stock, step.flow))
    else comeBack(stock, taken, step.flow)
  }
  acquireUntil(stock, until)
  // The flows are the same objects.
  return settlementOf(stock, taken) as Settlement<Lot, Disposal>
}

function undivided<Lot extends LotFlow>(flow: Lot, until: string): SettledLot<Lot> {
  const acquired = flow.day <= until
  const restCost = acquired || flow.cost === null ? flow.cost : 0n
  return { flow, acquired, soldCost: 0n, realised: 0n, rest: acquired ? flow.quantity : 0, restCost }
}

interface Step {
  day: string
  isReturn: boolean
  flow: DisposalFlow
}

/** Disposals and returns in their order; on the same day, disposals first. */
function stepsOf(disposals: readonly DisposalFlow[], until: string): Step[] {
  const steps = disposals.flatMap((flow): Step[] => [
    { day: flow.day, isReturn: false, flow },
    ...(flow.returnedDay === null ? [] : [{ day: flow.returnedDay, isReturn: true, flow }]),
  ])
  return steps
    .filter(({ day }) => day <= until)
    .sort((a, b) => compare(a.day, b.day) || Number(a.isReturn) - Number(b.isReturn) || a.flow.id - b.flow.id)
}

/** The order of lots, and of disposals: by day; the record's own first lot, which has no id, comes first on its day. */
export function byDay(a: { day: string; id: number | null }, b: { day: string; id: number | null }): number {
  return compare(a.day, b.day) || (a.id ?? 0) - (b.id ?? 0)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function acquireUntil(stock: Stock, day: string): void {
  for (; stock.acquired < stock.lots.length && stock.lots[stock.acquired]!.day <= day; stock.acquired += 1) {
    const lot = stock.acquired
    const parcel = { lot, from: stock.early[lot]!, to: stock.lots[lot]!.quantity }
    if (parcel.from < parcel.to) putIn(stock, { ...parcel, cost: costOf(stock.lots[lot]!, parcel) })
  }
}

/** The cost of a lot's copies; copy by copy, so that it does not depend on how the lot was divided. */
function costOf({ cost, quantity }: LotFlow, { from, to }: Pick<Parcel, 'from' | 'to'>): bigint | null {
  if (cost === null) return null
  return shareOf(cost, from, to, quantity)
}

/** The share of copies `from` to `to` in an amount for `all` copies; the shares of all copies add up to the amount. */
export function shareOf(amount: bigint, from: number, to: number, all: number): bigint {
  if (from === 0 && to === all) return amount
  return scaled(amount, BigInt(to), BigInt(all)) - scaled(amount, BigInt(from), BigInt(all))
}

function putIn({ parcels, pool }: Stock, { cost, ...parcel }: Piece): void {
  const at = parcels.findIndex(({ lot, from }) => lot > parcel.lot || (lot === parcel.lot && from > parcel.from))
  if (at < 0) parcels.push(parcel)
  else parcels.splice(at, 0, parcel)
  if (cost === null) return
  pool.copies += BigInt(sizeOf(parcel))
  pool.cost += cost
}

function dispose(stock: Stock, flow: DisposalFlow): Taken {
  const pieces = take(stock, flow.quantity)
  return { flow, pieces, missing: flow.quantity - copiesIn(pieces), returned: false }
}

/** Puts the copies of a disposal back, and gives them to earlier disposals that found too few. */
function comeBack(stock: Stock, taken: readonly Taken[], flow: DisposalFlow): void {
  const back = taken.find((one) => one.flow === flow)!
  for (const piece of back.pieces) putIn(stock, piece)
  back.returned = true
  back.missing = 0
  for (const late of taken) {
    if (late.missing === 0) continue
    const pieces = take(stock, late.missing)
    late.pieces.push(...pieces)
    late.missing -= copiesIn(pieces)
  }
}

/** Takes copies, oldest first: those at hand, then those of the next lots. */
function take(stock: Stock, count: number): Piece[] {
  const pieces = takeAtHand(stock, count)
  let missing = count - copiesIn(pieces)
  for (let lot = stock.acquired; missing > 0 && lot < stock.lots.length; lot += 1) {
    const from = stock.early[lot]!
    const to = Math.min(stock.lots[lot]!.quantity, from + missing)
    if (to === from) continue
    pieces.push({ lot, from, to, cost: costOf(stock.lots[lot]!, { from, to }) })
    stock.early[lot] = to
    missing -= to - from
  }
  return pieces
}

function takeAtHand({ method, lots, parcels, pool }: Stock, count: number): Piece[] {
  const pieces: Piece[] = []
  for (let missing = count; missing > 0 && parcels.length > 0; ) {
    const first = parcels[0]!
    const to = Math.min(first.to, first.from + missing)
    pieces.push({ lot: first.lot, from: first.from, to, cost: costOf(lots[first.lot]!, { from: first.from, to }) })
    missing -= to - first.from
    if (to === first.to) parcels.shift()
    else first.from = to
  }
  const priced = pieces.filter(({ cost }) => cost !== null)
  const copies = BigInt(copiesIn(priced))
  if (copies === 0n) return pieces
  if (method === 'average') divide(scaled(pool.cost, copies, pool.copies), priced)
  pool.copies -= copies
  pool.cost -= priced.reduce((sum, { cost }) => sum + cost!, 0n)
  return pieces
}

/** Divides an amount among pieces by their copies. */
function divide(amount: bigint, pieces: { from: number; to: number; cost: bigint | null }[]): void {
  const all = copiesIn(pieces)
  let before = 0
  for (const piece of pieces) {
    piece.cost = shareOf(amount, before, before + sizeOf(piece), all)
    before += sizeOf(piece)
  }
}

function sizeOf({ from, to }: Pick<Parcel, 'from' | 'to'>): number {
  return to - from
}

function copiesIn(parcels: readonly Pick<Parcel, 'from' | 'to'>[]): number {
  return parcels.reduce((sum, parcel) => sum + sizeOf(parcel), 0)
}

function settlementOf(stock: Stock, taken: readonly Taken[]): Settlement {
  const lots = stock.lots.map(
    (flow, i): SettledLot => ({
      flow,
      acquired: i < stock.acquired,
      soldCost: 0n,
      realised: 0n,
      rest: 0,
      restCost: flow.cost === null ? null : 0n,
    }),
  )
  const disposals = taken.map((one) => settledDisposal(one, lots))
  const left = stock.parcels.map((parcel) => ({ ...parcel, cost: costOf(stock.lots[parcel.lot]!, parcel) }))
  const priced = left.filter(({ cost }) => cost !== null)
  if (stock.method === 'average' && priced.length > 0) divide(stock.pool.cost, priced)
  for (const { lot: at, cost, ...parcel } of left) {
    const lot = lots[at]!
    lot.rest += sizeOf(parcel)
    if (cost !== null) lot.restCost! += cost
  }
  return { lots, disposals }
}

/** A disposal with its gain, which is also added to the lots of its copies. */
function settledDisposal({ flow, pieces, missing, returned }: Taken, lots: SettledLot[]): SettledDisposal {
  const settled: SettledDisposal = { flow, returned, unknown: 0, cost: 0n, proceeds: 0n, realised: 0n }
  if (returned) return settled
  settled.unknown = missing
  let before = 0
  for (const { lot: at, cost, ...parcel } of pieces) {
    const size = sizeOf(parcel)
    const from = before
    before += size
    if (cost === null || flow.proceeds === null) {
      settled.unknown += size
      continue
    }
    const proceeds = shareOf(flow.proceeds, from, before, flow.quantity)
    const lot = lots[at]!
    lot.soldCost += cost
    lot.realised += proceeds - cost
    settled.cost += cost
    settled.proceeds += proceeds
    settled.realised += proceeds - cost
  }
  return settled
}
