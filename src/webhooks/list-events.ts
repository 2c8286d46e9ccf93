// Operator: the events to deliver, by account and state, newest first.
import { Type } from '#core/input.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { pageOfEvents } from './store.ts'
import { STATES, type WebhookEvent } from './types.ts'

export const listWebhookEvents = verb(
  {
    needs: 'operator',
    input: Type.Object(
      {
        account_id: Type.Optional(Type.Integer({ description: "Of this account's webhook only" })),
        state: Type.Optional(Type.Enum([...STATES])),
        ...pageParams(20),
      },
      { additionalProperties: false },
    ),
  },
  async ({ db }: ReadCtx, { account_id, state, page = 1, per_page: perPage = 20 }): Promise<Page<WebhookEvent>> => {
    const { rows, total } = await pageOfEvents(db.kysely, { account_id, state }, perPage, (page - 1) * perPage)
    return { rows, pagination: pagination(page, perPage, total) }
  },
)
