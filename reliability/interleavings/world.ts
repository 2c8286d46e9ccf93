// The world of the simulation: one PostgreSQL, a small marketplace in it, and the parts of a node that follows it.
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createAccount } from '#accounts/create-account.ts'
import type { Log } from '#core/context.ts'
import { MINUTE_MS } from '#core/duration.ts'
import { call, type Viewer } from '#core/verb.ts'
import { migrate } from '#db/migrate.ts'
import { openPool } from '#db/connection/pool.ts'
import type { Db, Schema } from '#db/schema.ts'
import { readConfig } from '#config.ts'
import { importFiles } from '#imports/import-files.ts'
import { liveConfig } from '#live-settings/live-config.ts'
import { approveListing, rejectListing } from '#market/approval/decide-listing.ts'
import { applyPriceJob } from '#market/jobs/apply-price-job.ts'
import { planPriceJob } from '#market/jobs/plan-price-job.ts'
import { createListing } from '#market/listings/create-listing.ts'
import { makeOffer } from '#market/offers/make-offer.ts'
import { recordOrder } from '#market/orders/record-order.ts'
import { createParts, type NodeParts } from '#node/parts.ts'
import { prepareMonths } from '#prices/records/months.ts'
import { configureWebhook } from '#webhooks/configure-webhook.ts'
import { createPostgres, type Postgres } from '../postgres.ts'

/** Far from the real date, so that times of the database's own clock cannot be mistaken for times of this one. */
export const START_MS = Date.UTC(2031, 2, 12, 9)
const HOUR_MS = 60 * MINUTE_MS
const SILENT: Log = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }
/** Deadlocks are found at once, and nothing runs in the background. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  deadlock_timeout: '1ms',
  max_wal_senders: '0',
  wal_level: 'minimal',
  shared_buffers: '64MB',
  jit: 'off',
}

/** Every change of a listing, so that a check sees also those that the next one overwrites. */
const HISTORY = [
  `create table simulated_changes (id int generated always as identity primary key, listing_id int, from_status text, to_status text,
     from_quantity int, to_quantity int)`,
  `create function note_simulated_change() returns trigger language plpgsql as $$ begin
     insert into simulated_changes (listing_id, from_status, to_status, from_quantity, to_quantity)
     values (new.id, old.status, new.status, old.quantity, new.quantity);
     return null;
   end $$`,
  `create trigger simulated_changes after update on listings for each row execute function note_simulated_change()`,
]

/** What the writes act on: ids. */
export interface Market {
  /** of the listings, which have no grade */
  label: number
  seller: number
  other: number
  item: number
  twin: number
  /** one unit left; sold once, repriced by a job; has an open offer and a planned job */
  last: number
  stock: number
  rejected: number
  due: number
  ofOther: number
  order: number
  offer: number
  appliedJob: number
  plannedJob: number
}

export interface World {
  postgres: Postgres
  /** where the server's socket is */
  socket: { dir: string; port: number }
  /** a pool without a proxy */
  db: Db
  node: NodeParts
  market: Market
  clock: { nowMs: number; now: () => Date }
  /** the context of a write over a pool of its own */
  ctx: (db: Db, viewer: Viewer) => WorldCtx
  close: () => Promise<void>
}

export type WorldCtx = ReturnType<typeof contextOf>

function contextOf(node: NodeParts, db: Db, viewer: Viewer) {
  return {
    ...node,
    db,
    viewer,
    requestId: null,
    idempotency: null,
    precondition: null,
    rules: node.config.priceRules,
    caughtUp: () => node.feed.pull(),
  }
}

/** @param dir an empty directory @param nodeUrl address at which the node's own connections reach the server, once it runs */
export async function openWorld(dir: string, nodeUrl: (server: { dir: string; port: number }) => Promise<string>): Promise<World> {
  const place = join(dir, 'postgres')
  mkdirSync(place, { recursive: true })
  const postgres = await createPostgres(place, { settings: SETTINGS })
  await postgres.start()
  const socket = { dir: place, port: postgres.port }
  const url = `postgresql://mintmark@/mintmark?host=${encodeURIComponent(place)}&port=${postgres.port}`
  const db = openPool<Schema>({ url, max: 2, applicationName: 'world', patienceMs: 60_000 })
  await migrate(db)
  for (const statement of HISTORY) await sqlOf(db, statement)
  const clock = { nowMs: START_MS, now: () => new Date(clock.nowMs) }
  await prepareMonths(db, clock.now())
  const nodeDb = openPool<Schema>({ url: await nodeUrl(socket), max: 1, applicationName: 'node', patienceMs: 60_000, connectTimeoutMs: 60_000 })
  const node = await openNode(join(dirname(place), 'data'), nodeDb, clock.now, url)
  const market = await openMarket(contextOf({ ...node, db }, db, OPERATOR), clock)
  await sqlOf(db, 'analyze')
  const close = async () => {
    await node.feed.close()
    await Promise.all([db.close(), nodeDb.close()])
    await postgres.stop('immediate')
  }
  return { postgres, socket, db, node, market, clock, ctx: (of, viewer) => contextOf(node, of, viewer), close }
}

export const OPERATOR: Viewer = { kind: 'operator', name: 'simulation' }
export const seller = (accountId: number): Viewer => ({ kind: 'account', accountId, keyId: 1, plan: 'plus' })

export async function sqlOf(db: Db, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const result = await db.pool.query(text, values)
  return result.rows as Record<string, unknown>[]
}

async function openNode(dataDir: string, db: Db, now: () => Date, url: string): Promise<NodeParts> {
  mkdirSync(dataDir, { recursive: true })
  const config = readConfig({
    DATABASE_URL: url,
    DATA_DIR: dataDir,
    RATE_LIMITS: 'off',
    START_FILE_MINUTES: '0',
    DUMP_HOUR: 'off',
    SECRET_KEY: 'secret key of the simulation',
    OPERATOR_TOKEN: 'operator token of the simulation',
  })
  const node = createParts({ config: liveConfig(config), db, log: SILENT, now, ports: () => [], publicUrl: () => 'http://127.0.0.1' })
  await node.feed.open()
  await node.catalogue.load()
  await node.listings.load()
  return node
}

const FEED = [
  { type: 'category', market: 'service', ref: 'set', name: 'Set', game: 'pokemon', parent: null, image: null },
  ...['Charizard', 'Blastoise'].map((name, i) => ({
    type: 'item',
    market: 'service',
    ref: `set:${i}`,
    name,
    code: `${i}/102`,
    genre: 'single',
    game: 'pokemon',
    category: 'set',
    images: [],
    attributes: [],
    groups: ['ungraded'],
    details: {},
    foreign_ids: [],
  })),
]

async function openMarket(operator: WorldCtx, clock: { nowMs: number }): Promise<Market> {
  const { db, config } = operator
  const text = new TextEncoder().encode(FEED.map((line) => JSON.stringify(line)).join('\n'))
  const file = {
    name: 'feed',
    size: text.length,
    open: async function* () {
      yield text
    },
  } // prettier-ignore
  await call(importFiles, { ...operator, rules: config.priceRules }, { format: 'mintmark-ndjson', files: [file] })
  const [item, twin] = (await sqlOf(db, 'select id from items order by id')).map(({ id }) => id as number) as [number, number]
  const account = async (name: string) => (await call(createAccount, operator, { name, plan: 'plus', highlight_credits: 1 })).id
  const [sellerId, other] = [await account('Seller'), await account('Other')]
  const own = { ...operator, viewer: seller(sellerId) }
  const webhook = { url: 'http://127.0.0.1:9/hook', on_sale: true, on_expire: true }
  await call(configureWebhook, own, webhook)
  const list = async (title: string, quantity: number, fields: object = {}) =>
    (await call(createListing, operator, { seller_id: sellerId, item_id: item, title, price: 100, quantity, ...fields })).id
  const last = await list('Last unit', 2, { offers_enabled: true, min_offer_price: 40 })
  const stock = await list('In stock', 3, { offers_enabled: true })
  const due = await list('Due', 1)
  const rejected = await list('Rejected', 1)
  // The period of one listing ends now, unnoticed.
  clock.nowMs = START_MS - 2 * HOUR_MS
  for (const id of [last, stock]) await call(approveListing, operator, { id })
  await call(approveListing, operator, { id: due, expires_at: new Date(START_MS).toISOString() })
  const ofOther = await list('Of the other', 1, { seller_id: other, item_id: twin, price: 90 })
  await call(approveListing, operator, { id: ofOther })
  const { order_id: order } = await call(recordOrder, operator, { order_id: 7001, lines: [{ listing_id: last, quantity: 1 }] })
  const offer = { listing_id: last, unit_price: 50, order_id: 7002, buyer_reference: 'buyer', quantity: 1 }
  const { id: offerId } = await call(makeOffer, operator, offer)
  const apply = async (price: number) =>
    (
      await call(planPriceJob, own, {
        rows: [
          { listing_id: last, price },
          { listing_id: stock, price },
        ],
      })
    ).id
  const appliedJob = await apply(110)
  await call(applyPriceJob, own, { id: appliedJob })
  clock.nowMs = START_MS - MINUTE_MS / 2
  await call(rejectListing, operator, { id: rejected, reason: 'Blurred' })
  const plannedJob = await apply(120)
  clock.nowMs = START_MS
  const [{ label }] = (await sqlOf(db, 'select label_id as label from listings')) as [{ label: number }]
  return { label, seller: sellerId, other, item, twin, last, stock, rejected, due, ofOther, order, offer: offerId, appliedJob, plannedJob }
}
