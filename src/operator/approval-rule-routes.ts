// Operator API: rules that approve listings, what they would have done, and reopening what they did.
import { Type } from '#core/input.ts'
import type { Page } from '#core/paging.ts'
import type { Route } from '#http/route.ts'
import { type Backtest, BacktestSchema } from '#market/approval/backtest.ts'
import { type ApprovalRule, ApprovalRuleSchema, type RuleLogEntry, RuleLogSchema } from '#market/approval/rule-store.ts'
import { backtestApprovalRule } from '#market/backtest-approval-rule.ts'
import { createApprovalRule } from '#market/create-approval-rule.ts'
import { listApprovalRuleLog } from '#market/list-approval-rule-log.ts'
import { listApprovalRules } from '#market/list-approval-rules.ts'
import { type Reopened, ReopenedSchema, reopenRuleDecisions } from '#market/reopen-rule-decisions.ts'
import type { MarketWriteCtx } from '#market/types.ts'
import { updateApprovalRule } from '#market/update-approval-rule.ts'

const tag = 'Approval rules'

export const approvalRuleRoutes: Route<MarketWriteCtx>[] = [
  {
    method: 'GET',
    path: '/approval-rules',
    verb: listApprovalRules,
    summary: 'Approval rules, oldest first',
    tag,
    answer: (rules: ApprovalRule[]) => ({ data: rules }),
    data: Type.Array(ApprovalRuleSchema),
  },
  {
    method: 'POST',
    path: '/approval-rules',
    verb: createApprovalRule,
    summary: 'Add an approval rule',
    description:
      'A listing that begins to wait is judged by every rule that is `on` or in `shadow`. The first that is `on` and whose conditions all ' +
      'hold approves it; the audit log names the rule and its version. What a rule in `shadow` would do is only logged.',
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
    description: 'Other conditions make a new version. A rule that is then `on` must pass a backtest of 90 days, or nothing is changed.',
    tag,
    answer: (rule: ApprovalRule) => ({ data: rule, message: 'Approval rule changed' }),
    data: ApprovalRuleSchema,
    errors: ['INVALID_JSON', 'CONFLICT', 'NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/approval-rules/:id/backtest',
    verb: backtestApprovalRule,
    reads: true,
    summary: 'What an approval rule would have done',
    description:
      'Each decision of people in these days is judged by what was known when its listing began to wait, never by what came later. ' +
      'Decisions from before this was kept are not judged.',
    tag,
    answer: (result: Backtest) => ({ data: result }),
    data: BacktestSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
  {
    method: 'GET',
    path: '/approval-rules/:id/log',
    verb: listApprovalRuleLog,
    summary: 'What an approval rule said of listings, newest first',
    tag,
    answer: ({ rows, pagination }: Page<RuleLogEntry>) => ({ data: rows, pagination }),
    data: Type.Array(RuleLogSchema),
    paged: true,
    errors: ['NOT_FOUND'],
  },
  {
    method: 'POST',
    path: '/approval-rules/:id/reopen',
    verb: reopenRuleDecisions,
    summary: 'Send listings that an approval rule approved back to approval',
    description: 'They wait for a person: no rule judges them again until their owners edit them. Those that a person has decided about since stay.',
    tag,
    answer: (result: Reopened) => ({ data: result, message: `Listings reopened: ${result.reopened}` }),
    data: ReopenedSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
]
