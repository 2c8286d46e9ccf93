// Changes a repricing rule in part. Changed terms switch it off until they are simulated.
import { isDeepStrictEqual } from 'node:util'
import { conflict, invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { lockRule, type RuleRow, saveRule, ruleResponse } from './repricing-store.ts'
import { RuleName, type SentTerms, storedTerms, TermFields, termsOf } from './terms.ts'
import type { RepricingCtx, RepricingRule } from './repricing-types.ts'

const { target, scope, floor, ...optional } = TermFields
const ChangedFields = {
  name: Type.Optional(RuleName),
  enabled: Type.Optional(Type.Boolean({ description: 'Whether it runs every hour; requires a simulation first' })),
  target: Type.Optional(target),
  scope: Type.Optional(scope),
  floor: Type.Optional(floor),
  ...optional,
}

export const updateRepricingRule = writeVerb(
  {
    name: 'updateRepricingRule',
    needs: OPERATION_PLAN.updateRepricingRule,
    input: Type.Object({ id: id('repricing rule'), ...ChangedFields }),
  },
  (ctx: RepricingCtx, { id, name, enabled, ...sent }): Promise<RepricingRule> => {
    if (name === undefined && enabled === undefined && Object.keys(sent).length === 0) {
      throw invalid('body', 'at_least_one', { fields: Object.keys(ChangedFields) })
    }
    return change(ctx, async (tx, note) => {
      const now = ctx.now()
      const before = await lockRule(tx, ownAccount(ctx.viewer), id)
      const after = changed(before, { name, enabled, terms: storedTerms({ ...before.terms, ...sent }) })
      if (after.enabled && after.simulated_at === null) throw conflict('rule_not_simulated')
      await saveRule(tx, after, now)
      const shown = ruleResponse(after, ctx.market.timeZone)
      note.audit({ action: 'repricing_rule.change', subject: 'repricing_rule', id, before: ruleResponse(before, ctx.market.timeZone), after: shown })
      return shown
    })
  },
)

interface Changes {
  name: string | undefined
  enabled: boolean | undefined
  terms: SentTerms
}

function changed(rule: RuleRow, { name, enabled, terms }: Changes): RuleRow {
  termsOf(terms)
  const same = isDeepStrictEqual(terms, rule.terms)
  return {
    ...rule,
    name: name?.trim() ?? rule.name,
    terms,
    simulated_at: same ? rule.simulated_at : null,
    enabled: enabled ?? (same && rule.enabled),
  }
}
