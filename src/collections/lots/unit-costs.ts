// What a copy left of a record costs on average, for comparing it with the price that the record is sold at.
import { sql } from 'kysely'
import type { CatalogueNode } from '#catalogue/context.ts'
import { scaled } from '#core/money.ts'
import { readInParts, runInSlices } from '#core/yield-to-event-loop.ts'
import type { Queryable } from '#db/schema.ts'
import type { Method } from '../records/types.ts'
import { firstLots, todayOf } from './figures-ctx.ts'
import { type Conversion, conversionBy } from './moneys.ts'
import { flowsOf } from './record-figures.ts'
import { settle } from './settle.ts'
import { historiesOf, type RecordHistory } from './stored-history.ts'

type CostCtx = CatalogueNode & { market: { timeZone: string }; now: () => Date }

/**
 * In kuruş, by record: the mean cost of the copies left, each converted at the rate of its own day, as in profits. Copies of unknown cost do not count;
 * records without any other are missing.
 */
export async function unitCosts(on: Queryable, ctx: CostCtx, recordIds: readonly number[]): Promise<Map<number, number>> {
  const costs = new Map<number, number>()
  const ids = [...new Set(recordIds)]
  const first = firstLots({ currencies: ctx.catalogue.currencies, market: ctx.market })
  const conversion = conversionBy(ctx.catalogue.rates, 'TRY', null)
  const until = todayOf(ctx)
  const methods = new Map(await readInParts(ids, (part) => methodsOf(on, part)))
  const histories = await readInParts(ids, (part) => historiesOf(on, first, part))
  await runInSlices(histories.length, (from, to) => {
    for (const history of histories.slice(from, to)) {
      const cost = meanCost(history, { method: methods.get(history.id)!, conversion, until })
      if (cost !== null) costs.set(history.id, Number(cost))
    }
  })
  return costs
}

function meanCost(history: RecordHistory, { method, conversion, until }: { method: Method; conversion: Conversion; until: string }): bigint | null {
  const settled = settle(method, flowsOf(history, conversion), until)
  let [copies, cost] = [0, 0n]
  for (const { rest, restCost } of settled.lots) {
    if (restCost === null) continue
    copies += rest
    cost += restCost
  }
  return copies === 0 ? null : scaled(cost, 1n, BigInt(copies))
}

async function methodsOf(on: Queryable, recordIds: readonly number[]): Promise<[number, Method][]> {
  const rows = await on
    .selectFrom('collection_items as r')
    .innerJoin('collections as c', 'c.id', 'r.collection_id')
    .select(['r.id', 'c.method'])
    .where('r.id', '=', sql<number>`any(${[...recordIds]}::int4[])`)
    .execute()
  return rows.map(({ id, method }) => [id, method as Method])
}
