// Shared by the authorisation matrix: registered routes, accounts with their own records, and raw requests.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { request as httpRequest } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { type RawBuilder, sql } from 'kysely'
import { changeAccount } from '#accounts/change-account.ts'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { createItem } from '#catalogue/items/create-item.ts'
import { addCollectionItem } from '#collections/add-item.ts'
import { createCollection } from '#collections/create-collection.ts'
import type { Plan } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { recordOrder } from '#market/orders/record-order.ts'
import { cursorAt } from '#webhooks/events/event-cursor.ts'
import { applyPriceJob } from '#market/jobs/apply-price-job.ts'
import { importListings } from '#market/intake/import-listings.ts'
import { planPriceJob } from '#market/jobs/plan-price-job.ts'
import { createRepricingRule } from '#market/repricing/create-repricing-rule.ts'
import { simulateRepricingRule } from '#market/repricing/simulate-repricing-rule.ts'
import { updateListing } from '#market/listings/update-listing.ts'
import { DAY_MS, published } from '../market/kit.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'

/** Starts a node and lists the routes of its listeners (`GET /path`), without HEAD and those that respond with 405. */
export async function startListing(): Promise<{ node: TestNode; registered: string[] }> {
  const registered: string[] = []
  const watch = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance }
    fastify.addHook('onRoute', ({ method, url }) => {
      const methods = [method].flat()
      if (!methods.includes('OPTIONS')) registered.push(...methods.filter((one) => one !== 'HEAD').map((one) => `${one} ${url}`))
    })
  }
  subscribe('fastify.initialization', watch)
  const node = await startTestNode({ env: { TRUST_PROXY: 'loopback', WEBHOOK_RETRY_DELAYS: '1ms,1ms' } })
  unsubscribe('fastify.initialization', watch)
  return { node, registered: [...new Set(registered)] }
}

/** An account with a word that is in all of its records, and nowhere else. */
export interface Owner {
  accountId: number
  key: string
  plan: Plan
  secretWord: string
}

/** Records of an owner that an operation may use up. */
export interface Things {
  item: number
  listing: number
  collection: number
  record: number
  /** a planned price job, and an applied one */
  job: number
  applied: number
  /** a parked row of a file */
  parked: number
  /** an import of listings */
  imported: number
  /** a simulated repricing rule */
  rule: number
  /** cursor of a sale in its feed */
  cursor: string
  /** times in the future */
  soon: string
  later: string
}

let owners = 0

/** An account with a webhook, one of its log rows, a sale, which is in its feed, and finally this plan. */
export async function makeOwner(node: TestNode, plan: Plan): Promise<Owner> {
  owners += 1
  const secretWord = `word${owners}of${plan}`
  const { id: accountId } = await call(createAccount, node.ctx, { name: secretWord, plan: 'plus', highlight_credits: 1_000 })
  const { key } = await call(createKey, node.ctx, { account_id: accountId })
  await send(`${node.publicUrl}/api/v1/plus/webhook`, key, { method: 'PUT', json: { url: `http://127.0.0.1:9/${secretWord}` } })
  await sql`
    with event as (
      insert into webhook_events (account_id, kind, body, state, due_at, created_at)
      values (${accountId}, 'sale', '{}', 'failed', now(), now()) returning id
    )
    insert into webhook_attempts (event_id, account_id, kind, test, attempt, response_excerpt, started_at, finished_at)
    select id, ${accountId}, 'sale', false, 1, ${secretWord}, now(), now() from event`.execute(node.db.kysely)
  const category = await node.db.kysely.selectFrom('categories').select(['id', 'market']).executeTakeFirstOrThrow()
  const asOperator = { ...node.ctx, rules: node.config.priceRules }
  const { id: itemId } = await call(createItem, asOperator, { name: secretWord, market: category.market, category_id: category.id })
  const listing = await published(node, itemId, { seller_id: accountId })
  await call(recordOrder, node.ctx, { order_id: 9_000_000 + owners, lines: [{ listing_id: listing.id, quantity: 1 }] })
  await call(changeAccount, node.ctx, { id: accountId, plan, listing_intake: { quota: 100_000 } })
  return { accountId, key, plan, secretWord }
}

/** A published listing, price jobs for it, and a collection with a record, all with the owner's word. */
export async function makeThings(node: TestNode, { accountId, secretWord }: Owner, item: number): Promise<Things> {
  const listing = await published(node, item, { seller_id: accountId, title: secretWord, description: secretWord })
  const collection = await call(createCollection, node.ctx, { account_id: accountId, name: secretWord })
  const asOwner = {
    ...node.ctx,
    catalogue: node.catalogue,
    listings: node.listings,
    viewer: { kind: 'account' as const, accountId, keyId: 0, plan: 'plus' as const },
  }
  const { record } = await call(addCollectionItem, asOwner, { id: collection.id, item_id: item, note: secretWord })
  // The number of rules per account is limited.
  await node.db.kysely.deleteFrom('repricing_rules').where('account_id', '=', accountId).execute()
  const { id: rule } = await call(createRepricingRule, asOwner, {
    name: secretWord,
    target: { kind: 'cheapest', amount: -1 },
    scope: { kind: 'all' },
    floor: { price: 10 },
  })
  await call(simulateRepricingRule, asOwner, { id: rule })
  const inDays = (days: number) => new Date(node.clock.now().getTime() + days * DAY_MS).toISOString()
  const moments = { soon: inDays(1), later: inDays(2) }
  const sku = `${secretWord} ${listing.id}`
  await call(updateListing, asOwner, { id: listing.id, sku })
  const plan = (price: number) => call(planPriceJob, asOwner, { rows: [{ sku, price }] })
  const { id: applied } = await plan(120)
  await call(applyPriceJob, asOwner, { id: applied })
  const { id: job } = await plan(130)
  const entry = {
    item: { keys: [], name: secretWord, number: null, set: null, game: null, finish: null },
    sku: null,
    grade: null,
    fields: { price: 5 },
  }
  const { rows } = await sql<{ id: number }>`
    insert into parked_listings (account_id, key, line, entry, rule, params, candidates, parked_at)
    values (${accountId}, ${sku}, 2, ${JSON.stringify(entry)}, 'like_none', '{}', '[]', now()) returning id`.execute(node.db.kysely)
  const parked = rows[0]!.id
  const { id: imported } = await call(importListings, asOwner, { rows: [{ item_id: item, price: 5, title: secretWord }] })
  return {
    item,
    parked,
    imported: imported!,
    listing: listing.id,
    collection: collection.id,
    record: record.id,
    job,
    applied,
    rule,
    cursor: cursorAt(accountId, 1),
    ...moments,
  }
}

/** The path with the ids of the owner's records, or of the item. */
export function withIds(path: string, { listing, parked, imported, collection, record, job, applied, rule, item }: Things): string {
  const ids = {
    '/parked-listings/': parked,
    '/imports/': imported,
    '/listings/': listing,
    '/collections/': collection,
    '/undo': applied,
    '/repricing-rules/': rule,
    '/price-jobs/': job,
  }
  const id = Object.entries(ids).find(([part]) => path.includes(part))?.[1] ?? item
  return path.replace(':itemId', String(record)).replace(':id', String(id))
}

/** Number of webhook events to deliver. */
export async function queuedEvents({ db }: TestNode): Promise<number> {
  const queued = await db.kysely.selectFrom('webhook_events').select('id').where('state', '=', 'queued').execute()
  return queued.length
}

/** Rows that count in tables that also change by themselves: a worker records the facts of pending listings. */
const COUNTED: Record<string, RawBuilder<unknown>> = {
  audit_log: sql`action <> 'operator.authentication-failed'`,
  listing_decisions: sql`decision is not null`,
}

/** The query of `stateOf`, by node. */
const digests = new WeakMap<TestNode, Promise<string>>()

/**
 * A digest of every table except what time alone changes (the uses of keys, expired rows) and the records of rejections. A write
 * has a higher transaction id than all earlier ones, so the number of rows and the highest id reveal every change without reading the content.
 */
export async function stateOf(node: TestNode): Promise<Record<string, string>> {
  const text = digests.get(node) ?? digestOf(node)
  digests.set(node, text)
  // A named query, so that each connection plans it once: planning takes longer than running it.
  const { rows } = await node.db.pool.query<Record<string, string>>({ name: 'digest', text: await text })
  return rows[0]!
}

async function digestOf(node: TestNode): Promise<string> {
  const { rows: tables } = await sql<{ name: string; is_used: boolean }>`
    select c.relname as name, exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attname = 'last_used_at' and not a.attisdropped
    ) as is_used
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not in ('change_log_floor', 'migrations', 'workers', 'api_key_usage')`.execute(node.db.kysely)
  const contents = sql`sum(hashtextextended((to_jsonb(t) - 'last_used_at')::text, 0))`
  // A separate query for each table: for a union, PostgreSQL would start parallel workers, which takes longer than running all of it.
  const parts = tables.map(
    ({ name, is_used: isUsed }) => sql`(
      select count(*) || ' rows ' || coalesce(${isUsed ? contents : sql`max(t.xmin::text::bigint)`}, 0)
      from ${sql.table(name)} as t where ${COUNTED[name] ?? sql`true`}
    ) as ${sql.ref(name)}`,
  )
  return sql`select ${sql.join(parts)}`.compile(node.db.kysely).sql
}

export interface RawReply {
  status: number
  headers: NodeJS.Dict<string | string[]>
  text: string
}

let addresses = 0

/**
 * Sends a request with exactly these headers, including repeated ones: names and values in turn. Each request comes from a different
 * address, because addresses that send wrong credentials are rejected after a while.
 */
export function sendRaw(url: string, method: string, headers: string[], body?: string): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    addresses += 1
    const address = `198.${18 + (addresses >> 16)}.${(addresses >> 8) & 255}.${addresses & 255}`
    const type = body === undefined ? [] : ['content-type', 'application/json']
    const length = ['content-length', String(Buffer.byteLength(body ?? ''))]
    const request = httpRequest(url, { method, headers: ['host', new URL(url).host, 'x-forwarded-for', address, ...headers, ...type, ...length] })
    request.on('error', reject).on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('error', reject).on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }))
    })
    request.end(body)
  })
}

/** A text that refers to records by kind, with their ids filled in. */
export function filled(text: string, things: Things): string {
  return text.replace(/"?\b(ITEM|LISTING|PARKED|COLLECTION|RECORD|JOB|APPLIED|RULE|CURSOR|SOON|LATER)\b"?/g, (_all, kind: string) =>
    JSON.stringify(things[kind.toLowerCase() as keyof Things]),
  )
}
