// An account with a key for every plan.
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { type Plan, PLANS } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'

export interface PlanAccounts {
  /** API keys by plan */
  keys: Record<Plan, string>
  /** ids of the accounts by plan */
  accounts: Record<Plan, number>
}

export async function createPlanAccounts(ctx: WriteCtx): Promise<PlanAccounts> {
  const keys = {} as Record<Plan, string>
  const accounts = {} as Record<Plan, number>
  for (const plan of PLANS) {
    const account = await call(createAccount, ctx, { name: `Test ${plan}`, plan, highlight_credits: 1 })
    accounts[plan] = account.id
    keys[plan] = (await call(createKey, ctx, { account_id: account.id })).key
  }
  return { keys, accounts }
}
