// Webhook configurations, events and attempts as returned by verbs, ready for JSON.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import type { Sealing } from '#core/sealing.ts'
import type { HasViewer, Viewer } from '#core/verb.ts'
import type { ReadCtx, WriteCtx } from '#db/changes/change.ts'
import type { Wait } from '#db/changes/long-polls.ts'
import type { Resolve } from '#outbound/resolve.ts'
import type { TargetGuard } from '#outbound/target-guard.ts'
import type { EventFeed } from './event-feed.ts'
import {
  EVENT_KINDS,
  ExpireEventSchema,
  FEED_KINDS,
  GoalEventSchema,
  OfferEventSchema,
  SaleEventSchema,
  WatchEventSchema,
} from './events/event-body.ts'

/** The context of webhook verbs. */
export interface WebhookRules {
  guard: TargetGuard
  sealing: Sealing
  resolve: Resolve
  /** IANA zone of local times */
  zone: string
  /** false in a sandbox */
  livemode: boolean
}

export interface WebhookReadCtx extends ReadCtx {
  webhooks: WebhookRules
}

export interface WebhookCtx extends WriteCtx {
  webhooks: WebhookRules
}

/** The context for reading the feed. */
export interface FeedCtx extends HasViewer {
  viewer: Viewer
  events: EventFeed
  onDisconnect: Wait['onDisconnect']
}

export const STATES = ['queued', 'delivered', 'failed', 'cancelled'] as const
export const MARKS = ['test', 'check', 'replay'] as const

const Kind = Type.Enum([...EVENT_KINDS])
const LocalTime = Type.String({ format: 'date-time', description: 'Local time with offset' })

export const WebhookSchema = Type.Object(
  {
    url: Type.String({ description: 'URL that receives notifications' }),
    on_sale: Type.Boolean({ description: 'Whether sales are notified' }),
    on_expire: Type.Boolean({ description: 'Whether expiries are notified' }),
    is_active: Type.Boolean({ description: 'false pauses delivery' }),
    secret: orNull(Type.String(), {
      description: '48 characters, generated on the first save; null for keys that are read-only or restricted to origins',
    }),
  },
  {
    title: 'Webhook',
    description: 'Webhook that notifies the account about its sales and expiries',
    examples: [
      {
        url: 'https://shop.example/hooks/mintmark',
        on_sale: true,
        on_expire: false,
        is_active: true,
        secret: 'q3JxZr8sVt0YbKcW5nLhTgDfPaRmUe7iXo1Bv9yCzN2wHkSj',
      },
    ],
  },
)
export type Webhook = Static<typeof WebhookSchema>

export const WebhookLogSchema = Type.Object(
  {
    id: Type.Integer(),
    event: Kind,
    attempt: Type.Integer({ description: '1 to 3; higher after a redelivery' }),
    status_code: orNull(Type.Integer(), {
      description: 'Response status, null if there was no response',
    }),
    success: Type.Boolean(),
    error: orNull(Type.String(), { description: 'Why no response was received' }),
    response_excerpt: Type.String({ description: 'Response body, at most 1,000 characters' }),
    created_at: LocalTime,
    test: Type.Boolean({ description: 'A test event, or a notification of a check' }),
    mark: orNull(Type.Enum([...MARKS]), { description: 'Why it was sent; null for a regular sale or expiry' }),
  },
  {
    title: 'WebhookLog',
    examples: [
      {
        id: 912,
        event: 'sale',
        attempt: 1,
        status_code: 200,
        success: true,
        error: null,
        response_excerpt: 'ok',
        created_at: '2026-11-21T11:40:59+03:00',
        test: false,
        mark: null,
      },
    ],
  },
)
export type WebhookLog = Static<typeof WebhookLogSchema>

type EventSchema = typeof SaleEventSchema | typeof ExpireEventSchema | typeof OfferEventSchema | typeof WatchEventSchema | typeof GoalEventSchema

const feedEntry = <Schema extends EventSchema>(schema: Schema, title: string) =>
  Type.Object(
    {
      id: Type.String({ description: 'The `webhook-id` of the event' }),
      cursor: Type.String({ description: 'Position of the event in the feed; pass it as `after`' }),
      ...schema.properties,
      delivered: Type.Boolean({ description: 'Whether the webhook answered with 2xx' }),
    },
    { title },
  )

export const AccountEventSchema = Type.Union(
  [
    feedEntry(SaleEventSchema, 'AccountSale'),
    feedEntry(ExpireEventSchema, 'AccountExpiry'),
    feedEntry(OfferEventSchema, 'AccountOffer'),
    feedEntry(WatchEventSchema, 'AccountWatch'),
    feedEntry(GoalEventSchema, 'AccountGoal'),
  ],
  { title: 'AccountEvent' },
)
export type AccountEvent = Static<typeof AccountEventSchema>

export interface AccountEvents {
  events: AccountEvent[]
  /** the cursor for the next request */
  next: string
}

const Time = Type.String({ format: 'date-time', description: 'UTC' })

export const WebhookEventSchema = Type.Object(
  {
    id: Type.Integer(),
    account_id: Type.Integer(),
    event: Type.Enum([...FEED_KINDS], { description: 'Webhooks do not receive `offer` and `watch` events' }),
    test: Type.Boolean(),
    state: Type.Enum([...STATES]),
    attempts: Type.Integer({ description: 'Number of delivery attempts' }),
    due_at: orNull(Time, { description: 'When the next attempt is due; null if there is none' }),
    created_at: Time,
    body: Type.Object({}, { additionalProperties: true, description: 'Data sent to the webhook' }),
  },
  { title: 'WebhookEvent' },
)
export type WebhookEvent = Static<typeof WebhookEventSchema>

export const AccountWebhookSchema = Type.Object(
  {
    ...Type.Omit(WebhookSchema, ['secret']).properties,
    failing: Type.Boolean({ description: 'Whether its last delivery failed' }),
    created_at: Time,
    updated_at: Time,
  },
  { title: 'AccountWebhook' },
)
export type AccountWebhook = Static<typeof AccountWebhookSchema>

export const WebhookAttemptSchema = Type.Object(
  {
    ...Type.Omit(WebhookLogSchema, ['created_at']).properties,
    event_id: Type.Integer({ description: 'Id of the event' }),
    started_at: Time,
    finished_at: Time,
  },
  { title: 'WebhookAttempt' },
)

/** How receivers verify a notification; returned by GET. */
export const SIGNATURE_NOTE =
  'Verify each request before you process it: X-Service-Signature is the lower-case hexadecimal HMAC-SHA256 of the raw ' +
  'body, keyed with the secret; respond with 401 if it does not match. The Standard Webhooks headers (webhook-id, ' +
  'webhook-timestamp, webhook-signature) are also sent. For a day after a rotation of the secret, webhook-signature also has the ' +
  'signatures with the previous secret, and X-Service-Signature uses it in the first and third attempt. Respond with 2xx within 5 seconds and do long work afterwards.'
