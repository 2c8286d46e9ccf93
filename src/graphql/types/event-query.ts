// Query.events, as under /plus/events over REST.
import { OPERATION_PLAN } from '#core/plans.ts'
import { readEvents } from '#webhooks/read-events.ts'
import type { AccountEvent, AccountEvents } from '#webhooks/types.ts'
import { withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan } from '../building/builder.ts'
import { callByFields } from './mutating.ts'

/** A separate read that usually returns few events. */
const EVENTS_READ = { ...cost({ weight: 10 }), ...fromDatabase, ...requiresPlan(OPERATION_PLAN.readEvents) }

export function implementEvents(builder: Builder): void {
  const data = builder.objectRef<AccountEvent['data']>('AccountEventData').implement({
    description: 'Details of a sale or an expiry; fields of the other kind are null.',
    fields: (t) => ({
      orderId: t.float({ description: 'Order id of the sale.', resolve: (of) => ('order_id' in of ? of.order_id : null) }),
      listingId: t.int({ nullable: false, description: 'The listing.', resolve: (of) => of.listing_id }),
      itemName: t.string({ description: 'Name of the item sold.', resolve: (of) => ('item_name' in of ? of.item_name : null) }),
      quantity: t.int({ description: 'Units sold.', resolve: (of) => ('quantity' in of ? of.quantity : null) }),
      unitPrice: t.float({ description: 'Price of one unit, in TL.', resolve: (of) => ('unit_price' in of ? of.unit_price : null) }),
      sellerPayout: t.float({
        description: 'Amount minus the commission, in TL.',
        resolve: (of) => ('seller_payout' in of ? of.seller_payout : null),
      }),
      soldAt: t.string({ description: 'Time of the sale, local time with offset.', resolve: (of) => ('sold_at' in of ? of.sold_at : null) }),
      title: t.string({ description: 'Title of the expired listing.', resolve: (of) => ('title' in of ? of.title : null) }),
      expiredAt: t.string({
        description: 'End of the period, local time with offset.',
        resolve: (of) => ('expired_at' in of ? of.expired_at : null),
      }),
    }),
  })
  const event = builder.objectRef<AccountEvent>('AccountEvent').implement({
    description: 'A sale or an expiry of the account.',
    fields: (t) => ({
      id: t.exposeString('id', { nullable: false, description: 'The `webhook-id` of the event.' }),
      cursor: t.exposeString('cursor', { nullable: false, description: 'Position of the event in the feed; pass it as `after`.' }),
      event: t.exposeString('event', { nullable: false, description: '`sale` or `expire`.' }),
      sentAt: t.exposeString('sent_at', { nullable: false, description: 'When it happened, local time with offset.' }),
      data: t.field({ type: data, nullable: false, description: 'Details of the event.', resolve: (of) => of.data }),
      delivered: t.exposeBoolean('delivered', { nullable: false, description: 'Whether the webhook answered with 2xx.' }),
    }),
  })
  const events = builder.objectRef<AccountEvents>('AccountEvents').implement({
    description: 'Events in commit order.',
    fields: (t) => ({
      events: t.field({
        type: [event],
        nullable: { list: false, items: false },
        description: 'The events.',
        extensions: cost({ entries: 20 }),
        resolve: (of) => of.events,
      }),
      next: t.exposeString('next', { nullable: false, description: 'Cursor for the next request, also if there are no events.' }),
    }),
  })
  builder.queryField('events', (t) =>
    t.field({
      type: events,
      description: 'Your sales and expiries, including those not delivered to your webhook; kept for 90 days. Plus and Enterprise.',
      extensions: EVENTS_READ,
      args: {
        after: t.arg.string({ description: 'Only events after this cursor; default: all stored events.' }),
        wait: t.arg.int({ description: 'Seconds to wait for the next event if there is none yet, at most 30.' }),
        limit: t.arg.int({ description: 'Maximum number of events, 1 to 1,000; default: 100.' }),
      },
      resolve: (_root, args, ctx, info) => callByFields(readEvents, ctx, info, withoutNulls(args)),
    }),
  )
}
