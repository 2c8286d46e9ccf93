// Operator: lists the events to deliver, by account and state, newest first.
import { sql } from 'kysely'
import { idForSql } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { pageOf } from '#db/page.ts'
import { namesOf, orderBy, type Sorting, sortParams } from '#db/sorting.ts'
import { FEED_KINDS } from './events/event-body.ts'
import { EVENT_COLUMNS, eventOf } from './webhook-store.ts'
import { STATES } from './webhook-types.ts'

const id = sql.ref('id')
const SORTING = { by: { created_at: id }, id, usual: { by: id, direction: 'desc' } } satisfies Sorting<string>

export const listWebhookEvents = listVerb(
  {
    name: 'listWebhookEvents',
    needs: 'operator',
    filters: {
      account_id: Type.Optional(Type.Integer({ description: "Only events of this account's webhook" })),
      state: Type.Optional(Type.Enum([...STATES])),
      event: Type.Optional(Type.Enum([...FEED_KINDS])),
      test: Type.Optional(Type.Boolean({ description: 'Only test events, or all other events' })),
      ...sortParams(namesOf(SORTING)),
    },
  },
  ({ db }: ReadCtx, { account_id: accountId, state, event, test, ...sort }, range) => {
    const account = accountId === undefined ? undefined : idForSql(accountId)
    const events = db.kysely.selectFrom('webhook_events').where((e) => e.and({ account_id: account, state, kind: event, test }))
    return pageOf(events.select(EVENT_COLUMNS).orderBy(orderBy(SORTING, sort)), range, eventOf)
  },
)
