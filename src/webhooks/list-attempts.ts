// Lists finished delivery attempts of an account's webhook, newest first: for its owner, and with the responses for operators.
import { existing, id, idForSql, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { localTime } from '#core/time.ts'
import { ownAccount } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { pageOf } from '#db/page.ts'
import type { Queryable } from '#db/schema.ts'
import { fetchAccountWebhook, markOf } from './webhook-store.ts'
import type { WebhookReadCtx } from './webhook-types.ts'

export const listWebhookLogs = listVerb(
  { name: 'listWebhookLogs', needs: OPERATION_PLAN.listWebhookLogs },
  ({ db, viewer, webhooks }: WebhookReadCtx, _all, range) =>
    pageOf(attemptsOf(db.kysely, ownAccount(viewer)), range, ({ started_at, finished_at: _end, event_id: _event, kind, mark, ...row }) => ({
      ...row,
      event: kind,
      created_at: localTime(started_at, webhooks.zone),
      mark: markOf(row.test, mark),
    })),
)

export const listAccountAttempts = listVerb(
  {
    name: 'listAccountAttempts',
    needs: 'operator',
    filters: {
      account_id: id('account'),
      event_id: Type.Optional(Type.Integer({ description: 'Only attempts for this event' })),
      success: Type.Optional(Type.Boolean({ description: 'Only attempts with a 2xx response, or only the others' })),
    },
  },
  async ({ db }: ReadCtx, { account_id, event_id: eventId, success }, range) => {
    const accountId = existing('account', account_id)
    if (!(await fetchAccountWebhook(db.kysely, accountId))) throw missing('account', accountId)
    const event = eventId === undefined ? undefined : idForSql(eventId)
    const attempts = attemptsOf(db.kysely, accountId).where((e) => e.and({ event_id: event, success }))
    return pageOf(attempts, range, ({ kind, started_at, finished_at, mark, ...row }) => ({
      ...row,
      event: kind,
      mark: markOf(row.test, mark),
      started_at: started_at.toISOString(),
      finished_at: finished_at!.toISOString(),
    }))
  },
)

function attemptsOf(on: Queryable, accountId: number) {
  const finished = on.selectFrom('webhook_attempts').where('account_id', '=', accountId).where('finished_at', 'is not', null)
  return finished
    .select(['id', 'event_id', 'finished_at', 'kind', 'attempt', 'status_code', 'success', 'error', 'response_excerpt', 'started_at', 'test', 'mark'])
    .orderBy('id', 'desc')
}
