// Creates an approval rule; off by default.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type WriteCtx } from '#db/change.ts'
import { checkConditions } from './approval/conditions.ts'
import { type ApprovalRule, fetchRule, storeVersion, requirePassed, RULE_DEFAULTS, RuleFields } from './approval/rule-store.ts'

const { name, conditions, ...optional } = RuleFields

export const createApprovalRule = verb(
  {
    name: 'createApprovalRule',
    needs: 'market',
    input: Type.Object({ name, conditions, ...Type.Partial(Type.Object(optional)).properties }, { additionalProperties: false }),
  },
  (ctx: WriteCtx, { conditions, ...fields }): Promise<ApprovalRule> =>
    change(ctx, async (tx, note) => {
      checkConditions(conditions)
      const now = ctx.now()
      const { id } = await tx
        .insertInto('approval_rules')
        .values({ ...RULE_DEFAULTS, ...fields, name: fields.name.trim(), conditions: JSON.stringify(conditions), created_at: now, updated_at: now })
        .returning('id')
        .executeTakeFirstOrThrow()
      const rule = await fetchRule(tx, id)
      await requirePassed(tx, rule, now)
      await storeVersion(tx, rule, actorOf(ctx.viewer), now)
      note.audit({ action: 'approval-rule.create', subject: 'approval-rule', id, after: rule })
      return rule
    }),
)
