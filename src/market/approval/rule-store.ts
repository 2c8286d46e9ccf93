// Approval rules as they are stored and as operators see them.
import { sql } from 'kysely'
import { conflict } from '#core/errors.ts'
import { existing, missing, name, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { jsonReady } from '#db/json-ready.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { backtest, DEFAULT_DAYS, isPassed } from './backtest.ts'
import { type Conditions, ConditionsSchema } from './rule-conditions.ts'

export const MODES = ['off', 'shadow', 'on'] as const
export type Mode = (typeof MODES)[number]

const DEFAULT_MAX_REJECTED_PERCENT = 1
const DEFAULT_MIN_DECISIONS = 20

/** The fields of a rule that operators send. */
export const RuleFields = {
  name: name('Name of the rule'),
  mode: Type.Enum([...MODES], {
    description: '`off`; `shadow`: only logs what the rule would do; `on`: approves listings. Switching a rule on requires a passed 90-day backtest',
  }),
  conditions: ConditionsSchema,
  max_rejected_percent: Type.Number({
    minimum: 0,
    maximum: 100,
    default: DEFAULT_MAX_REJECTED_PERCENT,
    description: 'Highest allowed percentage of listings the rule would have approved but people rejected',
  }),
  min_decisions: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: DEFAULT_MIN_DECISIONS,
    description: 'Minimum number of listings the rule would have approved',
  }),
}
export const RULE_DEFAULTS = { mode: 'off', max_rejected_percent: DEFAULT_MAX_REJECTED_PERCENT, min_decisions: DEFAULT_MIN_DECISIONS } as const

const Time = Type.String({ format: 'date-time', description: 'UTC' })

export const ApprovalRuleSchema = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    mode: RuleFields.mode,
    version: Type.Integer({ description: 'Incremented when the conditions change' }),
    conditions: ConditionsSchema,
    max_rejected_percent: Type.Number(),
    min_decisions: Type.Integer(),
    judged: Type.Integer({ description: 'Listings evaluated by this version, in shadow mode or on' }),
    approves: Type.Integer({ description: 'Number of those it would approve' }),
    approved: Type.Integer({ description: 'Number of those it approved, excluding undone approvals' }),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'ApprovalRule' },
)
export type ApprovalRule = Static<typeof ApprovalRuleSchema>

/** The part of a rule that judging listings needs. */
export interface JudgingRule {
  id: number
  name: string
  mode: Exclude<Mode, 'off'>
  version: number
  conditions: Conditions
}

/** Rules in shadow mode or on, oldest first; locked against changes until the transaction ends. */
export async function judgingRules(tx: Tx): Promise<JudgingRule[]> {
  const rules = tx.selectFrom('approval_rules').select(['id', 'name', 'mode', 'version', 'conditions']).where('mode', '!=', 'off')
  return (await rules.orderBy('id').forShare().execute()) as JudgingRule[]
}

export async function allRules(on: Queryable): Promise<ApprovalRule[]> {
  return rulesWhere(on, sql`true`)
}

/** @throws NOT_FOUND */
export async function fetchRule(on: Queryable, id: number): Promise<ApprovalRule> {
  const [rule] = await rulesWhere(on, sql`r.id = ${existing('approval rule', id)}`)
  if (!rule) throw missing('approval rule', id)
  return rule
}

async function rulesWhere(on: Queryable, condition: ReturnType<typeof sql>): Promise<ApprovalRule[]> {
  const { rows } = await sql<Omit<ApprovalRule, 'created_at' | 'updated_at'> & { created_at: Date; updated_at: Date }>`
    select r.id, r.name, r.mode, r.version, r.conditions, r.max_rejected_percent, r.min_decisions, r.created_at, r.updated_at,
      l.judged, l.approves, l.approved
    from approval_rules r cross join lateral (
      select count(*)::int4 as judged, count(*) filter (where l.approves)::int4 as approves,
        count(*) filter (where d.rule_id = r.id and d.undone_at is null)::int4 as approved
      from approval_rule_log l join listing_decisions d on d.id = l.decision_id
      where l.rule_id = r.id and l.rule_version = r.version
    ) l
    where ${condition} order by r.id`.execute(on)
  return rows.map(jsonReady)
}

/** The rule, locked until the transaction ends, so that it judges no listing meanwhile. @throws NOT_FOUND */
export async function lockRule(tx: Tx, id: number): Promise<ApprovalRule> {
  await tx.selectFrom('approval_rules').select('id').where('id', '=', existing('approval rule', id)).forUpdate().execute()
  return fetchRule(tx, id)
}

/** Stores the conditions of a new version with their author. */
export async function storeVersion(
  tx: Tx,
  { id, version, conditions }: Pick<ApprovalRule, 'id' | 'version' | 'conditions'>,
  author: string,
  at: Date,
) {
  await tx
    .insertInto('approval_rule_versions')
    .values({ rule_id: id, version, conditions: JSON.stringify(conditions), author, at })
    .execute()
}

/** Rejects switching a rule on if it would have approved listings that people rejected. @throws CONFLICT */
export async function requirePassed(on: Queryable, rule: ApprovalRule, now: Date): Promise<void> {
  if (rule.mode !== 'on') return
  const result = await backtest(on, rule.conditions, DEFAULT_DAYS, now)
  if (isPassed(result, rule)) return
  throw conflict('backtest_failed', {
    days: DEFAULT_DAYS,
    approve: result.would_approve,
    min: rule.min_decisions,
    rejected: result.people_rejected,
    percent: rule.max_rejected_percent,
  })
}

export const RuleLogSchema = Type.Object(
  {
    listing_id: Type.Integer(),
    title: orNull(Type.String(), { description: 'Title of the listing; null if it was deleted' }),
    at: Time,
    rule_version: Type.Integer(),
    mode: Type.Enum(['shadow', 'on']),
    approves: Type.Boolean({ description: 'Whether all conditions were met' }),
    decision: orNull(Type.Enum(['approve', 'reject', 'request_change']), { description: 'Decision made about the listing; null if pending' }),
    decided_by: orNull(Type.String()),
  },
  { title: 'ApprovalRuleLogEntry' },
)
export type RuleLogEntry = Static<typeof RuleLogSchema>
