// Operator API: approval rules, their backtests, and reopening their approvals.
import { Type } from '#core/input.ts'
import { paged, type Route } from '#http/route.ts'
import { type Backtest, BacktestSchema } from '#market/approval/backtest.ts'
import { type ApprovalRule, ApprovalRuleSchema, RuleLogSchema } from '#market/approval/rule-store.ts'
import {
  backtestApprovalRule,
  createApprovalRule,
  listApprovalRuleLog,
  listApprovalRules,
  updateApprovalRule,
} from '#market/approval/approval-rules.ts'
import { type Reopened, ReopenedSchema, reopenRuleDecisions } from '#market/approval/reopen-rule-decisions.ts'
import type { MarketWriteCtx } from '#market/marketplace-types.ts'

const tag = 'Approval rules'

export const approvalRuleRoutes: Route<MarketWriteCtx>[] = [
  {
    method: 'GET',
    path: '/approval-rules',
    verb: listApprovalRules,
    summary: 'List approval rules, oldest first',
    tag,
    answer: (rules: ApprovalRule[]) => ({ data: rules }),
    data: Type.Array(ApprovalRuleSchema),
  },
  {
    method: 'POST',
    path: '/approval-rules',
    verb: createApprovalRule,
    summary: 'Create an approval rule',
    description:
      'Every rule that is `on` or in `shadow` evaluates each listing submitted for approval. The first `on` rule whose conditions ' +
      'are all met approves it; the audit log names the rule and its version. A `shadow` rule only logs what it would do.',
    tag,
    status: 201,
    answer: (rule: ApprovalRule) => ({ data: rule, message: 'Approval rule created' }),
    data: ApprovalRuleSchema,
    errors: ['INVALID_JSON', 'CONFLICT'],
  },
  {
    method: 'PATCH',
    path: '/approval-rules/:id',
    verb: updateApprovalRule,
    summary: 'Change an approval rule',
    description: 'Changing the conditions creates a new version. A rule that is `on` must then pass a 90-day backtest; otherwise nothing changes.',
    tag,
    answer: (rule: ApprovalRule) => ({ data: rule, message: 'Approval rule updated' }),
    data: ApprovalRuleSchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/approval-rules/:id/backtest',
    verb: backtestApprovalRule,
    reads: true,
    summary: 'Backtest an approval rule',
    description:
      'Evaluates each decision made by people in this period with the facts known when the listing was submitted. ' +
      'Decisions without recorded facts are skipped.',
    tag,
    answer: (result: Backtest) => ({ data: result }),
    data: BacktestSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
  {
    path: '/approval-rules/:id/log',
    ...paged(listApprovalRuleLog, RuleLogSchema),
    summary: 'List the evaluations of an approval rule, newest first',
    tag,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/approval-rules/:id/reopen',
    verb: reopenRuleDecisions,
    summary: 'Reopen listings approved by an approval rule',
    description:
      'They need a decision by a person: no rule evaluates them again until their owners edit them. Listings a person has decided about since stay unchanged.',
    tag,
    answer: (result: Reopened) => ({ data: result, message: 'Listings reopened' }),
    data: ReopenedSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
]
