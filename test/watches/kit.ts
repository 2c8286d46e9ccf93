// Shared by the tests of watches: items with prices, runs of the task, and the events that an account finds in its feed.
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import type { Market } from '#core/markets.ts'
import { followChanges } from '#watches/follow-changes.ts'
import { operator, plus } from '../market/kit.ts'
import { importText, msPastMidnight, startTestNode, type TestNode } from '../support/node.ts'

export interface Told {
  watch_id: number
  kind: string
  item_id: number
  item_name: string
  label: string
  amount: number
  price: number
  currency: string
  market: string | null
  listing_id: number | null
}

export interface Watch {
  id: number
  kind: string
  item_id: number
  item_name: string
  label: string | null
  language: string | null
  amount: number
  currency: string
  told_on: string | null
  updated_at: string
}

export interface StatedPrice {
  market: Market
  label?: string
  price: string
}

/** Two nodes of one database for the tests of a file; both have the same time, and no day ends within a test. */
export function twoNodes(): { nodes: () => readonly [TestNode, TestNode]; advance: (ms: number) => void } {
  let nodes: readonly [TestNode, TestNode]
  const advance = (ms: number) => {
    for (const { clock } of nodes) clock.advance(ms)
  }
  beforeAll(async () => {
    const node = await startTestNode()
    nodes = [node, await startTestNode({ databaseUrl: node.databaseUrl })]
  })
  afterAll(async () => {
    for (const node of nodes.toReversed()) await node.close()
  })
  beforeEach(() => advance(msPastMidnight(nodes[0].clock.now())))
  return { nodes: () => nodes, advance }
}

const SET = { type: 'category', market: 'service', ref: 'watched-set', name: 'Watched Set', game: 'pokemon', parent: null, image: null }
const ITEM = { type: 'item', market: 'service', code: null, genre: 'single', game: 'pokemon', category: 'watched-set' }
const NOTHING = { images: [], attributes: [], details: {}, foreign_ids: [] }
let count = 0

/** Imports new items, each with some prices. @returns their ids */
export async function newItems(node: TestNode, prices: readonly (readonly StatedPrice[])[]): Promise<number[]> {
  const at = new Date(node.clock.now().getTime() - 60_000).toISOString()
  const refs = prices.map(() => `watched-${(count += 1)}`)
  const lines = prices.map((stated, i) => ({
    ...ITEM,
    ...NOTHING,
    ref: refs[i],
    name: `Card ${refs[i]}`,
    groups: ['ungraded', 'graded'],
    prices: stated.map(({ label = 'Near Mint', ...price }) => ({ ...price, label, updated_at: at })),
  }))
  const report = await importText(node, 'mintmark-ndjson', [SET, ...lines].map((line) => JSON.stringify(line)).join('\n'))
  if (report.counts.rejected > 0) throw new Error(JSON.stringify(report.errors))
  const rows = await node.db.kysely.selectFrom('items').select(['ref', 'id']).where('ref', 'in', refs).execute()
  const byRef = new Map(rows.map((row) => [row.ref, row.id]))
  return refs.map((ref) => byRef.get(ref)!)
}

/** Imports a new item with some prices. @returns its id */
export async function newItem(node: TestNode, prices: readonly StatedPrice[] = []): Promise<number> {
  return (await newItems(node, [prices]))[0]!
}

/** Sets a price as an operator does; the clock moves on, so that it is newer than the price before. */
export async function setPrice(node: TestNode, itemId: number, price: string, { market = 'source_a', label = 'Near Mint' } = {}): Promise<void> {
  node.clock.advance(1_000)
  const row = { item_id: itemId, market, label, price: Number(price), updated_at: node.clock.now().toISOString() }
  const { body } = await operator<{ accepted: number }>(node, 'POST', '/prices', [row])
  expect(body.data.accepted, JSON.stringify(body)).toBe(1)
}

/** Writes to /plus/watches. The account is the Enterprise one: the Plus account sells. */
export function watching<T = Watch>(node: TestNode, method: string, path = '', json?: unknown, key = node.keys.enterprise) {
  return plus<T>(node, method, `/watches${path}`, json, { key })
}

export async function watch(node: TestNode, fields: object, key = node.keys.enterprise): Promise<Watch> {
  const { status, body } = await watching<Watch[]>(node, 'PUT', '', fields, key)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.data[0]!
}

/** A watch of trusted prices in dollars. */
export function below(node: TestNode, itemId: number, amount: number, fields: object = {}): Promise<Watch> {
  return watch(node, { kind: 'price_below', item_id: itemId, label: 'Near Mint', amount, currency: 'USD', ...fields })
}

/** A watch of listings. */
export function wanted(node: TestNode, itemId: number, amount: number, fields: object = {}, key = node.keys.enterprise): Promise<Watch> {
  return watch(node, { kind: 'offer_below', item_id: itemId, amount, ...fields }, key)
}

/** All `watch` events of an account, oldest first. */
export async function events(node: TestNode, key = node.keys.enterprise): Promise<Told[]> {
  const all: Told[] = []
  for (let after = ''; ; ) {
    const { body } = await plus<{ event: string; cursor: string; data: Told; delivered: boolean }[]>(
      node,
      'GET',
      `/events?limit=1000${after && `&after=${after}`}`,
      undefined,
      { key },
    )
    for (const { event, data, delivered } of body.data) {
      if (event !== 'watch') continue
      expect(delivered).toBe(false)
      all.push(data)
    }
    if (body.data.length < 1_000) return all
    after = body.data.at(-1)!.cursor
  }
}

/** Runs the task. @returns the events of a watch since it was created: their prices */
export async function toldPrices(node: TestNode, { id }: { id: number }, key = node.keys.enterprise): Promise<number[]> {
  await followChanges(node.ctx)
  return (await events(node, key)).filter((told) => told.watch_id === id).map(({ price }) => price)
}
