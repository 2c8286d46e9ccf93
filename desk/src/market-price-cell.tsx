// The market price of an own listing in a table, and how far its price is from it: read for all visible rows in one request.
import { useEffect, useState } from 'preact/hooks'
import type { OwnListing } from '../../client/src/api.ts'
import { request } from './api.ts'
import { differenceText } from './listing/market-panel.tsx'
import { lira } from './words.ts'

interface Waiting {
  listing: OwnListing
  settle: (price: number | null) => void
}

let waiting: Waiting[] = []

/** The trusted market price in lira; null without one. Calls of the same rendering share a request. */
function marketPriceOf(listing: OwnListing): Promise<number | null> {
  return new Promise((settle) => {
    if (waiting.length === 0) setTimeout(() => void readAll(), 0)
    waiting.push({ listing, settle })
  })
}

/** The plan of a price job with the current prices has the market price of each row; a dry run does not store it. */
async function readAll(): Promise<void> {
  const batch = waiting
  waiting = []
  const rows = batch.map(({ listing: { id, price } }) => ({ listing_id: id, price }))
  const plan = await request('POST', '/plus/price-jobs', { query: { dry_run: 1 }, json: { rows, policy: 'good_rows' } }).catch(() => null)
  const prices = new Map(plan?.data.rows.map((row) => [row.listing_id, row.market_price]))
  for (const { listing, settle } of batch) settle(prices.get(listing.id) ?? null)
}

export function MarketPriceCell({ of: listing }: { of: OwnListing }) {
  const [market, setMarket] = useState<number | null>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tag names the version of the listing
  useEffect(() => {
    let here = true
    void marketPriceOf(listing).then((price) => here && setMarket(price))
    return () => {
      here = false
    }
  }, [listing.id, listing.etag])
  if (market === null) return <>–</>
  return (
    <>
      {lira(market)} <small class="quiet">{differenceText(listing.price, market)}</small>
    </>
  )
}
