// Current worth of records: the price for the grade, cost and gain; exact, and never across currencies.
import { sql } from 'kysely'
import { MARKETS, type Market } from '#core/markets.ts'
import { minorToNumber, parseMinor } from '#core/money.ts'
import { localTime } from '#core/time.ts'
import { recordOf, type RecordRow } from './records/store.ts'
import type { PricingCtx, ValuedRecord, Worth } from './records/types.ts'

interface FittingPrice {
  market: Market
  label: string
  currency: string
  minor: number
  updatedAtMs: number
}

/** Cards without a grade of their own use Near Mint prices if there are no prices for ungraded cards. */
const UNGRADED = 'Ungraded'
const NEAR_MINT = 'Near Mint'

/** Why a record has no value: no market has a price for its grade, or none is trusted. */
type Missing = 'no_price' | 'not_trusted'

/**
 * The current trusted price for a grade: from the service's own market first, then from the market that the
 * item shows, then from the others in their order. Prices of other grades are never used.
 */
export function priceForGrade(
  { catalogue, currencies, mayUse = () => true }: PricingCtx,
  itemId: number,
  grade: string | null,
): FittingPrice | Missing {
  const { items, labels } = catalogue
  const row = items.rowOf(itemId)
  if (row < 0) return 'no_price'
  let missing: Missing = 'no_price'
  const wanted = grade === null || grade === UNGRADED ? [UNGRADED, NEAR_MINT] : [grade]
  for (const market of new Set([0, items.shown[row]!, ...catalogue.marketOrder])) {
    if (!mayUse(market)) continue
    for (const label of wanted) {
      const labelId = labels.ofLabel(label)?.id
      const at = labelId === undefined ? -1 : items.prices.find(row, market, labelId)
      if (at < 0) continue
      if (!items.prices.isTrusted(at)) {
        missing = 'not_trusted'
        continue
      }
      const code = MARKETS[market]!
      const { minor, updatedAtMs } = items.prices
      return { market: code, label, currency: currencies[code], minor: minor[at]!, updatedAtMs: updatedAtMs[at]! }
    }
  }
  return missing
}

/** Purchase and sale prices are in the currency of the service's own market. */
export function costCurrency({ currencies }: Pick<PricingCtx, 'currencies'>): string {
  return currencies.service
}

/** The record with its value, cost and gain. */
export function recordWithValue(ctx: PricingCtx, row: RecordRow): ValuedRecord {
  const found = priceForGrade(ctx, row.item_id, row.group_label)
  const price = typeof found === 'string' ? null : found
  const own = costCurrency(ctx)
  const cost = row.purchase_price === null ? null : BigInt(parseMinor(row.purchase_price)!) * BigInt(row.quantity)
  const amount = price && BigInt(price.minor) * BigInt(row.quantity)
  return {
    ...recordOf(row),
    value: price && {
      market: price.market,
      label: price.label,
      currency: price.currency,
      price: minorToNumber(price.minor),
      amount: numberOf(amount!),
      updated_at: localTime(new Date(price.updatedAtMs), ctx.market.timeZone),
    },
    value_missing: typeof found === 'string' ? found : null,
    cost: cost === null ? null : { currency: own, amount: numberOf(cost) },
    gain: cost === null || !price || price.currency !== own ? null : { currency: own, amount: numberOf(amount! - cost) },
  }
}

interface HeldRecords {
  item_id: number
  group_label: string | null
  records: number
  quantity: number
  /** records and copies with a purchase price, and their total cost as exact decimal text */
  bought_records: number
  bought: number
  cost: string | null
}

interface Sums {
  value: bigint
  cost: bigint
  /** of the records that have a value and a cost; null if there is none */
  gain: bigint | null
}

/** The worth of a collection, in minor units. */
export interface ExactWorth extends Omit<Worth, 'currencies'> {
  /** the currency of costs first, the others by code */
  currencies: (Sums & { currency: string })[]
}

/** A collection's current worth, summed by currency. */
export async function worthOf(ctx: PricingCtx, collectionId: number): Promise<ExactWorth> {
  const { rows } = await sql<HeldRecords>`
    select r.item_id, g.name as group_label, count(*)::int4 as records, sum(r.quantity) as quantity,
           count(r.purchase_price)::int4 as bought_records,
           coalesce(sum(r.quantity) filter (where r.purchase_price is not null), 0) as bought,
           sum(r.quantity * r.purchase_price) as cost
    from collection_items r left join groups g on g.id = r.grade_id
    where r.collection_id = ${collectionId} group by r.item_id, g.name`.execute(ctx.db.kysely)
  const own = costCurrency(ctx)
  const byCurrency = new Map<string, Sums>()
  const sumsOf = (currency: string): Sums => {
    let sums = byCurrency.get(currency)
    if (!sums) byCurrency.set(currency, (sums = { value: 0n, cost: 0n, gain: null }))
    return sums
  }
  const missing: Record<Missing, number> = { no_price: 0, not_trusted: 0 }
  let withoutCost = 0
  for (const held of rows) {
    withoutCost += held.records - held.bought_records
    const cost = held.cost === null ? null : minorOfDecimal(held.cost)
    if (cost !== null) sumsOf(own).cost += cost
    const price = priceForGrade(ctx, held.item_id, held.group_label)
    if (typeof price === 'string') {
      missing[price] += held.records
      continue
    }
    const sums = sumsOf(price.currency)
    sums.value += BigInt(price.minor) * BigInt(held.quantity)
    if (cost !== null && price.currency === own) {
      sums.gain = (sums.gain ?? 0n) + BigInt(price.minor) * BigInt(held.bought) - cost
    }
  }
  return {
    currencies: [...byCurrency].map(([currency, sums]) => ({ currency, ...sums })).sort(currencyOrder(own)),
    without_price: missing.no_price,
    without_trusted_price: missing.not_trusted,
    without_cost: withoutCost,
  }
}

/** The order of currencies: the currency of costs first, the others by code. */
export function currencyOrder(own: string) {
  return ({ currency: a }: { currency: string }, { currency: b }: { currency: string }) => (a === own ? -1 : b === own ? 1 : a < b ? -1 : 1)
}

/** The worth as responses show it. */
export function worthResponse({ currencies, ...counts }: ExactWorth): Worth {
  const shown = currencies.map(({ currency, value, cost, gain }) => ({
    currency,
    value: numberOf(value),
    cost: numberOf(cost),
    gain: gain === null ? null : numberOf(gain),
  }))
  return { currencies: shown, ...counts }
}

/** Converts exact decimal text with two decimals to minor units. */
export function minorOfDecimal(decimal: string): bigint {
  return BigInt(decimal.replace('.', ''))
}

declare global {
  interface JSON {
    /** Returns a value that serialises as this text; since ECMAScript 2026. */
    rawJSON(text: string): object
  }
}

/** The JSON number of an amount. Amounts that a double cannot represent to the cent are written digit by digit. */
function numberOf(minor: bigint): number {
  if (minor >= -BigInt(Number.MAX_SAFE_INTEGER) && minor <= BigInt(Number.MAX_SAFE_INTEGER)) return minorToNumber(Number(minor))
  return JSON.rawJSON(decimalOfMinor(minor)) as unknown as number
}

/** Minor units as exact decimal text. */
export function decimalOfMinor(minor: bigint): string {
  const digits = String(minor < 0n ? -minor : minor).padStart(3, '0')
  return `${minor < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
