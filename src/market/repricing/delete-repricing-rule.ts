// Deletes a repricing rule of the caller; prices it set remain.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import type { MessageText } from '#core/problem-texts/messages.ts'
import { ownAccount } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { deleteRuleRow, lockRule, ruleResponse } from './repricing-store.ts'
import type { RepricingCtx } from './repricing-types.ts'

export const deleteRepricingRule = writeVerb(
  {
    name: 'deleteRepricingRule',
    needs: OPERATION_PLAN.deleteRepricingRule,
    input: Type.Object({ id: id('repricing rule') }),
  },
  (ctx: RepricingCtx, { id }): Promise<{ message: MessageText }> =>
    change(ctx, async (tx, note) => {
      const before = await lockRule(tx, ownAccount(ctx.viewer), id)
      await deleteRuleRow(tx, id)
      note.audit({ action: 'repricing_rule.delete', subject: 'repricing_rule', id, before: ruleResponse(before, ctx.market.timeZone) })
      return { message: 'Repricing rule deleted' }
    }),
)
