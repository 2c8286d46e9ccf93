// Approval rules over the operator API: shadow and on, versions, backtests that use only past facts, the condition for switching on, reopening.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '#core/verb.ts'
import type { Backtest } from '#market/approval/backtest.ts'
import type { StoredDecision } from '#market/approval/decisions.ts'
import { judgeWaiting } from '#market/approval/judge.ts'
import type { ListingReview } from '#market/approval/review.ts'
import type { ApprovalRule, RuleLogEntry } from '#market/approval/rule-store.ts'
import type { Reopened } from '#market/approval/reopen-rule-decisions.ts'
import type { StoredListing } from '#market/marketplace-types.ts'
import { setRates } from '#prices/rates/set-rates.ts'
import { startTestNode, type TestNode, until } from '../support/node.ts'
import { DAY_MS, found, makeCatalogue, operator, orderId, pending, plus, published } from './kit.ts'

let node: TestNode
let items: Record<string, number>

beforeAll(async () => {
  node = await startTestNode({ worker: true })
  ;({ items } = await makeCatalogue(node))
  await call(setRates, node.ctx, { rates: [{ currency: 'USD', day: '2026-01-01', rate: 10 }] })
})

afterAll(() => node.close())

const add = (conditions: object, fields: object = {}) =>
  operator<ApprovalRule>(node, 'POST', '/approval-rules', { name: 'Rule', conditions, ...fields })
const rule = async (conditions: object, fields: object = {}) => (await add(conditions, fields)).body.data
const change = (id: number, fields: object) => operator<ApprovalRule>(node, 'PATCH', `/approval-rules/${id}`, fields)
const backtest = async (id: number, fields: object = {}) =>
  (await operator<Backtest>(node, 'POST', `/approval-rules/${id}/backtest`, fields)).body.data
const log = async (id: number, query = '') =>
  (await operator<RuleLogEntry[]>(node, 'GET', `/approval-rules/${id}/log?per_page=100${query}`)).body.data
const stored = async (id: number) => (await operator(node, 'GET', `/listings/${id}`)).body.data
const review = async (id: number) => (await operator<ListingReview>(node, 'GET', `/listings/${id}/review`)).body.data
const decide = (id: number, how: 'approve' | 'reject' | 'request-change') =>
  operator(node, 'POST', `/listings/${id}/${how}`, how === 'approve' ? {} : how === 'reject' ? { reason: 'no' } : { note: 'no' })
const seller = async () => (await operator<{ id: number }>(node, 'POST', '/accounts', { name: 'Seller', plan: 'plus' })).body.data.id
/** A rule that is on; the test arranges that it passes its backtest. */
async function ruleOn(conditions: object): Promise<ApprovalRule> {
  const { id } = await published(node, items.pika!, { seller_id: await seller() })
  expect(id).toBeGreaterThan(0)
  const created = await rule(conditions, { min_decisions: 1, max_rejected_percent: 100 })
  const { status, body } = await change(created.id, { mode: 'on' })
  expect(status, JSON.stringify(body)).toBe(200)
  return body.data
}

test('invalid conditions are rejected by name', async () => {
  const refused = async (body: object) => {
    const { status, body: answer } = await operator(node, 'POST', '/approval-rules', body)
    return [status, answer.error?.details?.map(({ field }) => field)]
  }
  expect(await refused({ name: 'x', conditions: {} })).toEqual([422, ['conditions']])
  expect(await refused({ name: ' ', conditions: { seller_sales: {} } })).toEqual([422, ['name', 'conditions.seller_sales']])
  expect(await refused({ name: 'x', conditions: { price_ratio: { min: 2, max: 1 } } })).toEqual([422, ['conditions.price_ratio.min']])
  expect(await refused({ name: 'x', conditions: { colour: { min: 1 } } })).toEqual([422, ['conditions.colour']])
  expect(await refused({ name: 'x', conditions: { changed_fields: ['price'] } })).toEqual([422, ['conditions.changed_fields.0']])
  expect(await refused({ name: 'x', mode: 'maybe', conditions: { seller_sales: { min: 1 } } })).toEqual([422, ['mode']])
  expect((await change(999_999, { mode: 'off' })).status).toBe(404)
  expect((await operator(node, 'POST', '/approval-rules/999999/backtest', {})).status).toBe(404)
  const { id } = await rule({ seller_sales: { min: 1 } })
  expect((await change(id, {})).status).toBe(422)
  expect((await operator(node, 'POST', `/approval-rules/${id}/backtest`, { days: 0 })).status).toBe(422)
})

test('changed conditions create a new version, other changes do not', async () => {
  const { id, version, mode } = await rule({ price_ratio: { min: 0.5, max: 1.5 } })
  expect([version, mode]).toEqual([1, 'off'])
  expect((await change(id, { name: 'Other', conditions: { price_ratio: { max: 1.5, min: 0.5 } } })).body.data).toMatchObject({
    version: 1,
    name: 'Other',
  })
  expect((await change(id, { conditions: { price_ratio: { max: 1.4 } } })).body.data).toMatchObject({ version: 2 })
  const versions = await node.db.kysely
    .selectFrom('approval_rule_versions')
    .select(['version', 'conditions', 'author'])
    .where('rule_id', '=', id)
    .orderBy('version')
    .execute()
  expect(versions).toEqual([
    { version: 1, conditions: { price_ratio: { min: 0.5, max: 1.5 } }, author: 'operator:bootstrap' },
    { version: 2, conditions: { price_ratio: { max: 1.4 } }, author: 'operator:bootstrap' },
  ])
  const audit = await operator<{ action: string }[]>(node, 'GET', `/audit?subject_type=approval-rule&subject_id=${id}`)
  expect(audit.body.data.map(({ action }) => action)).toEqual(['approval-rule.update', 'approval-rule.update', 'approval-rule.create'])
})

test('a rule can be switched on only if it passes: enough decisions, and few rejected by people', async () => {
  const seller_id = await seller()
  for (let n = 0; n < 4; n++) await published(node, items.char!, { seller_id, price: 1_111 })
  const { id: bad } = await pending(node, items.char!, { seller_id, price: 1_111 })
  const only = { price_ratio: { min: 0.65, max: 0.67 } }
  const { id } = await rule(only, { min_decisions: 5 })
  expect(await backtest(id)).toMatchObject({
    days: 90,
    decisions: expect.any(Number),
    would_approve: 4,
    people_rejected: 0,
    listings: [],
    passed: false,
  })
  expect((await change(id, { mode: 'on' })).body.error).toMatchObject({ code: 'CONFLICT', rule: 'backtest_failed', params: { approve: 4, min: 5 } })
  await decide(bad, 'request-change')
  expect(await backtest(id)).toMatchObject({ would_approve: 5, people_rejected: 1, listings: [bad], passed: false })
  expect((await change(id, { mode: 'on', max_rejected_percent: 19 })).status).toBe(409)
  expect((await add(only, { mode: 'on', min_decisions: 5, max_rejected_percent: 19 })).status).toBe(409)
  expect((await change(id, { mode: 'on', max_rejected_percent: 20 })).body.data).toMatchObject({ mode: 'on', max_rejected_percent: 20 })
  expect((await change(id, { conditions: { price_ratio: { min: 99 } } })).status, 'a rule that is on must pass with its new conditions').toBe(409)
  expect((await change(id, { mode: 'off' })).body.data).toMatchObject({ mode: 'off', version: 1 })
})

test('a rule that is on approves new listings, and the audit log has its version; in shadow mode it only logs', async () => {
  const seller_id = await seller()
  const shadow = await rule({ seller_rejected: { max: 0 } }, { mode: 'shadow' })
  const { id: ruleId, version } = await ruleOn({ seller_approved: { min: 1 }, seller_rejected: { max: 0 }, price_ratio: { max: 1.5 } })
  await published(node, items.pika!, { seller_id })
  const { id } = await pending(node, items.char!, { seller_id, price: 2_000 })
  await until('the rule publishes it', async () => (await found(node)).includes(id))
  const audit = await operator<{ action: string; actor: string; after: object }[]>(node, 'GET', `/audit?subject_type=listing&subject_id=${id}`)
  expect(audit.body.data[0]).toMatchObject({
    action: 'listing.approve',
    actor: `rule:${ruleId}`,
    after: { status: 'active', rule: { id: ruleId, version } },
  })
  const decisions = await operator<StoredDecision[]>(node, 'GET', `/listing-decisions?listing_id=${id}`)
  expect(decisions.body.data).toMatchObject([{ decision: 'approve', decided_by: `rule:${ruleId}`, rule: { id: ruleId, version } }])
  expect((await log(shadow.id)).find((entry) => entry.listing_id === id)).toMatchObject({
    mode: 'shadow',
    approves: true,
    decided_by: `rule:${ruleId}`,
  })
  const { id: dear } = await pending(node, items.char!, { seller_id, price: 20_000 })
  const { id: unpriced } = await pending(node, items.luffy!, { seller_id })
  await until('both are judged', async () => (await log(ruleId)).filter((entry) => [dear, unpriced].includes(entry.listing_id)).length === 2)
  expect((await log(ruleId, '&approves=0')).map((entry) => entry.listing_id)).toEqual(expect.arrayContaining([dear, unpriced]))
  expect([(await stored(dear)).status, (await stored(unpriced)).status]).toEqual(['pending', 'pending'])
  for (const one of [ruleId, shadow.id]) await change(one, { mode: 'off' })
})

test('an edit is evaluated by the changed fields only', { tags: 'slow' }, async () => {
  const { id: ruleId } = await ruleOn({ changed_fields: ['description'] }).catch(() => ({ id: 0 }))
  expect(ruleId, 'nothing that was never approved matches, so that the rule cannot pass').toBe(0)
  const { id } = await published(node, items.char!)
  await plus(node, 'PATCH', `/listings/${id}`, { description: 'Mint, really' })
  await decide(id, 'approve')
  const { id: on } = await ruleOn({ changed_fields: ['description'] })
  await plus(node, 'PATCH', `/listings/${id}`, { description: 'Near Mint' })
  await until('the rule approves the new description', async () => (await stored(id)).status === 'active')
  await plus(node, 'PATCH', `/listings/${id}`, { description: 'Other', title: 'Another card' })
  await until('the edit is judged', async () => (await log(on)).some((entry) => !entry.approves && entry.listing_id === id))
  expect((await stored(id)).status).toBe('pending')
  await change(on, { mode: 'off' })
})

test('a listing that a person undoes or reopens is not approved by the rule again', async () => {
  const seller_id = await seller()
  await published(node, items.pika!, { seller_id })
  const { id: ruleId } = await ruleOn({ seller_approved: { min: 1 }, price_ratio: { max: 1 } })
  const submitted: StoredListing[] = []
  for (let n = 0; n < 4; n++) submitted.push(await pending(node, items.char!, { seller_id, price: 500 + n }))
  const [undone, taken, sold, reopened] = submitted.map(({ id }) => id) as [number, number, number, number]
  await until('all are approved', async () => (await Promise.all(submitted.map(({ id }) => stored(id)))).every(({ status }) => status === 'active'))
  expect((await operator(node, 'POST', `/listings/${undone}/undo-decision`)).status).toBe(200)
  await decide(taken, 'reject')
  await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: sold, quantity: 1 }] })
  node.clock.advance(DAY_MS)
  const result = await operator<Reopened>(node, 'POST', `/approval-rules/${ruleId}/reopen`, {})
  expect(result.body).toMatchObject({ message: 'Listings reopened', data: { reopened: 1, kept: { decided_since: 1, listing_sold: 1 } } })
  await judgeWaiting(node.ctx)
  expect((await Promise.all([undone, taken, sold, reopened].map(stored))).map(({ status }) => status)).toEqual([
    'pending',
    'rejected',
    'sold',
    'pending',
  ])
  expect(await stored(reopened)).toMatchObject({ approved_at: null, approved_price: null, changed_since_approval: null })
  expect(await found(node)).not.toContain(reopened)
  expect((await operator<Reopened>(node, 'POST', `/approval-rules/${ruleId}/reopen`, { version: 2 })).body.data).toEqual({ reopened: 0, kept: {} })
  await change(ruleId, { mode: 'off' })
})

test('a backtest uses no later data', async () => {
  const seller_id = await seller()
  const listings: number[] = []
  for (const price of [800, 1_600, 3_200]) listings.push((await pending(node, items.char!, { seller_id, price })).id)
  await judgeWaiting(node.ctx)
  for (const [n, id] of listings.entries()) await decide(id, n === 1 ? 'reject' : 'approve')
  const then = await review(listings[1]!)
  const { id } = await rule({
    price_ratio: { min: 0.4, max: 1 },
    seller_sales: { max: 0 },
    seller_rejected: { max: 0 },
    seller_age_days: { max: then.seller.account_age_days },
  })
  const before = await backtest(id)
  expect(before).toMatchObject({ would_approve: expect.any(Number), listings: expect.arrayContaining([listings[1]]) })
  // Prices, rates, sales, rejections, days and the listings themselves: everything has changed.
  await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: listings[0], quantity: 1 }] })
  const { id: other } = await pending(node, items.luffy!, { seller_id })
  await decide(other, 'reject')
  await plus(node, 'PATCH', `/listings/${listings[2]}/price`, { price: 9_999_999 })
  const now = node.clock.now().toISOString()
  await operator(node, 'POST', '/prices', [{ item_id: items.char, market: 'source_c', label: 'Near Mint', price: 1, updated_at: now }])
  await call(setRates, node.ctx, { rates: [{ currency: 'USD', day: now.slice(0, 10), rate: 1_000 }] })
  node.clock.advance(2 * DAY_MS)
  expect(await backtest(id)).toEqual({ ...before, decisions: before.decisions + 1 })
  // With current data, no condition of the rule holds any more: a backtest that used it would fail here.
  const { seller: record, price_ratio: ratio } = await review(listings[1]!)
  expect([record.sales, record.rejected, record.account_age_days]).toEqual([1, 2, then.seller.account_age_days + 2])
  // The new price of source_c and that of source_a contradict each other, and our own has one buyer.
  expect(ratio).toBe(null)
  node.clock.advance(88 * DAY_MS)
  expect(await backtest(id, { days: 89 })).toMatchObject({ days: 89, would_approve: 0, since: null })
})

test('a backtest agrees with the shadow log of the same days', { tags: 'slow' }, async () => {
  node.clock.advance(100 * DAY_MS)
  const rules = [
    await rule({ price_ratio: { min: 0.5, max: 1.2 } }, { mode: 'shadow' }),
    await rule({ seller_approved: { min: 2 }, seller_rejected: { max: 1 } }, { mode: 'shadow' }),
    await rule({ changed_fields: ['title', 'description'], seller_sales: { min: 1 } }, { mode: 'shadow' }),
  ]
  const sellers = [node.accounts.plus, await seller(), await seller()]
  let seed = 20
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  const all: number[] = []
  for (let n = 0; n < 60; n++) {
    const { id } = await pending(node, [items.char!, items.luffy!][random(2)]!, { seller_id: sellers[random(3)], price: 500 + random(300_000) })
    all.push(id)
    if (random(3) > 0) await judgeWaiting(node.ctx)
    if (random(6) > 0) await decide(id, (['approve', 'approve', 'reject', 'request-change'] as const)[random(4)]!)
    if (random(4) === 0) {
      const [last] = (await operator<StoredDecision[]>(node, 'GET', '/listing-decisions?undoable=1&per_page=1')).body.data
      if (last) await operator(node, 'POST', `/listings/${last.listing_id}/undo-decision`)
    }
    const earlier = await stored(all[random(all.length)]!)
    if (earlier.status === 'active' && random(2) === 0)
      await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: earlier.id, quantity: 1 }] })
    else if (earlier.seller_id === node.accounts.plus && earlier.status !== 'sold')
      await plus(node, 'PATCH', `/listings/${earlier.id}`, random(2) === 0 ? { description: `Text ${n}` } : { offers_enabled: n % 2 === 0 })
    node.clock.advance((random(10) * DAY_MS) / 10)
  }
  let approves = 0
  for (const { id } of rules) {
    const result = await backtest(id, { days: 80 })
    const entries = (await operator<RuleLogEntry[]>(node, 'GET', `/approval-rules/${id}/log?per_page=100&approves=1`)).body.data.filter(
      ({ decision }) => decision !== null,
    )
    const rejected = entries.filter(({ decision }) => decision !== 'approve').map((entry) => entry.listing_id)
    expect([result.would_approve, result.people_rejected, result.listings.toSorted((a, b) => a - b)]).toEqual([
      entries.length,
      rejected.length,
      [...new Set(rejected)].sort((a, b) => a - b),
    ])
    approves += result.would_approve
  }
  expect(approves).toBeGreaterThan(10)
})

test('listings submitted while no worker ran are evaluated, each once, by several workers at a time', async () => {
  const shadow = await rule({ seller_sales: { min: 0 } }, { mode: 'shadow' })
  const submittedIds: number[] = []
  for (let n = 0; n < 20; n++) submittedIds.push((await pending(node, items.char!)).id)
  await Promise.all(Array.from({ length: 6 }, () => judgeWaiting(node.ctx)))
  let judged: number[] = []
  await until('all are judged', async () => {
    judged = (await log(shadow.id)).map((entry) => entry.listing_id)
    return submittedIds.every((id) => judged.includes(id))
  })
  expect(submittedIds.map((id) => judged.filter((one) => one === id).length)).toEqual(submittedIds.map(() => 1))
})
