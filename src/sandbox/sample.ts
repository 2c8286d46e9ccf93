// What a new sandbox contains: the template has the sample catalogue; each sandbox gets prices of its own start, an account and listings by its seed.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { insertKey } from '#accounts/account-store.ts'
import { backdateAccount } from '#accounts/backdate-account.ts'
import { changeAccount } from '#accounts/change-account.ts'
import { createAccount } from '#accounts/create-account.ts'
import { NO_SCOPE, type KeyScope } from '#accounts/credentials/key-scope.ts'
import { postPrices } from '#catalogue/items/post-prices.ts'
import { addCollectionItem } from '#collections/add-item.ts'
import { createCollection } from '#collections/create-collection.ts'
import { DAY_MS } from '#core/duration.ts'
import { MARKETS, type Market } from '#core/markets.ts'
import type { Plan } from '#core/plans.ts'
import { machineNow } from '#core/process/time-and-chance.ts'
import { randomNumbers } from '#core/random.ts'
import { call } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import type { Db } from '#db/schema.ts'
import { sql } from 'kysely'
import { importFiles } from '#imports/import-files.ts'
import { approveListing } from '#market/approval/decide-listing.ts'
import { createListing } from '#market/listings/create-listing.ts'
import { demoRates } from '#prices/history/demo-rates.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { setRates } from '#prices/rates/set-rates.ts'
import { prepareMonths } from '#prices/records/months.ts'
import { changeSource } from '#prices/reviews/change-source.ts'
import type { PlayCtx, World } from './world.ts'

const FILES = ['pokemon.ndjson', 'onepiece.ndjson']
const LICENCE = 'Apache-2.0: invented sample prices of Mintmark'
/** Listings of the account; the last one awaits approval. */
const OWN_LISTINGS = 6
/** Listings of another seller, to search and to be refused. */
const OTHER_LISTINGS = 10
const RECORDS = 3
const CREDITS = 10
const INTAKE_QUOTA = 2_000
/** Lira for one unit of the currency of the sample's prices: listings cost about what their items do. */
const LIRA = 42
const PRICED_BY: Market = 'source_a'

interface SamplePrice {
  market: Market
  label: string
  price: string
  updated_at: string
}

interface SampleItem {
  type: 'item'
  market: Market
  ref: string
  name: string
  prices?: SamplePrice[]
}

/** Identifies the sample, so that another one makes another template. */
export function sampleVersion(): string {
  return createHash('sha256').update(FILES.map(readSample).join('')).digest('hex')
}

/** Fills a migrated database with the sample catalogue. */
export function templateFiller(rules: PriceWriteCtx['rules']): (db: Db) => Promise<void> {
  return async (db) => {
    const now = machineNow
    const ctx = { db, now, viewer: OPERATOR, requestId: null, idempotency: null, caughtUp: async () => {}, rules }
    const files = FILES.map((name) => ({ name, size: null, open: () => Readable.from([Buffer.from(withoutPrices(readSample(name)))]) }))
    const report = await call(importFiles, ctx, { format: 'mintmark-ndjson', files })
    if (report.status !== 'done') throw new Error(`The sample was not imported: ${JSON.stringify(report)}`)
    for (const market of MARKETS) if (market !== 'service') await call(changeSource, ctx, { market, use: 'redistribute', licence: LICENCE })
  }
}

const OPERATOR = { kind: 'operator', name: 'sandbox' } as const

/** Whose a sandbox is. */
export interface Owner {
  accountId: number
  plan: Plan
  /** of the test key */
  hash: Buffer
  last4: string
  /** restrictions of the test key */
  scope: KeyScope
}

/** Fills a new sandbox: the same owner, start and seed always give the same content. */
export async function fillWorld({ db, clock, operator }: World, owner: Owner, seed: number): Promise<void> {
  const now = clock.now()
  await prepareMonths(db, now)
  await call(setRates, operator, { rates: demoRates(now) })
  const items = sampleItems()
  await call(postPrices, operator, { prices: pricesAt(now, items) })
  const [own, other] = await addAccounts(operator, owner)
  await addListings(operator, own, other, pricedItems(items), randomNumbers(seed))
}

/** Its account has the id of its owner, so that its requests count as the owner's. */
async function addAccounts(ctx: PlayCtx, owner: Owner): Promise<[own: number, other: number]> {
  const { accountId, plan, hash, last4, scope } = owner
  await sql`select setval(pg_get_serial_sequence('accounts', 'id'), ${accountId}, false)`.execute(ctx.db.kysely)
  const own = await call(createAccount, ctx, { name: 'Sandbox', plan, highlight_credits: CREDITS })
  const other = await call(createAccount, ctx, { name: 'Sandbox seller', plan: 'plus' })
  for (const { id } of [own, other]) await backdateAccount(ctx, id, ctx.now())
  await call(changeAccount, ctx, { id: own.id, listing_intake: { quota: INTAKE_QUOTA } })
  await change(ctx, (tx) =>
    insertKey(tx, { account_id: own.id, label: 'test key', hash, last4, created_at: ctx.now(), expires_at: null }, { ...NO_SCOPE, ...scope }),
  )
  return [own.id, other.id]
}

interface PricedItem extends SampleItem {
  lira: number
}

function pricedItems(items: readonly SampleItem[]): PricedItem[] {
  return items.flatMap((item) => {
    const price = item.prices?.find(({ market, label }) => market === PRICED_BY && label === 'Near Mint')?.price
    return price === undefined ? [] : [{ ...item, lira: Math.max(1, Math.round(Number(price) * LIRA)) }]
  })
}

/** @param items to choose from; the chosen ones are removed */
async function addListings(ctx: PlayCtx, own: number, other: number, items: PricedItem[], random: () => number): Promise<void> {
  const chosen = Array.from({ length: OWN_LISTINGS + OTHER_LISTINGS + RECORDS }, () => items.splice(Math.floor(random() * items.length), 1)[0]!)
  const rows = await ctx.db.kysely
    .selectFrom('items')
    .select(['id', 'ref'])
    .where('ref', 'in', [...new Set(chosen.map(({ ref }) => ref))])
    .execute()
  const ids = new Map(rows.map(({ id, ref }) => [ref, id]))
  for (const [i, { ref, name, lira }] of chosen.slice(0, OWN_LISTINGS + OTHER_LISTINGS).entries()) {
    const seller_id = i < OWN_LISTINGS ? own : other
    const fields = { item_id: ids.get(ref)!, title: name, price: lira, quantity: 3, offers_enabled: true, shipping_payer: 'buyer' }
    const { id } = await call(createListing, ctx, { seller_id, ...fields })
    if (i !== OWN_LISTINGS - 1) await call(approveListing, ctx, { id })
  }
  const collection = await call(createCollection, ctx, { account_id: own, name: 'Sandbox collection' })
  const viewer = { kind: 'account', accountId: own, keyId: 0, plan: 'plus', test: true } as const
  for (const { ref, lira } of chosen.slice(OWN_LISTINGS + OTHER_LISTINGS)) {
    await call(addCollectionItem, { ...ctx, viewer }, { id: collection.id, item_id: ids.get(ref)!, quantity: 1, purchase_price: lira })
  }
}

/** The prices of the sample as of a time: each is from the day before, at its own time of day. Those of the service come from its sales. */
function pricesAt(now: Date, items: readonly SampleItem[]): object[] {
  return items.flatMap(({ ref, prices = [] }) =>
    prices
      .filter(({ market }) => market !== 'service')
      .map(({ market, label, price, updated_at: at }) => {
        const days = Math.floor((now.getTime() - Date.parse(at)) / DAY_MS)
        const updated_at = new Date(Date.parse(at) + days * DAY_MS).toISOString()
        return { item_ref: ref, market, label, price: Number(price), updated_at }
      }),
  )
}

function sampleItems(): SampleItem[] {
  const lines = FILES.flatMap((name) => readSample(name).trim().split('\n'))
  return lines.map((line) => JSON.parse(line) as SampleItem).filter(({ type }) => type === 'item')
}

function withoutPrices(text: string): string {
  const lines = text.trim().split('\n')
  return `${lines.map((line) => JSON.stringify({ ...(JSON.parse(line) as object), ...(line.includes('"type":"item"') && { prices: [] }) })).join('\n')}\n`
}

function readSample(name: string): string {
  return readFileSync(new URL(`../../sample/${name}`, import.meta.url), 'utf8')
}
