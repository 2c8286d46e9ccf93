// Backtest of a rule: evaluates past manual decisions with the facts recorded when the listing was submitted.
import { DAY_MS } from '#core/duration.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import type { Queryable } from '#db/schema.ts'
import { type Conditions, holds } from './rule-conditions.ts'
import type { ListingFacts } from './review.ts'

export const DEFAULT_DAYS = 90
/** Maximum number of listing ids in a response. */
const MAX_LISTINGS = 1_000

export const BacktestSchema = Type.Object(
  {
    days: Type.Integer(),
    rule_version: Type.Integer(),
    since: orNull(Type.String({ format: 'date-time' }), { description: 'Time of the first evaluated decision, UTC; null if there is none' }),
    decisions: Type.Integer({ description: 'Decisions by people in this period whose facts were recorded' }),
    would_approve: Type.Integer(),
    people_rejected: Type.Integer({ description: 'Number of those that were rejected or sent back for a change' }),
    listings: Type.Array(Type.Integer(), { description: `Those listings, latest first; at most ${MAX_LISTINGS}` }),
    passed: Type.Boolean({ description: 'Whether the rule may be switched on: `min_decisions` and `max_rejected_percent` are met' }),
  },
  { title: 'ApprovalBacktest' },
)
export type Backtest = Static<typeof BacktestSchema>
type Result = Omit<Backtest, 'rule_version' | 'passed'>

/** Evaluates the conditions against the decisions of the last `days` days. */
export async function backtest(on: Queryable, conditions: Conditions, days: number, now: Date): Promise<Result> {
  const rows = await on
    .selectFrom('listing_decisions')
    .select(['listing_id', 'facts', 'decision', 'decided_at'])
    .where('decided_at', '>', new Date(now.getTime() - days * DAY_MS))
    .where('decided_at', '<=', now)
    .where('decision', 'is not', null)
    .where('facts', 'is not', null)
    .where('rule_id', 'is', null)
    .where('undone_at', 'is', null)
    .orderBy('decided_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
  const approved = rows.filter(({ facts }) => holds(conditions, facts as ListingFacts))
  const rejected = approved.filter(({ decision }) => decision !== 'approve')
  return {
    days,
    since: rows.at(-1)?.decided_at?.toISOString() ?? null,
    decisions: rows.length,
    would_approve: approved.length,
    people_rejected: rejected.length,
    listings: [...new Set(rejected.map((row) => row.listing_id))].slice(0, MAX_LISTINGS),
  }
}

/** Whether this backtest result allows the rule to be switched on. */
export function isPassed(
  { would_approve: approve, people_rejected: rejected }: Pick<Result, 'would_approve' | 'people_rejected'>,
  { min_decisions: min, max_rejected_percent: percent }: { min_decisions: number; max_rejected_percent: number },
): boolean {
  return approve >= min && rejected * 100 <= approve * percent
}
