// The demo: sample catalogue, an account of every plan with a key, and an operator token, made once per DATA_DIR.
import { readFileSync, writeFileSync } from 'node:fs'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/create-key.ts'
import { createOperatorToken } from '#accounts/create-operator-token.ts'
import { importFormat } from '#catalogue/import/registry.ts'
import { beginImport, runImport } from '#catalogue/import/run.ts'
import { addDemoCollections } from '#collections/demo.ts'
import { PLAN_NAMES, type Plan, planAllows, PLANS } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import type { PriceRules } from '#prices/quarantine.ts'

const SAMPLES = ['pokemon.ndjson', 'onepiece.ndjson'].map((name) => fileURLToPath(new URL(`../../sample/${name}`, import.meta.url)))

export interface DemoAccess {
  keys: Record<Plan, string>
  operatorToken: string
}

/** Makes the demo where there are no items yet; the keys of an earlier demo are read again. */
export async function prepareDemo(ctx: WriteCtx, dataDir: string, rules: PriceRules): Promise<DemoAccess | null> {
  const file = join(dataDir, 'demo-access.json')
  const earlier = readAccess(file)
  if (earlier) return earlier
  const item = await ctx.db.kysely.selectFrom('items').select('id').limit(1).executeTakeFirst()
  if (item) return null
  await importSamples(ctx, rules)
  const keys = {} as Record<Plan, string>
  for (const plan of PLANS) {
    const account = await call(createAccount, ctx, { name: `Demo ${PLAN_NAMES[plan]}`, plan, highlight_credits: 10 })
    keys[plan] = (await call(createKey, ctx, { account_id: account.id, label: 'demo' })).key
    if (planAllows(plan, 'plus')) await addDemoCollections(ctx, account.id)
  }
  const { token } = await call(createOperatorToken, ctx, { label: 'demo' })
  const access = { keys, operatorToken: token }
  writeFileSync(file, `${JSON.stringify(access, null, 2)}\n`, { mode: 0o600 })
  return access
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
