// Lists finished delivery attempts of the account's webhook, newest first.
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { localTime } from '#core/time.ts'
import { ownAccount, verb } from '#core/verb.ts'
import { markOf, pageOfAttempts } from './store.ts'
import type { WebhookLog, WebhookReadCtx } from './types.ts'

export const listWebhookLogs = verb(
  { name: 'listWebhookLogs', needs: OPERATION_PLAN.listWebhookLogs, input: Type.Object(pageParams(), { additionalProperties: false }) },
  async ({ db, viewer, webhooks }: WebhookReadCtx, input): Promise<Page<WebhookLog>> => {
    const own = { accountId: ownAccount(viewer) }
    const { rows, pagination } = await readPage(input, (_all, limit, offset) => pageOfAttempts(db.kysely, own, limit, offset))
    const logs = rows.map(({ started_at, finished_at: _end, event_id: _event, kind, test, mark, ...row }) => ({
      ...row,
      event: kind,
      created_at: localTime(started_at, webhooks.zone),
      test,
      mark: markOf(test, mark),
    }))
    return { rows: logs, pagination }
  },
)
