// Current worth of records: the price for the grade, cost and gain; exact, and never across currencies.
import { yieldBetweenChunks } from '#catalogue/snapshot/load.ts'
import { MARKETS, type Market } from '#core/markets.ts'
import { minorToNumber, parseMinor } from '#core/money.ts'
import { localTime } from '#core/time.ts'
import { copyOut, int4At, minorAt, readBinaryCopy } from '#db/copy.ts'
import type { Queryable } from '#db/schema.ts'
import { RepeatedTexts } from '#index/vocabulary.ts'
import type { PriceState } from '#prices/evidence/evidence-types.ts'
import { recordOf, type RecordRow } from './records/store.ts'
import type { PricingCtx, ValuedRecord, Worth } from './records/types.ts'

/** A price of a record's copies. */
export interface FittingPrice {
  market: Market
  label: string
  currency: string
  minor: number
  updatedAtMs: number
  /** whether it may be used in calculations: only if `trusted` */
  state: PriceState
}

/** Cards without a grade of their own use Near Mint prices if there are no prices for ungraded cards. */
const UNGRADED = 'Ungraded'
const NEAR_MINT = 'Near Mint'
/** Added to the rank of prices that are not trusted; beyond every other rank. */
const DOUBTED = 1_000

/** Why a record has no value: no market has a price for its grade, or none is trusted; then the state of the first one. */
export type Missing = 'no_price' | Exclude<PriceState, 'trusted'>

/**
 * The price for a grade: from the service's own market first, then from the market that the item shows, then from the others in their order.
 * Prices of other grades are never used. One that is not trusted is returned only if no other fits; null if none fits.
 */
export function fittingPrice({ catalogue, currencies, mayUse = () => true }: PricingCtx, itemId: number, grade: string | null): FittingPrice | null {
  const { items, labels } = catalogue
  const row = items.rowOf(itemId)
  if (row < 0) return null
  const { prices } = items
  const [first, second] = grade === null || grade === UNGRADED ? [UNGRADED, NEAR_MINT] : [grade, null]
  const firstId = labels.ofLabel(first)?.id
  const secondId = second === null ? undefined : labels.ofLabel(second)?.id
  const shown = items.shown[row]!
  let found = -1
  let leastRank = Infinity
  for (let at = prices.start(row), end = at + prices.count(row); at < end; at += 1) {
    const labelId = prices.label[at]!
    if (labelId !== firstId && labelId !== secondId) continue
    const market = prices.market[at]!
    if (!mayUse(market)) continue
    const place = market === 0 ? 0 : market === shown ? 1 : 2 + catalogue.marketOrder.indexOf(market)
    const rank = (prices.isTrusted(at) ? 0 : DOUBTED) + place * 2 + (labelId === firstId ? 0 : 1)
    if (rank >= leastRank) continue
    found = at
    leastRank = rank
  }
  if (found < 0) return null
  const code = MARKETS[prices.market[found]!]!
  return {
    market: code,
    label: prices.label[found] === firstId ? first : second!,
    currency: currencies[code],
    minor: prices.minor[found]!,
    updatedAtMs: prices.updatedAtMs.at(found),
    state: prices.state(found),
  }
}

/** The current trusted price for a grade, found as by `fittingPrice`. */
export function priceForGrade(ctx: PricingCtx, itemId: number, grade: string | null): FittingPrice | Missing {
  const price = fittingPrice(ctx, itemId, grade)
  if (!price) return 'no_price'
  return price.state === 'trusted' ? price : price.state
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
    value_missing: typeof found !== 'string' ? null : found === 'no_price' ? found : 'not_trusted',
    cost: cost === null ? null : { currency: own, amount: numberOf(cost) },
    gain: cost === null || !price || price.currency !== own ? null : { currency: own, amount: numberOf(amount! - cost) },
  }
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
  const own = costCurrency(ctx)
  const byCurrency = new Map<string, Sums>()
  const sumsOf = (currency: string): Sums => {
    let sums = byCurrency.get(currency)
    if (!sums) byCurrency.set(currency, (sums = { value: 0n, cost: 0n, gain: null }))
    return sums
  }
  const missing = { no_price: 0, not_trusted: 0 }
  let withoutCost = 0
  await readHeldRecords(ctx.db.kysely, collectionId, (itemId, groupLabel, quantity, purchasePrice) => {
    const copies = BigInt(quantity)
    const cost = purchasePrice === null ? null : BigInt(purchasePrice) * copies
    if (cost === null) withoutCost += 1
    else sumsOf(own).cost += cost
    const price = priceForGrade(ctx, itemId, groupLabel)
    if (typeof price === 'string') {
      missing[price === 'no_price' ? price : 'not_trusted'] += 1
      return
    }
    const value = BigInt(price.minor) * copies
    const sums = sumsOf(price.currency)
    sums.value += value
    if (cost !== null && price.currency === own) sums.gain = (sums.gain ?? 0n) + value - cost
  })
  return {
    currencies: [...byCurrency].map(([currency, sums]) => ({ currency, ...sums })).sort(currencyOrder(own)),
    without_price: missing.no_price,
    without_trusted_price: missing.not_trusted,
    without_cost: withoutCost,
  }
}

type TakeRecord = (itemId: number, groupLabel: string | null, quantity: number, purchasePriceMinor: number | null) => void

/** Streams the records of a collection that have copies. Summing them here takes less time than grouping them in the database. */
async function readHeldRecords(on: Queryable, collectionId: number, take: TakeRecord): Promise<void> {
  const chunks = copyOut(
    on,
    `copy (
      select r.item_id, g.name, r.quantity, r.purchase_price from collection_items r left join groups g on g.id = r.grade_id
      where r.collection_id = ${collectionId} and r.quantity > 0
    ) to stdout (format binary)`,
  )
  const labels = new RepeatedTexts()
  await readBinaryCopy(yieldBetweenChunks(chunks), (buffer, offsets, lengths) => {
    const label = lengths[1]! < 0 ? null : labels.textOf(buffer, offsets[1]!, offsets[1]! + lengths[1]!)
    take(int4At(buffer, offsets[0]!), label, int4At(buffer, offsets[2]!), lengths[3]! < 0 ? null : minorAt(buffer, offsets[3]!))
  })
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
    isRawJSON(value: unknown): boolean
  }
}

/** The JSON number of an amount. Amounts that a double cannot represent to the cent are written digit by digit. */
export function numberOf(minor: bigint): number {
  if (minor >= -BigInt(Number.MAX_SAFE_INTEGER) && minor <= BigInt(Number.MAX_SAFE_INTEGER)) return minorToNumber(Number(minor))
  return JSON.rawJSON(decimalOfMinor(minor)) as unknown as number
}

/** Minor units as exact decimal text. */
export function decimalOfMinor(minor: bigint): string {
  const digits = String(minor < 0n ? -minor : minor).padStart(3, '0')
  return `${minor < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
