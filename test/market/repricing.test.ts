// Repricing rules: the price within the rule's limits, what is compared, simulation before use, runs as jobs with reasons and undo.
import fc from 'fast-check'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Reason, reason } from '#core/problems.ts'
import { up as giveDefaults } from '#db/migrations/20261124_070000_repricing_defaults.ts'
import { comparablePrices } from '#market/records/comparables.ts'
import { type Facts, newPrice } from '#market/repricing/new-price.ts'
import { runDueRules } from '#market/repricing/run-due-rules.ts'
import type { Terms } from '#market/repricing/terms.ts'
import { ROUNDS, walk } from '../../reliability/repricing-walk.ts'
import { ask } from '../graphql/client.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { runs } from '../support/runs.ts'
import { DAY_MS, type Grades, makeCatalogue, operator, orderId, plus, published } from './kit.ts'

const HOUR_MS = DAY_MS / 24

describe('the price by a rule', () => {
  const TERMS: Terms = {
    target: { kind: 'cheapest', amountKurus: -100 },
    floorKurus: 5_000,
    floorPayoutKurus: null,
    ceilingKurus: null,
    maxMovePercent: null,
    minComparables: 1,
  }
  const FACTS = { kurus: 10_000, minOfferKurus: null, commissionPercent: 10, marketKurus: 50_000 }
  type Given = Partial<Omit<Facts, 'inputs'>> & { inputs?: readonly number[] | Reason }
  const priced = (terms: Partial<Terms>, { inputs = [9_000, 12_000], ...facts }: Given = {}) => {
    const targets = 'rule' in inputs ? inputs : inputs.map((kurus) => ({ kurus }))
    const { kurus, limit, why } = newPrice({ ...TERMS, ...terms }, { ...FACTS, ...facts, inputs: targets })
    return [kurus, limit, why.rule]
  }
  const market = (factor: number): Partial<Terms> => ({ target: { kind: 'market', market: 'source_a', factor } })

  test.each<[string, Partial<Terms>, Given, [number, string | null, string]]>([
    ['undercuts the cheapest', {}, {}, [8_900, null, 'price_target']],
    ['stays above the cheapest', { target: { kind: 'cheapest', amountKurus: 250 } }, {}, [9_250, null, 'price_target']],
    ['a market times a factor', market(0.95), { inputs: [10_001] }, [9_501, null, 'price_target']],
    ['half a kuruş is rounded up', market(0.5), { inputs: [10_001, 1] }, [5_001, null, 'price_target']],
    ['the median of sales', { target: { kind: 'median_sales', factor: 1.1 } }, { inputs: [9_000, 30_000, 10_000] }, [11_000, null, 'price_target']],
    ['the floor', {}, { inputs: [4_000] }, [5_000, 'floor', 'price_at_floor']],
    ['a target below nothing', {}, { inputs: [50] }, [5_000, 'floor', 'price_at_floor']],
    ['the floor by payout', { floorKurus: null, floorPayoutKurus: 8_999 }, {}, [9_999, 'floor', 'price_at_floor']],
    ['the higher of two floors', { floorPayoutKurus: 3_000 }, { inputs: [1_000] }, [5_000, 'floor', 'price_at_floor']],
    ['the lowest offer', {}, { minOfferKurus: 9_500 }, [9_500, 'floor', 'price_at_floor']],
    ['the ceiling', { ceilingKurus: 8_000 }, {}, [8_000, 'ceiling', 'price_at_ceiling']],
    ['the largest move down', { maxMovePercent: 5 }, {}, [9_500, 'max_move', 'price_move']],
    ['the largest move up', { maxMovePercent: 5 }, { inputs: [90_000] }, [10_500, 'max_move', 'price_move']],
    ['the floor before the largest move', { maxMovePercent: 5, floorKurus: 20_000 }, {}, [20_000, 'floor', 'price_at_floor']],
    ['the floor before the ceiling', { floorKurus: null, floorPayoutKurus: 9_000, ceilingKurus: 8_000 }, {}, [10_000, 'floor', 'price_at_floor']],
    ['raises to twice the market price', {}, { inputs: [5_242_150] }, [100_000, 'ceiling', 'price_above_market']],
    ['no raise without a market price or a ceiling', {}, { inputs: [5_242_150], marketKurus: null }, [10_000, 'ceiling', 'price_unbounded']],
    [
      'a ceiling in place of the market price',
      { ceilingKurus: 15_000 },
      { inputs: [20_000], marketKurus: null },
      [15_000, 'ceiling', 'price_at_ceiling'],
    ],
    ['the market price never lowers', { maxMovePercent: 20 }, { kurus: 200_000, inputs: [190_000] }, [189_900, null, 'price_target']],
    ['a factor of the market price itself', market(3), { inputs: [50_000] }, [150_000, null, 'price_target']],
    ['a low outlier of three', {}, { inputs: [100, 9_000, 9_500] }, [8_900, null, 'price_target']],
    ['half of the median is not an outlier', {}, { inputs: [5_300, 10_600, 12_000] }, [5_200, null, 'price_target']],
    ['two prices have no outlier', {}, { inputs: [100, 9_000] }, [5_000, 'floor', 'price_at_floor']],
    ['too few to compare with', { minComparables: 3 }, {}, [10_000, null, 'price_few']],
    ['nothing to compare with', {}, { inputs: [] }, [10_000, null, 'price_few']],
    ['no trusted price', market(1), { inputs: reason('price_untrusted', { market: 'source_a' }) }, [10_000, null, 'price_untrusted']],
    ['below the floor without a target', {}, { inputs: [], kurus: 4_000 }, [5_000, 'floor', 'price_below_floor']],
    ['a floor that no price reaches', { floorPayoutKurus: 5_000 }, { commissionPercent: 100 }, [10_000, 'floor', 'price_out_of_range']],
    ['a listing costs at least 1 TL', { floorKurus: null, floorPayoutKurus: 1 }, { inputs: [50] }, [100, 'floor', 'price_at_floor']],
  ])('%s', (_what, terms, facts, expected) => {
    expect(priced(terms, facts)).toEqual(expected)
  })

  test('is never below the floor, for any inputs', () => {
    const kurus = fc.integer({ min: 100, max: 999_999_900 })
    const none = { nil: null }
    const target = fc.oneof(
      fc.record({ kind: fc.constant('cheapest' as const), amountKurus: fc.integer({ min: -999_999_900, max: 999_999_900 }) }),
      fc.record({
        kind: fc.constant('market' as const),
        market: fc.constant('source_a' as const),
        factor: fc.double({ min: 0.01, max: 100, noNaN: true }),
      }),
      fc.record({ kind: fc.constant('median_sales' as const), factor: fc.double({ min: 0.01, max: 100, noNaN: true }) }),
    )
    const terms = fc.record({
      target,
      floorKurus: kurus,
      floorPayoutKurus: fc.option(fc.integer({ min: 100, max: 5_000_000 }), none),
      ceilingKurus: fc.option(kurus, none),
      maxMovePercent: fc.option(fc.integer({ min: 1, max: 100 }), none),
      minComparables: fc.integer({ min: 1, max: 4 }),
    })
    const facts = fc.record({
      kurus,
      minOfferKurus: fc.option(kurus, none),
      commissionPercent: fc.double({ min: 0, max: 50, noNaN: true }),
      marketKurus: fc.option(kurus, none),
      inputs: fc.oneof(
        fc.array(fc.record({ kurus: fc.integer({ min: 1, max: 999_999_999_999 }) }), { maxLength: 6 }),
        fc.constant(reason('price_no_rate', { currency: 'USD' })),
      ),
    })
    fc.assert(
      fc.property(terms, facts, (rule, ofListing) => {
        const { kurus: price } = newPrice(rule, ofListing)
        expect(price).toBeGreaterThanOrEqual(Math.max(rule.floorKurus, ofListing.minOfferKurus ?? 0))
        expect(price).toBeLessThanOrEqual(999_999_900)
        expect(Number.isInteger(price)).toBe(true)
      }),
      { numRuns: runs(2_000) },
    )
  })

  test('one dishonest seller cannot move a price past a limit, nor be followed as an outlier', () => {
    const kurus = fc.integer({ min: 100, max: 999_999_900 })
    const [ours, dishonest] = [1, 2]
    const listings = (sellerId: fc.Arbitrary<number>, bounds: { minLength?: number; maxLength: number }) =>
      fc.array(fc.record({ listingId: fc.nat(), sellerId, kurus, follows: fc.boolean() }), bounds)
    const market = fc.record({
      before: kurus,
      floorKurus: kurus,
      ceilingKurus: fc.option(kurus, { nil: null }),
      marketKurus: fc.option(kurus, { nil: null }),
      maxMovePercent: fc.integer({ min: 1, max: 100 }),
      amountKurus: fc.integer({ min: -10_000, max: 10_000 }),
      theirs: listings(fc.constant(dishonest), { minLength: 1, maxLength: 6 }),
      honest: listings(fc.integer({ min: 3, max: 6 }), { maxLength: 6 }),
    })
    fc.assert(
      fc.property(market, ({ before, amountKurus, marketKurus, theirs, honest, ...limits }) => {
        const [floor, ceiling] = [limits.floorKurus, limits.ceilingKurus ?? Math.max(before, (marketKurus ?? 0) * 2)]
        const terms: Terms = { ...TERMS, ...limits, target: { kind: 'cheapest', amountKurus }, minComparables: 3 }
        const inputs = comparablePrices([...theirs, ...honest], ours)
        const { kurus: price, follows } = newPrice(terms, { ...FACTS, kurus: before, marketKurus, inputs })
        const step = Math.floor((before * limits.maxMovePercent) / 100)
        const nearest = (to: number) => Math.max(floor, Math.min(Math.max(floor, ceiling), to))
        // Only the seller's own floor and ceiling move a price further than a step.
        if (price !== before) {
          expect(price).toBeGreaterThanOrEqual(nearest(before - step))
          expect(price).toBeLessThanOrEqual(nearest(before + step))
        }
        if (!follows) return
        const prices = comparablePrices(honest, ours).map((one) => one.kurus)
        expect(prices.length).toBeGreaterThanOrEqual(2)
        expect(follows.kurus).toBeLessThanOrEqual(Math.max(...prices))
        expect(follows.kurus * 2).toBeGreaterThanOrEqual(Math.min(...prices))
      }),
      { numRuns: runs(2_000) },
    )
  })

  test(`50,000 steps of random markets: never below a floor, and competing rules settle within ${ROUNDS} runs`, () => {
    const { below, unsettled, markets } = walk(50_000, 20261123)
    expect([below, unsettled]).toEqual([[], []])
    expect(markets).toBeGreaterThan(1_000)
  })
})

describe('over REST, GraphQL and hourly', () => {
  let node: TestNode
  let items: Record<string, number>
  let grades: Grades

  beforeAll(async () => {
    // Rules run only when the tests run them, not every minute.
    node = await startTestNode({ worker: false })
    ;({ items, grades } = await makeCatalogue(node))
    await operator(node, 'POST', '/rates', [{ currency: 'USD', day: '2026-01-01', rate: 40 }])
  })

  beforeEach(async () => {
    for (const { id } of (await rules()).body.data) await plus(node, 'DELETE', `/repricing-rules/${id}`)
    for (const { id } of await node.db.kysely.selectFrom('listings').select('id').execute())
      await operator(node, 'POST', `/listings/${id}/reject`, { reason: 'gone' })
  })

  afterAll(() => node.close())

  interface Rule {
    id: number
    name: string
    enabled: boolean
    target: object
    scope: object
    floor: object
    ceiling: number | null
    max_move_percent: number | null
    min_comparables: number
    simulated_at: string | null
    last_run_at: string | null
  }
  interface Simulated {
    listings_total: number
    changed: number
    listings: {
      listing_id: number
      price: number
      new_price: number
      payout: number
      limit: string | null
      follows: { listing_id: number; price: number } | null
      reason: { message: string; rule: string }
    }[]
    days: { day: string; known: number; raised: number; lowered: number; at_floor: number; average_price: number }[]
  }
  interface Run {
    changed: number
    failed: number
    job_id: number | null
    listings_total: number
  }
  interface Job {
    id: number
    rule_id: number | null
    state: string
    rows: {
      listing_id: number
      old_price: number
      new_price: number
      reason: { message: string; rule: string } | null
      outcome: string
      why: object | null
    }[]
  }
  const TARGET = { name: 'Undercut', target: { kind: 'cheapest', amount: -1 }, scope: { kind: 'all' }, floor: { price: 40 } }
  /** without the default limits, which have their own test */
  const UNDERCUT = { ...TARGET, max_move_percent: null, min_comparables: 1 }

  const other = () => ({ key: node.keys.enterprise })
  const rules = (options = {}) => plus<Rule[]>(node, 'GET', '/repricing-rules', undefined, options)
  const create = async (fields: object = {}, options = {}) => {
    const reply = await plus<Rule>(node, 'POST', '/repricing-rules', { ...UNDERCUT, ...fields }, options)
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
    return reply.body.data
  }
  const simulate = async (id: number, body: object = {}, options = {}) =>
    (await plus<Simulated>(node, 'POST', `/repricing-rules/${id}/simulate`, body, options)).body.data
  const run = async (id: number, options = {}) => (await plus<Run>(node, 'POST', `/repricing-rules/${id}/run`, {}, options)).body.data
  const job = async (id: number) => (await plus<Job>(node, 'GET', `/price-jobs/${id}`)).body.data
  const priceOf = async (id: number) => (await operator(node, 'GET', `/listings/${id}`)).body.data.price
  const ours = (price: number, fields: object = {}) => published(node, items.char!, { price, ...fields })
  const theirs = (price: number, fields: object = {}) => published(node, items.char!, { price, seller_id: node.accounts.enterprise, ...fields })
  /** Results of a rule for each listing, by id: the price, the limit and the reason. */
  const said = async (fields: object) => {
    const { id } = await create(fields)
    const { listings } = await simulate(id)
    return new Map(listings.map(({ listing_id, new_price, limit, reason: why }) => [listing_id, [new_price, limit, why.rule]]))
  }

  test('a rule is created disabled, simulated, enabled, changed and deleted', async () => {
    const rule = await create({ name: ' Undercut ' })
    expect(rule).toMatchObject({ name: 'Undercut', enabled: false, ceiling: null, max_move_percent: null, min_comparables: 1, simulated_at: null })
    const patch = (body: object) => plus<Rule>(node, 'PATCH', `/repricing-rules/${rule.id}`, body)
    expect(await patch({ enabled: true })).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT', rule: 'rule_not_simulated' } } })
    expect(await plus(node, 'POST', `/repricing-rules/${rule.id}/run`, {})).toMatchObject({
      status: 409,
      body: { error: { rule: 'rule_not_simulated' } },
    })
    await simulate(rule.id)
    expect((await patch({ enabled: true, name: 'On' })).body.data).toMatchObject({ enabled: true, name: 'On' })
    // The same terms again change nothing; other terms must be simulated.
    expect((await patch({ target: { amount: -1, kind: 'cheapest' }, ceiling: null })).body.data.enabled).toBe(true)
    expect((await patch({ ceiling: 500, enabled: true })).status).toBe(409)
    expect((await patch({ ceiling: 500 })).body.data).toMatchObject({ ceiling: 500, enabled: false, simulated_at: null })
    expect((await rules()).body.data.map(({ id }) => id)).toEqual([rule.id])
    expect((await plus(node, 'DELETE', `/repricing-rules/${rule.id}`)).status).toBe(200)
    expect((await rules()).body.data).toEqual([])
    expect((await plus(node, 'DELETE', `/repricing-rules/${rule.id}`)).status).toBe(404)
  })

  test('the default limits: three sellers, 20 % a run, outliers ignored, and a result names the listing it follows', async () => {
    await ours(103)
    const { id, ...rule } = (await plus<Rule>(node, 'POST', '/repricing-rules', TARGET)).body.data
    expect(rule).toMatchObject({ ceiling: null, max_move_percent: 20, min_comparables: 3 })
    const told = async () => {
      const { new_price, limit, follows, reason: why } = (await simulate(id)).listings[0]!
      return [new_price, limit, follows, why.rule]
    }
    const dear = await theirs(52_421.5)
    await theirs(52_422)
    expect(await told()).toEqual([103, null, null, 'price_few'])
    const low = await published(node, items.char!, { price: 1, seller_id: node.accounts.professional })
    const fair = await published(node, items.char!, { price: 95, seller_id: node.accounts.starter })
    expect(await told()).toEqual([94, null, { listing_id: fair.id, price: 95 }, 'price_target'])
    await operator(node, 'PATCH', `/listings/${low.id}`, { price: 52_423 })
    await operator(node, 'PATCH', `/listings/${fair.id}`, { price: 52_424 })
    expect(await told()).toEqual([123.6, 'max_move', { listing_id: dear.id, price: 52_421.5 }, 'price_move'])
    await plus(node, 'PATCH', `/repricing-rules/${id}`, { max_move_percent: null })
    // 168.56 USD × 40 × 2
    expect(await told()).toEqual([13_484.8, 'ceiling', { listing_id: dear.id, price: 52_421.5 }, 'price_above_market'])
  })

  test('rules of earlier releases get the defaults for limits that nobody set', async () => {
    const stored = async (limits: object) => {
      const { id } = await create()
      const terms = JSON.stringify({ target: TARGET.target, scope: TARGET.scope, floor: TARGET.floor, ...limits })
      await node.db.kysely.updateTable('repricing_rules').set({ terms }).where('id', '=', id).execute()
      return id
    }
    const unset = await stored({ ceiling: null, max_move_percent: null, min_comparables: 1 })
    const set = await stored({ ceiling: 900, max_move_percent: 50, min_comparables: 2 })
    await giveDefaults(node.db.kysely as unknown as Kysely<unknown>)
    const limits = new Map((await rules()).body.data.map((one) => [one.id, [one.ceiling, one.max_move_percent, one.min_comparables]]))
    expect([limits.get(unset), limits.get(set)]).toEqual([
      [null, 20, 3],
      [900, 50, 2],
    ])
  })

  test('a run is a job with a reason for each listing, and is undone as one', async () => {
    const [first, second] = [await ours(100), await ours(100, { grade_id: grades['PSA 10'] })]
    const rival = await theirs(90)
    await theirs(41, { grade_id: grades['PSA 10'] })
    await theirs(30, { grade_id: grades['PSA 10'], quantity: 0 })
    const { id } = await create()
    await simulate(id)
    expect(await run(id)).toMatchObject({ listings_total: 2, changed: 2, failed: 0 })
    expect([await priceOf(first.id), await priceOf(second.id)]).toEqual([89, 40])
    const own = (await plus<{ changed_by: object; etag: string }>(node, 'GET', `/listings/${first.id}`)).body.data
    expect(own.changed_by).toMatchObject({ kind: 'repricing_rule', id })
    const [latest] = (await plus<Job[]>(node, 'GET', '/price-jobs')).body.data
    const applied = await job(latest!.id)
    expect(applied).toMatchObject({ rule_id: id, state: 'applied' })
    expect(
      applied.rows.map(({ listing_id, old_price, new_price, reason: why, outcome }) => [listing_id, old_price, new_price, why?.rule, outcome]),
    ).toEqual([
      [first.id, 100, 89, 'price_target', 'changed'],
      [second.id, 100, 40, 'price_target', 'changed'],
    ])
    expect(applied.rows[0]!.reason!.message).toBe(`the target is 89; the cheapest comparable listing ${rival.id} costs 90`)
    const runsOf = async (rule: number) => (await plus<Job[]>(node, 'GET', `/price-jobs?rule_id=${rule}`)).body.data.map((one) => one.id)
    expect([await runsOf(id), await runsOf(id + 1)]).toEqual([[latest!.id], []])
    const { data } = await ask<{ priceJobs: { id: string }[] }>(node, `{ priceJobs(ruleId: ${id}) { id } }`, { plan: 'plus' })
    expect(data.priceJobs.map((one) => Number(one.id))).toEqual([latest!.id])
    expect(await run(id)).toMatchObject({ changed: 0, job_id: null })
    expect((await plus(node, 'POST', `/price-jobs/${latest!.id}/undo`)).status).toBe(200)
    expect([await priceOf(first.id), await priceOf(second.id)]).toEqual([100, 100])
  })

  test('compared listings: those of other sellers that buyers can find, not those that follow others', async () => {
    const mine = await ours(200)
    await ours(50)
    await theirs(120)
    const hidden = await theirs(60)
    await plus(node, 'POST', `/listings/${hidden.id}/status?action=pause`, undefined, other())
    expect((await said({})).get(mine.id)).toEqual([119, null, 'price_target'])
    expect((await said({ min_comparables: 2 })).get(mine.id)).toEqual([200, null, 'price_few'])
    await operator(node, 'PATCH', `/accounts/${node.accounts.enterprise}`, { suspended: true })
    expect((await said({})).get(mine.id)).toEqual([200, null, 'price_few'])
    await operator(node, 'PATCH', `/accounts/${node.accounts.enterprise}`, { suspended: false })
    const soon = new Date(node.clock.now().getTime() + HOUR_MS).toISOString()
    await plus(node, 'PUT', '/vacation', { to: soon }, other())
    expect((await said({})).get(mine.id)).toEqual([200, null, 'price_few'])
    await plus(node, 'DELETE', '/vacation', undefined, other())
    expect((await said({})).get(mine.id)).toEqual([119, null, 'price_target'])
  })

  test('two rules that undercut each other settle, and follow the market up again', { tags: 'slow' }, async () => {
    const [mine, rival] = [await ours(100), await theirs(100)]
    const anchor = await published(node, items.char!, { price: 100, seller_id: node.accounts.professional })
    const [a, b] = [await create(), await create({ floor: { price: 30 } }, other())]
    await simulate(a.id)
    await simulate(b.id, {}, other())
    const settle = async () => {
      let rounds = 0
      for (let changed = 1; changed > 0 && rounds < ROUNDS; rounds += 1) changed = (await run(a.id)).changed + (await run(b.id, other())).changed
      return rounds
    }
    expect(await settle()).toBeLessThan(4)
    expect([await priceOf(mine.id), await priceOf(rival.id)]).toEqual([99, 99])
    await operator(node, 'PATCH', `/listings/${anchor.id}`, { price: 150 })
    expect(await settle()).toBeLessThan(4)
    expect([await priceOf(mine.id), await priceOf(rival.id)]).toEqual([149, 149])
    await plus(node, 'DELETE', `/repricing-rules/${b.id}`, undefined, other())
  })

  test('a market price is converted at the daily rate; a disputed or missing price, or one without a rate, changes nothing', async () => {
    const [mine, without] = [await ours(100), await published(node, items.pika!, { price: 70 })]
    const target = { kind: 'market', market: 'source_a', factor: 0.5 }
    // 168.56 USD × 40 × 0.5
    expect(await said({ target })).toEqual(
      new Map([
        [mine.id, [3371.2, null, 'price_target']],
        [without.id, [70, null, 'price_untrusted']],
      ]),
    )
    await sql`update prices set state = 1 where item_id = ${items.char!} and market = 1`.execute(node.db.kysely)
    await node.db.kysely
      .insertInto('change_log')
      .values({ kind: 'items', ids: [items.char!], at: new Date() })
      .execute()
    await node.ctx.caughtUp()
    expect((await said({ target })).get(mine.id)).toEqual([100, null, 'price_untrusted'])
    await sql`update prices set state = 0 where item_id = ${items.char!} and market = 1`.execute(node.db.kysely)
    await node.db.kysely
      .insertInto('change_log')
      .values({ kind: 'items', ids: [items.char!], at: new Date() })
      .execute()
    await node.ctx.caughtUp()
    expect((await said({ target: { ...target, market: 'source_c' } })).get(mine.id)).toEqual([100, null, 'price_untrusted'])
  })

  test('uses the median of others’ sales, now and for previous days', async () => {
    const mine = await ours(100)
    const sold = async (price: number, daysAgo: number, fields: object) => {
      const { id } = await published(node, items.char!, { ...fields, price })
      const sold_at = new Date(node.clock.now().getTime() - daysAgo * DAY_MS - HOUR_MS).toISOString()
      await operator(node, 'POST', '/orders', { order_id: orderId(), sold_at, buyer_reference: `${price}`, lines: [{ listing_id: id, quantity: 1 }] })
    }
    await sold(80, 3, { seller_id: node.accounts.enterprise })
    await sold(120, 1, { seller_id: node.accounts.enterprise })
    await sold(9_000, 1, {})
    await sold(9_000, 95, { seller_id: node.accounts.enterprise })
    const { id } = await create({ target: { kind: 'median_sales', factor: 1 }, floor: { price: 90 } })
    const { listings, days } = await simulate(id, { days: 5 })
    expect(listings.map(({ listing_id, new_price }) => [listing_id, new_price])).toEqual([[mine.id, 100]])
    expect(days.map(({ known, raised, lowered, at_floor, average_price }) => [known, raised, lowered, at_floor, average_price])).toEqual([
      [0, 0, 0, 0, 100],
      [0, 0, 0, 0, 100],
      [1, 0, 1, 1, 90],
      [1, 0, 0, 1, 90],
      [1, 1, 0, 0, 100],
    ])
  })

  test('scopes, and listings in the scope of two rules', async () => {
    const [byId, bySku, game, rest] = [
      await ours(100),
      await ours(100),
      await published(node, items.luffy!, { price: 100 }),
      await published(node, items.box!, { price: 100 }),
    ]
    await plus(node, 'PATCH', `/listings/${bySku.id}`, { sku: 'A-1' })
    const category = async (name: string) =>
      (await node.db.kysely.selectFrom('categories').select('id').where('name', '=', name).executeTakeFirstOrThrow()).id
    const taken = async (scope: object) => [...(await said({ scope })).keys()]
    expect(await taken({ kind: 'listings', ids: [byId.id, 999_999] })).toEqual([byId.id])
    expect(await taken({ kind: 'skus', skus: ['A-1', 'B'] })).toEqual([bySku.id])
    expect(await taken({ kind: 'items', game: 'onepiece' })).toEqual([game.id])
    expect(await taken({ kind: 'items', category_id: await category('First Series') })).toEqual([byId.id, bySku.id, rest.id])
    expect(await taken({ kind: 'items', game: 'pokemon', category_id: await category('Base Set') })).toEqual([byId.id, bySku.id])
    const first = (await rules()).body.data[0]!
    await plus(node, 'PATCH', `/repricing-rules/${first.id}`, { enabled: true })
    expect(await taken({ kind: 'all' })).toEqual([bySku.id, game.id, rest.id])
  })

  test('hourly runs: only enabled rules that are due, of allowed sellers; a price that a person changes meanwhile stays', async () => {
    const mine = await ours(100)
    await theirs(90)
    const { id } = await create()
    const ctx = { ...node.ctx, catalogue: node.catalogue, listings: node.listings }
    await runDueRules(ctx)
    expect(await priceOf(mine.id)).toBe(100)
    await simulate(id)
    await plus(node, 'PATCH', `/repricing-rules/${id}`, { enabled: true })
    await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { plan: 'professional' })
    await runDueRules(ctx)
    expect(await priceOf(mine.id)).toBe(100)
    await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { plan: 'plus' })
    await Promise.all([runDueRules(ctx), runDueRules(ctx)])
    expect(await priceOf(mine.id)).toBe(89)
    expect((await plus<Job[]>(node, 'GET', '/price-jobs')).body.data.filter((one) => one.rule_id === id)).toHaveLength(1)
    await plus(node, 'PATCH', `/listings/${mine.id}/price`, { price: 95 })
    await runDueRules(ctx)
    expect(await priceOf(mine.id)).toBe(95)
    node.clock.advance(HOUR_MS)
    await runDueRules(ctx)
    expect(await priceOf(mine.id)).toBe(89)
  })

  test('over GraphQL as over REST', async () => {
    const mine = await ours(100)
    const rival = await theirs(90)
    const created = await ask<{ createRepricingRule: { id: string; target: object; scope: object } }>(
      node,
      `mutation { createRepricingRule(input: { name: "G", target: { kind: "cheapest", amount: -2.5 }, scope: { kind: "listings", ids: [${mine.id}] }, floor: { payout: 9 }, minComparables: 1 })
        { id target { kind amount factor } scope { kind ids } } }`,
      { plan: 'plus' },
    )
    const { id, ...others } = created.data.createRepricingRule
    expect(others).toEqual({ target: { kind: 'cheapest', amount: -2.5, factor: null }, scope: { kind: 'listings', ids: [String(mine.id)] } })
    const document = `mutation {
      changed: updateRepricingRule(id: ${id}, input: { ceiling: 80, maxMovePercent: null }) { ceiling enabled }
      simulated: simulateRepricingRule(id: ${id}, days: 2) { changed listings { newPrice limit follows { listingId price } reason { rule } } days { known } }
      enabled: updateRepricingRule(id: ${id}, input: { enabled: true }) { enabled }
      run: runRepricingRule(id: ${id}) { changed jobId }
    }`
    const { data } = await ask(node, document, { plan: 'plus' })
    expect(data).toMatchObject({
      changed: { ceiling: 80, enabled: false },
      simulated: {
        changed: 1,
        listings: [{ newPrice: 80, limit: 'ceiling', follows: { listingId: String(rival.id), price: 90 }, reason: { rule: 'price_at_ceiling' } }],
        days: [],
      },
      enabled: { enabled: true },
      run: { changed: 1 },
    })
    const listed = await ask<{ repricingRules: object[] }>(node, '{ repricingRules { id ceiling enabled floor { price payout } } }', { plan: 'plus' })
    expect(listed.data.repricingRules).toEqual([{ id, ceiling: 80, enabled: true, floor: { price: null, payout: 9 } }])
    const gone = await ask<{ deleteRepricingRule: { success: boolean } }>(node, `mutation { deleteRepricingRule(id: ${id}) { success } }`, {
      plan: 'plus',
    })
    expect(gone.data.deleteRepricingRule.success).toBe(true)
  })

  test.each<[string, object, string]>([
    ['no floor', { floor: {} }, 'floor at_least_one'],
    ['a floor below a price', { floor: { price: 0.5 } }, 'floor.price number'],
    ['a third decimal', { floor: { price: 1.234 } }, 'floor.price number'],
    ['a ceiling below the floor', { ceiling: 39 }, 'ceiling not_below'],
    ['another target', { target: { kind: 'random' } }, 'target.kind one_of'],
    ['no kind of target', { target: { amount: -1 } }, 'target.kind required'],
    ['a target that is no object', { target: 5 }, 'target object'],
    ['a target without its factor', { target: { kind: 'median_sales' } }, 'target.factor required'],
    ['a factor of 0', { target: { kind: 'median_sales', factor: 0 } }, 'target.factor number'],
    ['a field of another target', { target: { kind: 'cheapest', amount: -1, factor: 1 } }, 'target.factor unknown_field'],
    ['an unknown market', { target: { kind: 'market', market: 'ebay', factor: 1 } }, 'target.market one_of'],
    ['an empty scope', { scope: { kind: 'listings', ids: [] } }, 'scope.ids list'],
    ['a scope of no items', { scope: { kind: 'items' } }, 'scope at_least_one'],
    ['a move of 0', { max_move_percent: 0 }, 'max_move_percent'],
    ['too many comparables of a market', { target: { kind: 'market', market: 'source_a', factor: 1 }, min_comparables: 2 }, 'min_comparables one_of'],
    ['enabled at once', { enabled: true }, 'enabled unknown_field'],
    ['no name', { name: ' ' }, 'name text'],
  ])('rejected: %s', async (_what, fields, refusal) => {
    const { status, body } = await plus(node, 'POST', '/repricing-rules', { ...UNDERCUT, ...fields })
    const told = body.error?.details?.map(({ field, rule }) => `${field} ${rule}`) ?? []
    expect([status, body.error?.code]).toEqual([422, 'VALIDATION_ERROR'])
    expect(told, JSON.stringify(body.error)).toEqual([expect.stringMatching(new RegExp(`^${refusal}`))])
  })

  test('at most 20 rules', { tags: 'slow' }, async () => {
    for (let i = 0; i < 20; i += 1) await create({ name: `Rule ${i}` })
    expect(await plus(node, 'POST', '/repricing-rules', UNDERCUT)).toMatchObject({ status: 409, body: { error: { rule: 'too_many_rules' } } })
  })
})
