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
import { addCollectionDisposal } from '#collections/lots/change-disposals.ts'
import { addCollectionLot } from '#collections/lots/change-lots.ts'
import { createCollection } from '#collections/create-collection.ts'
import type { Plan } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { makeOffer } from '#market/offers/make-offer.ts'
import { recordOrder } from '#market/orders/record-order.ts'
import { cursorAt } from '#webhooks/events/event-cursor.ts'
import { applyPriceJob } from '#market/jobs/apply-price-job.ts'
import { importListings } from '#market/intake/import-listings.ts'
import { planPriceJob } from '#market/jobs/plan-price-job.ts'
import { createRepricingRule } from '#market/repricing/create-repricing-rule.ts'
import { simulateRepricingRule } from '#market/repricing/simulate-repricing-rule.ts'
import { updateListing } from '#market/listings/update-listing.ts'
import { putWatches } from '#watches/put-watches.ts'
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
  const node = await startTestNode({ env: { TRUST_PROXY: 'loopback', WEBHOOK_RETRY_DELAYS: '1ms,1ms' }, worker: true })
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

/** Ids of an owner's records that an operation may use up. */
interface Ids {
  listing: number
  /** a planned price job, and an applied one */
  job: number
  applied: number
  collection: number
  record: number
  lot: number
  disposal: number
  /** a simulated repricing rule */
  rule: number
  /** a parked row of a file */
  parked: number
  /** an import of listings */
  imported: number
  /** an open offer */
  offer: number
  watch: number
}

/** What requests refer to: records of an owner, and what cannot be used up. */
export interface Things extends Partial<Ids> {
  item: number
  /** cursor of a sale in its feed */
  cursor: string
  /** times in the future */
  soon: string
  later: string
}

/** Records that are created together; an operation that refers to one of them may use up all of them. */
const PARTS = {
  listing: ['listing', 'job', 'applied'],
  collection: ['collection', 'record', 'lot', 'disposal'],
  rule: ['rule'],
  parked: ['parked'],
  imported: ['imported'],
  offer: ['offer'],
  watch: ['watch'],
} as const satisfies Record<string, readonly (keyof Ids)[]>

export type Part = keyof typeof PARTS

export const ALL_PARTS = Object.keys(PARTS) as Part[]

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
  await sql`
    insert into notifications (account_id, subject, node, kind, severity, params, state, since, changed_at)
    values (${accountId}, ${secretWord}, '', 'own_key_expiring', 'warning', '{}', '', now(), now())`.execute(node.db.kysely)
  const category = await node.db.kysely.selectFrom('categories').select(['id', 'market']).executeTakeFirstOrThrow()
  const asOperator = { ...node.ctx, rules: node.config.priceRules }
  const { id: itemId } = await call(createItem, asOperator, { name: secretWord, market: category.market, category_id: category.id })
  const listing = await published(node, itemId, { seller_id: accountId })
  await call(recordOrder, node.ctx, { order_id: 9_000_000 + owners, lines: [{ listing_id: listing.id, quantity: 1 }] })
  await call(changeAccount, node.ctx, { id: accountId, plan, listing_intake: { quota: 100_000 } })
  return { accountId, key, plan, secretWord }
}

/** The parts that an operation refers to by placeholders, in its path, query, body or field. */
export function partsIn(...texts: (string | undefined)[]): Part[] {
  const kinds = new Set(texts.flatMap((text = '') => Array.from(placed(text).matchAll(PLACEHOLDER), (match) => match[1]!.toLowerCase())))
  return ALL_PARTS.filter((part) => PARTS[part].some((field) => kinds.has(field)))
}

export function hasPart(things: Things, part: Part): boolean {
  return PARTS[part].every((field) => things[field] !== undefined)
}

/** What is left once an operation has used up these parts. */
export function withoutParts(things: Things, parts: readonly Part[]): Things {
  const used: readonly string[] = parts.flatMap((part) => PARTS[part])
  return Object.fromEntries(Object.entries(things).filter(([field]) => !used.includes(field))) as unknown as Things
}

/**
 * Creates records of an owner, all with the owner's word: a published listing with price jobs for it, a collection with a record, a simulated
 * repricing rule, a parked row of a file, an import of listings, an open offer, and a watch; or only some parts of this.
 */
export async function makeThings(node: TestNode, owner: Owner, item: number, parts: readonly Part[] = ALL_PARTS): Promise<Things> {
  const inDays = (days: number) => new Date(node.clock.now().getTime() + days * DAY_MS).toISOString()
  const things: Things = { item, cursor: cursorAt(owner.accountId, 1), soon: inDays(1), later: inDays(2) }
  for (const part of parts) Object.assign(things, await MAKERS[part](node, owner, item))
  return things
}

const MAKERS: Record<Part, (node: TestNode, owner: Owner, item: number) => Promise<Partial<Ids>>> = {
  listing: makeListing,
  collection: async (node, owner, item) => {
    const { id: collection } = await call(createCollection, node.ctx, { account_id: owner.accountId, name: owner.secretWord })
    const { record } = await call(addCollectionItem, contextOf(node, owner), { id: collection, item_id: item, note: owner.secretWord })
    const ofRecord = { id: collection, itemId: record.id }
    const { lot } = await call(addCollectionLot, contextOf(node, owner), { ...ofRecord, quantity: 2 })
    const { disposal } = await call(addCollectionDisposal, contextOf(node, owner), { ...ofRecord, gross: 1 })
    return { collection, record: record.id, lot: lot.id!, disposal: disposal.id }
  },
  rule: makeRule,
  parked: makeParked,
  imported: async (node, owner, item) => {
    const { id: imported } = await call(importListings, contextOf(node, owner), { rows: [{ item_id: item, price: 5, title: owner.secretWord }] })
    return { imported: imported! }
  },
  offer: makeOpenOffer,
  watch: async (node, owner, item) => {
    const language = owner.secretWord
    const [watch] = await call(putWatches, contextOf(node, owner), { watches: { kind: 'offer_below', item_id: item, language, amount: 5 } })
    return { watch: watch!.id }
  },
}

function contextOf(node: TestNode, { accountId }: Owner) {
  const viewer = { kind: 'account' as const, accountId, keyId: 0, plan: 'plus' as const }
  return { ...node.ctx, currencies: node.config.sourceCurrencies, catalogue: node.catalogue, listings: node.listings, viewer, precondition: null }
}

async function makeListing(node: TestNode, owner: Owner, item: number): Promise<Partial<Ids>> {
  const { accountId, secretWord } = owner
  const asOwner = contextOf(node, owner)
  const { id: listing } = await published(node, item, { seller_id: accountId, title: secretWord, description: secretWord })
  const sku = `${secretWord} ${listing}`
  await call(updateListing, asOwner, { id: listing, sku })
  const plan = (price: number) => call(planPriceJob, asOwner, { rows: [{ sku, price }] })
  const { id: applied } = await plan(120)
  await call(applyPriceJob, asOwner, { id: applied })
  const { id: job } = await plan(130)
  return { listing, job, applied }
}

async function makeOpenOffer(node: TestNode, { accountId, secretWord }: Owner, item: number): Promise<Partial<Ids>> {
  const { id: listing_id } = await published(node, item, { seller_id: accountId, title: secretWord, offers_enabled: true })
  offers += 1
  const { id: offer } = await call(makeOffer, node.ctx, { listing_id, unit_price: 80, order_id: 8_000_000 + offers, buyer_reference: secretWord })
  return { offer }
}

let offers = 0

async function makeRule(node: TestNode, owner: Owner): Promise<Partial<Ids>> {
  // The number of rules per account is limited.
  await node.db.kysely.deleteFrom('repricing_rules').where('account_id', '=', owner.accountId).execute()
  const { id: rule } = await call(createRepricingRule, contextOf(node, owner), {
    name: owner.secretWord,
    target: { kind: 'cheapest', amount: -1 },
    scope: { kind: 'all' },
    floor: { price: 10 },
  })
  await call(simulateRepricingRule, contextOf(node, owner), { id: rule })
  return { rule }
}

async function makeParked(node: TestNode, { accountId, secretWord }: Owner): Promise<Partial<Ids>> {
  const entry = {
    item: { keys: [], name: secretWord, number: null, set: null, game: null, finish: null },
    sku: null,
    grade: null,
    fields: { price: 5 },
  }
  parkedRows += 1
  const { rows } = await sql<{ id: number }>`
    insert into parked_listings (account_id, key, line, entry, rule, params, candidates, parked_at)
    values (${accountId}, ${`${secretWord} ${parkedRows}`}, 2, ${JSON.stringify(entry)}, 'like_none', '{}', '[]', now()) returning id`.execute(
    node.db.kysely,
  )
  return { parked: rows[0]!.id }
}

let parkedRows = 0

/** The placeholder of the id in a path that contains a part. */
const ID_IN_PATH = {
  '/parked-listings/': 'PARKED',
  '/imports/': 'IMPORTED',
  '/listings/': 'LISTING',
  '/collections/': 'COLLECTION',
  '/undo': 'APPLIED',
  '/repricing-rules/': 'RULE',
  '/price-jobs/': 'JOB',
  '/offers/': 'OFFER',
  '/watches/': 'WATCH',
  // The ids of those that the table creates count from 1.
  '/sandbox/': '999999',
}

/** The path with placeholders in place of its parameters. */
function placed(path: string): string {
  const id = Object.entries(ID_IN_PATH).find(([part]) => path.includes(part))?.[1] ?? 'ITEM'
  return path.replace(':itemId', 'RECORD').replace(':lotId', 'LOT').replace(':disposalId', 'DISPOSAL').replace(':id', id)
}

/** The path with the ids of the owner's records, or of the item. */
export function withIds(path: string, things: Things): string {
  return filled(placed(path), things)
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
 * A digest of every table except what time alone changes (the uses of keys, views of listings, searches, what watches told, expired rows) and the records of rejections. A write
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
      select from pg_attribute a where a.attrelid = c.oid and a.attname in ('last_used_at', 'told_day') and not a.attisdropped
    ) as is_used
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not in ('change_log_floor', 'migrations', 'workers', 'api_key_usage', 'listing_views', 'search_terms', 'notifications', 'watch_progress')`.execute(
    node.db.kysely,
  )
  const contents = sql`sum(hashtextextended((to_jsonb(t) - array['last_used_at', 'told_day', 'told_price', 'told_market', 'told_listing_id', 'due_day'])::text, 0))`
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
export function sendRaw(url: string, method: string, headers: string[], body?: string | Buffer): Promise<RawReply> {
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

const PLACEHOLDER = /"?\b(ITEM|OFFER|WATCH|LISTING|PARKED|IMPORTED|COLLECTION|RECORD|LOT|DISPOSAL|JOB|APPLIED|RULE|CURSOR|SOON|LATER)\b"?/g

/** A text that refers to records by kind, with their ids filled in. */
export function filled(text: string, things: Things): string {
  return text.replace(PLACEHOLDER, (_all, kind: string) => {
    const value = things[kind.toLowerCase() as keyof Things]
    if (value === undefined) throw new Error(`No ${kind} was created for ${text}`)
    return JSON.stringify(value)
  })
}
