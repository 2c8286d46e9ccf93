// The marketplace of the demo: listings in every status and language, and sales of two years, for the sample catalogue.
import { randomNumbers } from '#core/random.ts'
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { MARKETS } from '#core/markets.ts'
import { minorToNumber, minorToText, payoutKurus } from '#core/money.ts'
import { change, type Note } from '#db/changes/change.ts'
import type { Db, ListingStatus, Tx } from '#db/schema.ts'
import { hashRequest } from '#db/changes/idempotency.ts'
import { demoFactor } from '#prices/history/demo-walk.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { refreshServicePrices } from '#prices/writing/service-price.ts'
import { insertSales, type NewSale } from './order-store.ts'
import type { ChangeVersions, ListingRow } from '../listing-store.ts'
import { contentOf } from '../listing-content.ts'
import type { MarketSettings } from '../marketplace-types.ts'
import type { Order } from '../sale-schemas.ts'

const LISTINGS = 3_000
const SALES = 3_000
/** Number of items with sales; the others have none, so that the demo shows items with and without averages. */
const SELLING_ITEMS = 120
const BUYERS = 400
/** High enough not to collide with the order ids of a shop's first tests. */
const FIRST_ORDER = 9_000_000_000
/** Listings are priced at their item's price in that market, times this factor. */
const PRICED_BY = MARKETS.indexOf('source_a')
const KURUS_PER_UNIT = 42
const LANGUAGES = ['en', 'en', 'en', 'ja', 'tr', 'de', 'fr']
const REASONS = ['The photo is blurred', 'The grade is not the one on the label', 'The price is unrealistic']
const STATUSES: readonly [ListingStatus, share: number][] = [
  ['active', 70],
  ['pending', 8],
  ['paused', 7],
  ['sold', 7],
  ['expired', 5],
  ['rejected', 3],
]

interface Sellable {
  item_id: number
  name: string
  code: string | null
  genre: string
  /** the label that the listing is compared with, and whether that is the label of its own grade */
  label_id: number
  label: string
  minor: number
}

/** A seller of the demo; listings and sales are later than `since`. */
export interface DemoSeller {
  id: number
  since: Date
}

type DemoListing = Omit<ListingRow, 'id' | 'sku' | 'record_id' | 'changed_by' | keyof ChangeVersions>

/** Whether the catalogue has items that the demo can sell. */
export async function hasSellables({ kysely }: Db): Promise<boolean> {
  const { rows } = await sql`select from prices where market = ${PRICED_BY} limit 1`.execute(kysely)
  return rows.length > 0
}

/** The demo has no reference prices for listings. */
type DemoSettings = Omit<MarketSettings, 'sourceCurrencies' | 'marketOrder'>

/** Creates the demo's marketplace; deterministic except for times, which are relative to now. */
export async function addDemoMarket(ctx: PriceWriteCtx, settings: DemoSettings, sellers: readonly DemoSeller[]): Promise<void> {
  const random = randomNumbers(20261121)
  const now = ctx.now()
  await change(ctx, async (tx, note) => {
    const sellables = await sellablesOf(tx)
    const listings = Array.from({ length: LISTINGS }, () => demoListing(random, sellables, sellers, settings, now))
    const ids = await insertListings(tx, listings)
    note.changed('listings', ids)
    await sell(
      ctx,
      tx,
      note,
      listings.map((listing, i) => ({ ...listing, id: ids[i]! })),
      random,
      settings,
      now,
    )
  })
}

/** Items that have such a price, one row for each label, best-selling items first. */
async function sellablesOf(tx: Tx): Promise<Sellable[]> {
  const { rows } = await sql<Sellable>`
    select i.id as item_id, i.name, i.code, i.genre, g.id as label_id, g.name as label, (p.price * 100)::int as minor
    from items i join prices p on p.item_id = i.id and p.market = ${PRICED_BY} join groups g on g.id = p.label_id
    order by i.id, g.id`.execute(tx)
  return rows
}

function demoListing(random: () => number, sellables: Sellable[], sellers: readonly DemoSeller[], settings: DemoSettings, now: Date): DemoListing {
  const item = pick(random, sellables)
  const bare = item.genre === 'sealed' || (item.label === 'Near Mint' && random() < 0.3)
  const kurus = Math.min(999_999_900, Math.max(100, Math.round(item.minor * KURUS_PER_UNIT * (0.75 + random() * 0.6))))
  const price = minorToText(kurus)
  const status = statusOf(random() * 100)
  const language = random() < 0.05 ? null : pick(random, LANGUAGES)
  const offers = random() < 0.4
  const seller = pick(random, sellers)
  const { created, published, ends } = timesOf(random, status, seller, settings, now)
  const approved = status !== 'pending' && status !== 'rejected'
  const row: DemoListing = {
    seller_id: seller.id,
    item_id: item.item_id,
    grade_id: bare ? null : item.label_id,
    label_id: item.label_id,
    title: [item.name, item.code, bare ? null : item.label, language?.toUpperCase()].filter(Boolean).join(' '),
    description: random() < 0.5 ? '' : 'Kept in a sleeve since it was pulled. Sent in a box, with tracking.',
    price,
    quantity: status === 'sold' ? 0 : random() < 0.85 ? 1 : 2 + Math.floor(random() * 4),
    language,
    images: [],
    shipping_payer: random() < 0.7 ? 'buyer' : 'seller',
    offers_enabled: offers,
    min_offer_price: offers ? minorToText(Math.max(1, Math.round(kurus * 0.8))) : null,
    certificate: null,
    status,
    approved_price: approved ? price : null,
    approved: null,
    approved_at: approved ? published : null,
    rejection_reason: status === 'rejected' ? pick(random, REASONS) : null,
    waiting_since: status === 'pending' ? created : null,
    published_at: approved ? published : null,
    expires_at: approved ? ends : null,
    highlighted_until: status === 'active' && random() < 0.01 ? new Date(now.getTime() + (1 + random() * 6) * DAY_MS) : null,
    version: 1,
    created_at: created,
    updated_at: approved ? published : created,
  }
  return approved ? { ...row, approved: contentOf(row) } : row
}

/** Listings are created at any time since their seller joined, and renewed since; those awaiting approval are new. */
function timesOf(random: () => number, status: ListingStatus, { since }: DemoSeller, { listingPeriodDays }: DemoSettings, now: Date) {
  const periodMs = listingPeriodDays * DAY_MS
  const ends = status === 'expired' ? new Date(now.getTime() - random() * DAY_MS) : new Date(now.getTime() + random() * periodMs)
  const published = new Date(ends.getTime() - periodMs)
  const isNew = status === 'pending' || status === 'rejected'
  const created = isNew
    ? new Date(now.getTime() - (0.05 + random()) * 3 * DAY_MS)
    : new Date(published.getTime() - random() * Math.max(0, published.getTime() - since.getTime()))
  return { created, published, ends }
}

async function insertListings(tx: Tx, listings: DemoListing[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    insert into listings (seller_id, item_id, grade_id, label_id, title, description, price, quantity, language, images, shipping_payer,
      offers_enabled, min_offer_price, status, approved_price, approved, approved_at, rejection_reason, waiting_since, published_at,
      expires_at, highlighted_until, created_at, updated_at)
    select seller_id, item_id, grade_id, label_id, title, description, price, quantity, language, images, shipping_payer,
      offers_enabled, min_offer_price, status, approved_price, approved, approved_at, rejection_reason, waiting_since, published_at,
      expires_at, highlighted_until, created_at, updated_at
    from jsonb_populate_recordset(null::listings, ${JSON.stringify(listings)}::jsonb)
    returning id`.execute(tx)
  return rows.map((row) => row.id)
}

/** Sells listings with the status `sold`, and some units of active ones, since they were created and at the prices of that time. */
async function sell(
  ctx: PriceWriteCtx,
  tx: Tx,
  note: Note,
  listings: (DemoListing & { id: number })[],
  random: () => number,
  { commissionPercent }: DemoSettings,
  now: Date,
): Promise<void> {
  const selling = new Set([...new Set(listings.map((listing) => listing.item_id))].slice(0, SELLING_ITEMS))
  const sold = listings.filter((listing) => listing.status === 'sold')
  const others = listings.filter((listing) => listing.status === 'active' && selling.has(listing.item_id))
  const sources = [...sold, ...Array.from({ length: SALES - sold.length }, () => pick(random, others))]
  const orders: { order: Order; sale: NewSale }[] = sources.map((listing, i) => {
    const soldAt = new Date(now.getTime() - (0.01 + random() ** 0.6 * 0.99) * (now.getTime() - listing.created_at.getTime()))
    const kurus = Math.max(1, Math.round(Number(listing.price) * 100 * (0.9 + random() * 0.2) * demoFactor(listing.item_id, soldAt, now)))
    const payout = payoutKurus(kurus, 1, commissionPercent)
    const { id, seller_id, item_id, label_id } = listing
    const line = {
      listing_id: id,
      quantity: 1,
      unit_price: minorToNumber(kurus),
      seller_payout: minorToNumber(payout),
      listing_status: listing.status,
    }
    const order = { order_id: FIRST_ORDER + i, sold_at: soldAt.toISOString(), lines: [line] }
    const amounts = { unit_price: minorToText(kurus), payout: minorToText(payout), sold_at: soldAt }
    const sale = { order_id: order.order_id, line: 1, listing_id: id, seller_id, item_id, label_id, quantity: 1, ...amounts }
    return { order, sale }
  })
  orders.sort((a, b) => a.sale.sold_at.getTime() - b.sale.sold_at.getTime())
  await sql`
    insert into orders (order_id, request_hash, result, sold_at, created_at)
    select (o->>'order_id')::bigint, ${hashRequest('POST', '/orders', 'demo')}, o, (o->>'sold_at')::timestamptz, (o->>'sold_at')::timestamptz
    from jsonb_array_elements(${JSON.stringify(orders.map(({ order }) => order))}::jsonb) o`.execute(tx)
  await insertSales(
    tx,
    orders.map(({ sale }) => sale),
  )
  const buyerOf = randomNumbers(20261127)
  await sql`
    insert into order_buyers (order_id, reference)
    select * from unnest(${orders.map(({ order }) => order.order_id)}::int8[],
      ${orders.map(() => `customer ${1 + Math.floor(buyerOf() * BUYERS)}`)}::text[])`.execute(tx)
  note.changed('sales', [...new Set(orders.map(({ sale }) => sale.item_id))])
  await refreshServicePrices(
    ctx,
    tx,
    note,
    orders.map(({ sale }) => ({ itemId: sale.item_id, labelId: sale.label_id })),
  )
}

function statusOf(percent: number): ListingStatus {
  let sum = 0
  for (const [status, share] of STATUSES) {
    sum += share
    if (percent < sum) return status
  }
  return 'active'
}

function pick<T>(random: () => number, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!
}
