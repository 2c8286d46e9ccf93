// Lists the caller's repricing rules, in order of precedence.
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount, verb } from '#core/verb.ts'
import { rulesOf, ruleResponse } from './repricing-store.ts'
import type { RepricingCtx, RepricingRule } from './repricing-types.ts'

export const listRepricingRules = verb(
  { name: 'listRepricingRules', needs: OPERATION_PLAN.listRepricingRules, input: Type.Object({}) },
  async ({ db, viewer, market }: RepricingCtx): Promise<RepricingRule[]> =>
    (await rulesOf(db.kysely, ownAccount(viewer))).map((rule) => ruleResponse(rule, market.timeZone)),
)
