// Every path follows the transition table of listings: a changed transition or rejection applies to REST, GraphQL, operator API and sweep.
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { addCredits } from '#accounts/add-credits.ts'
import { reason } from '#core/problems.ts'
import { call } from '#core/verb.ts'
import { expireListings } from '#market/listings/expire-listings.ts'
import { type Action, ACTIONS, type Outcome, TABLE } from '#market/records/rules.ts'
import { ask } from '../graphql/client.ts'
import { startTestNode, type TestNode, until } from '../support/node.ts'
import { found, inStatus, makeCatalogue, operator, orderId, plus, type Status } from './kit.ts'

let node: TestNode
let item: number

beforeAll(async () => {
  node = await startTestNode()
  item = (await makeCatalogue(node)).items.char!
  await call(addCredits, node.ctx, { id: node.accounts.plus, amount: 100 })
})

afterAll(() => node.close())

const original = structuredClone(TABLE)
afterEach(() => Object.assign(TABLE, structuredClone(original)))

function rule(from: Status, action: Action, outcome: Outcome): void {
  Object.assign(TABLE[from], { [action]: outcome })
}

interface Path {
  name: string
  action: Action
  from?: Status
  /** Performs the action. @returns the text of the response, which contains the reason of a rejection */
  take: (id: number) => Promise<unknown>
}

const rest = (method: string, path: string, body?: object) => async (id: number) => {
  const reply = await plus(node, method, path.replace(':id', String(id)), path.includes(':id') ? body : { id })
  return reply.body
}
const operate = (method: string, path: string, body?: object) => async (id: number) =>
  (await operator(node, method, path.replace(':id', String(id)), body)).body
const job = (change: object) => async (id: number) => {
  const { body: planned } = await plus(node, 'POST', '/price-jobs', { rows: [{ listing_id: id, ...change }] })
  const { body: applied } = await plus(node, 'POST', `/price-jobs/${planned.data.id}/apply`)
  return { planned, applied }
}
const mutate = (field: string) => async (id: number) => {
  const { data, errors } = await ask<object>(node, `mutation { done: ${field.replace('ID', String(id))} { status } }`, { plan: 'plus' })
  return { data, errors }
}

const PATHS: Path[] = [
  { name: 'PATCH /listings/{id}/price', action: 'reprice', take: rest('PATCH', '/listings/:id/price', { price: 5 }) },
  { name: 'PATCH /listings/{id} with a price', action: 'reprice', take: rest('PATCH', '/listings/:id', { price: 5 }) },
  { name: 'updateListingPrice', action: 'reprice', take: mutate('updateListingPrice(listingId: ID, price: 5)') },
  { name: 'updateListing with a price', action: 'reprice', take: mutate('updateListing(listingId: ID, input: { price: 5 })') },
  { name: 'a price job with a price', action: 'reprice', take: job({ price: 5 }) },
  { name: 'a price job with a quantity', action: 'restock', take: job({ quantity: 5 }) },
  { name: 'PATCH /listings/{id} with a quantity', action: 'restock', take: rest('PATCH', '/listings/:id', { quantity: 5 }) },
  { name: 'updateListing with a SKU', action: 'restock', take: mutate('updateListing(listingId: ID, input: { sku: null })') },
  { name: 'PATCH /listings/{id}', action: 'edit', take: rest('PATCH', '/listings/:id', { title: 'Other' }) },
  { name: 'updateListing', action: 'edit', take: mutate('updateListing(listingId: ID, input: { title: "Other" })') },
  { name: 'POST /listings/{id}/status', action: 'pause', take: rest('POST', '/listings/:id/status?action=pause') },
  { name: 'setListingStatus', action: 'pause', take: mutate('setListingStatus(listingId: ID, action: "pause")') },
  { name: 'POST /listings/{id}/status', action: 'publish', from: 'paused', take: rest('POST', '/listings/:id/status?action=publish') },
  { name: 'setListingStatus', action: 'publish', from: 'paused', take: mutate('setListingStatus(listingId: ID, action: "publish")') },
  { name: 'POST /listings/renew', action: 'renew', take: async (id) => (await plus(node, 'POST', '/listings/renew', { ids: [id] })).body },
  {
    name: 'renewListings',
    action: 'renew',
    take: async (id) => (await ask(node, `mutation { renewListings(ids: [${id}]) { listings { status refused { rule } } } }`, { plan: 'plus' })).data,
  },
  { name: 'POST /make-highlight', action: 'highlight', take: rest('POST', '/make-highlight') },
  { name: 'DELETE /listings/{id}', action: 'delete', take: rest('DELETE', '/listings/:id') },
  { name: 'POST /operator/v1/listings/{id}/approve', action: 'approve', from: 'pending', take: operate('POST', '/listings/:id/approve', {}) },
  { name: 'POST /operator/v1/listings/{id}/reject', action: 'reject', take: operate('POST', '/listings/:id/reject', { reason: 'blurred photo' }) },
  {
    name: 'POST /operator/v1/listings/{id}/request-change',
    action: 'reject',
    take: operate('POST', '/listings/:id/request-change', { note: 'a sharper photo' }),
  },
  {
    name: 'POST /operator/v1/approval-rules/{id}/reopen',
    action: 'reopen',
    take: async (id) => {
      const rule = (await operator<{ id: number }>(node, 'POST', '/approval-rules', { name: 'Any', conditions: { seller_sales: { min: 0 } } })).body
        .data
      // As if the rule had approved it, and a person before that.
      await sql`update listing_decisions set rule_id = ${rule.id}, rule_version = 1,
        before = before || jsonb_build_object('approved_at', decided_at, 'expires_at', decided_at) where listing_id = ${id} and decision is not null`.execute(
        node.db.kysely,
      )
      return (await operator(node, 'POST', `/approval-rules/${rule.id}/reopen`, {})).body
    },
  },
  { name: 'PATCH /operator/v1/listings/{id}', action: 'correct', take: operate('PATCH', '/listings/:id', { language: 'en' }) },
  {
    name: 'POST /operator/v1/orders',
    action: 'sell',
    take: async (id) => (await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: id, quantity: 1 }] })).body,
  },
  {
    name: 'POST /operator/v1/orders/{id}/cancel',
    action: 'restore',
    from: 'sold',
    take: async (id) => {
      const [order] = (await operator<{ order_id: number }[]>(node, 'GET', `/orders?listing_id=${id}`)).body.data
      return (await operator(node, 'POST', `/orders/${order!.order_id}/cancel`, { reason: 'Buyer withdrew' })).body
    },
  },
]

async function statusOf(id: number): Promise<Status> {
  return (await node.db.kysely.selectFrom('listings').select('status').where('id', '=', id).executeTakeFirstOrThrow()).status
}

test('every action except expire has its paths here', () => {
  expect([...new Set(PATHS.map(({ action }) => action)), 'expire'].sort()).toEqual([...ACTIONS].sort())
})

test.each(PATHS)('$action: $name', async ({ action, from = 'active', take }) => {
  const { id } = await inStatus(node, from, item)
  rule(from, action, { refused: reason('file_empty') })
  expect(JSON.stringify(await take(id))).toContain('file_empty')
  expect(await statusOf(id)).toBe(from)
  const to = from === 'paused' ? 'active' : 'paused'
  rule(from, action, action === 'publish' ? { when: 'soldOut', to: 'sold', otherwise: { to: 'rejected' } } : { to })
  await take(id)
  expect(await statusOf(id)).toBe(action === 'publish' ? 'rejected' : to)
  expect(await found(node), 'the search of this node has applied it').not.toContain(id)
})

const over = async () => {
  const listing = await inStatus(node, 'active', item)
  await node.db.kysely.updateTable('listings').set({ expires_at: node.clock.now() }).where('id', '=', listing.id).execute()
  return listing.id
}

test('expire: the status at a moment, its filters and the sweep', async () => {
  rule('active', 'expire', { to: 'paused' })
  const id = await over()
  const listed = async (status: Status) =>
    (await operator<{ id: number; status: Status }[]>(node, 'GET', `/listings?status=${status}`)).body.data.find((one) => one.id === id)
  expect([(await listed('paused'))?.status, await listed('active'), await listed('expired')]).toEqual(['paused', undefined, undefined])
  await expireListings(node.ctx)
  // The node's own sweep may have locked the listing at that moment.
  await until('the end of the period', async () => (await statusOf(id)) === 'paused')
})

test('expire: a write to a listing whose period is over', async () => {
  rule('active', 'expire', { to: 'rejected' })
  rule('rejected', 'reprice', { to: 'paused' })
  const id = await over()
  expect((await plus(node, 'PATCH', `/listings/${id}/price`, { price: 5 })).body.data.status).toBe('paused')
  const { body } = await operator<{ action: string; after: object }[]>(node, 'GET', `/audit?subject_type=listing&subject_id=${id}`)
  expect(body.data.find((entry) => entry.action === 'listing.expire')).toMatchObject({ before: { status: 'active' }, after: { status: 'rejected' } })
})

test('expire: other statuses with and without a period', async () => {
  rule('active', 'expire', { refused: reason('file_empty') })
  const [paused, active] = [await inStatus(node, 'paused', item), await over()]
  await node.db.kysely.updateTable('listings').set({ expires_at: node.clock.now() }).where('id', '=', paused.id).execute()
  await expireListings(node.ctx)
  expect([await statusOf(paused.id), await statusOf(active)]).toEqual(['paused', 'active'])
  rule('paused', 'expire', { to: 'expired' })
  await expireListings(node.ctx)
  await until('the end of the period', async () => (await statusOf(paused.id)) === 'expired')
  expect(await statusOf(active)).toBe('active')
})
