// Approval rules: list, create, change and backtest them, and list their evaluations.
import { sql } from 'kysely'
import { invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type ReadCtx, type WriteCtx } from '#db/changes/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { countIn, where, withTotal } from '#db/page.ts'
import { type Backtest, backtest, DEFAULT_DAYS, isPassed } from './backtest.ts'
import { checkConditions } from './rule-conditions.ts'
import {
  allRules,
  type ApprovalRule,
  fetchRule,
  lockRule,
  requirePassed,
  RULE_DEFAULTS,
  RuleFields,
  type RuleLogEntry,
  storeVersion,
} from './rule-store.ts'
import type { ListingsCtx } from '../listings/stored-listings.ts'

/** Lists approval rules with their evaluation counts. */
export const listApprovalRules = verb(
  { name: 'listApprovalRules', needs: 'operator', input: Type.Object({}) },
  (ctx: ReadCtx): Promise<ApprovalRule[]> => allRules(ctx.db.kysely),
)

/** Lists the evaluations of an approval rule, newest first. */
export const listApprovalRuleLog = listVerb(
  {
    name: 'listApprovalRuleLog',
    needs: 'operator',
    filters: {
      id: id('approval rule'),
      approves: Type.Optional(Type.Boolean({ description: '`1`: only listings it approves; `0`: only the others' })),
    },
  },
  async ({ db }: ReadCtx, { id: ruleId, approves }, { limit, offset }) => {
    const { id } = await fetchRule(db.kysely, ruleId)
    const from = sql`
      from approval_rule_log r join listing_decisions d on d.id = r.decision_id left join listings l on l.id = d.listing_id
      ${where(sql`r.rule_id = ${id}`, sql`d.undone_at is null`, approves !== undefined && sql`r.approves = ${approves}`)}`
    const entries = sql<Omit<RuleLogEntry, 'at'> & { at: Date }>`
      select d.listing_id, l.title, d.at, r.rule_version, r.mode, r.approves, d.decision, d.decided_by ${from}
      order by d.id desc limit ${limit} offset ${offset}`.execute(db.kysely)
    return withTotal(
      entries.then(({ rows }) => rows.map(jsonReady)),
      countIn(db.kysely, from),
    )
  },
)

const { name, conditions, ...optional } = RuleFields

/** Creates an approval rule; off by default. */
export const createApprovalRule = verb(
  {
    name: 'createApprovalRule',
    needs: 'market',
    input: Type.Object({ name, conditions, ...Type.Partial(Type.Object(optional)).properties }),
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

/** Changes an approval rule; new conditions create a new version, and an active rule must pass its backtest. */
export const updateApprovalRule = verb(
  {
    name: 'updateApprovalRule',
    needs: 'market',
    input: Type.Object({ id: id('approval rule'), ...Type.Partial(Type.Object(RuleFields)).properties }),
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

/** Runs a backtest of an approval rule against the manual decisions of the last days. */
export const backtestApprovalRule = verb(
  {
    name: 'backtestApprovalRule',
    needs: 'market',
    input: Type.Object({
      id: id('approval rule'),
      days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: DEFAULT_DAYS, description: 'Number of days to test, up to now' })),
    }),
  },
  async (ctx: ListingsCtx, { id, days = DEFAULT_DAYS }): Promise<Backtest> => {
    const rule = await fetchRule(ctx.db.kysely, id)
    const result = await backtest(ctx.db.kysely, rule.conditions, days, ctx.now())
    return { ...result, rule_version: rule.version, passed: isPassed(result, rule) }
  },
)
