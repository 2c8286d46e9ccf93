// What best meets a watch: the trusted prices and the visible listings of some items, and the one of them that an event would state.
import { sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import { parseMinor } from '#core/money.ts'
import type { Queryable } from '#db/schema.ts'
import type { MarketSettings } from '#market/marketplace-types.ts'
import { isVisible, joinSellers } from '#market/records/visible-listings.ts'
import { STATES } from '#prices/evidence/evidence-types.ts'
import { loadSourceTerms, marketsFor } from '#prices/records/source-terms.ts'
import type { ItemWatchKind } from '#webhooks/events/event-body.ts'

const TRUSTED = STATES.indexOf('trusted')

/** A market whose prices may be shown, as its position in MARKETS, and its currency. */
interface ShownMarket {
  market: number
  currency: string
}

/** The condition of a watch. */
export interface Condition {
  account_id: number
  kind: ItemWatchKind
  item_id: number
  label_id: number | null
  language: string | null
  currency: string
  amountMinor: number
}

/** A price in a market, or of a listing; the other one is null. */
export interface Stated {
  minor: number
  market: number | null
  listingId: number | null
}

/** What meets a condition. */
export interface Match extends Stated {
  labelId: number
}

interface Offer {
  id: number
  item_id: number
  seller_id: number
  label_id: number
  language: string | null
  minor: number
}

export async function shownMarkets(on: Queryable, { sourceCurrencies }: Pick<MarketSettings, 'sourceCurrencies'>): Promise<ShownMarket[]> {
  return marketsFor(await loadSourceTerms(on), 'show').map((market) => ({ market, currency: sourceCurrencies[MARKETS[market]!] }))
}

/** The prices and listings that the watches of some items are compared with. */
export class Matches {
  readonly #prices: ReadonlyMap<string, Match[]>
  /** cheapest first */
  readonly #offers: ReadonlyMap<number, Offer[]>

  private constructor(prices: ReadonlyMap<string, Match[]>, offers: ReadonlyMap<number, Offer[]>) {
    this.#prices = prices
    this.#offers = offers
  }

  /** Reads the prices of the watched items, and their listings up to the highest watched amount. */
  static async read(on: Queryable, watches: readonly Condition[], markets: readonly ShownMarket[], now: Date): Promise<Matches> {
    const currencies = new Map(markets.map(({ market, currency }) => [market, currency]))
    const priced = new Set(watches.flatMap(({ kind, item_id: item }) => (kind === 'offer_below' ? [] : [item])))
    const highest = new Map<number, number>()
    for (const { kind, item_id: item, amountMinor } of watches)
      if (kind === 'offer_below') highest.set(item, Math.max(amountMinor, highest.get(item) ?? 0))
    const prices = new Map<string, Match[]>()
    for (const { item_id: item, label_id: labelId, market, price } of await trustedPrices(on, [...priced], [...currencies.keys()])) {
      const key = priceKey(item, labelId, currencies.get(market)!)
      const match = { minor: parseMinor(price)!, market, listingId: null, labelId }
      const others = prices.get(key)
      if (others) others.push(match)
      else prices.set(key, [match])
    }
    return new Matches(
      prices,
      Map.groupBy(await visibleOffers(on, highest, now), ({ item_id: item }) => item),
    )
  }

  /** The lowest price or listing for the kinds `_below`, the highest price for `price_above`; null if it does not meet the condition. */
  best(watch: Condition): Match | null {
    const { kind, item_id: item, label_id: labelId, currency, amountMinor, language } = watch
    if (kind === 'offer_below') {
      for (const { id, seller_id: seller, label_id: label, language: spoken, minor } of this.#offers.get(item) ?? []) {
        if (minor > amountMinor) return null
        const fits = (labelId === null || label === labelId) && (language === null || spoken === language)
        if (fits && seller !== watch.account_id) return { minor, market: null, listingId: id, labelId: label }
      }
      return null
    }
    const sign = kind === 'price_below' ? 1 : -1
    let best: Match | null = null
    for (const one of this.#prices.get(priceKey(item, labelId!, currency)) ?? [])
      if (!best || sign * (one.minor - best.minor) < 0 || (one.minor === best.minor && one.market! < best.market!)) best = one
    return best && sign * (best.minor - amountMinor) <= 0 ? best : null
  }
}

function priceKey(itemId: number, labelId: number, currency: string): string {
  return `${itemId} ${labelId} ${currency}`
}

async function trustedPrices(on: Queryable, itemIds: readonly number[], markets: readonly number[]) {
  if (itemIds.length === 0) return []
  const { rows } = await sql<{ item_id: number; label_id: number; market: number; price: string }>`
    select p.item_id, p.label_id, p.market, p.price from unnest(${`{${itemIds.join()}}`}::int4[]) i(id)
    join prices p on p.item_id = i.id and p.state = ${TRUSTED} and p.market = any(${markets}::int2[])`.execute(on)
  return rows
}

/** @param highest amount in kuruş by item */
async function visibleOffers(on: Queryable, highest: ReadonlyMap<number, number>, now: Date): Promise<Offer[]> {
  if (highest.size === 0) return []
  const { rows } = await sql<Offer>`
    select l.id, l.item_id, l.seller_id, l.label_id, lower(l.language) as language, (l.price * 100)::int8 as minor
    from unnest(${`{${[...highest.keys()].join()}}`}::int4[], ${`{${[...highest.values()].join()}}`}::int8[]) i(id, highest)
    join listings l on l.item_id = i.id and l.price * 100 <= i.highest ${joinSellers(now)} where ${isVisible(now)}
    order by l.price, l.id`.execute(on)
  return rows
}

/**
 * Watches that the items' best prices or listings may meet, by the index of their amounts, and those that were met when they were last compared.
 * @returns ids in the order of the items
 */
export async function reachedWatches(on: Queryable, itemIds: readonly number[], markets: readonly ShownMarket[], now: Date): Promise<number[]> {
  const items = sql`unnest(${`{${itemIds.join()}}`}::int4[]) i(id)`
  const shown = sql`unnest(${markets.map(({ market }) => market)}::int2[], ${markets.map(({ currency }) => currency)}::text[]) m (market, currency)`
  const { rows } = await sql<{ id: number }>`
    with priced as materialized (
      select p.item_id, p.label_id, m.currency, min(p.price) as lowest, max(p.price) as highest
      from ${items} join prices p on p.item_id = i.id and p.state = ${TRUSTED} join ${shown} on m.market = p.market
      group by p.item_id, p.label_id, m.currency
    ), offered as materialized (
      select l.item_id, min(l.price) as lowest
      from ${items} join listings l on l.item_id = i.id ${joinSellers(now)} where ${isVisible(now)} group by l.item_id
    ), reached as (
      select w.item_id, w.id from priced b join watches w
        on w.item_id = b.item_id and w.kind = 'price_below' and w.label_id = b.label_id and w.amount >= b.lowest and w.currency = b.currency
      union all
      select w.item_id, w.id from priced b join watches w
        on w.item_id = b.item_id and w.kind = 'price_above' and w.label_id = b.label_id and w.amount <= b.highest and w.currency = b.currency
      union all
      select w.item_id, w.id from offered b join watches w on w.item_id = b.item_id and w.kind = 'offer_below' and w.amount >= b.lowest
      union
      select w.item_id, w.id from ${items} join watches w on w.item_id = i.id and w.told_price is not null
    )
    select id from reached order by item_id, id`.execute(on)
  return rows.map(({ id }) => id)
}
