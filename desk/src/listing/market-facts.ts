// What the market says about a card and label: the trusted price in lira, published listings and sales. Read once per card and label.
import { useEffect, useState } from 'preact/hooks'
import { asApiError } from '#ui/data.ts'
import type { ApiError } from '#ui/api.ts'
import type { PriceChart } from '../../../client/src/api.ts'
import { request } from '../api.ts'
import type { Card } from './card.ts'

/** The label of cards without a stated condition or grade. */
export const NEAR_MINT = 'Near Mint'
/** Such cards count as Near Mint. */
const UNGRADED = 'Ungraded'
const CURRENCY = 'TRY'
/** The most that one page of a search returns. */
const MAX_ASKS = 100
const SHOWN_SALES = 3

export interface MarketFacts {
  /** the trusted price in lira and its source; null without one */
  price: { amount: number; market: string } | null
  /** published listings of the card and label by price, cheapest first */
  asks: { id: number; price: number }[]
  /** whether `asks` has all of them */
  isComplete: boolean
  /** the latest sales of a year in lira, newest first */
  sales: { at: string; amount: number }[]
}

const loaded = new Map<string, Promise<MarketFacts>>()

export function labelOf(grade: string | null | undefined): string {
  return !grade || grade === UNGRADED ? NEAR_MINT : grade
}

/** @throws ApiError */
export function loadMarketFacts(card: Card, label: string): Promise<MarketFacts> {
  const key = `${card.id} ${label}`
  let facts = loaded.get(key)
  if (!facts) {
    facts = readMarketFacts(card, label)
    loaded.set(key, facts)
    // The next attempt reads them again.
    facts.catch(() => loaded.delete(key))
  }
  return facts
}

/** Drops what was read, so that the next page shows current figures. */
export function dropMarketFacts(): void {
  loaded.clear()
}

async function readMarketFacts(card: Card, label: string): Promise<MarketFacts> {
  const chart = (range: string) => request('GET', `/items/${card.id}/price-chart`, { query: { label, currency: CURRENCY, range } })
  const listings = request('GET', '/plus/listings', {
    query: { item_id: card.id, sort_by: 'price_low', with_details: 1, per_page: MAX_ASKS },
  })
  // A short range converts the current price by a recent exchange rate.
  const [month, year, found] = await Promise.all([chart('1m'), chart('1y'), listings])
  return {
    price: trustedPrice(month.data, card.market),
    asks: found.data.filter(({ grade }) => labelOf(grade?.label) === label).map(({ id, price }) => ({ id, price })),
    isComplete: found.pagination?.has_more === false,
    sales: (year.data.sales ?? [])
      .slice(-SHOWN_SALES)
      .reverse()
      .map(({ at, amount }) => ({ at, amount })),
  }
}

/** The current trusted price: that of the source whose prices the item shows, otherwise the first in the service's default order of sources. */
function trustedPrice({ series }: PriceChart, shown: Card['market']): MarketFacts['price'] {
  const trusted = series.toReversed().flatMap(({ market, points }) => {
    const { state, converted } = points.at(-1)!
    return state === 'trusted' && converted !== null ? [{ market, amount: converted }] : []
  })
  return trusted.find(({ market }) => market === shown) ?? trusted[0] ?? null
}

/** The place of a price among the published listings, 1 is the cheapest; null if that is not known because there are too many. */
export function rankOf({ asks, isComplete }: MarketFacts, price: number, ownId?: number): number | null {
  const others = asks.filter(({ id }) => id !== ownId)
  const cheaper = others.filter((ask) => ask.price < price).length
  return !isComplete && cheaper === others.length ? null : cheaper + 1
}

export interface LoadedFacts {
  facts: MarketFacts | null
  error: ApiError | null
}

/** The facts about a card and label; null while they load, and without a card. */
export function useMarketFacts(card: Card | null, label: string): LoadedFacts {
  const key = card && `${card.id} ${label}`
  const [state, setState] = useState<LoadedFacts & { key: string | null }>({ key: null, facts: null, error: null })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key names card and label
  useEffect(() => {
    if (!card) return
    let here = true
    loadMarketFacts(card, label).then(
      (facts) => here && setState({ key, facts, error: null }),
      (error: unknown) => here && setState({ key, facts: null, error: asApiError(error) }),
    )
    return () => {
      here = false
    }
  }, [key])
  return state.key === key ? state : { facts: null, error: null }
}
