// Plays the shop and the operator of a sandbox: the operations of the operator API, called in the sandbox. What they cause at once, such as the first
// attempt to deliver a webhook, has happened when they return.
import { sql } from 'kysely'
import { PriceRowSchema, type PostedPrices, postPrices } from '#catalogue/items/post-prices.ts'
import { boundedId, moment, name } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN, type Plan } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { approveListing, rejectListing, requestListingChange } from '#market/approval/decide-listing.ts'
import { StoredListingSchema } from '#market/marketplace-types.ts'
import { cancelOrder } from '#market/orders/cancel-order.ts'
import { recordOrder } from '#market/orders/record-order.ts'
import type { Order, StoredOrder } from '#market/sale-schemas.ts'
import { advance } from './advance-sandbox.ts'
import { type SandboxCtx, worldOf } from './sandbox-context.ts'
import type { PlayCtx } from './world.ts'

/** Prices of one call: a sandbox has few items. */
const MAX_PRICES = 1_000

const declared = (name: string, needs: Plan) => ({ name, needs, keys: 'test', rehearsable: false }) as const

const { order_id, lines, buyer_reference } = recordOrder.input.properties

export const sellInSandbox = writeVerb(
  {
    ...declared('sellInSandbox', OPERATION_PLAN.sellInSandbox),
    input: Type.Object({
      lines,
      order_id: Type.Optional({ ...order_id, description: 'Order id assigned by the shop; default: the next one' }),
      buyer_reference,
    }),
  },
  (ctx: SandboxCtx, input): Promise<Order> =>
    play(ctx, async (shop) => call(recordOrder, shop, { ...input, order_id: input.order_id ?? (await nextOrderId(shop)) })),
)

export const refundInSandbox = writeVerb(
  {
    ...declared('refundInSandbox', OPERATION_PLAN.refundInSandbox),
    input: Type.Object({ order_id: cancelOrder.input.properties.order_id, lines: cancelOrder.input.properties.lines }),
  },
  (ctx: SandboxCtx, input): Promise<StoredOrder> => play(ctx, (shop) => call(cancelOrder, shop, { ...input, reason: 'refunded in the sandbox' })),
)

export const SANDBOX_DECISIONS = ['approve', 'reject', 'request_change'] as const

const { id: Id, status, published_at, expires_at: ExpiresAt, rejection_reason } = StoredListingSchema.properties

export const SandboxDecisionSchema = Type.Object(
  { id: { ...Id, description: 'Id of the listing' }, status: { ...status, description: 'Its status after the decision' }, published_at, expires_at: ExpiresAt, rejection_reason },
  { title: 'SandboxDecision' },
)
export type SandboxDecision = Static<typeof SandboxDecisionSchema>

export const decideInSandbox = writeVerb(
  {
    ...declared('decideInSandbox', OPERATION_PLAN.decideInSandbox),
    input: Type.Object({
      listing_id: Type.Integer({ description: 'Id of the listing' }),
      decision: Type.Enum([...SANDBOX_DECISIONS], { description: 'What the operator decides' }),
      reason: Type.Optional(name('Reason or note, shown to the owner; default: one that names the sandbox')),
      expires_at: Type.Optional(moment('Of an approval: end of the publication period; default: the configured number of days from now')),
    }),
  },
  (ctx: SandboxCtx, { listing_id: id, decision, reason = 'Decided in the sandbox', expires_at }): Promise<SandboxDecision> =>
    play(ctx, async (operator) => {
      const decided =
        decision === 'approve'
          ? await call(approveListing, operator, { id, ...(expires_at !== undefined && { expires_at }) })
          : await (decision === 'reject' ? call(rejectListing, operator, { id, reason }) : call(requestListingChange, operator, { id, note: reason }))
      const { status, published_at, expires_at: end, rejection_reason } = decided
      return { id, status, published_at, expires_at: end, rejection_reason }
    }),
)

const Price = Type.Object({ ...PriceRowSchema.properties, item_id: boundedId('Id of the item; or send `item_ref`') }, { additionalProperties: false, title: 'SandboxPrice' })

export const setPricesInSandbox = writeVerb(
  {
    ...declared('setPricesInSandbox', OPERATION_PLAN.setPricesInSandbox),
    input: Type.Object({ prices: Type.Array(Price, { minItems: 1, maxItems: MAX_PRICES, description: 'Prices of sources, as the operator posts them' }) }),
  },
  (ctx: SandboxCtx, { prices }): Promise<PostedPrices> => play(ctx, (operator) => call(postPrices, operator, { prices })),
)

/** @throws SANDBOX_BUSY while somebody else works in it; what the operation throws, which then has changed nothing */
function play<T>(ctx: SandboxCtx, run: (operator: PlayCtx) => Promise<T>): Promise<T> {
  const world = worldOf(ctx)
  return world.home.work(world.id, async (work) => {
    await world.clock.moveTo(work.row.now)
    const { idempotency, requestId } = ctx
    const result = await run({ ...world.operator, idempotency, requestId })
    await advance(world, work, world.clock.now())
    return result
  })
}

async function nextOrderId({ db }: PlayCtx): Promise<number> {
  const { rows } = await sql<{ id: number }>`select coalesce(max(order_id), 0)::float8 + 1 as id from orders`.execute(db.kysely)
  return rows[0]!.id
}

