// Query.events, as under /plus/events over REST.
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ExpireEventSchema } from '#webhooks/events/event-body.ts'
import { readEvents } from '#webhooks/read-events.ts'
import { type AccountEvent, AccountEventSchema, type AccountEvents } from '#webhooks/webhook-types.ts'
import { withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { argumentsFrom, objectFrom } from '../building/from-schema.ts'
import { callByFields } from './mutating.ts'

/** A separate read that usually returns few events. */
const EVENTS_READ = { ...cost({ weight: 10 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.readEvents) }

export function implementEvents(builder: Builder): void {
  const [sale, expiry, offer, watch, goal] = AccountEventSchema.anyOf
  const properties = {
    ...Type.Partial(goal.properties.data).properties,
    ...Type.Partial(watch.properties.data).properties,
    ...Type.Partial(offer.properties.data).properties,
    ...Type.Partial(sale.properties.data).properties,
    ...Type.Partial(expiry.properties.data).properties,
  }
  const data = objectFrom(builder, Type.Object({ ...properties, listing_id: ExpireEventSchema.properties.data.properties.listing_id }), {
    name: 'AccountEventData',
    description: 'Details of a sale, an expiry, an offer or a watch; fields of the other kinds are null.',
    types: { order_id: 'Float', listing_id: 'Int' },
    texts: {
      kind: 'Kind of the watch',
      item_name: 'Name of the item',
      listing_id: 'Id of the listing; 0 for a watch that is met by a price of a market',
    },
  })
  const event = objectFrom(builder, sale, {
    name: 'AccountEvent',
    description: 'A sale, an expiry or a changed offer of the account, or a watch whose condition is met.',
    types: { id: 'String', data },
    texts: { event: '`sale`, `expire`, `offer` or `watch`', data: 'Details of the event' },
  }) as unknown as ReturnType<typeof builder.objectRef<AccountEvent>>
  const events = builder.objectRef<AccountEvents>('AccountEvents').implement({
    description: 'Events in commit order.',
    fields: (t) => ({
      events: t.field({
        type: [event],
        nullable: { list: false, items: false },
        description: 'The events.',
        extensions: cost({ entries: 20 }),
        resolve: (of) => of.events.map(withListing),
      }),
      next: t.exposeString('next', { nullable: false, description: 'Cursor for the next request, also if there are no events.' }),
    }),
  })
  builder.queryField('events', (t) =>
    t.field({
      type: events,
      description:
        'Your sales, expiries, changes of offers and met watches, including those not delivered to your webhook; kept for 90 days. Plus and Enterprise.',
      extensions: EVENTS_READ,
      args: argumentsFrom(t.arg, readEvents.input),
      resolve: (_root, args, ctx, info) => callByFields(readEvents, ctx, info, withoutNulls(args)),
    }),
  )
}

/** The id of a listing is never null in the schema of earlier releases, which had no events without one. */
function withListing(event: AccountEvent): AccountEvent {
  return { ...event, data: { ...event.data, listing_id: ('listing_id' in event.data && event.data.listing_id) || 0 } } as AccountEvent
}
