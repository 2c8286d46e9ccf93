// Operator: lists the events to deliver, by account and state, newest first.
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { namesOf, sortParams } from '#db/sorting.ts'
import { EVENT_KINDS } from './event-body.ts'
import { EVENT_SORTING, pageOfEvents } from './store.ts'
import { STATES, type WebhookEvent } from './types.ts'

export const listWebhookEvents = verb(
  {
    name: 'listWebhookEvents',
    needs: 'operator',
    input: Type.Object(
      {
        account_id: Type.Optional(Type.Integer({ description: "Only events of this account's webhook" })),
        state: Type.Optional(Type.Enum([...STATES])),
        event: Type.Optional(Type.Enum([...EVENT_KINDS])),
        test: Type.Optional(Type.Boolean({ description: 'Only test events, or all other events' })),
        ...sortParams(namesOf(EVENT_SORTING)),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  ({ db }: ReadCtx, input): Promise<Page<WebhookEvent>> => readPage(input, (filter, limit, offset) => pageOfEvents(db.kysely, filter, limit, offset)),
)
