// Shared by the tests of the marketplace: a small catalogue with prices, listings and orders on a test node.
import { createListing } from '#market/listings/create-listing.ts'
import { expireListings } from '#market/listings/expire-listings.ts'
import { approveListing } from '#market/approval/decide-listing.ts'
import type { StoredListing } from '#market/marketplace-types.ts'
import { call } from '#core/verb.ts'
import { importText, OPERATOR_TOKEN, type Reply, send, type TestNode, until } from '../support/node.ts'

export const DAY_MS = 86_400_000

export interface Change {
  id: number
  price: number
  status: string
}

const category = { type: 'category', market: 'service', parent: null, image: null }
const item = { type: 'item', market: 'service', code: null, images: [], attributes: [], details: {}, foreign_ids: [] }
const at = '2026-11-01T00:00:00Z'

/** The ids of grades by label, and of the two groups by name. */
export interface Grades {
  [label: string]: number
}

/** Imports two sets, one below the other, and four items of several kinds. @returns their ids by name */
export async function makeCatalogue(node: TestNode): Promise<{ items: Record<string, number>; grades: Grades }> {
  const lines = [
    { ...category, ref: 'series', name: 'First Series', game: 'pokemon' },
    { ...category, ref: 'base', name: 'Base Set', game: 'pokemon', parent: 'series' },
    { ...category, ref: 'op', name: 'Romance Dawn', game: 'onepiece' },
    {
      ...item,
      ref: 'char',
      name: 'Charizard',
      code: '4/102',
      genre: 'single',
      game: 'pokemon',
      category: 'base',
      groups: ['ungraded', 'graded'],
      prices: [
        { market: 'source_a', label: 'Near Mint', price: '168.56', updated_at: at },
        { market: 'source_a', label: 'PSA 10', price: '3000.00', updated_at: at },
      ],
    },
    { ...item, ref: 'pika', name: 'Pikaçhu', code: '58/102', genre: 'single', game: 'pokemon', category: 'base', groups: ['ungraded'], prices: [] },
    {
      ...item,
      ref: 'box',
      name: 'Base Set Booster Box',
      genre: 'sealed',
      game: 'pokemon',
      category: 'series',
      groups: [],
      prices: [{ market: 'source_a', label: 'Near Mint', price: '0.30', updated_at: at }],
    },
    { ...item, ref: 'luffy', name: 'Monkey.D.Luffy', code: 'OP01-001', genre: 'card', game: 'onepiece', category: 'op', groups: [], prices: [] },
  ]
  const report = await importText(node, 'mintmark-ndjson', lines.map((line) => JSON.stringify(line)).join('\n'))
  if (report.counts.rejected > 0) throw new Error(JSON.stringify(report.errors))
  const rows = await node.db.kysely.selectFrom('items').select(['ref', 'id']).execute()
  const groups = await node.db.kysely.selectFrom('groups').select(['id', 'name', 'parent_id']).execute()
  const types = groups.filter((group) => group.parent_id !== null).map((group) => [group.name, group.id])
  const tops = groups.filter((group) => group.parent_id === null).map((group) => [`group ${group.name}`, group.id])
  return { items: Object.fromEntries(rows.map((row) => [row.ref, row.id])), grades: Object.fromEntries([...types, ...tops]) }
}

export function operator<T = StoredListing>(node: TestNode, method: string, path: string, json?: unknown, headers?: Record<string, string>) {
  return send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, {
    method,
    ...(json !== undefined && { json }),
    ...(headers && { headers }),
  })
}

export function plus<T = Change>(
  node: TestNode,
  method: string,
  path: string,
  json?: unknown,
  options: { key?: string; headers?: Record<string, string> } = {},
): Promise<Reply<T>> {
  const { key = node.keys.plus, headers } = options
  return send<T>(`${node.publicUrl}/api/v1/plus${path}`, key, { method, ...(json !== undefined && { json }), ...(headers && { headers }) })
}

export function search<T = { id: number }>(node: TestNode, query = ''): Promise<Reply<T[]>> {
  return send<T[]>(`${node.publicUrl}/api/v1/plus/listings${query}`, node.keys.plus)
}

/** Ids of a search's first page, in order. */
export async function found(node: TestNode, query = ''): Promise<number[]> {
  const { status, body } = await search(node, query)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.data.map((listing) => listing.id)
}

let count = 0

/** A pending listing of the Plus account by default. */
export function pending(node: TestNode, itemId: number, fields: object = {}): Promise<StoredListing> {
  count += 1
  return call(createListing, node.ctx, { seller_id: node.accounts.plus, item_id: itemId, title: `Listing ${count}`, price: 100, ...fields })
}

/** An approved listing. */
export async function published(node: TestNode, itemId: number, fields: object = {}, expiresAt?: Date): Promise<StoredListing> {
  const { id } = await pending(node, itemId, fields)
  return call(approveListing, node.ctx, { id, ...(expiresAt && { expires_at: expiresAt.toISOString() }) })
}

export type Status = StoredListing['status']

/** A listing of the Plus account in a status, reached by the usual actions. */
export async function inStatus(node: TestNode, status: Status, itemId: number, fields: object = {}): Promise<StoredListing> {
  if (status === 'pending') return pending(node, itemId, fields)
  const listing = await published(node, itemId, fields, status === 'expired' ? new Date(node.clock.now().getTime() + 60_000) : undefined)
  const { id } = listing
  if (status === 'paused') await plus(node, 'POST', `/listings/${id}/status?action=pause`)
  if (status === 'rejected') await operator(node, 'POST', `/listings/${id}/reject`, { reason: 'blurred photo' })
  if (status === 'expired') node.clock.advance(60_000)
  if (status === 'sold') await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: id, quantity: listing.quantity }] })
  const reached = (await operator(node, 'GET', `/listings/${id}`)).body.data
  if (reached.status !== status) throw new Error(`the listing is ${reached.status} instead of ${status}`)
  return reached
}

/** Ends every period that is over, even if the sweep of a node has locked listings at that moment. */
export async function endPeriods(node: TestNode): Promise<void> {
  const over = node.db.kysely.selectFrom('listings').select('id').where('status', '=', 'active')
  await until('the end of each period that is over', async () => {
    await expireListings(node.ctx)
    return (await over.where('expires_at', '<=', node.clock.now()).execute()).length === 0
  })
}

let orders = 0

export function orderId(): number {
  orders += 1
  return 1_000_000 + orders
}

export const STATUS_LIST: Status[] = ['pending', 'active', 'paused', 'rejected', 'expired', 'sold']
