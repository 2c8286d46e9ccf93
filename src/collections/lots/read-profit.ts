// The profit of a collection: realised and unrealised gains, fees and the yearly rate, in one money or several.
import { invalid } from '#core/errors.ts'
import { day, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { MARKETS, type Market } from '#core/markets.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { runInSlices } from '#core/yield-to-event-loop.ts'
import { numberOf } from '../worth.ts'
import { figuresCtx, firstLots } from './figures-ctx.ts'
import { internalRate } from './internal-rate.ts'
import type { LotReadCtx, Profit, ProfitInMoney } from './lot-types.ts'
import { type Conversion, conversionTo, CurrencyField, type Money, MoneysField } from './moneys.ts'
import { addToRanking, noRanking, rankedRecords, type Ranking } from './ranking.ts'
import { type FiguresCtx, type LotFigures, priceOfCopies, recordFigures, type RecordFigures, unrealisedOf } from './record-figures.ts'
import { historiesAfter } from './stored-history.ts'

/** Records per query: the event loop reads nothing else while a larger result arrives. */
const RECORDS_AT_ONCE = 5_000

export const readCollectionProfit = verb(
  {
    name: 'readCollectionProfit',
    needs: OPERATION_PLAN.readCollectionProfit,
    input: Type.Object({
      id: id('collection'),
      currency: CurrencyField,
      moneys: MoneysField,
      until: Type.Optional(day('Last day whose purchases, disposals and returns count; default: today')),
    }),
  },
  async (ctx: LotReadCtx, { id: collectionId, currency = 'TRY', moneys, until }): Promise<Profit> => {
    const profits = await readProfits(ctx, collectionId, new Set([currency, ...(moneys ?? [])]), until)
    return { ...profits.get(currency)!, moneys: moneys ? [...new Set(moneys)].map((money) => profits.get(money)!) : null }
  },
)

/** The profits of a collection in some moneys, from one reading of its records. */
async function readProfits(ctx: LotReadCtx, collectionId: number, moneys: Set<Money>, until: string | undefined): Promise<Map<Money, ProfitInMoney>> {
  const { kysely } = ctx.db
  const asOfToday = await figuresCtx(kysely, ctx, collectionId)
  if (until !== undefined && until > asOfToday.today) throw invalid('until', 'not_in_future')
  const common = { ...asOfToday, until: until ?? asOfToday.today }
  const profits: { figures: FiguresCtx; sums: Sums }[] = []
  for (const money of moneys) {
    profits.push({ figures: { ...common, conversion: await conversionTo(kysely, ctx.catalogue.rates, money) }, sums: noSums() })
  }
  const readAfter = (lastId: number) => historiesAfter(kysely, firstLots(ctx), collectionId, lastId, RECORDS_AT_ONCE)
  for (let reading = readAfter(0); ; ) {
    const histories = await reading
    const hasMore = histories.length === RECORDS_AT_ONCE
    // The database reads the next records meanwhile; an error is thrown when they are awaited.
    if (hasMore) (reading = readAfter(histories.at(-1)!.id)).catch(() => {})
    await runInSlices(histories.length, (from, to) => {
      for (let n = from; n < to; n += 1) {
        const history = histories[n]!
        const price = priceOfCopies(common, history)
        for (const { figures, sums } of profits) {
          const record = recordFigures(figures, history, price)
          addRecord(sums, record, figures)
          addToRanking(sums.ranking, history.id, gainOf(record))
        }
      }
    })
    if (!hasMore) break
  }
  const inMoneys = new Map<Money, ProfitInMoney>()
  for (const { figures, sums } of profits) {
    inMoneys.set(figures.conversion.money, { ...profitResponse(sums, figures), ...(await rankedRecords(kysely, sums.ranking)) })
  }
  return inMoneys
}

interface Sums {
  realised: bigint
  unrealised: bigint
  fees: bigint
  cost: bigint
  value: bigint
  /** by day: received less paid */
  flows: Map<string, bigint>
  /** the flows on the last day that are not among these */
  lastFlow: bigint
  basis: Map<Market, { records: number; value: bigint }>
  priced: number
  missing: { no_price: number; disputed: number; unproven: number; stale: number }
  withoutCost: number
  withoutRate: number
  ranking: Ranking
}

function noSums(): Sums {
  return {
    realised: 0n,
    unrealised: 0n,
    fees: 0n,
    cost: 0n,
    value: 0n,
    flows: new Map(),
    lastFlow: 0n,
    basis: new Map(),
    priced: 0,
    missing: { no_price: 0, disputed: 0, unproven: 0, stale: 0 },
    withoutCost: 0,
    withoutRate: 0,
    ranking: noRanking(),
  }
}

/** The part of a record in the gain of its collection. */
function gainOf({ lots }: RecordFigures): bigint {
  return lots.reduce((sum, lot) => sum + lot.realised + (unrealisedOf(lot) ?? 0n), 0n)
}

function addRecord(sums: Sums, record: RecordFigures, { conversion }: FiguresCtx): void {
  const { lots, disposals, price, value, withoutCost, withoutRate } = record
  for (const lot of lots) {
    sums.realised += lot.realised
    sums.unrealised += unrealisedOf(lot) ?? 0n
    sums.cost += lot.restCost ?? 0n
    if (lot.acquired) sums.fees += feesIn(conversion, lot.flow.stored.fees, lot.flow.stored)
  }
  for (const { flow, returned } of disposals) {
    if (!returned) sums.fees += feesIn(conversion, flow.stored.fees + flow.stored.shipping, flow.stored)
  }
  addFlows(sums, record)
  sums.withoutCost += Number(withoutCost)
  sums.withoutRate += Number(withoutRate)
  if (price === null) return
  if (typeof price === 'string') {
    sums.missing[price] += 1
    return
  }
  sums.priced += 1
  if (value === null) return
  sums.value += value
  const ofMarket = sums.basis.get(price.market) ?? { records: 0, value: 0n }
  sums.basis.set(price.market, { records: ofMarket.records + 1, value: ofMarket.value + value })
}

function feesIn({ convert }: Conversion, fees: bigint, { currency, day: of }: { currency: string; day: string }): bigint {
  return fees === 0n ? 0n : (convert(fees, currency, of) ?? 0n)
}

/** Adds the dated flows of the copies that are in a gain, so that they add up to it. A refunded sale has no flows. */
function addFlows(sums: Sums, { lots, disposals }: RecordFigures): void {
  const complete = lots.every((lot) => lot.acquired && lot.restCost !== null && lot.value !== null) && disposals.every(({ unknown }) => unknown === 0)
  for (const lot of lots) {
    if (lot.restCost === null) continue
    const cost = complete ? lot.flow.cost! : costInGain(lot)
    // Lots that were acquired later than their copies were disposed of count on the last day.
    if (lot.acquired) addFlow(sums.flows, lot.flow.day, -cost)
    else sums.lastFlow -= cost
    if (lot.value !== null) sums.lastFlow += lot.value
  }
  for (const { flow, returned, proceeds } of disposals) if (!returned) addFlow(sums.flows, flow.day, proceeds)
}

function addFlow(flows: Map<string, bigint>, day: string, amount: bigint): void {
  if (amount !== 0n) flows.set(day, (flows.get(day) ?? 0n) + amount)
}

function costInGain({ soldCost, restCost, value }: LotFigures): bigint {
  return value === null ? soldCost : soldCost + restCost!
}

function profitResponse(sums: Sums, { method, conversion, until, today }: FiguresCtx): Omit<ProfitInMoney, 'best' | 'worst'> {
  const isPast = until < today
  addFlow(sums.flows, until, sums.lastFlow)
  const { no_price: unpriced, disputed, unproven, stale } = sums.missing
  return {
    method,
    currency: conversion.money,
    until,
    realised: numberOf(sums.realised),
    unrealised: isPast ? null : numberOf(sums.unrealised),
    fees: numberOf(sums.fees),
    cost: numberOf(sums.cost),
    value: isPast ? null : numberOf(sums.value),
    xirr: isPast ? null : internalRate(sums.flows),
    basis: MARKETS.flatMap((market) => {
      const found = sums.basis.get(market)
      return found ? [{ kind: 'trusted_price' as const, market, records: found.records, value: numberOf(found.value) }] : []
    }),
    cpi_month: conversion.cpiMonth,
    priced: sums.priced,
    unpriced,
    disputed,
    unproven,
    stale,
    without_cost: sums.withoutCost,
    without_rate: sums.withoutRate,
  }
}
