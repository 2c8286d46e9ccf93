// Shared by the tests of merges: duplicates of a card with everything that can refer to an item, and digests of all tables.
import { sql } from 'kysely'
import { exportCatalogue } from '#catalogue/export.ts'
import type { Batch } from '#identity/merge/batches.ts'
import type { Merge } from '#identity/merge/stored-merges.ts'
import { collector, makeCollection } from '../collections/kit.ts'
import { operator, orderId, published } from '../market/kit.ts'
import { importText, type Reply, send, type TestNode } from '../support/node.ts'

export { operator } from '../market/kit.ts'

const PRICED_AT = '2026-10-01T00:00:00Z'

interface Twin {
  ref: string
  market: string
  name?: string
  finish?: string
  slug?: string
  prices?: [market: string, label: string, price: string, at?: string][]
  foreignIds?: { source: string; id: string; finish?: string }[]
}

/** Imports cards, each into the set of its market. @returns their ids by ref */
export async function makeTwins(node: TestNode, twins: Twin[]): Promise<Record<string, number>> {
  const markets = [...new Set(twins.map((twin) => twin.market))]
  const lines = [
    ...markets.map((market) => ({ type: 'category', market, ref: 'base', name: 'Base Set', game: 'pokemon', parent: null, image: null })),
    ...twins.map(({ ref, market, name = 'Charizard', finish, slug, prices = [], foreignIds = [] }) => ({
      type: 'item',
      market,
      ref,
      name,
      code: '4/102',
      ...(slug !== undefined && { slug }),
      genre: 'single',
      game: 'pokemon',
      category: 'base',
      images: [],
      attributes: [{ name: 'Source', value: ref }, ...(finish === undefined ? [] : [{ name: 'Finish', value: finish }])],
      groups: ['ungraded', 'graded'],
      details: { hp: 120 },
      foreign_ids: foreignIds,
      prices: prices.map(([of, label, price, at = PRICED_AT]) => ({ market: of, label, price, updated_at: at })),
    })),
  ]
  const report = await importText(node, 'mintmark-ndjson', lines.map((line) => JSON.stringify(line)).join('\n'))
  if (report.counts.rejected > 0) throw new Error(JSON.stringify(report.errors))
  const rows = await node.db.kysely
    .selectFrom('items')
    .select(['ref', 'id'])
    .where(
      'ref',
      'in',
      twins.map((twin) => twin.ref),
    )
    .execute()
  return Object.fromEntries(rows.map((row) => [row.ref, row.id]))
}

export interface PriceRow {
  item_id: number
  market: string
  label?: string
  price: number
  updated_at?: string
}

export interface Posted {
  import_id: number
  accepted: number
  held: number
  rejected: number
}

export async function postPrices(node: TestNode, rows: PriceRow[]): Promise<Posted> {
  const { body } = await operator<Posted>(
    node,
    'POST',
    '/prices',
    rows.map((row) => ({ label: 'Near Mint', ...row })),
  )
  if (!body.success) throw new Error(JSON.stringify(body))
  return body.data
}

export const merge = (node: TestNode, from: number, into: number) => operator<Merge>(node, 'POST', `/items/${from}/merge`, { into })
export const undo = (node: TestNode, id: number) => operator<Batch>(node, 'POST', `/batches/${id}/revert`)

/** Merges items. @returns the id of the merge */
export async function merged(node: TestNode, from: number, into: number): Promise<number> {
  const { status, body } = await merge(node, from, into)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.data.id
}

export async function sell(node: TestNode, listingId: number, price?: number): Promise<void> {
  const lines = [{ listing_id: listingId, quantity: 1, ...(price !== undefined && { unit_price: price }) }]
  const { status, body } = await operator(node, 'POST', '/orders', { order_id: orderId(), lines })
  if (status !== 201) throw new Error(JSON.stringify(body))
}

/** Adds to an item: a listing with sales at a price, a paused listing, a collection record and a held price. */
export async function hangOn(node: TestNode, itemId: number, salePrice: number) {
  const listing = await published(node, itemId, { quantity: 10 })
  await sell(node, listing.id, salePrice)
  await sell(node, listing.id, salePrice + 10)
  const paused = await published(node, itemId)
  await send(`${node.publicUrl}/api/v1/plus/listings/${paused.id}/status?action=pause`, node.keys.plus, { method: 'POST' })
  const collection = await makeCollection(node, node.accounts.plus)
  const record = (await collector(node, node.keys.plus).add(collection, { item_id: itemId, quantity: 2 })).body.data
  const psa9 = { item_id: itemId, market: 'source_b', label: 'PSA 9' } as const
  await postPrices(node, [{ ...psa9, price: 10, updated_at: '2026-10-02T00:00:00Z' }])
  // A price dated in the future is held whatever is known about the item.
  const { held } = await postPrices(node, [{ ...psa9, price: 900, updated_at: '2030-10-03T00:00:00Z' }])
  if (held !== 1) throw new Error('the price is not held')
  return { listing, paused, collection, record }
}

/** Tables that merges themselves write, that record events, or that are rebuilt from other tables from time to time. */
const LEFT_OUT = [
  'match_decisions',
  'merges',
  'audit_log',
  'listing_decisions',
  'change_log',
  'search_terms',
  'change_log_floor',
  'catalogue_log_floor',
  'idempotency_keys',
  'workers',
  'rate_limit_leases',
  'api_key_usage',
  'changed_items',
  'price_reviews',
  'price_review_changes',
]

/**
 * A digest of the rows of each table, and the catalogue's export. Left out are the last uses of keys, which are written from time to time, and the
 * times at which items last changed, because reverting is a change, too, and prices of survivors that merges replaced, which stay recorded.
 */
export async function stateOf(node: TestNode): Promise<Record<string, string>> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname::text as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname not like 'kysely_%'
      and relname <> all(${LEFT_OUT}::text[]) order by 1`.execute(node.db.kysely)
  const state: Record<string, string> = {}
  for (const { name } of tables) {
    const { rows } = await sql<{ digest: string; count: number }>`
      select md5(coalesce(string_agg(row, chr(10) order by row), '')) as digest, count(*)::int4 as count
      from (
        select (to_jsonb(t) - ${name === 'items' ? 'updated_at' : 'last_used_at'}::text)::text as row from ${sql.table(name)} t
        ${name === 'merged_rows' ? sql`where name <> 'prices'` : sql``}
      ) as rows`.execute(node.db.kysely)
    state[name] = `${rows[0]!.count} rows ${rows[0]!.digest}`
  }
  let text = ''
  for await (const chunk of exportCatalogue(node.db, { allPrices: true })) text += chunk
  state.export = text
  return state
}

export interface ApiItem {
  id: number
  name: string
  slug: string
  prices?: { label: string; price: number }[]
}

export function item(node: TestNode, id: number): Promise<Reply<ApiItem>> {
  return send<ApiItem>(`${node.publicUrl}/api/v1/items/${id}`, node.keys.professional)
}

export function listed(node: TestNode, query = ''): Promise<Reply<ApiItem[]>> {
  return send<ApiItem[]>(`${node.publicUrl}/api/v1/items${query}`, node.keys.professional)
}

export interface Point {
  market: string
  label: string
  price: number
  updated_at: string
  import_id: number
}

/** The history of an item as operators see it. */
export async function history(node: TestNode, id: number, query = ''): Promise<Point[]> {
  return (await operator<Point[]>(node, 'GET', `/items/${id}/price-history${query}`)).body.data
}

interface StoredPrice {
  market: string
  label: string
  price: number
  updated_at: string
  import_id: number
}

/** The current prices of an item in all markets, as operators see them. */
export async function current(node: TestNode, id: number): Promise<StoredPrice[]> {
  return (await operator<{ prices: StoredPrice[] }>(node, 'GET', `/items/${id}`)).body.data.prices
}
