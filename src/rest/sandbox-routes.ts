// Sandboxes: created, read and deleted with live keys; advanced, played and reset with their own test keys.
import { type PostedPrices, PostedPricesSchema } from '#catalogue/items/post-prices.ts'
import type { Route } from '#http/route.ts'
import { Type } from '#core/input.ts'
import { type Order, OrderSchema, type StoredOrder, StoredOrderSchema } from '#market/sale-schemas.ts'
import { advanceSandbox } from '#sandbox/advance-sandbox.ts'
import { createSandbox, deleteSandbox, getSandbox, listSandboxes, resetSandbox } from '#sandbox/change-sandboxes.ts'
import { decideInSandbox, refundInSandbox, type SandboxDecision, SandboxDecisionSchema, sellInSandbox, setPricesInSandbox } from '#sandbox/play.ts'
import type { SandboxCtx } from '#sandbox/sandbox-context.ts'
import { type NewSandbox, NewSandboxSchema, type Sandbox, SandboxSchema } from '#sandbox/sandbox-types.ts'

const tag = 'Sandbox'
const LIVE = 'Needs a live API key.'
const TEST = 'Needs the test key of a sandbox.'

export const sandboxRoutes: Route<SandboxCtx>[] = [
  {
    method: 'POST',
    path: '/sandbox',
    verb: createSandbox,
    summary: 'Create a sandbox',
    description: `A marketplace of its own with the sample catalogue, six listings and a collection of yours, and a clock that only \`/sandbox/advance\` moves. Its test key is shown only in this response. An account has at most three; each is removed when it was not used for seven days. ${LIVE}`,
    tag,
    status: 201,
    answer: (created: NewSandbox) => ({ data: created, message: 'Sandbox created' }),
    data: NewSandboxSchema,
    errors: ['CONFLICT', 'INVALID_JSON', 'KEY_MODE_MISMATCH'],
  },
  {
    method: 'GET',
    path: '/sandbox',
    verb: listSandboxes,
    summary: 'List your sandboxes',
    description: 'With a test key: only its own sandbox.',
    tag,
    answer: (sandboxes: Sandbox[]) => ({ data: sandboxes }),
    data: Type.Array(SandboxSchema),
  },
  {
    method: 'GET',
    path: '/sandbox/:id',
    verb: getSandbox,
    summary: 'Read a sandbox',
    description: LIVE,
    tag,
    answer: (sandbox: Sandbox) => ({ data: sandbox }),
    data: SandboxSchema,
    errors: ['NOT_FOUND', 'KEY_MODE_MISMATCH'],
  },
  {
    method: 'DELETE',
    path: '/sandbox/:id',
    verb: deleteSandbox,
    summary: 'Delete a sandbox with everything in it',
    description: LIVE,
    tag,
    status: 204,
    answer: () => ({ data: undefined }),
    errors: ['CONFLICT', 'NOT_FOUND', 'KEY_MODE_MISMATCH'],
  },
  {
    method: 'POST',
    path: '/sandbox/advance',
    verb: advanceSandbox,
    summary: 'Move the clock of the sandbox forward',
    description: `Everything that becomes due runs at its time, in order: periods and offers end, webhooks are delivered and retried, repricing and approval rules run. \`fired\` lists what happened. If that takes longer than ten seconds, the response has the status \`advancing\`; read \`GET /sandbox\` until it is \`ready\`. Meanwhile, the sandbox can only be read. ${TEST}`,
    tag,
    answer: (sandbox: Sandbox) => ({ data: sandbox, message: 'Sandbox advanced' }),
    data: SandboxSchema,
    errors: ['INVALID_JSON', 'KEY_MODE_MISMATCH', 'SANDBOX_BUSY'],
  },
  {
    method: 'POST',
    path: '/sandbox/reset',
    verb: resetSandbox,
    summary: 'Reset the sandbox to its start',
    description: `Everything in it is deleted; its start, its seed and its test key stay. ${TEST}`,
    tag,
    answer: (sandbox: Sandbox) => ({ data: sandbox, message: 'Sandbox reset' }),
    data: SandboxSchema,
    errors: ['CONFLICT', 'INVALID_JSON', 'KEY_MODE_MISMATCH', 'SANDBOX_BUSY'],
  },
  {
    method: 'POST',
    path: '/sandbox/sell',
    verb: sellInSandbox,
    summary: 'Sell listings in the sandbox, as the shop does',
    description: `Records an order. The first attempt to deliver its notifications has been made when this returns. ${TEST}`,
    tag,
    status: 201,
    answer: (order: Order) => ({ data: order, message: 'Order recorded' }),
    data: OrderSchema,
    errors: ['CONFLICT', 'NOT_FOUND', 'INVALID_JSON', 'KEY_MODE_MISMATCH', 'SANDBOX_BUSY'],
  },
  {
    method: 'POST',
    path: '/sandbox/refund',
    verb: refundInSandbox,
    summary: 'Cancel an order in the sandbox, or some of its lines',
    description: TEST,
    tag,
    answer: (order: StoredOrder) => ({ data: order, message: 'Lines cancelled' }),
    data: StoredOrderSchema,
    errors: ['CONFLICT', 'NOT_FOUND', 'INVALID_JSON', 'KEY_MODE_MISMATCH', 'SANDBOX_BUSY'],
  },
  {
    method: 'POST',
    path: '/sandbox/decide',
    verb: decideInSandbox,
    summary: 'Approve or reject a listing in the sandbox, as the operator does',
    description: TEST,
    tag,
    answer: (decided: SandboxDecision) => ({ data: decided, message: 'Decision made' }),
    data: SandboxDecisionSchema,
    errors: ['CONFLICT', 'NOT_FOUND', 'INVALID_JSON', 'KEY_MODE_MISMATCH', 'SANDBOX_BUSY'],
  },
  {
    method: 'POST',
    path: '/sandbox/prices',
    verb: setPricesInSandbox,
    summary: 'Set prices of sources in the sandbox, as the operator does',
    description: `Each row is checked on its own, as in every post of prices. ${TEST}`,
    tag,
    answer: (posted: PostedPrices) => ({ data: posted, message: 'Prices received' }),
    data: PostedPricesSchema,
    errors: ['CONFLICT', 'INVALID_JSON', 'KEY_MODE_MISMATCH', 'SANDBOX_BUSY'],
  },
]
