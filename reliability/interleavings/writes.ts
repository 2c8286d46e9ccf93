// The central writes that the simulation runs against each other, all on the same few rows.
import { addCredits } from '#accounts/add-credits.ts'
import { changeAccount } from '#accounts/change-account.ts'
import { call, type Viewer } from '#core/verb.ts'
import { hashRequest } from '#db/changes/idempotency.ts'
import { mergeItem } from '#identity/merge/merge-item.ts'
import { approveListing, rejectListing } from '#market/approval/decide-listing.ts'
import { undoListingDecision } from '#market/approval/undo-listing-decision.ts'
import { applyPriceJob } from '#market/jobs/apply-price-job.ts'
import { undoPriceJob } from '#market/jobs/undo-price-job.ts'
import { deleteListing } from '#market/listings/delete-listing.ts'
import { expireListings } from '#market/listings/expire-listings.ts'
import { makeHighlight } from '#market/listings/make-highlight.ts'
import { renewListings } from '#market/listings/renew-listings.ts'
import { setListingStatus } from '#market/listings/set-listing-status.ts'
import { updateListing } from '#market/listings/update-listing.ts'
import { updateListingPrice } from '#market/listings/update-listing-price.ts'
import { acceptOffer, withdrawOffer } from '#market/offers/answer-offers.ts'
import { makeOffer } from '#market/offers/make-offer.ts'
import { cancelOrder } from '#market/orders/cancel-order.ts'
import { recordOrder } from '#market/orders/record-order.ts'
import { setVacation } from '#market/seller/own-vacation.ts'
import { configureWebhook } from '#webhooks/configure-webhook.ts'
import { settleAndClaim } from '#webhooks/delivery/queue.ts'
import { type Market, OPERATOR, seller, START_MS, type WorldCtx } from './world.ts'

const DAY_MS = 86_400_000
const DELIVERED = { success: true, statusCode: 200, error: null, excerpt: '' } as const

interface Declared {
  by: 'seller' | 'operator'
  /** a task of the service: it has no idempotency key, and its worker runs it again and again */
  task?: boolean
  /** @param n number of the request, so that two requests of one kind differ where clients make them differ */
  run: (ctx: WorldCtx, market: Market, n: number) => Promise<unknown>
}

interface Write extends Declared {
  name: string
}

/** One request: the same request twice has the same number, and with it the same idempotency key. */
export interface Request {
  write: Write
  n: number
}

const FROM_SELLER = {
  price: {
    by: 'seller',
    // Two requests of one group commit, of which one is refused.
    run: (ctx, { last, stock }) =>
      together([
        call(updateListingPrice, keyed(ctx, 'a'), { id: last, price: 130 }),
        call(updateListingPrice, { ...keyed(ctx, 'b'), precondition: () => false }, { id: stock, price: 140 }),
      ]),
  },
  stock: { by: 'seller', run: (ctx, { last }, n) => call(updateListing, ctx, { id: last, quantity: 3 + n }) },
  edit: { by: 'seller', run: (ctx, { last }) => call(updateListing, ctx, { id: last, title: 'Changed' }) },
  pause: { by: 'seller', run: (ctx, { last }) => call(setListingStatus, ctx, { id: last, action: 'pause' }) },
  renew: { by: 'seller', run: (ctx, { last, due }) => call(renewListings, ctx, { ids: [due, last] }) },
  highlight: { by: 'seller', run: (ctx, { last }) => call(makeHighlight, ctx, { id: last }) },
  delete: { by: 'seller', run: (ctx, { last }) => call(deleteListing, ctx, { id: last }) },
  'accept offer': { by: 'seller', run: (ctx, { offer }) => call(acceptOffer, ctx, { id: offer }) },
  vacation: { by: 'seller', run: (ctx, _market, n) => call(setVacation, ctx, { to: new Date(START_MS + (2 + n) * DAY_MS).toISOString() }) },
  'apply job': { by: 'seller', run: (ctx, { plannedJob }) => call(applyPriceJob, ctx, { id: plannedJob }) },
  'undo job': { by: 'seller', run: (ctx, { appliedJob }) => call(undoPriceJob, ctx, { id: appliedJob }) },
  'pause webhook': {
    by: 'seller',
    run: (ctx) => call(configureWebhook, ctx, { url: 'http://127.0.0.1:9/hook', on_sale: true, is_active: false }),
  },
} satisfies Record<string, Declared>

const FROM_OPERATOR = {
  order: { by: 'operator', run: (ctx, { last }, n) => call(recordOrder, ctx, { order_id: 8001 + n, lines: [{ listing_id: last, quantity: 1 }] }) },
  'order of two': {
    by: 'operator',
    run: (ctx, { last, stock }, n) =>
      call(recordOrder, ctx, { order_id: 8101 + n, lines: [stock, last].map((id) => ({ listing_id: id, quantity: 1 })) }),
  },
  'cancel order': { by: 'operator', run: (ctx, { order }) => call(cancelOrder, ctx, { order_id: order, reason: 'Returned' }) },
  offer: {
    by: 'operator',
    run: (ctx, { last }, n) => call(makeOffer, ctx, { listing_id: last, unit_price: 60, order_id: 8201 + n, buyer_reference: `buyer ${n}` }),
  },
  'withdraw offer': { by: 'operator', run: (ctx, { offer }) => call(withdrawOffer, ctx, { id: offer }) },
  reject: { by: 'operator', run: (ctx, { last }) => call(rejectListing, ctx, { id: last, reason: 'Blurred' }) },
  approve: { by: 'operator', run: (ctx, { rejected }) => call(approveListing, ctx, { id: rejected }) },
  'undo decision': { by: 'operator', run: (ctx, { rejected }) => call(undoListingDecision, ctx, { id: rejected }) },
  suspend: { by: 'operator', run: (ctx, market) => call(changeAccount, ctx, { id: market.seller, suspended: true }) },
  credits: { by: 'operator', run: (ctx, market) => call(addCredits, ctx, { id: market.seller, amount: -1 }) },
  merge: { by: 'operator', run: (ctx, { item, twin }) => call(mergeItem, ctx, { id: item, into: twin }) },
  expire: { by: 'operator', task: true, run: (ctx) => expireListings(ctx) },
  deliver: { by: 'operator', task: true, run: (ctx, market) => deliver(ctx, market.seller) },
} satisfies Record<string, Declared>

/** The 25 writes. */
export const WRITES: readonly Write[] = Object.entries<Declared>({ ...FROM_OPERATOR, ...FROM_SELLER }).map(([name, write]) => ({ name, ...write }))

/** Runs a request over a pool of its own. */
export function send(
  { write, n }: Request,
  { ctx, db, market }: { ctx: (viewer: Viewer) => WorldCtx; db: WorldCtx['db']; market: Market },
): Promise<unknown> {
  const viewer = write.by === 'seller' ? seller(market.seller) : OPERATOR
  const scope = write.by === 'seller' ? `account:${market.seller}` : 'operator:1'
  const requestHash = hashRequest('POST', `/${write.name}`, { n })
  const idempotency = write.task ? null : { scope, key: `${write.name} ${n}`, part: '', requestHash, credential: 'secret' }
  return write.run({ ...ctx(viewer), db, idempotency } as WorldCtx, market, n)
}

function keyed(ctx: WorldCtx, part: string): WorldCtx {
  const idempotency = ctx.idempotency as { key: string } | null
  return { ...ctx, idempotency: idempotency && { ...idempotency, key: `${idempotency.key} ${part}` } } as unknown as WorldCtx
}

/** The results of concurrent requests; a refusal is a result, but a lost database fails all. */
async function together(requests: Promise<unknown>[]): Promise<unknown[]> {
  const settled = await Promise.allSettled(requests)
  return settled.map((one) => (one.status === 'fulfilled' ? one.value : refusalOf(one.reason)))
}

function refusalOf(error: unknown): unknown {
  if (error instanceof Error && error.name === 'ServiceError') return error.message
  throw error
}

/** One round of a webhook worker whose receiver accepts everything. */
async function deliver({ db, now }: WorldCtx, accountId: number): Promise<unknown> {
  const claims = await settleAndClaim(db, now(), [], { accountIds: [accountId], each: 5, failingToo: true })
  const ended = claims.map((claim) => ({ ...claim, outcome: DELIVERED, retryAt: null }))
  if (ended.length > 0) await settleAndClaim(db, now(), ended, { accountIds: [], each: 5, failingToo: true })
  // Attempts start together, so their order says nothing.
  return claims.map(({ eventId, attempt }) => [eventId, attempt]).toSorted(([one = 0], [other = 0]) => one - other)
}
