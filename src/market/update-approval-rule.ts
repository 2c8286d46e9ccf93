// Changes an approval rule; new conditions create a new version, and an active rule must pass its backtest.
import { invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type WriteCtx } from '#db/change.ts'
import { checkConditions } from './approval/conditions.ts'
import { type ApprovalRule, fetchRule, storeVersion, lockRule, requirePassed, RuleFields } from './approval/rule-store.ts'

export const updateApprovalRule = verb(
  {
    name: 'updateApprovalRule',
    needs: 'market',
    input: Type.Object({ id: id('approval rule'), ...Type.Partial(Type.Object(RuleFields)).properties }, { additionalProperties: false }),
  },
  (ctx: WriteCtx, { id, ...fields }): Promise<ApprovalRule> =>
    change(ctx, async (tx, note) => {
      if (Object.keys(fields).length === 0) throw invalid('body', 'at_least_one', { fields: Object.keys(RuleFields) })
      const { conditions, name, ...plain } = fields
      if (conditions) checkConditions(conditions)
      const now = ctx.now()
      const before = await lockRule(tx, id)
      const isNewVersion = conditions !== undefined && sorted(conditions) !== sorted(before.conditions)
      await tx
        .updateTable('approval_rules')
        .set({
          ...plain,
          ...(name !== undefined && { name: name.trim() }),
          ...(isNewVersion && { conditions: JSON.stringify(conditions), version: before.version + 1 }),
          updated_at: now,
        })
        .where('id', '=', id)
        .execute()
      const after = await fetchRule(tx, id)
      await requirePassed(tx, after, now)
      if (isNewVersion) await storeVersion(tx, after, actorOf(ctx.viewer), now)
      note.audit({ action: 'approval-rule.update', subject: 'approval-rule', id, before, after })
      return after
    }),
)

/** Canonical text of conditions, independent of field order: JSON columns reorder fields. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
}
