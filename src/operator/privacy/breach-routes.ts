// Operator API: the response to a breach.
import type { Route } from '#http/route.ts'
import { type BreachReport, BreachReportSchema } from '#privacy/breach-types.ts'
import { respondToBreach } from '#privacy/respond-to-breach.ts'
import type { WebhookCtx } from '#webhooks/webhook-types.ts'

export const breachRoutes: Route<WebhookCtx>[] = [
  {
    method: 'POST',
    path: '/breach',
    verb: respondToBreach,
    summary: 'End all access to an account, of the people with a role, or to everything',
    description:
      'Owners only. Give `account_id`, `role` or `all`. Sessions end, keys and tokens are revoked, and webhooks get new secrets, in one transaction; every ' +
      'node follows within a second. The report says who must be told, what is left to do, and how the caller gets in again.',
    tag: 'Personal data',
    answer: (report: BreachReport) => ({ data: report, message: 'Access ended' }),
    data: BreachReportSchema,
    errors: ['INVALID_JSON', 'NOT_FOUND'],
  },
]
