// The references of a listing: its seller, its item and its grade, and the prices that it is compared with.
import { sql } from 'kysely'
import { refuseErased } from '#accounts/account-store.ts'
import type { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { invalid } from '#core/errors.ts'
import { parseLabel } from '#core/labels.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import { minorToNumber, parseMinor } from '#core/money.ts'
import { liveItemIds } from '#db/live-item.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { STATES } from '#prices/evidence/evidence-types.ts'
import type { Rates } from '#prices/rates/rates.ts'
import type { ListingRow } from './listing-store.ts'

const MAX_ID = 2 ** 31 - 1

/** @throws VALIDATION_ERROR */
export async function checkSeller(tx: Tx, id: number): Promise<void> {
  const seller = await tx.selectFrom('accounts').select('id').where('id', '=', possible(id)).executeTakeFirst()
  if (!seller) throw invalid('seller_id', 'unknown_id', { thing: 'account', id })
  await refuseErased(tx, id)
}

/** The current id for an item id, which a merge may have replaced. @throws VALIDATION_ERROR */
export async function itemOf(tx: Tx, id: number): Promise<number> {
  return requireLiveItem(await liveItemIds(tx, [id]), id)
}

/** The same, from the result of `liveItemIds`. */
export function requireLiveItem(live: ReadonlyMap<number, number>, id: number): number {
  const liveId = live.get(id)
  if (liveId === undefined) throw invalid('item_id', 'unknown_id', { thing: 'item', id })
  return liveId
}

/**
 * The label of a grade: its own, or Near Mint's for ungraded cards without a stated condition.
 * @throws VALIDATION_ERROR for an unknown id
 */
export async function labelOfGrade(tx: Tx, gradeId: number | null): Promise<number> {
  const types = tx.selectFrom('groups as t').innerJoin('groups as g', 'g.id', 't.parent_id').select(['t.id', 't.slug', 'g.slug as group'])
  if (gradeId !== null) {
    const grade = await types.where('t.id', '=', possible(gradeId)).executeTakeFirst()
    if (!grade) throw invalid('grade_id', 'type_id')
    if (grade.group !== 'ungraded' || grade.slug !== 'ungraded') return grade.id
  }
  const nearMint = await types.where('g.slug', '=', 'ungraded').where('t.slug', '=', 'near-mint').executeTakeFirstOrThrow()
  return nearMint.id
}

/** Id of a condition or grade in any spelling; null if the catalogue does not have it. */
export function gradeIdOf({ labels }: Catalogue, grade: string): number | null {
  return labels.ofLabel(parseLabel(grade)?.label ?? grade)?.id ?? null
}

/** The id for SQL; an id outside the range of the column becomes one that no row has. */
function possible(id: number): number {
  return id >= 1 && id <= MAX_ID ? id : 0
}

/** A price of the item and label of a listing, to compare the listing's price with. */
export interface ReferencePrice {
  market: Market
  state: (typeof STATES)[number]
  price: number
  currency: string
  /** when the price was last set or confirmed, UTC */
  confirmed_at: string
  /** exchange rate of the price: Turkish lira per unit of its currency; null for lira, and if no rate is known */
  rate: { rate: number; day: string } | null
  /** in TL; null if the price cannot be converted */
  price_try: number | null
  /** price of the listing ÷ `price_try` in hundredths as `pc_multiplier`; null if the price is not trusted */
  ratio: number | null
}

interface Comparing {
  nowMs: number
  rates: Rates
  currencies: Readonly<Record<Market, string>>
  order: readonly Market[]
}

/** Prices that listings are compared with, by listing id, in the order of `order`. */
export async function referencePrices(
  on: Queryable,
  listings: readonly Pick<ListingRow, 'id' | 'item_id' | 'label_id' | 'price'>[],
  { nowMs, rates, currencies, order }: Comparing,
): Promise<Map<number, ReferencePrice[]>> {
  const { rows } = await sql<{ id: number; kurus: string; market: number; price: string; confirmed_at: Date; state: number }>`
    select l.id, l.kurus, p.market, p.price, greatest(p.updated_at, p.confirmed_at) as confirmed_at, p.state
    from unnest(${listings.map(({ id }) => id)}::int4[], ${listings.map((row) => row.item_id)}::int4[],
      ${listings.map((row) => row.label_id)}::int4[], ${listings.map(({ price }) => price)}::text[]) as l(id, item_id, label_id, kurus)
    join prices p using (item_id, label_id)`.execute(on)
  const rank = (market: Market) => (order.includes(market) ? order.indexOf(market) : order.length + MARKETS.indexOf(market))
  const found = rows.map(({ id, kurus, market: position, price, confirmed_at: confirmedAt, state: code }) => {
    const market = MARKETS[position]!
    const currency = currencies[market]
    const state = STATES[code]!
    const converted = rates.convert(parseMinor(price)!, currency, 'TRY', nowMs)
    const rate = currency === 'TRY' ? null : rates.on(currency, nowMs)
    const reference: ReferencePrice = {
      market,
      state,
      price: Number(price),
      currency,
      confirmed_at: confirmedAt.toISOString(),
      rate: rate && { rate: rate.lira, day: rate.day },
      price_try: converted === null ? null : minorToNumber(converted),
      ratio: converted === null || state !== TRUSTED ? null : Math.round((parseMinor(kurus)! * 100) / converted) / 100,
    }
    return { id, reference }
  })
  found.sort((a, b) => rank(a.reference.market) - rank(b.reference.market))
  return new Map([...Map.groupBy(found, ({ id }) => id)].map(([id, of]) => [id, of.map(({ reference }) => reference)]))
}

const TRUSTED = 'trusted' satisfies (typeof STATES)[number]
