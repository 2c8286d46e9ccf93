// Makes the demo: sample catalogue with two years of prices, an account of every plan with a key, an operator token, collections, a
// marketplace, and entries in every queue.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { backdateAccount } from '#accounts/backdate-account.ts'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { createOperatorToken } from '#accounts/keys/operator-tokens.ts'
import { addDemoCollections } from '#collections/demo.ts'
import { DAY_MS } from '#core/duration.ts'
import { type Plan, planAllows, PLAN_NAMES, PLANS } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { recordDemo } from '#db/demo-record.ts'
import { importFiles } from '#imports/import-files.ts'
import { addDemoMarket, type DemoSeller, hasSellables } from '#market/orders/demo.ts'
import { addDemoHistory } from '#prices/history/demo-history.ts'
import { demoRates } from '#prices/history/demo-rates.ts'
import { setRates } from '#prices/rates/set-rates.ts'
import { MARKETS } from '#core/markets.ts'
import { changeSource } from '#prices/reviews/change-source.ts'
import type { Config } from '../../config.ts'
import { demoSample } from './demo-sample.ts'
import { addDemoWork } from './demo-work.ts'

export interface DemoAccess {
  keys: Record<Plan, string>
  operatorToken: string
}

interface DemoOptions {
  /** use the existing items instead of the sample catalogue; the history and the queues need the sample */
  ownCatalogue?: boolean
}

/** Days since each account of a plan was created. */
const ACCOUNT_DAYS: Record<Plan, number> = { starter: 64, professional: 402, plus: 715, enterprise: 651 }
/** Further sellers, so that a search by seller has several results, with the days since they joined. */
const SELLERS: readonly [name: string, days: number][] = [
  ['Kart Evi', 688],
  ['Ankara Kart', 533],
  ['Galata Collectibles', 377],
  ['Slab City', 146],
]

const SAMPLE_MARKETS = MARKETS.filter((market) => market !== 'service')
const SAMPLE_LICENCE = 'Apache-2.0: invented sample prices of Mintmark'

/** Why a demo was not created. */
export class NoDemoError extends Error {
  override name = 'NoDemoError'
}

/** Creates the demo, whatever the database contains, and stores its keys in DATA_DIR. */
export async function makeDemo(ctx: WriteCtx, config: Config, { ownCatalogue = false }: DemoOptions = {}): Promise<DemoAccess> {
  const importId = ownCatalogue ? null : await importSample(ctx, config)
  // PostgreSQL needs a second for the points of the history, on a connection of its own; the shop does not read them.
  const [{ access, plusId, collectionIds }] = await Promise.all([openShop(ctx, config), importId !== null && addDemoHistory(ctx, importId)])
  if (importId !== null) {
    const viewer = { kind: 'account', accountId: plusId, keyId: 0, plan: 'plus' } as const
    await addDemoWork({ ...ctx, rules: config.priceRules }, config, { viewer, collectionIds })
    await recordDemo(ctx.db.kysely, ctx.now())
  }
  return access
}

interface Shop {
  access: DemoAccess
  /** the account of the Plus plan */
  plusId: number
  /** of all accounts, those of the Plus plan first */
  collectionIds: number[]
}

/** The demo without history and queues: catalogue, accounts, collections and marketplace. */
export async function makeShop(ctx: WriteCtx, config: Config, { ownCatalogue = false }: DemoOptions = {}): Promise<Shop> {
  if (!ownCatalogue) await importSample(ctx, config)
  return openShop(ctx, config)
}

async function openShop(ctx: WriteCtx, config: Config): Promise<Shop> {
  if (!(await hasSellables(ctx.db))) {
    throw new NoDemoError('No item has a price of source_a, which the demo uses to price its listings; import prices first')
  }
  const keys = {} as Record<Plan, string>
  const sellers: DemoSeller[] = []
  const collectionIds: number[] = []
  for (const plan of PLANS) {
    const since = daysAgo(ctx, ACCOUNT_DAYS[plan])
    const account = await call(createAccount, ctx, { name: `Demo ${PLAN_NAMES[plan]}`, plan, highlight_credits: 10 })
    keys[plan] = (await call(createKey, ctx, { account_id: account.id, label: 'demo' })).key
    await backdateAccount(ctx, account.id, since)
    if (!planAllows(plan, 'plus')) continue
    collectionIds.push(...(await addDemoCollections(ctx, account.id)))
    sellers.push({ id: account.id, since })
  }
  for (const [name, days] of SELLERS) {
    const since = daysAgo(ctx, days)
    const { id } = await call(createAccount, ctx, { name, plan: 'plus' })
    await backdateAccount(ctx, id, since)
    sellers.push({ id, since })
  }
  await addDemoMarket({ ...ctx, rules: config.priceRules }, config, sellers)
  const { token } = await call(createOperatorToken, ctx, { label: 'demo' })
  const access = { keys, operatorToken: token }
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  writeFileSync(fileOf(config), `${JSON.stringify(access, null, 2)}\n`, { mode: 0o600 })
  return { access, plusId: sellers[0]!.id, collectionIds }
}

/** The keys of the demo that was last created with this DATA_DIR; null without one. */
export function readAccess(config: Pick<Config, 'dataDir'>): DemoAccess | null {
  try {
    return JSON.parse(readFileSync(fileOf(config), 'utf8')) as DemoAccess
  } catch {
    return null
  }
}

/** Rates first: without them, prices in different currencies cannot be compared. */
async function importSample(ctx: WriteCtx, config: Config): Promise<number> {
  await call(setRates, ctx, { rates: demoRates(ctx.now()) })
  const { id } = await call(importFiles, { ...ctx, rules: config.priceRules }, { format: 'mintmark-ndjson', files: demoSample(ctx.now()) })
  for (const market of SAMPLE_MARKETS) await call(changeSource, ctx, { market, use: 'redistribute', licence: SAMPLE_LICENCE })
  return id
}

function daysAgo({ now }: WriteCtx, days: number): Date {
  return new Date(now().getTime() - days * DAY_MS)
}

function fileOf({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'demo-access.json')
}
