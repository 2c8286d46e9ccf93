// The worth of the demo's collections on earlier days, which its worker was not there to record.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { parseMinor } from '#core/money.ts'
import { demoWalk } from '#prices/history/demo-walk.ts'
import type { PricingCtx } from './records/types.ts'
import { costCurrency, currencyOrder, priceForGrade } from './worth.ts'
import { insertWorth, type RecordedWorth } from './worth-store.ts'

/** Days before today with a worth. */
const DAYS = 365

interface OwnedItem {
  item_id: number
  group_label: string | null
  quantity: number
  purchase_price: string | null
  purchase_date: string
}

/** A record with its current price. */
interface PricedItem extends OwnedItem {
  currency: string
  minor: number
}

/** Records the worth of a collection at the end of each day of the last year, from the records that it had and the prices of the history. */
export async function addDemoWorth(ctx: PricingCtx & { now: () => Date }, collectionId: number): Promise<void> {
  const { rows } = await sql<OwnedItem>`
    select r.item_id, g.name as group_label, r.quantity, r.purchase_price, r.purchase_date::text as purchase_date
    from collection_items r left join groups g on g.id = r.grade_id where r.collection_id = ${collectionId} order by r.id`.execute(ctx.db.kysely)
  const priced = rows.flatMap((row): PricedItem[] => {
    const price = priceForGrade(ctx, row.item_id, row.group_label)
    return typeof price === 'string' ? [] : [{ ...row, currency: price.currency, minor: price.minor }]
  })
  const days = Array.from({ length: DAYS }, (_, i) => worthAgo(ctx, priced, DAYS - i)).filter((day) => day.currencies.length > 0)
  await insertWorth(ctx.db.kysely, collectionId, days)
}

function worthAgo(ctx: PricingCtx & { now: () => Date }, records: readonly PricedItem[], ago: number): RecordedWorth {
  const at = new Date(ctx.now().getTime() - ago * DAY_MS)
  const day = at.toISOString().slice(0, 10)
  const own = costCurrency(ctx)
  const sums = new Map<string, { currency: string; value: bigint; cost: bigint; gain: bigint | null }>()
  let withoutCost = 0
  for (const { item_id: itemId, quantity, purchase_price: purchase, purchase_date: bought, currency, minor } of records) {
    if (bought > day) continue
    const sum = sums.get(currency) ?? { currency, value: 0n, cost: 0n, gain: null }
    sums.set(currency, sum)
    const value = BigInt(Math.max(1, Math.round(minor * demoWalk(itemId)[ago]!)) * quantity)
    sum.value += value
    if (purchase === null) withoutCost += 1
    if (purchase === null || currency !== own) continue
    const cost = BigInt(parseMinor(purchase)! * quantity)
    sum.cost += cost
    sum.gain = (sum.gain ?? 0n) + value - cost
  }
  const currencies = [...sums.values()].sort(currencyOrder(own))
  return { day, at, currencies, without_price: 0, without_trusted_price: 0, without_cost: withoutCost }
}
