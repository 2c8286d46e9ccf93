// Why buyers do not find a listing, over REST and GraphQL: no reason is given if and only if a search finds it.
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changeAccount } from '#accounts/change-account.ts'
import { createAccount } from '#accounts/create-account.ts'
import { PLANS } from '#core/plans.ts'
import { call } from '#core/verb.ts'
import { endVacation, setVacation } from '#market/seller/own-vacation.ts'
import { readListingVisibility } from '#market/visibility/read-listing-visibility.ts'
import type { ListingVisibility } from '#market/marketplace-types.ts'
import { findVisibilityRow } from '#market/visibility/visibility-rows.ts'
import { hindrancesOf } from '#market/records/visibility.ts'
import { ask } from '../graphql/client.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { ALL_CASES, runs } from '../support/runs.ts'
import { DAY_MS, inStatus, makeCatalogue, operator, orderId, pending, plus, published, search } from './kit.ts'

let node: TestNode
let item: number

beforeAll(async () => {
  node = await startTestNode()
  item = (await makeCatalogue(node)).items.char!
})

afterAll(() => node.close())

const visibility = async (id: number | string) => {
  const { status, body } = await plus<ListingVisibility>(node, 'GET', `/listings/${id}/visibility`)
  expect([status, body.error]).toEqual([200, undefined])
  return body.data
}
const codes = async (id: number) => (await visibility(id)).reasons.map(({ code }) => code)

test('each reason has its start and what to do', async () => {
  const active = await published(node, item, { quantity: 2 })
  expect(await visibility(active.id)).toEqual({ visible: true, reasons: [] })
  const [waiting, rejected, expired, sold] = [
    await pending(node, item),
    await inStatus(node, 'rejected', item),
    await inStatus(node, 'expired', item),
    await inStatus(node, 'sold', item),
  ]
  const reasonOf = async (id: number) => {
    const { visible, reasons } = await visibility(id)
    expect([visible, reasons.length]).toEqual([false, 1])
    return reasons[0]!
  }
  const at = (time: string | null) => Math.floor(Date.parse(time!) / 1_000)
  expect(await reasonOf(waiting.id)).toMatchObject({ code: 'pending', what_to_do: "Wait for the operator's decision.", rejection_reason: null })
  expect(at((await reasonOf(waiting.id)).since)).toBe(at(waiting.waiting_since))
  expect(await reasonOf(rejected.id)).toMatchObject({
    code: 'rejected',
    rejection_reason: 'blurred photo',
    change_requested: false,
    since: expect.any(String) as string,
  })
  const asked = await pending(node, item)
  await operator(node, 'POST', `/listings/${asked.id}/request-change`, { note: 'show the back' })
  expect(await reasonOf(asked.id)).toMatchObject({ code: 'rejected', rejection_reason: 'show the back', change_requested: true })
  await plus(node, 'POST', `/listings/${asked.id}/status?action=publish`)
  await operator(node, 'POST', `/listings/${asked.id}/reject`, { reason: 'still no back' })
  expect(await reasonOf(asked.id)).toMatchObject({ rejection_reason: 'still no back', change_requested: false })
  expect(at((await reasonOf(expired.id)).since)).toBe(at(expired.expires_at))
  expect(await reasonOf(sold.id)).toMatchObject({ code: 'sold', since: expect.any(String) as string })
  expect((await reasonOf(sold.id)).since, 'local time with offset').toMatch(/\+03:00$/)
  // The latest pause counts, whatever came after it.
  await plus(node, 'POST', `/listings/${active.id}/status?action=pause`)
  const { rows: pauses } = await audited(active.id)
  await plus(node, 'PATCH', `/listings/${active.id}/price`, { price: 7 })
  expect([at((await reasonOf(active.id)).since), (await reasonOf(active.id)).code]).toEqual([at(pauses[0]!.at), 'paused'])
  await operator(node, 'PATCH', `/listings/${active.id}`, { quantity: 0 })
  expect((await visibility(active.id)).reasons).toMatchObject([{ code: 'paused' }, { code: 'no_stock', since: expect.any(String) as string }])
  await plus(node, 'POST', `/listings/${active.id}/status?action=publish`)
  expect(await codes(active.id)).toEqual(['no_stock'])
  await plus(node, 'PUT', '/vacation', { to: new Date(node.clock.now().getTime() + DAY_MS).toISOString() })
  expect((await visibility(active.id)).reasons).toMatchObject([{ code: 'no_stock' }, { code: 'vacation', since: expect.any(String) as string }])
  await plus(node, 'DELETE', '/vacation')
  expect(await codes(active.id)).toEqual(['no_stock'])
})

const audited = async (id: number) => {
  const { body } = await operator<{ at: string; action: string }[]>(node, 'GET', `/audit?subject_type=listing&subject_id=${id}`)
  return { rows: body.data.filter(({ action }) => action === 'listing.pause') }
}

test('only for own listings, and rejects what is not a listing', async () => {
  const foreign = await published(node, item, { seller_id: node.accounts.enterprise })
  for (const id of [foreign.id, 999_999, 2 ** 40]) {
    const { status, body } = await plus(node, 'GET', `/listings/${id}/visibility`)
    expect([status, body.error?.code]).toEqual([404, 'NOT_FOUND'])
    const { data, errors } = await ask<object>(node, `{ listingVisibility(listingId: ${id}) { visible } }`, { plan: 'plus' })
    expect([data, errors]).toEqual([{ listingVisibility: null }, undefined])
  }
  const { status, body } = await plus(node, 'GET', '/listings/charizard/visibility')
  expect([status, body.error?.code, body.error?.details?.[0]?.field]).toEqual([422, 'VALIDATION_ERROR', 'id'])
})

test('the same over GraphQL', async () => {
  const { id } = await inStatus(node, 'rejected', item)
  const { visible, reasons } = await visibility(id)
  const { data } = await ask<object>(
    node,
    `{ listingVisibility(listingId: ${id}) { visible reasons { code since whatToDo rejectionReason changeRequested } } }`,
    {
      plan: 'plus',
    },
  )
  const renamed = reasons.map(({ code, since, what_to_do: whatToDo, rejection_reason: rejectionReason, change_requested: changeRequested }) => ({
    code,
    since,
    whatToDo,
    rejectionReason,
    changeRequested,
  }))
  expect(data).toEqual({ listingVisibility: { visible, reasons: renamed } })
})

const SELLERS = 3
const LISTINGS = 8
const STEPS = [
  'approve',
  'approve',
  'approveBriefly',
  'reject',
  'pause',
  'pause',
  'publish',
  'edit',
  'empty',
  'restock',
  'restock',
  'sell',
  'sellOut',
  'suspend',
  'resume',
  'resume',
  'plan',
  'vacation',
  'back',
  'back',
  'day',
] as const
const steps = fc.record({ what: fc.constantFrom(...STEPS), n: fc.nat(1_000) })

/** Status × stock × period × plan × suspension × vacation, reached in random ways. */
test('there is no reason if and only if a search finds the listing', async () => {
  const reached = new Set<string>()
  const story = async (taken: readonly { what: (typeof STEPS)[number]; n: number }[]) => {
    const sellers: { id: number; plan: (typeof PLANS)[number]; suspended: boolean }[] = []
    for (let i = 0; i < SELLERS; i += 1) {
      sellers.push({ id: (await call(createAccount, node.ctx, { name: 'Seller', plan: 'plus' })).id, plan: 'plus', suspended: false })
    }
    const listings: { id: number; seller: (typeof sellers)[number] }[] = []
    for (let i = 0; i < LISTINGS; i += 1) {
      const seller = sellers[i % SELLERS]!
      const make = i % 2 === 0 ? published : pending
      listings.push({ seller, id: (await make(node, item, { seller_id: seller.id, quantity: i % 3 })).id })
    }
    for (const { what, n } of taken) {
      const { id, seller } = listings[n % LISTINGS]!
      const inDays = (days: number) => new Date(node.clock.now().getTime() + days * DAY_MS).toISOString()
      const order = (quantity: number) => operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: id, quantity }] })
      const change = async (values: Partial<typeof seller>) => {
        Object.assign(seller, values)
        await call(changeAccount, node.ctx, { id: seller.id, ...values })
      }
      if (what === 'approve') await operator(node, 'POST', `/listings/${id}/approve`, { expires_at: inDays(30) })
      else if (what === 'approveBriefly') await operator(node, 'POST', `/listings/${id}/approve`, { expires_at: inDays(1) })
      else if (what === 'reject') await operator(node, 'POST', `/listings/${id}/reject`, { reason: 'blurred photo' })
      else if (what === 'empty' || what === 'restock') await operator(node, 'PATCH', `/listings/${id}`, { quantity: what === 'empty' ? 0 : 2 })
      else if (what === 'sell') await order(1)
      else if (what === 'sellOut') await order((await operator(node, 'GET', `/listings/${id}`)).body.data.quantity || 1)
      else if (what === 'suspend' || what === 'resume') await change({ suspended: what === 'suspend' })
      else if (what === 'vacation') await away(seller.id, { ...(n % 2 && { from: inDays(1) }), to: inDays(2 + (n % 3)) })
      else if (what === 'back') await away(seller.id, null)
      else if (what === 'plan') await change({ plan: PLANS[n % PLANS.length]! })
      else if (what === 'day') node.clock.advance(DAY_MS)
      else await asOwner(seller.id, id, what)
      await compare()
    }
    async function compare(): Promise<void> {
      const shown = new Set((await search(node, '?seller_name=Seller&per_page=100')).body.data.map(({ id }) => id))
      for (const { id, seller } of listings) {
        const viewer = { kind: 'account' as const, accountId: seller.id, keyId: 0, plan: seller.plan }
        const { visible, reasons } = await readListingVisibility.run({ ...node.ctx, listings: node.listings, viewer }, { id })
        expect([id, visible, reasons.length > 0, reasons.map(({ code }) => code)]).toEqual([
          id,
          shown.has(id),
          !shown.has(id),
          hindrancesOf((await findVisibilityRow(node.db.kysely, id))!, node.clock.now()),
        ])
        reached.add(`${reasons.map(({ code }) => code).join(' ') || 'visible'}${seller.plan === 'starter' ? ' on Starter' : ''}`)
      }
    }
    // Removes the listings of this case from the searches of the next one.
    for (const { id } of listings) await operator(node, 'POST', `/listings/${id}/reject`, { reason: 'over' })
    for (const { id } of sellers) await call(changeAccount, node.ctx, { id, suspended: true })
  }
  // Reaches every state whatever the random cases do: listing 4 is shown, 0 has no stock, 1, 5 and 7 are pending
  // and have stock. The plan changes last: states that its seller's listings reach after that count as reached on Starter.
  const through = (
    [
      ['approveBriefly', 7],
      ['reject', 1],
      ['pause', 2],
      ['day', 0],
      ['vacation', 4],
      ['back', 4],
      ['suspend', 4],
      ['resume', 4],
      ['approve', 5],
      ['sellOut', 5],
      ['plan', 4],
    ] as const
  ).map(([what, n]) => ({ what, n }))
  const stories = fc.array(steps, { minLength: 10, maxLength: ALL_CASES ? 40 : 20 })
  await fc.assert(fc.asyncProperty(stories, story), { numRuns: runs(15), examples: [[through]] })
  for (const state of [
    'visible',
    'visible on Starter',
    'pending',
    'paused',
    'rejected',
    'expired',
    'sold',
    'no_stock',
    'vacation',
    'account_suspended',
  ]) {
    expect([...reached]).toContain(state)
  }
})

/** Sets the vacation of a seller (null ends it) like the owner does, whatever the plan. */
async function away(accountId: number, vacation: { from?: string; to: string } | null): Promise<void> {
  const ctx = { ...node.ctx, viewer: { kind: 'account' as const, accountId, keyId: 0, plan: 'plus' as const } }
  await (vacation ? call(setVacation, ctx, vacation) : call(endVacation, ctx, {}))
}

/** Writes of an owner, even if the plan or a suspension would reject them. */
async function asOwner(accountId: number, id: number, what: 'pause' | 'publish' | 'edit'): Promise<void> {
  const { setListingStatus } = await import('#market/listings/set-listing-status.ts')
  const { updateListing } = await import('#market/listings/update-listing.ts')
  const ctx = {
    ...node.ctx,
    listings: node.listings,
    catalogue: node.catalogue,
    viewer: { kind: 'account' as const, accountId, keyId: 0, plan: 'plus' as const },
  }
  const done = what === 'edit' ? call(updateListing, ctx, { id, description: `Edit ${id}` }) : call(setListingStatus, ctx, { id, action: what })
  await done.catch(() => {})
}
