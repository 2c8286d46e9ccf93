// Creates a repricing rule of the caller; it is off until it has been simulated and switched on.
import { conflict } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { insertRule, lockRules, ruleResponse } from './repricing-store.ts'
import { RuleName, storedTerms, TermFields, termsOf } from './terms.ts'
import type { RepricingCtx, RepricingRule } from './repricing-types.ts'

export const MAX_RULES = 20

export const createRepricingRule = writeVerb(
  {
    name: 'createRepricingRule',
    needs: OPERATION_PLAN.createRepricingRule,
    input: Type.Object({ name: RuleName, ...TermFields }),
  },
  (ctx: RepricingCtx, { name, ...sent }): Promise<RepricingRule> => {
    const accountId = ownAccount(ctx.viewer)
    const terms = storedTerms(sent)
    termsOf(terms)
    return change(ctx, async (tx, note) => {
      if ((await lockRules(tx, accountId)).length >= MAX_RULES) throw conflict('too_many_rules', { max: MAX_RULES })
      const rule = ruleResponse(await insertRule(tx, accountId, name.trim(), terms, ctx.now()), ctx.market.timeZone)
      note.audit({ action: 'repricing_rule.create', subject: 'repricing_rule', id: rule.id, after: rule })
      return rule
    })
  },
)
