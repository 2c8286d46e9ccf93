// Vacations: listings hidden exactly at the start on every node, periods and highlights paused, sales rejected, and everything restored afterwards.
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { addCredits } from '#accounts/add-credits.ts'
import { call } from '#core/verb.ts'
import { expireListings } from '#market/listings/expire-listings.ts'
import { ListingSnapshot } from '#market/snapshot/listings.ts'
import { type Vacation, withoutVacation, withVacation } from '#market/records/vacation.ts'
import { ask } from '../graphql/client.ts'
import { startTestNode, type TestNode, until } from '../support/node.ts'
import { runs } from '../support/runs.ts'
import { DAY_MS, found, inStatus, makeCatalogue, operator, orderId, pending, plus, published } from './kit.ts'

const HOUR_MS = DAY_MS / 24

let node: TestNode
let other: TestNode
let item: number
let seller: number

beforeAll(async () => {
  node = await startTestNode()
  other = await startTestNode({ databaseUrl: node.databaseUrl })
  item = (await makeCatalogue(node)).items.char!
  seller = node.accounts.plus
  // Times are asserted to the second on both nodes, so they must not depend on the duration of requests.
  const nowMs = Date.now()
  for (const one of [node, other]) one.clock.stop(nowMs)
})

afterEach(async () => {
  await plus(node, 'DELETE', '/vacation')
  await other.ctx.caughtUp()
})

afterAll(async () => {
  await other.close()
  await node.close()
})

interface Answer {
  from: string
  to: string
}

const later = (ms: number) => new Date(Math.ceil(node.clock.now().getTime() / 1_000) * 1_000 + ms)
const set = (body: { from?: Date; to: Date }) =>
  plus<Answer>(node, 'PUT', '/vacation', { ...(body.from && { from: body.from.toISOString() }), to: body.to.toISOString() })
/** Sets a vacation that must be accepted. */
const away = async (from: Date | undefined, to: Date) => {
  const reply = await set({ ...(from && { from }), to })
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
}
const advance = (ms: number) => {
  node.clock.advance(ms)
  other.clock.advance(ms)
}
const advanceTo = (moment: Date) => advance(moment.getTime() - node.clock.now().getTime())
const stored = async (id: number) => (await operator(node, 'GET', `/listings/${id}`)).body.data
const endOf = async (id: number) => Date.parse((await stored(id)).expires_at!)
/** Ids of the listings that another account finds. */
const foundOn = async (on: TestNode, query: string) =>
  (await plus<{ id: number }[]>(on, 'GET', `/listings${query}`, undefined, { key: node.keys.enterprise })).body.data.map(({ id }) => id)
const sell = (id: number, soldAt?: Date) =>
  operator(other, 'POST', '/orders', {
    order_id: orderId(),
    ...(soldAt && { sold_at: soldAt.toISOString() }),
    lines: [{ listing_id: id, quantity: 1 }],
  })
/** The listings of a node that starts now. */
const loaded = async () => {
  const listings = new ListingSnapshot({ db: node.db, catalogue: node.catalogue, now: node.clock.now, timeZone: 'UTC', readyBytesMb: 64 })
  await listings.load()
  return listings
}

test('listings are hidden and shown at the exact times, on every node and on one that starts, without a write in between', async () => {
  const title = 'Away by the moment'
  const ids = [(await published(node, item, { title })).id, (await published(node, item, { title, price: 50 })).id]
  const ofOther = await published(node, item, { title, seller_id: node.accounts.enterprise })
  const all = await found(node, '?search=moment')
  const [from, to] = [later(HOUR_MS), later(3 * HOUR_MS)]
  await away(from, to)
  const early = await loaded()
  await other.ctx.caughtUp()
  const shown = async () => [
    await foundOn(node, '?search=moment'),
    await foundOn(other, '?search=moment'),
    await foundOn(node, '?search=moment&sort=price_low').then((found) => found.toSorted((a, b) => all.indexOf(a) - all.indexOf(b))),
    all.filter((id) => early.isPublished(id)),
  ]
  advanceTo(new Date(from.getTime() - 2_000))
  expect(await shown()).toEqual(Array(4).fill(all))

  advanceTo(from)
  expect(await shown()).toEqual(Array(4).fill([ofOther.id]))
  expect((await plus(node, 'GET', `/listings/${ids[0]}`, undefined, { key: node.keys.enterprise })).status).toBe(404)
  expect((await plus(node, 'GET', `/listings/${ids[0]}`)).body.data).toMatchObject({ id: ids[0], status: 'active' })
  const within = await loaded()
  expect(within.isPublished(ids[0]!)).toBe(false)

  // Changes during the vacation are shown afterwards.
  await plus(node, 'PATCH', `/listings/${ids[0]}/price`, { price: 77 })
  await operator(node, 'PATCH', `/listings/${ids[1]}`, { title: `${title}, corrected` })
  const approved = await published(node, item, { title })
  const gone = await published(node, item, { title })
  await plus(node, 'DELETE', `/listings/${gone.id}`)
  await other.ctx.caughtUp()
  expect(await foundOn(node, '?search=moment')).toEqual([ofOther.id])
  advanceTo(new Date(to.getTime() - 2_000))
  expect(await foundOn(other, '?search=moment')).toEqual([ofOther.id])

  advanceTo(to)
  const again = [approved.id, ...all]
  expect([await foundOn(node, '?search=moment'), await foundOn(other, '?search=moment')]).toEqual([again, again])
  expect(again.filter((id) => within.isPublished(id))).toEqual(all)
  const prices = await plus<{ price: number }[]>(node, 'GET', '/listings?search=moment&min_price=77&max_price=77')
  expect(prices.body.data).toHaveLength(1)
  expect(await foundOn(node, '?search=moment%20corrected')).toEqual([ids[1]])
})

test('periods and highlights are paused: by vacations set ahead, extended, shortened, ended early, and cancelled', async () => {
  await call(addCredits, node.ctx, { id: seller, amount: 2 })
  const { id } = await published(node, item)
  const paused = await inStatus(node, 'paused', item)
  await plus(node, 'POST', '/make-highlight', { id })
  const [end, highlighted] = [await endOf(id), Date.parse((await stored(id)).highlighted_until!)]
  const ends = async () => [(await endOf(id)) - end, Date.parse((await stored(id)).highlighted_until!) - highlighted]

  const [from, to] = [later(DAY_MS), later(3 * DAY_MS)]
  await away(from, to)
  expect(await ends()).toEqual([2 * DAY_MS, 2 * DAY_MS])
  expect(await endOf(paused.id)).toBe(Date.parse(paused.expires_at!) + 2 * DAY_MS)
  await away(from, new Date(to.getTime() + 2 * DAY_MS))
  expect(await ends()).toEqual([4 * DAY_MS, 4 * DAY_MS])
  expect((await plus(node, 'DELETE', '/vacation')).status).toBe(200)
  expect(await ends()).toEqual([0, 0])
  // The vacation starts after the highlight ends: only the period is paused.
  await away(later(20 * DAY_MS), later(22 * DAY_MS))
  expect(await ends()).toEqual([2 * DAY_MS, 0])
  await away(later(40 * DAY_MS), later(42 * DAY_MS))
  expect(await ends()).toEqual([0, 0])

  await away(from, to)
  advanceTo(new Date(from.getTime() + DAY_MS))
  await plus(node, 'DELETE', '/vacation')
  const [moved, movedHighlight] = await ends()
  // One day was spent on vacation, plus the time that this test takes.
  expect(moved).toBe(movedHighlight)
  expect(moved).toBeGreaterThanOrEqual(DAY_MS)
  expect(moved).toBeLessThan(DAY_MS + 3_600_000)
  expect((await stored(id)).status).toBe('active')
  expect((await plus(node, 'GET', '/vacation')).body.data).toBeNull()
})

test('nothing expires meanwhile; listings approved meanwhile start their period afterwards, and those that expired before stay expired', async () => {
  const last = await published(node, item, {}, later(HOUR_MS))
  const over = await published(node, item, {}, later(60_000))
  const [from, to] = [later(30 * 60_000), later(10 * DAY_MS)]
  await away(from, to)
  advanceTo(new Date(from.getTime() + DAY_MS))
  await expireListings(node.ctx)
  await until('the sweep', async () => (await stored(over.id)).status === 'expired')
  expect((await stored(last.id)).status).toBe('active')
  const { id } = await published(node, item)
  expect(await endOf(id)).toBe(to.getTime() + node.config.listingPeriodDays * DAY_MS)
  const dated = await published(node, item, {}, later(2 * DAY_MS))
  expect(await endOf(dated.id)).toBeGreaterThan(to.getTime() + 2 * DAY_MS - 60_000)
  advanceTo(to)
  expect((await stored(last.id)).status).toBe('active')
  advance(30 * 60_000)
  expect((await stored(last.id)).status).toBe('expired')
  expect((await stored(id)).status).toBe('active')
})

test('sales and highlights are rejected meanwhile; an earlier sale is recorded', async () => {
  await call(addCredits, node.ctx, { id: seller, amount: 1 })
  const { id } = await published(node, item, { quantity: 5 })
  const before = node.clock.now()
  advance(60_000)
  await away(undefined, later(DAY_MS))
  advance(60_000)
  expect(await sell(id)).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT', rule: 'seller_on_vacation', params: { id } } } })
  expect((await sell(id, before)).status).toBe(201)
  expect(await plus(node, 'POST', '/make-highlight', { id })).toMatchObject({
    status: 422,
    body: { error: { code: 'PLUS_LISTING_ERROR', rule: 'on_vacation' } },
  })
  const { highlight_credits: credits } = (await operator<{ highlight_credits: number }>(node, 'GET', `/accounts/${seller}`)).body.data
  await plus(node, 'DELETE', '/vacation')
  expect((await sell(id)).status).toBe(201)
  expect((await plus<{ remaining_highlight_credits: number }>(node, 'POST', '/make-highlight', { id })).body.data.remaining_highlight_credits).toBe(
    credits - 1,
  )
})

test('a suspended seller on vacation stays hidden when either ends first', async () => {
  const { id } = await published(node, item, { title: 'Twice hidden' })
  const suspended = (value: boolean) => operator(node, 'PATCH', `/accounts/${seller}`, { suspended: value })
  const twice = () => foundOn(node, '?search=twice')
  const to = later(HOUR_MS)
  await away(undefined, to)
  await suspended(true)
  await suspended(false)
  expect(await twice()).toEqual([])
  await suspended(true)
  advanceTo(to)
  expect(await twice()).toEqual([])
  await suspended(false)
  expect(await twice()).toEqual([id])
})

test('over REST and GraphQL: read, set, changed, ended, each with the same response and audited', async () => {
  const [from, to] = [later(DAY_MS), later(2 * DAY_MS)]
  const saved = await set({ from, to })
  expect(saved.status).toBe(200)
  expect([Date.parse(saved.body.data.from), Date.parse(saved.body.data.to)]).toEqual([from.getTime(), to.getTime()])
  // A response that was read can be sent back unchanged.
  expect((await plus(node, 'PUT', '/vacation', saved.body.data)).body.data).toEqual(saved.body.data)
  expect((await ask<{ vacation: Answer }>(node, '{ vacation { from to } }', { plan: 'plus' })).data.vacation).toEqual(saved.body.data)
  const changed = await ask<{ setVacation: Answer }>(
    node,
    `mutation { setVacation(from: "${from.toISOString()}", to: "${later(3 * DAY_MS).toISOString()}") { from to } }`,
    { plan: 'plus' },
  )
  expect(changed.data.setVacation.from).toBe(saved.body.data.from)
  expect((await plus<Answer>(node, 'GET', '/vacation')).body.data).toEqual(changed.data.setVacation)
  const ended = await ask<{ endVacation: { success: boolean } }>(node, 'mutation { endVacation { success message } }', { plan: 'plus' })
  expect(ended.data.endVacation).toEqual({ success: true, message: 'Vacation ended' })
  expect((await ask<{ vacation: null }>(node, '{ vacation { to } }', { plan: 'plus' })).data.vacation).toBeNull()
  const { body } = await operator<{ action: string; actor: string }[]>(node, 'GET', `/audit?subject_type=account&subject_id=${seller}&per_page=3`)
  expect(body.data.slice(0, 3).map(({ action, actor }) => [action, actor])).toEqual(
    ['vacation.end', 'vacation.set', 'vacation.set'].map((action) => [action, `account:${seller}`]),
  )
})

describe('rejected', () => {
  const refusalOf = async (body: object) => {
    const { status, body: answer } = await plus(node, 'PUT', '/vacation', body)
    return [status, answer.error?.code, ...(answer.error?.details ?? []).map(({ field, rule }) => `${field} ${rule}`)]
  }
  const at = (days: number) => later(days * DAY_MS).toISOString()

  test.each<[string, () => object, string]>([
    ['no end', () => ({ from: at(1) }), 'to required'],
    ['an end that has passed', () => ({ to: at(-1) }), 'to in_future'],
    ['an end before the start', () => ({ from: at(2), to: at(1) }), 'from before'],
    ['no time between', () => ({ from: at(2), to: at(2) }), 'from before'],
    ['more than 90 days', () => ({ from: at(2), to: at(92.01) }), 'to days_after'],
    ['a start a year ahead', () => ({ from: at(366), to: at(367) }), 'from days_ahead'],
    ['a start that has passed', () => ({ from: at(-1), to: at(2) }), 'from not_in_past'],
    ['a time without an offset', () => ({ to: '2030-01-01T00:00:00' }), 'to time'],
    ['an unknown field', () => ({ to: at(1), until: at(2) }), 'until unknown_field'],
  ])('%s', async (_what, body, refusal) => {
    expect(await refusalOf(body())).toEqual([422, 'VALIDATION_ERROR', refusal])
    expect((await plus(node, 'GET', '/vacation')).body.data).toBeNull()
  })

  test('a start slightly in the past means now, and that of a running vacation stays', async () => {
    const reply = await plus<Answer>(node, 'PUT', '/vacation', { from: later(-60_000).toISOString(), to: at(1) })
    expect(Date.parse(reply.body.data.from)).toBeGreaterThan(later(-30_000).getTime())
    advance(HOUR_MS)
    const again = await plus<Answer>(node, 'PUT', '/vacation', { from: reply.body.data.from, to: at(2) })
    expect(again.body.data.from).toBe(reply.body.data.from)
    expect((await plus<Answer>(node, 'PUT', '/vacation', { to: at(3) })).body.data.from).toBe(reply.body.data.from)
  })
})

test('with concurrent vacations, approvals, sales and highlights on two nodes, none fails, and every period has the correct length', {
  tags: 'slow',
}, async () => {
  await call(addCredits, node.ctx, { id: seller, amount: 100 })
  const listings = await Promise.all(Array.from({ length: 6 }, () => published(node, item, { quantity: 1_000 })))
  const waiting = await Promise.all(Array.from({ length: 24 }, () => pending(node, item)))
  const nodes = [node, other]
  const own = { key: node.keys.plus }
  const [from, to] = [later(DAY_MS), later(3 * DAY_MS)]
  for (let round = 0; round < 4; round += 1) {
    const replies = await Promise.all([
      ...waiting
        .slice(round * 6, round * 6 + 6)
        .map(({ id }, i) => operator(nodes[i % 2]!, 'POST', `/listings/${id}/approve`, { expires_at: later(20 * DAY_MS).toISOString() })),
      ...listings.map(({ id }, i) => plus(nodes[i % 2]!, 'POST', '/make-highlight', { id }, own)),
      ...listings.map(({ id }) => sell(id)),
      ...nodes.map((on) => plus(on, 'PUT', '/vacation', { from: from.toISOString(), to: to.toISOString() }, own)),
      ...(round % 2 ? [plus(other, 'DELETE', '/vacation', undefined, own)] : []),
    ])
    expect(replies.filter(({ status }) => status >= 300).map(({ body }) => body)).toEqual([])
  }
  await away(from, to)
  for (const { id } of waiting) expect(Math.abs((await endOf(id)) - later(22 * DAY_MS).getTime())).toBeLessThan(3_600_000)
})

describe('the rule', () => {
  const T0 = Date.UTC(2027, 0, 1)
  const span = fc.tuple(fc.nat(1_000), fc.integer({ min: 1, max: 1_000 })).map(([from, length]) => ({ from, to: from + length }))
  const step = fc.record({ after: fc.nat(400), vacation: fc.option(span, { nil: null }) })
  const at = (n: number) => new Date(T0 + n)

  test('for any sequence of changes, the period equals the time shown', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_000 }), fc.array(step, { maxLength: 12 }), (period, steps) => {
        let [now, vacation, end] = [0, null as { from: number; to: number } | null, period]
        let shown = 0
        const asVacation = (one: typeof vacation): Vacation | null => one && { from: at(one.from), to: at(one.to) }
        const visible = (moment: number) => moment < end && !(vacation && vacation.from <= moment && moment < vacation.to)
        for (const { after, vacation: next } of steps) {
          for (let moment = now; moment < now + after; moment += 1) if (visible(moment)) shown += 1
          now += after
          const set = next && { from: now + next.from, to: now + next.to }
          if (end > now) end = withVacation(withoutVacation(at(end), asVacation(vacation), at(now)), asVacation(set), at(now)).getTime() - T0
          vacation = set
        }
        for (let moment = now; moment < end; moment += 1) if (visible(moment)) shown += 1
        expect(shown).toBe(period)
      }),
      { numRuns: runs(300) },
    )
  })
})

describe('a sequence of vacations, approvals and edits', () => {
  const STEPS = ['vacation', 'extend', 'end', 'approve', 'edit', 'reprice', 'pass', 'pass'] as const
  const steps = fc.array(fc.record({ what: fc.constantFrom(...STEPS), n: fc.nat(1_000) }), { minLength: 5, maxLength: 12 })

  test('is found exactly outside of the vacation, and expires exactly when its period is used up', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (story) => {
        await plus(node, 'DELETE', '/vacation')
        const { id } = await published(node, item, { title: 'Story' })
        const model = { status: 'active', left: node.config.listingPeriodDays * DAY_MS, at: node.clock.now().getTime() }
        let vacation: { from: number; to: number } | null = null
        /** Advances the model's time to now. */
        const pass = () => {
          const now = node.clock.now().getTime()
          const away = vacation ? Math.max(0, Math.min(now, vacation.to) - Math.max(model.at, vacation.from)) : 0
          if (model.status === 'active') model.left -= now - model.at - away
          if (model.left <= 0 && model.status === 'active') model.status = 'expired'
          model.at = now
        }
        for (const { what, n } of story) {
          const from = what === 'vacation' && n % 3 ? later((n % 40) * DAY_MS + DAY_MS) : undefined
          if (what === 'vacation') await away(from, later(((n % 40) + 2 + (n % 7)) * DAY_MS))
          if (what === 'extend' && vacation && vacation.from <= node.clock.now().getTime()) await away(undefined, later((n % 20) * DAY_MS + HOUR_MS))
          if (what === 'end') await plus(node, 'DELETE', '/vacation')
          if (what === 'approve') await operator(node, 'POST', `/listings/${id}/approve`, {})
          if (what === 'edit') await plus(node, 'PATCH', `/listings/${id}`, { title: `Story ${n}` })
          if (what === 'reprice') await plus(node, 'PATCH', `/listings/${id}/price`, { price: 50 + n })
          if (what === 'pass') advance((n % 15) * DAY_MS + HOUR_MS)
          pass()
          const told = (await plus<Answer | null>(node, 'GET', '/vacation')).body.data
          vacation = told && { from: Math.max(Date.parse(told.from), 0), to: Date.parse(told.to) }
          if (what === 'edit') model.status = 'pending'
          if (what === 'approve' && model.status === 'pending')
            Object.assign(model, { status: 'active', left: node.config.listingPeriodDays * DAY_MS })
          const now = node.clock.now().getTime()
          const isAway = vacation !== null && vacation.from <= now && now < vacation.to
          const status = (await stored(id)).status
          expect([status, await found(node, '?search=story')], JSON.stringify({ what, n })).toEqual([
            model.status,
            model.status === 'active' && !isAway ? [id] : [],
          ])
        }
        await plus(node, 'DELETE', `/listings/${id}`)
      }),
      { numRuns: runs(10) },
    )
  })
})
