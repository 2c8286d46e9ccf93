// The demo: sample catalogue, an account of every plan with a key, an operator token, collections and a marketplace, created once per
// database.
import { createReadStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/create-key.ts'
import { createOperatorToken } from '#accounts/create-operator-token.ts'
import { hashKey } from '#accounts/key-format.ts'
import { addDemoCollections } from '#collections/demo.ts'
import type { ImportFile } from '#imports/files.ts'
import { importFiles } from '#imports/import-files.ts'
import { addDemoMarket, hasSellables } from '#market/demo.ts'
import type { MarketSettings } from '#market/types.ts'
import { PLAN_NAMES, type Plan, planAllows, PLANS } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import { runExclusively, isUntouched } from '#db/emptiness.ts'
import type { PriceRules } from '#prices/evidence/hold.ts'
import { setRates } from '#prices/set-rates.ts'
import { readConfig } from '../config.ts'
import { addCommand, columns, type OpenCli, type OutputOptions, type Print, printResult } from './command.ts'

const SAMPLES = ['pokemon.ndjson', 'onepiece.ndjson'].map((name): ImportFile => {
  return { name, size: null, open: () => createReadStream(new URL(`../../sample/${name}`, import.meta.url)) }
})

export interface DemoAccess {
  keys: Record<Plan, string>
  operatorToken: string
}

export type DemoConfig = MarketSettings & { dataDir: string; priceRules: PriceRules }

/** A day before the sample's prices. */
const RATES = [
  { currency: 'USD', rate: 41.87 },
  { currency: 'EUR', rate: 48.31 },
]
/** The day of the sample's oldest prices. */
const FIRST_DAY = '2026-10-01'

/** Further sellers, so that a search by seller has several results. */
const SELLER_NAMES = ['Kart Evi', 'Ankara Kart', 'Galata Collectibles', 'Slab City']

export function register(program: Command, open: OpenCli, print: Print): void {
  addCommand(program, 'demo', 'load the sample catalogue and a demo marketplace into an empty database; prints a key for each plan')
    .option('--own-catalogue', 'use the existing items instead of the sample catalogue')
    .action((options: OutputOptions & { ownCatalogue?: boolean }) =>
      open(async (ctx) => {
        const config = readConfig()
        if (config.demoRefusal) throw new Error(`Demo not loaded: ${config.demoRefusal}`)
        const access = await prepareDemo(ctx, config, options)
        const rows = PLANS.map((plan): [string, string] => [`${PLAN_NAMES[plan]} key`, access.keys[plan]])
        printResult(print, options, access, columns(['WHAT', 'VALUE'], [...rows, ['Operator token', access.operatorToken]]))
      }),
    )
}

/** Why a demo was not created. */
export class NoDemoError extends Error {
  override name = 'NoDemoError'
}

/**
 * Creates the demo in an empty database, or of the operator's own catalogue; reads the keys of an existing demo in this
 * database. Processes that do so at the same time create one demo.
 * @throws NoDemoError of one sentence if the database contains anything else
 */
export function prepareDemo(ctx: WriteCtx, config: DemoConfig, { ownCatalogue = false } = {}): Promise<DemoAccess> {
  return runExclusively(ctx.db, async () => {
    const earlier = readAccess(fileOf(config))
    if (earlier && (await isFrom(ctx, earlier))) return earlier
    if (ownCatalogue) {
      const account = await ctx.db.kysely.selectFrom('accounts').select('id').limit(1).executeTakeFirst()
      if (account) throw new NoDemoError('The database already has accounts; the demo needs a database without accounts')
    } else if (!(await isUntouched(ctx.db))) {
      throw new NoDemoError('The database is not empty; use an empty database, or --own-catalogue with a database that has items but no accounts')
    }
    return makeDemo(ctx, config, { ownCatalogue })
  })
}

/** Creates the demo, whatever the database contains, and stores its keys in DATA_DIR. */
export async function makeDemo(ctx: WriteCtx, config: DemoConfig, { ownCatalogue = false } = {}): Promise<DemoAccess> {
  if (!ownCatalogue) await call(importFiles, { ...ctx, rules: config.priceRules }, { format: 'mintmark-ndjson', files: SAMPLES })
  else if (!(await hasSellables(ctx.db))) {
    throw new NoDemoError('No item has a price of source_a, which the demo uses to price its listings; import prices first')
  }
  const keys = {} as Record<Plan, string>
  const sellers: number[] = []
  for (const plan of PLANS) {
    const account = await call(createAccount, ctx, { name: `Demo ${PLAN_NAMES[plan]}`, plan, highlight_credits: 10 })
    keys[plan] = (await call(createKey, ctx, { account_id: account.id, label: 'demo' })).key
    if (!planAllows(plan, 'plus')) continue
    await addDemoCollections(ctx, account.id)
    sellers.push(account.id)
  }
  // Without rates, items in currencies other than lira would all sort last by price.
  const days = [...new Set([FIRST_DAY, ctx.now().toISOString().slice(0, 10)])]
  if (!ownCatalogue) await call(setRates, ctx, { rates: days.flatMap((day) => RATES.map((rate) => ({ day, ...rate }))) })
  await addDemoMarket(ctx, config, [...sellers, ...(await demoSellers(ctx))])
  const { token } = await call(createOperatorToken, ctx, { label: 'demo' })
  const access = { keys, operatorToken: token }
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  writeFileSync(fileOf(config), `${JSON.stringify(access, null, 2)}\n`, { mode: 0o600 })
  return access
}

function fileOf({ dataDir }: DemoConfig): string {
  return join(dataDir, 'demo-access.json')
}

/** Whether the keys belong to this database: DATA_DIR may have been used with another one. */
async function isFrom({ db }: WriteCtx, { keys }: DemoAccess): Promise<boolean> {
  const hash = hashKey(keys.professional)
  return (await db.kysely.selectFrom('api_keys').select('id').where('hash', '=', hash).executeTakeFirst()) !== undefined
}

async function demoSellers(ctx: WriteCtx): Promise<number[]> {
  const ids: number[] = []
  for (const name of SELLER_NAMES) ids.push((await call(createAccount, ctx, { name, plan: 'plus' })).id)
  return ids
}

function readAccess(file: string): DemoAccess | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as DemoAccess
  } catch {
    return null
  }
}
