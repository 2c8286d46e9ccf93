// Plays the shop and the operator of a sandbox: the operations of the operator API, called in the sandbox. What they cause at once, such as the first
// attempt to deliver a webhook, has happened when they return.
import { sql } from 'kysely'
import { PriceRowSchema, postPrices } from '#catalogue/items/post-prices.ts'
import { boundedId, moment, name, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { OPERATION_PLAN, type Plan } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { earlierResult } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { approveListing, rejectListing, requestListingChange } from '#market/approval/decide-listing.ts'
import { Status, StoredListingSchema } from '#market/marketplace-types.ts'
import { cancelOrder } from '#market/orders/cancel-order.ts'
import { Line, MAX_LINES, recordOrder } from '#market/orders/record-order.ts'
import { advance } from './advance-sandbox.ts'
import { type SandboxCtx, storedResult, worldOf } from './sandbox-context.ts'
import type { PlayCtx } from './world.ts'

/** Prices of one call: a sandbox has few items. */
const MAX_PRICES = 1_000

const declared = (name: string, needs: Plan) => ({ name, needs, keys: 'test', rehearsable: false }) as const

const { order_id, buyer_reference } = recordOrder.input.properties

/** A line of an order to record. */
export const SoldLine = Type.Object(
  {
    ...Line.properties,
    quantity: Type.Optional({ ...Line.properties.quantity, default: 1 }),
  },
  { additionalProperties: false, title: 'SandboxLine', description: 'A line of an order' },
)

const OrderLineSchema = Type.Object(
  {
    listing_id: orNull(Type.Integer(), { description: 'Id of the listing; null if it was deleted' }),
    quantity: Type.Integer({ description: 'Units sold' }),
    unit_price: Type.Number({ description: 'Per unit, in TL' }),
    seller_payout: Type.Number({ description: 'Unit price × quantity minus the commission, in TL' }),
    listing_status: orNull({ ...Status, description: 'Status of the listing after the sale or the refund; null if it was deleted' } as typeof Status),
    cancelled: Type.Boolean({ description: 'Whether the line was refunded' }),
  },
  { title: 'SandboxOrderLine', description: 'A line of an order in a sandbox' },
)

export const SandboxOrderSchema = Type.Object(
  { order_id: Type.Integer({ description: 'Id of the order' }), lines: Type.Array(OrderLineSchema, { description: 'Its lines, in order' }) },
  { title: 'SandboxOrder' },
)
export type SandboxOrder = Static<typeof SandboxOrderSchema>

export const sellInSandbox = writeVerb(
  {
    ...declared('sellInSandbox', OPERATION_PLAN.sellInSandbox),
    input: Type.Object({
      lines: Type.Array(SoldLine, { minItems: 1, maxItems: MAX_LINES, description: 'What is sold' }),
      order_id: Type.Optional({ ...order_id, description: 'Order id assigned by the shop; default: the next one' }),
      buyer_reference,
    }),
  },
  (ctx: SandboxCtx, { lines, ...input }): Promise<SandboxOrder> =>
    play(ctx, async (shop) => {
      const orderId = input.order_id ?? (await nextOrderId(shop))
      const sold = lines.map((line) => ({ quantity: 1, ...line }))
      const order = await call(recordOrder, shop, { ...input, order_id: orderId, lines: sold })
      return { order_id: orderId, lines: order.lines.map((line) => ({ ...line, cancelled: false })) }
    }),
)

export const refundInSandbox = writeVerb(
  {
    ...declared('refundInSandbox', OPERATION_PLAN.refundInSandbox),
    input: Type.Object({ order_id: cancelOrder.input.properties.order_id, lines: cancelOrder.input.properties.lines }),
  },
  (ctx: SandboxCtx, input): Promise<SandboxOrder> =>
    play(ctx, async (shop) => {
      const order = await call(cancelOrder, shop, { ...input, reason: 'refunded in the sandbox' })
      const lines = order.lines.map(({ listing_id, quantity, unit_price, seller_payout, listing_status, cancellation }) => {
        const status = cancellation ? cancellation.listing_status : listing_status
        return { listing_id, quantity, unit_price, seller_payout, listing_status: status, cancelled: cancellation !== null }
      })
      return { order_id: order.order_id, lines }
    }),
)

export const SANDBOX_DECISIONS = ['approve', 'reject', 'request_change'] as const

const { id: Id, status, published_at, expires_at: ExpiresAt, rejection_reason } = StoredListingSchema.properties

export const SandboxDecisionSchema = Type.Object(
  {
    id: { ...Id, description: 'Id of the listing' },
    status: { ...status, description: 'Its status after the decision' },
    published_at,
    expires_at: ExpiresAt,
    rejection_reason,
  },
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

const { market, item_ref, price, updated_at } = PriceRowSchema.properties
/** A price to set. */
export const Price = Type.Object(
  {
    item_id: boundedId('Id of the item; or send `item_ref`'),
    item_ref,
    market: { ...market, description: 'Market whose price it is' },
    label: Type.String({ maxLength: 40, description: 'Condition, or grader and grade', examples: ['Near Mint', 'PSA 10'] }),
    price,
    updated_at,
  },
  { additionalProperties: false, title: 'SandboxPrice', description: 'A price of a source' },
)

const RefusedSchema = Type.Object(
  { row: Type.Integer({ description: 'Position in the list, from 0' }), message: Type.String({ description: 'Why it was refused' }) },
  { title: 'SandboxPriceError', description: 'A refused price' },
)

export const SandboxPricesSchema = Type.Object(
  {
    accepted: Type.Integer({ description: 'Number of prices that were set' }),
    unchanged: Type.Integer({ description: 'Number of prices that were the same before' }),
    held: Type.Integer({ description: 'Number of prices that are held for review' }),
    rejected: Type.Integer({ description: 'Number of refused prices' }),
    errors: Type.Array(RefusedSchema, { description: 'Why prices were refused' }),
  },
  { title: 'SandboxPrices' },
)
export type SandboxPrices = Static<typeof SandboxPricesSchema>

export const setPricesInSandbox = writeVerb(
  {
    ...declared('setPricesInSandbox', OPERATION_PLAN.setPricesInSandbox),
    input: Type.Object({
      prices: Type.Array(Price, { minItems: 1, maxItems: MAX_PRICES, description: 'Prices of sources, as the operator posts them' }),
    }),
  },
  (ctx: SandboxCtx, { prices }): Promise<SandboxPrices> =>
    play(ctx, async (operator) => {
      const { accepted, unchanged, held, rejected, errors } = await call(postPrices, operator, { prices })
      return { accepted, unchanged, held, rejected, errors: errors.map(({ row, message }) => ({ row, message })) }
    }),
)

/**
 * Several transactions as one request: with an idempotency key, a repeated one gets the first result.
 * @throws SANDBOX_BUSY while somebody else works in it; what the operation throws, which then has changed nothing
 */
function play<T>(ctx: SandboxCtx, run: (operator: PlayCtx) => Promise<T>): Promise<T> {
  const world = worldOf(ctx)
  return world.home.work(world.id, async (work) => {
    await world.clock.moveTo(work.row.now)
    const earlier = await earlierResult<T>(ctx)
    if (earlier) return earlier
    const result = await run({ ...world.operator, requestId: ctx.requestId })
    await advance(world, work, world.clock.now())
    return storedResult(ctx, result)
  })
}

async function nextOrderId({ db }: PlayCtx): Promise<number> {
  const { rows } = await sql<{ id: number }>`select coalesce(max(order_id), 0)::float8 + 1 as id from orders`.execute(db.kysely)
  return rows[0]!.id
}
