// Runs every enabled repricing rule once an hour in its own transaction, skipping rules run by other nodes.
import { HOUR_MS } from '#core/duration.ts'
import { OPERATION_PLAN, planAllows, PLANS } from '#core/plans.ts'
import { change } from '#db/changes/change.ts'
import type { Queryable } from '#db/schema.ts'
import { runRule } from './run-rule.ts'
import { firstLastRun, idsOfDueRules, lockDueRule } from './repricing-store.ts'
import type { RepricingCtx } from './repricing-types.ts'

const EVERY_MS = HOUR_MS
/** Plans that allow rules: after a downgrade, sellers keep their rules, but these do not run. */
const RUNNING_PLANS = PLANS.filter((plan) => planAllows(plan, OPERATION_PLAN.runRepricingRule))

/** When the next rule is due; null if none is enabled. */
export async function nextRuleRun(on: Queryable): Promise<Date | null> {
  const lastRun = await firstLastRun(on, RUNNING_PLANS)
  return lastRun && new Date(lastRun.getTime() + EVERY_MS)
}

/** @throws the first error of a rule, after all others have run */
export async function runDueRules(ctx: RepricingCtx): Promise<void> {
  const before = new Date(ctx.now().getTime() - EVERY_MS)
  const errors: unknown[] = []
  for (const id of await idsOfDueRules(ctx.db.kysely, RUNNING_PLANS, before)) {
    try {
      await change(ctx, async (tx, note) => {
        const rule = await lockDueRule(tx, id, before)
        if (rule) await runRule(ctx, tx, note, rule)
      })
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
