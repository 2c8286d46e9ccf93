// What the pages show, read from the Mintmark API with the key of the shop. Nothing is changed there.
import { type Item, type Listing, type Market, Mintmark, MintmarkError, type Pagination } from '@mintmark/client'
import type { operations, PriceChart, PriceChartRange } from '@mintmark/client'
import type { BasketLine } from './basket.ts'
import { kurusOf, lira } from './money.ts'

export interface Card {
  item: Item
  /** markets with prices of the card, with these prices */
  markets: { market: Market; item: Item }[]
  /** null if the card has no prices */
  chart: PriceChart | null
  /** published listings of the card, cheapest first */
  offers: Listing[]
  /** names of sellers by listing, for the shop's `sellers` */
  sellerOf: ReadonlyMap<number, string>
}

/** A line of the basket with the listing as it is now. */
export interface CheckedLine extends BasketLine {
  /** null if it is no longer for sale */
  listing: Listing | null
  /** what differs from what the buyer saw last */
  changes: string[]
}

type ListingQuery = operations['searchListings']['parameters']['query']

const TIMEOUT_MS = 5_000
const SEARCH_RESULTS = 24
const MAX_OFFERS = 20
const WITH = { with_item: true, with_details: true }

/** @param sellers exact names of sellers whose offers carry their name */
export function openShop(baseUrl: string, apiKey: string, sellers: readonly string[]) {
  const mintmark = new Mintmark({ baseUrl, apiKey, retries: 1 })
  const inTime = () => ({ signal: AbortSignal.timeout(TIMEOUT_MS) })
  const listings = (query: ListingQuery): Promise<{ data: Listing[]; pagination: Pagination }> =>
    mintmark.get('/api/v1/plus/listings', { params: { query: { ...query, ...WITH } }, ...inTime() })

  /** Published listings of an item, cheapest first. */
  const listingsOf = async (item: Item, seller: object = {}): Promise<Listing[]> =>
    (await listings({ item_id: item.id, sort_by: 'price_low', per_page: MAX_OFFERS, ...seller })).data

  async function offersOf(item: Item): Promise<Pick<Card, 'offers' | 'sellerOf'>> {
    const ofSeller = (name: string) => listingsOf(item, { seller_name: name })
    const [offers, ...owned] = await Promise.all([listingsOf(item), ...sellers.map(ofSeller)])
    return { offers, sellerOf: new Map(owned.flatMap((own, i) => own.map(({ id }) => [id, sellers[i]!] as const))) }
  }

  /** @returns null if there is no such published listing */
  async function listing(id: number): Promise<Listing | null> {
    const answer = await missingAsNull(mintmark.get('/api/v1/plus/listings/{id}', { params: { path: { id }, query: WITH }, ...inTime() }))
    // Listings of the key's own account are returned in every status.
    return answer && (!('status' in answer.data) || answer.data.status === 'active') ? answer.data : null
  }

  const search = (q: string, page: number): Promise<{ data: Item[]; pagination: Pagination }> =>
    mintmark.get('/api/v1/items/search', { params: { query: { q, page, per_page: SEARCH_RESULTS, with_stats: true } }, ...inTime() })

  /** @returns null if there is no such card */
  async function card(id: number, label: string | undefined, range: PriceChartRange): Promise<Card | null> {
    const path = { id }
    const ofMarket = async (market: Market) => {
      const query = { market: market.code, with_stats: true }
      const answer = await missingAsNull(mintmark.get('/api/v1/items/{id}', { params: { path, query }, ...inTime() }))
      return answer ? [{ market, item: answer.data }] : []
    }
    const markets = await mintmark.get('/api/v1/markets', inTime())
    const found = (await Promise.all(markets.data.map(ofMarket))).flat()
    const item = found[0]?.item
    if (!item) return null
    const priced = found.filter((each) => each.item.prices.length > 0)
    const query = { range, ...(label !== undefined && { label }) }
    const [offers, chart] = await Promise.all([
      offersOf(item),
      priced.length === 0 ? null : mintmark.get('/api/v1/items/{id}/price-chart', { params: { path, query }, ...inTime() }),
    ])
    return { item, markets: priced, chart: chart?.data ?? null, ...offers }
  }

  async function check(line: BasketLine): Promise<CheckedLine> {
    const now = await listing(line.listingId)
    if (!now) return { ...line, listing: null, changes: [`Listing ${line.listingId} is no longer for sale and was removed.`] }
    const kurus = kurusOf(now.price)
    const quantity = Math.min(line.quantity, now.quantity ?? 1)
    const changes = [
      ...(kurus !== line.kurus ? [`The price of ${now.title} changed from ${lira(line.kurus)} to ${lira(kurus)}.`] : []),
      ...(quantity < line.quantity ? [`Only ${quantity} of ${now.title} left.`] : []),
    ]
    return { listingId: line.listingId, quantity, kurus, listing: now, changes }
  }

  return { search, card, listings, listing, check: (lines: readonly BasketLine[]) => Promise.all(lines.map(check)) }
}

export type Shop = ReturnType<typeof openShop>

function missingAsNull<T>(answer: Promise<T>): Promise<T | null> {
  return answer.catch((error: unknown) => {
    if (error instanceof MintmarkError && error.status === 404) return null
    throw error
  })
}
