// The demo: sample catalogue, an account of every plan with a key, an operator token, collections and a marketplace, made
// once per DATA_DIR.
import { readFileSync, writeFileSync } from 'node:fs'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { fileURLToPath } from 'node:url'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/create-key.ts'
import { createOperatorToken } from '#accounts/create-operator-token.ts'
import { importFormat } from '#catalogue/import/registry.ts'
import { beginImport, runImport } from '#catalogue/import/run.ts'
import { addDemoCollections } from '#collections/demo.ts'
import { addDemoMarket, hasSellables } from '#market/demo.ts'
import type { MarketSettings } from '#market/types.ts'
import { PLAN_NAMES, type Plan, planAllows, PLANS } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import { readConfig } from '../config.ts'
import { addCommand, columns, type OpenCli, type OutputOptions, type Print, show } from './command.ts'
import type { PriceRules } from '#prices/quarantine.ts'

const SAMPLES = ['pokemon.ndjson', 'onepiece.ndjson'].map((name) => fileURLToPath(new URL(`../../sample/${name}`, import.meta.url)))

export interface DemoAccess {
  keys: Record<Plan, string>
  operatorToken: string
}

export type DemoConfig = MarketSettings & { dataDir: string; priceRules: PriceRules }

/** Further sellers, so that a search by seller has a choice. */
const SELLER_NAMES = ['Kart Evi', 'Ankara Kart', 'Galata Collectibles', 'Slab City']

export function register(program: Command, open: OpenCli, print: Print): void {
  addCommand(program, 'demo', 'fill an empty database with the sample catalogue and a marketplace; prints a key for each plan')
    .option('--own-catalogue', 'make the marketplace of the items that are there, instead of the sample')
    .action((options: OutputOptions & { ownCatalogue?: boolean }) =>
      open(async (ctx) => {
        const access = await prepareDemo(ctx, readConfig(), { ownCatalogue: options.ownCatalogue ?? false })
        if (!access) throw new Error('The database has items already: the demo is made on an empty one, or of those with --own-catalogue')
        const rows = PLANS.map((plan): [string, string] => [`${PLAN_NAMES[plan]} key`, access.keys[plan]])
        show(print, options, access, columns(['WHAT', 'VALUE'], [...rows, ['Operator token', access.operatorToken]]))
      }),
    )
}

/** Makes the demo where there are no items yet, or of the operator's own; the keys of an earlier demo are read again. */
export async function prepareDemo(ctx: WriteCtx, config: DemoConfig, { ownCatalogue = false } = {}): Promise<DemoAccess | null> {
  const file = join(config.dataDir, 'demo-access.json')
  const earlier = readAccess(file)
  if (earlier) return earlier
  if (ownCatalogue) {
    if (!(await hasSellables(ctx.db))) throw new Error('No item has a price of source_a, by which the listings of the demo are priced: import some first')
  } else {
    const item = await ctx.db.kysely.selectFrom('items').select('id').limit(1).executeTakeFirst()
    if (item) return null
    await importSamples(ctx, config.priceRules)
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
  await addDemoMarket(ctx, config, [...sellers, ...(await demoSellers(ctx))])
  const { token } = await call(createOperatorToken, ctx, { label: 'demo' })
  const access = { keys, operatorToken: token }
  writeFileSync(file, `${JSON.stringify(access, null, 2)}\n`, { mode: 0o600 })
  return access
}

async function demoSellers(ctx: WriteCtx): Promise<number[]> {
  const ids: number[] = []
  for (const name of SELLER_NAMES) ids.push((await call(createAccount, ctx, { name, plan: 'plus' })).id)
  return ids
}

async function importSamples(ctx: WriteCtx, rules: PriceRules): Promise<void> {
  const request = {
    format: importFormat('mintmark-ndjson')!,
    files: SAMPLES.map((path) => ({ name: path.split('/').at(-1)!, size: null, open: () => createReadStream(path) })),
    market: null,
    dryRun: false,
    rules,
  }
  await runImport(ctx, await beginImport(ctx, request), request)
}

function readAccess(file: string): DemoAccess | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as DemoAccess
  } catch {
    return null
  }
}
