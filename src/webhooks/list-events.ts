// Operator: the events to deliver, by account and state, newest first.
import { Type } from '#core/input.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { EVENT_KINDS } from './event-body.ts'
import { pageOfEvents } from './store.ts'
import { STATES, type WebhookEvent } from './types.ts'

export const listWebhookEvents = verb(
  {
    name: 'listWebhookEvents',
    needs: 'operator',
    input: Type.Object(
      {
        account_id: Type.Optional(Type.Integer({ description: "Of this account's webhook only" })),
        state: Type.Optional(Type.Enum([...STATES])),
        event: Type.Optional(Type.Enum([...EVENT_KINDS])),
        test: Type.Optional(Type.Boolean({ description: 'Test events only, or all but those' })),
        ...pageParams(20),
      },
      { additionalProperties: false },
    ),
  },
  async ({ db }: ReadCtx, { page = 1, per_page: perPage = 20, ...wanted }): Promise<Page<WebhookEvent>> => {
    const { rows, total } = await pageOfEvents(db.kysely, wanted, perPage, (page - 1) * perPage)
    return { rows, pagination: pagination(page, perPage, total) }
  },
)
