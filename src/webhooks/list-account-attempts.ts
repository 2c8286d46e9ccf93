// Operator: lists finished delivery attempts of an account's webhook with the responses, newest first.
import { existing, id, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { fetchAccountWebhook, markOf, pageOfAttempts } from './store.ts'
import type { WebhookAttempt } from './types.ts'

export const listAccountAttempts = verb(
  {
    name: 'listAccountAttempts',
    needs: 'operator',
    input: Type.Object(
      {
        account_id: id('account'),
        event_id: Type.Optional(Type.Integer({ description: 'Only attempts for this event' })),
        success: Type.Optional(Type.Boolean({ description: 'Only attempts with a 2xx response, or only the others' })),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  async ({ db }: ReadCtx, { account_id, ...input }): Promise<Page<WebhookAttempt>> => {
    const accountId = existing('account', account_id)
    if (!(await fetchAccountWebhook(db.kysely, accountId))) throw missing('account', accountId)
    const { rows, pagination } = await readPage(input, (filter, limit, offset) => pageOfAttempts(db.kysely, { accountId, ...filter }, limit, offset))
    const attempts = rows.map(({ kind, started_at, finished_at, mark, ...row }) => ({
      ...row,
      event: kind,
      mark: markOf(row.test, mark),
      started_at: started_at.toISOString(),
      finished_at: finished_at!.toISOString(),
    }))
    return { rows: attempts, pagination }
  },
)
