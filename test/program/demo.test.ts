// The demo: two years of daily prices, entries in every queue, always the same; and its reset, which refuses any other database.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, CommanderError } from 'commander'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount } from '#accounts/create-account.ts'
import { prepareDemo, register } from '#cli/demo/demo.ts'
import { type DemoAccess, makeDemo } from '#cli/demo/make-demo.ts'
import { resetDemo } from '#cli/demo/reset-demo.ts'
import { type Config, readConfig } from '#config.ts'
import { DAY_MS } from '#core/duration.ts'
import { call } from '#core/verb.ts'
import { isUntouched } from '#db/emptiness.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Schema } from '#db/schema.ts'
import { collector } from '../collections/kit.ts'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'mintmark-demo-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** An empty database, with the context of the command line at a fixed time. */
async function emptyPlace(now = new Date('2026-11-24T09:30:00Z')) {
  const database = await freshDatabase()
  const db = openPool<Schema>({ url: database.url, max: 4, applicationName: 'mintmark test' })
  const config: Config = { ...readConfig({ DATABASE_URL: database.url }), dataDir: mkdtempSync(join(folder, 'data-')) }
  const viewer = { kind: 'operator' as const, name: 'test' }
  const ctx = { db, viewer, now: () => now, requestId: null, idempotency: null, caughtUp: async () => {}, rules: config.priceRules }
  const close = async () => {
    await db.close()
    await database.drop()
  }
  return { ctx, config, url: database.url, close }
}
type Place = Awaited<ReturnType<typeof emptyPlace>>

/** A digest of everything that the demo invents. */
async function digestOf({ ctx }: Place): Promise<unknown> {
  const { rows } = await sql`
    select (select md5(string_agg(p::text, ',' order by item_id, market, label_id, updated_at)) from price_points p) as points,
      (select md5(string_agg(concat_ws(' ', item_id, market, label_id, price, updated_at, state), ',' order by item_id, market, label_id)) from prices)
        as prices,
      (select md5(string_agg(r::text, ',' order by currency, day)) from rates r) as rates,
      (select md5(string_agg(concat_ws(' ', id, listing_id, unit_price, sold_at), ',' order by id)) from sales) as sales,
      (select md5(string_agg(concat_ws(' ', id, seller_id, item_id, price, status, created_at), ',' order by id)) from listings) as listings,
      (select string_agg(concat_ws(' ', id, name, created_at), ',' order by id) from accounts) as accounts,
      (select max(id) from imports) as imports, (select count(*) from match_queue) as matches, (select count(*) from held_prices) as held`.execute(
    ctx.db.kysely,
  )
  return rows[0]
}

describe('the demo on a node', () => {
  let node: TestNode
  let access: DemoAccess
  let key: string
  const dataDir = mkdtempSync(join(folder, 'data-'))

  beforeAll(async () => {
    node = await startTestNode()
    access = await makeDemo(node.ctx, { ...node.config, dataDir })
    key = access.keys.plus
  })
  afterAll(() => node.close())

  const operator = async <T>(path: string) => (await send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN)).body
  const api = async <T>(path: string) => (await send<T>(`${node.publicUrl}/api/v1${path}`, key)).body

  interface Item {
    id: number
    attributes: { name: string; value: string }[]
    prices: { label: string; price: number; market: string }[]
  }
  interface Period {
    date: string
    low: number
    close: number
  }

  test('an item has a price for each day of two years that ends with its current one, and says that prices are samples', async () => {
    const [charizard] = (await api<Item[]>('/items/search?q=charizard%20base%20set')).data
    const { attributes } = (await api<Item>(`/items/${charizard!.id}`)).data
    expect(attributes).toContainEqual({ name: 'Price Data', value: 'Sample' })
    const now = node.clock.now()
    const from = new Date(now.getTime() - 731 * DAY_MS).toISOString()
    const days = (await api<Period[]>(`/items/${charizard!.id}/price-history?label=Near%20Mint&from=${from}`)).data
    expect(days.length).toBeGreaterThan(715)
    expect(Date.parse(days[0]!.date)).toBeLessThanOrEqual(now.getTime() - 729 * DAY_MS)
    expect(Date.parse(days.at(-1)!.date)).toBeGreaterThan(now.getTime() - 2 * DAY_MS)
    const { rows } = await sql<{ price: string }>`
      select p.price from prices p join items i on i.id = p.item_id join groups g on g.id = p.label_id
      where i.id = ${charizard!.id} and g.name = 'Near Mint' and p.market = 3`.execute(node.db.kysely)
    expect(days.at(-1)!.close).toBe(Number(rows[0]!.price))
    const closes = days.map(({ close }) => close)
    expect(Math.min(...days.map(({ low }) => low))).toBeGreaterThan(0)
    expect(Math.max(...closes) / Math.min(...closes)).toBeGreaterThan(1.2)
    // No day moves more than prices of cards do.
    expect(Math.max(...closes.slice(1).map((close, i) => Math.abs(Math.log(close / closes[i]!))))).toBeLessThan(0.2)
  })

  test('the collector has watches, offers, copies sold with a gain in real lira, and certificates', async () => {
    expect((await api<object[]>('/plus/watches')).data.length).toBeGreaterThan(2)
    const offers = (await api<{ status: string }[]>('/plus/offers')).data.map(({ status }) => status)
    expect(offers).toEqual(expect.arrayContaining(['open', 'declined']))
    const [binder, slabs] = (await api<{ id: number }[]>('/plus/collections')).data
    const profit = (await api<{ realised: number; cpi_month: string }>(`/plus/collections/${binder!.id}/profit?currency=TRY_REAL`)).data
    expect(profit).toEqual(expect.objectContaining({ realised: expect.any(Number), cpi_month: expect.stringMatching(/^\d{4}-\d\d$/) }))
    expect(profit.realised).not.toBe(0)
    const records = (await api<{ certificate: object | null }[]>(`/plus/collections/${slabs!.id}/items`)).data
    expect(records.every(({ certificate }) => certificate !== null)).toBe(true)
  })

  test('Plus and Enterprise accounts have filled collections with a worth', async () => {
    for (const plan of ['plus', 'enterprise'] as const) {
      const owner = collector(node, access.keys[plan])
      const { body } = await owner.ask<{ id: number; name: string; items_count: number; worth: { currencies: { value: number }[] } }[]>(
        'GET',
        '?with_value=1',
      )
      expect(body.data.map(({ name, items_count }) => [name, items_count > 0])).toEqual([
        ['Binder', true],
        ['Slabs', true],
        ['Sealed', true],
      ])
      for (const { id, items_count, worth } of body.data) {
        expect(await owner.list(id)).toHaveLength(items_count)
        expect(worth.currencies.some(({ value }) => value > 0)).toBe(true)
      }
      expect((await owner.list(body.data[1]!.id)).every((record) => / \d/.test(record.group_label!))).toBe(true)
    }
    expect(await prepareDemo(node.ctx, { ...node.config, dataDir })).toEqual(access)
  })

  test('every queue has an entry', async () => {
    const {
      held_prices: held,
      matches,
      listings,
    } = (await operator<{ held_prices: object; matches: { waiting: number }; listings: { pending: number } }>('/stats')).data
    expect(held).toMatchObject({ jump: expect.any(Number), future_date: 1 })
    expect(matches.waiting).toBeGreaterThan(0)
    expect(listings.pending).toBeGreaterThan(0)
    expect((await operator<{ disputed: number }>('/price-reviews/count')).data.disputed).toBeGreaterThan(0)
    const [collection] = (await api<{ id: number }[]>('/plus/collections')).data
    expect((await operator<unknown[]>(`/collections/${collection!.id}/parked`)).data).not.toEqual([])
    expect((await api<unknown[]>('/plus/parked-listings')).data).not.toEqual([])
  })

  test('accounts, sales and the worth of collections are of different ages', async () => {
    const { rows } = await sql<{ accounts: number; months: number; early: number; worth: number }>`
      select (select count(distinct created_at::date)::int from accounts where name not like 'Test %') as accounts,
        (select count(distinct date_trunc('month', sold_at))::int from sales) as months,
        (select count(*)::int from sales s join listings l on l.id = s.listing_id join accounts a on a.id = s.seller_id
          where s.sold_at < l.created_at or l.created_at < a.created_at) as early,
        (select max(days)::int from (select count(*) as days from collection_worth_days group by collection_id) c) as worth`.execute(node.db.kysely)
    expect(rows[0]).toMatchObject({ accounts: 8, early: 0 })
    expect(rows[0]!.months).toBeGreaterThan(18)
    expect(rows[0]!.worth).toBeGreaterThanOrEqual(365)
  })
})

test('the demo is the same each time, also after resets', { tags: 'slow' }, async () => {
  const [one, other] = [await emptyPlace(), await emptyPlace()]
  const first = await prepareDemo(one.ctx, one.config)
  await prepareDemo(other.ctx, other.config)
  const digest = await digestOf(one)
  expect(await digestOf(other)).toEqual(digest)
  for (let n = 0; n < 2; n += 1) {
    const access = await resetDemo(one.ctx, one.config)
    expect(await digestOf(one)).toEqual(digest)
    expect(access.operatorToken).not.toBe(first.operatorToken)
    expect(await prepareDemo(one.ctx, one.config)).toEqual(access)
  }
  await Promise.all([one.close(), other.close()])
})

describe('a reset', { tags: 'slow' }, () => {
  let place: Place
  beforeAll(async () => {
    place = await emptyPlace()
  })
  afterAll(() => place.close())

  const reset = (options = {}) => resetDemo(place.ctx, place.config, options)

  test('refuses a database without the demo', async () => {
    await expect(reset({ yes: true })).rejects.toThrow('Demo not reset: this database does not contain the demo')
    await call(createAccount, place.ctx, { name: 'Shop', plan: 'plus' })
    await expect(reset({ yes: true })).rejects.toThrow('does not contain the demo')
    expect(await isUntouched(place.ctx.db)).toBe(false)
  })

  test('refuses what others have added, unless told to delete it', async () => {
    const access = await makeDemo(place.ctx, place.config)
    await call(createAccount, place.ctx, { name: 'Another shop', plan: 'plus' })
    await expect(reset()).rejects.toThrow('Demo not reset: the database also contains 1 added account; add --yes to delete this too')
    expect(await prepareDemo(place.ctx, place.config)).toEqual(access)
    await reset({ yes: true })
    const { rows } = await sql`select from accounts where name like '%hop'`.execute(place.ctx.db.kysely)
    expect(rows).toEqual([])
  })

  test('refuses while a service runs on the database', async () => {
    const service = openPool<Schema>({ url: place.url, max: 1, applicationName: 'mintmark serve' })
    await sql`select 1`.execute(service.kysely)
    await expect(reset()).rejects.toThrow('Demo not reset: a service is running on this database; stop it first')
    await service.close()
    await reset()
  })

  test('is a deliberate choice on the command line', async () => {
    const mintmark = (...args: string[]) => {
      const program = new Command('mintmark').exitOverride()
      register(
        program,
        () => Promise.reject(new Error('opened')),
        () => {},
      )
      for (const command of program.commands) command.exitOverride().configureOutput({ writeErr: () => {} })
      return program.parseAsync(args, { from: 'user' })
    }
    await expect(mintmark('demo', '--yes')).rejects.toBeInstanceOf(CommanderError)
    await expect(mintmark('demo', '--reset', '--own-catalogue')).rejects.toBeInstanceOf(CommanderError)
    await expect(mintmark('demo', '--reset')).rejects.toThrow('opened')
  })
})
