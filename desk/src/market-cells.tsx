// The market price, rank and payout of own listings at their current prices, in a table: read for all visible rows in one request.
import { useEffect, useState } from 'preact/hooks'
import type { OwnListing, PriceJobRow } from '../../client/src/api.ts'
import { request } from './api.ts'
import { differenceText } from './listing/market-panel.tsx'
import { count, lira } from './words.ts'

type Plan = Pick<PriceJobRow, 'market_price' | 'rank' | 'payout'>
const NONE: Plan = { market_price: null, rank: null, payout: null }

/** Plans that the next request reads, by listing. */
let waiting = new Map<number, { listing: OwnListing; plan: Promise<Plan>; settle: (plan: Plan) => void }>()

/** Calls of the same rendering share a request, and those of the same listing a row. */
function planOf(listing: OwnListing): Promise<Plan> {
  const same = waiting.get(listing.id)
  if (same) return same.plan
  if (waiting.size === 0) setTimeout(() => void readAll(), 0)
  const { promise, resolve } = Promise.withResolvers<Plan>()
  waiting.set(listing.id, { listing, plan: promise, settle: resolve })
  return promise
}

/** The plan of a price job with the current prices has these figures for each row; a dry run does not store it. */
async function readAll(): Promise<void> {
  const batch = waiting
  waiting = new Map()
  const rows = Array.from(batch.values(), ({ listing: { id, price } }) => ({ listing_id: id, price }))
  const plan = await request('POST', '/plus/price-jobs', { query: { dry_run: 1 }, json: { rows, policy: 'good_rows' } }).catch(() => null)
  const planned = new Map(plan?.data.rows.map((row) => [row.listing_id, row]))
  for (const [id, { settle }] of batch) settle(planned.get(id) ?? NONE)
}

function usePlan(listing: OwnListing): Plan {
  const [plan, setPlan] = useState(NONE)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tag names the version of the listing
  useEffect(() => {
    let here = true
    void planOf(listing).then((next) => here && setPlan(next))
    return () => {
      here = false
    }
  }, [listing.id, listing.etag])
  return plan
}

export function MarketPriceCell({ of: listing }: { of: OwnListing }) {
  const { market_price: market } = usePlan(listing)
  if (market === null) return <>–</>
  return (
    <>
      {lira(market)} <small class="quiet">{differenceText(listing.price, market)}</small>
    </>
  )
}

/** Among the published listings of other sellers of the card and grade, by price; none if buyers do not see the listing. */
export function RankCell({ of: listing }: { of: OwnListing }) {
  const { rank } = usePlan(listing)
  return <>{rank === null ? '–' : count(rank)}</>
}

/** What a sale of one unit would pay, after commission. */
export function PayoutCell({ of: listing }: { of: OwnListing }) {
  const { payout } = usePlan(listing)
  return <>{payout === null ? '–' : lira(payout)}</>
}
