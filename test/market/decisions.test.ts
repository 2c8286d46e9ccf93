// Decisions about listings over the operator API: their data, requests for changes, and undo within a minute.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '#core/verb.ts'
import { setRates } from '#prices/rates/set-rates.ts'
import type { StoredDecision } from '#market/approval/decisions.ts'
import type { ListingReview } from '#market/approval/review.ts'
import type { WaitingListing } from '#market/approval/approval-queue.ts'
import { startTestNode, startTwoNodes, type TestNode } from '../support/node.ts'
import { DAY_MS, found, type Grades, makeCatalogue, operator, orderId, pending, plus, published } from './kit.ts'

let node: TestNode
let items: Record<string, number>
let grades: Grades

beforeAll(async () => {
  node = await startTestNode()
  ;({ items, grades } = await makeCatalogue(node))
  await call(setRates, node.ctx, {
    rates: [
      { currency: 'USD', day: '2026-01-01', rate: 40 },
      { currency: 'EUR', day: '2026-01-01', rate: 50 },
    ],
  })
})

afterAll(() => node.close())

const review = async (id: number) => (await operator<ListingReview>(node, 'GET', `/listings/${id}/review`)).body.data
const decisions = async (query: string) => (await operator<StoredDecision[]>(node, 'GET', `/listing-decisions?${query}`)).body.data
const undo = (id: number, headers?: Record<string, string>) => operator(node, 'POST', `/listings/${id}/undo-decision`, undefined, headers)
const stored = async (id: number) => (await operator(node, 'GET', `/listings/${id}`)).body.data
const approve = (id: number) => operator(node, 'POST', `/listings/${id}/approve`, {})
const lastOf = async (id: number) => (await decisions(`listing_id=${id}`))[0]!

test('a listing is compared with prices of its label, in lira at the latest rate', async () => {
  const { id } = await pending(node, items.char!, { grade_id: grades['PSA 10'], price: 180_000 })
  expect(await review(id)).toMatchObject({
    item: { id: items.char, name: 'Charizard', code: '4/102', category: 'Base Set', finish: null, images: [] },
    label: 'PSA 10',
    references: [
      {
        market: 'source_a',
        state: 'trusted',
        price: 3000,
        currency: 'USD',
        rate: { rate: 40, day: '2026-01-01' },
        price_try: 120_000,
        ratio: 1.5,
      },
    ],
    price_ratio: 1.5,
  })
  const { body } = await operator<WaitingListing[]>(node, 'GET', '/listings/waiting')
  expect(body.data.find((row) => row.id === id)?.review).toEqual(await review(id))
})

test('an untrusted price has its state but no ratio, and the next trusted one is used', async () => {
  const day = new Date(node.clock.now().getTime() - DAY_MS).toISOString()
  const post = (market: string, price: number) => ({ item_id: items.pika, market, label: 'Near Mint', price, updated_at: day })
  await operator(node, 'POST', '/prices', [post('source_c', 10), post('source_b', 9), post('source_a', 11)])
  const { id } = await pending(node, items.pika!, { price: 900 })
  expect(await review(id)).toMatchObject({ price_ratio: 2.25 })
  await operator(node, 'POST', '/sources/source_c/set-aside', { reason: 'a test' })
  const { references, price_ratio: ratio } = await review(id)
  expect(references.map(({ market, state, price_try: lira, ratio }) => [market, state, lira, ratio])).toEqual([
    ['source_c', 'stale', 400, null],
    ['source_b', 'trusted', 450, 2],
    ['source_a', 'trusted', 440, 2.05],
  ])
  expect(ratio).toBe(2)
  await operator(node, 'POST', '/sources/source_c/restore', {})
})

test('a listing without prices or without a rate has no ratio', async () => {
  const { id } = await pending(node, items.luffy!)
  expect(await review(id)).toMatchObject({ label: 'Near Mint', references: [], price_ratio: null })
  expect((await operator(node, 'GET', '/listings/999999/review')).status).toBe(404)
})

test("the seller's history counts sales, approvals, rejections and account age", async () => {
  const { id: seller_id } = (await operator<{ id: number }>(node, 'POST', '/accounts', { name: 'Kart Evi', plan: 'plus' })).body.data
  const sold = await published(node, items.char!, { seller_id, quantity: 3 })
  await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: sold.id, quantity: 2 }] })
  const refused = await pending(node, items.char!, { seller_id })
  await operator(node, 'POST', `/listings/${refused.id}/reject`, { reason: 'blurred photo' })
  const returned = await pending(node, items.char!, { seller_id })
  await operator(node, 'POST', `/listings/${returned.id}/request-change`, { note: 'a sharper photo' })
  const taken = await published(node, items.char!, { seller_id })
  await undo(taken.id)
  node.clock.advance(3 * DAY_MS)
  expect((await review(taken.id)).seller).toEqual({ id: seller_id, name: 'Kart Evi', sales: 1, approved: 1, rejected: 1, account_age_days: 3 })
})

test('the owner sees a requested change, and an edit resubmits the listing', async () => {
  const { id, etag } = await pending(node, items.char!)
  const refused = await operator(node, 'POST', `/listings/${id}/request-change`, { note: ' ' })
  expect([refused.status, refused.body.error?.details?.[0]?.field]).toEqual([422, 'note'])
  const old = await operator(node, 'POST', `/listings/${id}/request-change`, { note: 'Show the back' }, { 'if-match': '"1-99"' })
  expect(old.status).toBe(412)
  const { status, body } = await operator(node, 'POST', `/listings/${id}/request-change`, { note: ' Show the back ' }, { 'if-match': etag })
  expect([status, body.message, body.data]).toMatchObject([
    200,
    'Change requested',
    { status: 'rejected', rejection_reason: 'Show the back', waiting_since: null },
  ])
  const audit = await operator<{ action: string }[]>(node, 'GET', `/audit?subject_type=listing&subject_id=${id}`)
  expect(audit.body.data[0]!.action).toBe('listing.request_change')
  expect((await plus(node, 'PATCH', `/listings/${id}`, { description: 'With the back' })).body.data.status).toBe('pending')
  expect((await operator(node, 'POST', '/listings/999999/request-change', { note: 'x' })).status).toBe(404)
})

test.each([
  ['approve', {}],
  ['reject', { reason: 'blurred photo' }],
  ['request-change', { note: 'a sharper photo' }],
] as const)('%s: undoing restores everything, including the place in the queue', async (how, body) => {
  const { id } = await pending(node, items.char!)
  const before = await stored(id)
  node.clock.advance(5_000)
  await operator(node, 'POST', `/listings/${id}/${how}`, body)
  const decision = await lastOf(id)
  expect(decision).toMatchObject({ decision: how.replace('-', '_'), decided_by: 'operator:bootstrap', undone_at: null })
  expect(Date.parse(decision.undo_until!) - Date.parse(decision.decided_at)).toBe(60_000)
  expect((await decisions('undoable=1&mine=1')).map((row) => row.id)).toContain(decision.id)
  expect((await undo(id, { 'if-match': before.etag })).status).toBe(412)
  const undone = await undo(id)
  expect([undone.status, undone.body.message, undone.body.data.status]).toEqual([200, 'Decision undone', 'pending'])
  expect(await lastOf(id)).toMatchObject({ id: decision.id, undone_by: 'operator:bootstrap', undo_until: null })
  const audit = await operator<{ action: string }[]>(node, 'GET', `/audit?subject_type=listing&subject_id=${id}`)
  expect(audit.body.data[0]!.action).toBe('listing.undo_decision')
  const { etag: _, updated_at: __, ...after } = await stored(id)
  expect(before).toMatchObject(after)
  expect(await found(node)).not.toContain(id)
  expect((await undo(id)).body.error).toMatchObject({ code: 'CONFLICT', rule: 'undo_none' })
  expect((await approve(id)).status).toBe(200)
})

test('a published listing that was taken down is visible again after undoing', async () => {
  const { id } = await published(node, items.char!)
  await operator(node, 'POST', `/listings/${id}/reject`, { reason: 'a mistake' })
  await undo(id)
  expect(await found(node)).toContain(id)
})

test('a decision cannot be undone after a minute, or after another change', async () => {
  const late = await published(node, items.char!)
  node.clock.advance(60_000)
  expect((await undo(late.id)).body.error).toMatchObject({ code: 'CONFLICT', rule: 'undo_late', params: { seconds: 60 } })
  const sold = await published(node, items.char!, { quantity: 2 })
  await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: sold.id, quantity: 1 }] })
  const repriced = await published(node, items.char!)
  expect((await decisions('undoable=1')).map((row) => row.listing_id)).toContain(repriced.id)
  expect(
    (await decisions('undoable=1&mine=1')).map((row) => row.listing_id),
    'decided by another operator',
  ).not.toContain(repriced.id)
  await plus(node, 'PATCH', `/listings/${repriced.id}/price`, { price: 7 })
  for (const { id } of [sold, repriced]) {
    const decision = await lastOf(id)
    expect(decision.undo_until).toBeNull()
    expect((await undo(id)).body.error).toMatchObject({ code: 'CONFLICT', rule: 'undo_changed' })
    expect((await stored(id)).status).toBe('active')
  }
  expect(await decisions('undoable=1')).not.toContainEqual(expect.objectContaining({ listing_id: sold.id }))
  expect((await undo(999_999)).status).toBe(404)
})

test('a decision can be undone on another node, but only once', async () => {
  const { here, there, close } = await startTwoNodes()
  const { items: cards } = await makeCatalogue(here)
  const { id } = await published(here, cards.char!)
  const replies = await Promise.all([here, there, here, there].map((one) => operator(one, 'POST', `/listings/${id}/undo-decision`)))
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
  expect((await operator(there, 'GET', `/listings/${id}`)).body.data.status).toBe('pending')
  await close()
})
