// The demo's marketplace: every parameter, sort and flag of the search has results, and the amounts are consistent.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeShop } from '#cli/demo/make-demo.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'
import { STATUS_LIST } from './kit.ts'

let node: TestNode
let key: string
const dataDir = mkdtempSync(join(tmpdir(), 'mintmark-demo-'))

beforeAll(async () => {
  node = await startTestNode({ listeners: 'public' })
  key = (await makeShop(node.ctx, { ...node.config, dataDir })).access.keys.plus
})

afterAll(async () => {
  await node.close()
  rmSync(dataDir, { recursive: true, force: true })
})

test('a catalogue without the required prices is rejected before anything is created', async () => {
  const bare = await startTestNode({ listeners: 'public' })
  const folder = mkdtempSync(join(tmpdir(), 'mintmark-demo-'))
  await expect(makeShop(bare.ctx, { ...bare.config, dataDir: folder }, { ownCatalogue: true })).rejects.toThrow('No item has a price of source_a')
  expect((await sql`select from accounts where name like 'Demo%'`.execute(bare.db.kysely)).rows).toEqual([])
  await bare.close()
  rmSync(folder, { recursive: true })
})

const total = async (path: string) => (await send<unknown[]>(`${node.publicUrl}/api/v1/plus/${path}`, key)).body.pagination!.total

test('there are thousands of listings, in every status and of every seller', async () => {
  expect(await total('listings')).toBeGreaterThan(1_500)
  for (const status of STATUS_LIST) expect(await total(`my-listings?status=${status}`), status).toBeGreaterThan(0)
  for (const name of ['Demo%20Enterprise', 'kart%20evi', 'Slab%20City']) expect(await total(`listings?seller_name=${name}`)).toBeGreaterThan(50)
})

test.each([
  'search=charizard',
  'set_name=base%20set',
  'type=sealed',
  'min_price=100&max_price=5000',
  'min_pc=35&max_pc=45',
  'game[]=onepiece',
  'language[]=ja',
  'language[]=tr&language[]=de',
  'grade_filters[]=2',
  'grade_filters[]=1',
])('%s', async (query) => {
  const [some, all] = [await total(`listings?${query}`), await total('listings')]
  expect(some).toBeGreaterThan(0)
  expect(some).toBeLessThan(all)
})

test('flags and orders have data', async () => {
  const flags = 'with_item=1&with_pc=1&with_average=1&with_last_sales=1&per_page=100'
  type Shown = { pc_multiplier: number | null; average_price: number | null; last_sales: unknown[] }
  const { body } = await send<Shown[]>(`${node.publicUrl}/api/v1/plus/listings?${flags}`, key)
  expect(body.data.filter((one) => one.average_price !== null).length).toBeGreaterThan(50)
  expect(body.data.every((one) => one.pc_multiplier !== null)).toBe(true)
  expect(body.data.some((one) => one.last_sales.length === 10)).toBe(true)
  expect(await total('recent-sales')).toBe(3_000)
  expect(await total('recent-sales?game=onepiece')).toBeGreaterThan(0)
})

test('every sale has an order, nothing sold is in stock, and paused listings can be published again', async () => {
  const { rows } = await sql<{ orders: number; odd: number }>`
    select (select count(*)::int from orders) as orders,
           (select count(*)::int from listings where (status = 'sold') <> (quantity = 0)) as odd`.execute(node.db.kysely)
  expect(rows[0]).toEqual({ orders: 3_000, odd: 0 })
  const { body } = await send<{ id: number }[]>(`${node.publicUrl}/api/v1/plus/my-listings?status=paused`, key)
  const published = await send<{ status: string }>(`${node.publicUrl}/api/v1/plus/listings/${body.data[0]!.id}/status?action=publish`, key, {
    method: 'POST',
  })
  expect(published.body.data.status).toBe('active')
})
