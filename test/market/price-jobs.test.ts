// A price job has the same outcome as single writes of its rows, whatever the listings are and whatever happens to them between
// plan, application and undo; concurrent jobs, prices and sales lose nothing.
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOUR_MS } from '#core/duration.ts'
import { forgetOldPriceJobs } from '#market/jobs/store.ts'
import type { PriceJob } from '#market/jobs/types.ts'
import { ask } from '../graphql/client.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'
import { runs } from '../support/runs.ts'
import { found, inStatus, makeCatalogue, operator, orderId, plus, published, type Status, STATUS_LIST } from './kit.ts'

let node: TestNode
let other: TestNode
let item: number

beforeAll(async () => {
  node = await startTestNode()
  other = await startTestNode({ databaseUrl: node.databaseUrl })
  item = (await makeCatalogue(node)).items.char!
})

afterAll(async () => {
  await other.close()
  await node.close()
})

interface Change {
  price?: number
  quantity?: number
}

/** What happens to a listing between two steps. */
const EVENTS = ['nothing', 'nothing', 'sale', 'sell out', 'price', 'stock', 'pause', 'offers', 'other job', 'delete'] as const
type Event = (typeof EVENTS)[number]

interface Story {
  status: Status
  foreign: boolean
  /** whether the period of an active listing ends between plan and application */
  ends: boolean
  change: Change
  beforeApply: Event
  beforeUndo: Event
}

const change = fc.oneof(
  fc.record({ price: fc.constantFrom(0.5, 30, 70, 100, 250.25, 9.999) }),
  fc.record({ quantity: fc.constantFrom(-1, 0, 2, 5) }),
  fc.record({ price: fc.constantFrom(30, 80.5), quantity: fc.constantFrom(0, 7) }),
)
const story: fc.Arbitrary<Story> = fc.record({
  status: fc.constantFrom(...STATUS_LIST),
  foreign: fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
  ends: fc.boolean(),
  change,
  beforeApply: fc.constantFrom(...EVENTS),
  beforeUndo: fc.constantFrom(...EVENTS),
})

const OLD = { price: 100, quantity: 2 }

/** One of the listings of a generated case: its listings are identical. */
async function createListing({ status, foreign, ends }: Story): Promise<number> {
  const seller = foreign ? { seller_id: node.accounts.enterprise } : {}
  // An own listing of any status; listings of other accounts are always active.
  if (foreign) return (await published(node, item, { ...OLD, ...seller })).id
  const fields = { ...OLD, min_offer_price: 40, offers_enabled: true }
  if (status === 'active' && ends) return (await published(node, item, fields, new Date(node.clock.now().getTime() + HOUR_MS))).id
  return (await inStatus(node, status, item, fields)).id
}

const patch = (id: number, body: object) => plus(node, 'PATCH', `/listings/${id}`, body)
const plan = async (rows: object[], policy = 'good_rows') => {
  const { status, body } = await plus<PriceJob>(node, 'POST', '/price-jobs', { rows, policy })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.data
}
const step = async (id: number, what: 'apply' | 'undo', at = node) =>
  (await plus<PriceJob>(at, 'POST', `/price-jobs/${id}/${what}`, undefined, { key: node.keys.plus })).body.data
const sell = (id: number, quantity: number, at = node) =>
  operator(at, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: id, quantity }] })

/** The same event for the job's listing and for the identical second one; if the rules reject it, neither changes. */
async function happen(event: Event, job: number, twin: number): Promise<void> {
  if (event === 'other job') {
    const { id } = await plan([{ listing_id: job, price: 90 }])
    await step(id, 'apply')
    await patch(twin, { price: 90 })
    return
  }
  for (const id of [job, twin]) {
    if (event === 'sale') await sell(id, 1)
    if (event === 'sell out') await sell(id, (await stored(id))?.quantity ?? 1)
    if (event === 'price') await patch(id, { price: 55 })
    if (event === 'stock') await patch(id, { quantity: 9 })
    if (event === 'pause') await plus(node, 'POST', `/listings/${id}/status?action=pause`)
    if (event === 'offers') await operator(node, 'PATCH', `/listings/${id}`, { min_offer_price: 50 })
    if (event === 'delete') await plus(node, 'DELETE', `/listings/${id}`)
  }
}

/** The state of a listing, except its id and times. */
async function stored(id: number) {
  const row = await node.db.kysely
    .selectFrom('listings')
    .select(['price', 'quantity', 'status', 'approved_price', 'min_offer_price', 'rejection_reason', 'expires_at', 'waiting_since'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!row) return null
  const { expires_at: end, waiting_since: waiting, ...fields } = row
  // A worker of the test's nodes may or may not have swept in between.
  const status = row.status === 'active' && end !== null && end <= node.clock.now() ? 'expired' : row.status
  return { ...fields, status, waits: waiting !== null }
}

type Stored = Awaited<ReturnType<typeof stored>>

/** Whether the fields of a change differ between two states. */
function differs({ price, quantity }: Change, a: Stored, b: Stored): boolean {
  return (price !== undefined && a?.price !== b?.price) || (quantity !== undefined && a?.quantity !== b?.quantity)
}

/** Performs a step for the second listing by a single write, unless it has changed since. @returns the expected outcome of the row */
async function expected(twin: number, body: Change, since: Stored, good: 'changed' | 'reversed'): Promise<[string, string | null]> {
  const now = await stored(twin)
  if (now && differs(body, now, since)) return ['kept', good === 'changed' ? 'changed_since_plan' : 'changed_since_job']
  const { status, body: answer } = await patch(twin, body)
  return status === 200 ? [good, null] : ['failed', answer.error!.rule ?? answer.error!.details![0]!.rule]
}

test('planning, applying and undoing rows has the same effect as single writes', { tags: 'slow' }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(story, { minLength: 4, maxLength: 8 }), async (stories) => {
      const jobs: number[] = []
      const twins: number[] = []
      for (const one of stories) {
        const judged = await createListing(one)
        jobs.push(await createListing(one))
        twins.push(await createListing(one))
        // The plan rejects what a single change of an identical listing rejects.
        const alone = await patch(judged, one.change)
        const [row] = (await plan([{ listing_id: jobs.at(-1), ...one.change }])).rows
        if (alone.status === 200) expect(row!.refused).toBeNull()
        else if (alone.body.error!.details) expect(row!.refused).toEqual(alone.body.error!.details)
        else expect(row!.refused).toMatchObject([{ field: 'listing_id', rule: alone.body.error!.rule }])
      }
      const planned = await plan(stories.map((one, i) => ({ listing_id: jobs[i], ...one.change })))
      const atPlan = await Promise.all(twins.map(stored))
      const atStart = await Promise.all(jobs.map(stored))
      for (const [i, one] of stories.entries()) await happen(one.beforeApply, jobs[i]!, twins[i]!)
      node.clock.advance(2 * HOUR_MS)
      const { id } = planned
      const applied = await step(id, 'apply')
      const left: Stored[] = []
      for (const [i, one] of stories.entries()) {
        const { outcome, why } = applied.rows[i]!
        const expectedOutcome = planned.rows[i]!.refused ? [null, null] : await expected(twins[i]!, one.change, atPlan[i]!, 'changed')
        expect([outcome, why?.rule ?? null], JSON.stringify(one)).toEqual(expectedOutcome)
        expect(await stored(jobs[i]!), JSON.stringify(one)).toEqual(await stored(twins[i]!))
        left.push(await stored(twins[i]!))
      }
      const shown = await found(node, '?per_page=100')
      for (const [i, job] of jobs.entries()) expect(shown.includes(job)).toBe(shown.includes(twins[i]!))

      for (const [i, one] of stories.entries()) await happen(one.beforeUndo, jobs[i]!, twins[i]!)
      const undone = await step(id, 'undo')
      for (const [i, one] of stories.entries()) {
        const { outcome, why, old_price: price, old_quantity: quantity } = undone.rows[i]!
        if (applied.rows[i]!.outcome !== 'changed') {
          expect(outcome).toBe(applied.rows[i]!.outcome)
          continue
        }
        const back = { ...(one.change.price !== undefined && { price: price! }), ...(one.change.quantity !== undefined && { quantity: quantity! }) }
        expect([outcome, why?.rule ?? null], JSON.stringify(one)).toEqual(await expected(twins[i]!, back, left[i]!, 'reversed'))
        expect(await stored(jobs[i]!), JSON.stringify(one)).toEqual(await stored(twins[i]!))
        if (outcome === 'reversed' && one.beforeApply === 'nothing' && one.beforeUndo === 'nothing' && !one.ends) {
          expect(await stored(jobs[i]!)).toEqual(atStart[i])
        }
      }
    }),
    { numRuns: runs(12) },
  )
})

test('two concurrent jobs, prices and sales of the same listings on two nodes: nothing is lost or applied twice', { tags: 'slow' }, async () => {
  const listings = await Promise.all(Array.from({ length: 30 }, () => published(node, item, { price: 100, quantity: 50 })))
  const ids = listings.map(({ id }) => id)
  // Every third one sets the stock, the others the price.
  const rows = (price: number, quantity: number) => ids.map((id, i) => ({ listing_id: id, ...(i % 3 === 0 ? { quantity } : { price }) }))
  const [one, two] = [await plan(rows(80, 70)), await plan(rows(60, 90))]
  const sales = ids.filter((_, i) => i % 2 === 0)
  const priced = ids.filter((_, i) => i % 5 === 1)
  const [first, second, ...replies] = await Promise.all([
    step(one.id, 'apply', node),
    step(two.id, 'apply', other),
    ...sales.map((id, i) => sell(id, 1, i % 2 ? node : other)),
    ...priced.map((id) => plus(other, 'PATCH', `/listings/${id}/price`, { price: 77 }, { key: node.keys.plus })),
  ])
  expect(replies.filter(({ status }) => status >= 300).map(({ body }) => body)).toEqual([])
  for (const [i, id] of ids.entries()) {
    const outcomes = [first.rows[i]!.outcome, second.rows[i]!.outcome]
    const { price, quantity } = (await stored(id))!
    const units = sales.includes(id) ? 1 : 0
    // If one changes a listing, the other finds it changed since its plan.
    expect(outcomes.filter((outcome) => outcome === 'changed').length).toBeLessThanOrEqual(1)
    const by = outcomes.indexOf('changed')
    if (i % 3 === 0) expect(quantity).toBe([70, 90, 50].at(by === -1 ? 2 : by)! - units)
    else {
      expect(quantity).toBe(50 - units)
      // After the single price, a job finds its listing changed; before it, the price is overwritten.
      expect(Number(price)).toBe(priced.includes(id) ? 77 : [80, 60][by])
    }
  }
  const undone = await Promise.all([step(one.id, 'undo', other), step(two.id, 'undo', node)])
  const reversed = undone.flatMap((job) => job.rows.filter(({ outcome }) => outcome === 'reversed'))
  for (const { listing_id: id, new_price: price, new_quantity: quantity } of reversed) {
    const now = (await stored(id!))!
    if (price !== null) expect(now.price).toBe('100.00')
    if (quantity !== null) expect(now.quantity).toBe(50)
  }
})

test('a job of several parts is planned, applied, read and undone completely, or not at all', { tags: 'slow' }, async () => {
  const { id: first } = await published(node, item, { price: 100, quantity: 2 })
  const { rows: copies } = await sql<{ id: number }>`
    insert into listings
    select (jsonb_populate_record(l, jsonb_build_object('id', nextval('listings_id_seq')))).* from listings l, generate_series(1, 2300) where l.id = ${first}
    returning id`.execute(node.db.kysely)
  // Not in the order of ids, in which they are locked.
  const ids = copies.map(({ id }) => id).sort((a, b) => (a % 97) - (b % 97) || a - b)
  const prices = async () => (await sql<{ price: string }>`select price from listings where id = any(${ids}::int4[])`.execute(node.db.kysely)).rows
  const rows = ids.map((id, i) => ({ listing_id: id, price: 200 + i }))

  const { id, rows: planned } = await plan(rows, 'all')
  expect(planned.map(({ row, listing_id: listing, new_price: price }) => [row, listing, price])).toEqual(ids.map((one, i) => [i + 1, one, 200 + i]))
  const applied = await step(id, 'apply')
  expect(applied).toMatchObject({ state: 'applied', changed: 2300, kept: 0, failed: 0 })
  expect(applied.rows.map(({ row, outcome }) => [row, outcome])).toEqual(ids.map((_, i) => [i + 1, 'changed']))
  expect((await plus<PriceJob>(node, 'GET', `/price-jobs/${id}`)).body.data).toEqual(applied)
  const audited = await sql<{ n: number }>`
    select count(distinct subject_id)::int4 as n from audit_log
    where action = 'listing.reprice' and subject_type = 'listing' and subject_id = any(${ids.map(String)}::text[])`.execute(node.db.kysely)
  expect(audited.rows[0]!.n).toBe(2300)
  expect(await step(id, 'undo')).toMatchObject({ state: 'undone', reversed: 2300 })
  expect(new Set((await prices()).map(({ price }) => price))).toEqual(new Set(['100.00']))

  const whole = await plan(rows, 'all')
  await patch(ids[2200]!, { price: 55 })
  const { status, body } = await plus(node, 'POST', `/price-jobs/${whole.id}/apply`)
  expect([status, body.error]).toMatchObject([409, { rule: 'job_refused', params: { row: 2201, count: 1 } }])
  expect((await prices()).filter(({ price }) => price !== '100.00')).toEqual([{ price: '55.00' }])
})

test.each(['of this release', 'applied by an earlier release'])(
  'undo respects a price that was changed and changed back: job %s',
  async (release) => {
    const listings = await Promise.all([1, 2, 3].map(() => published(node, item, { price: 50, quantity: 3 })))
    const [back, untouched, restocked] = listings.map(({ id }) => id) as [number, number, number]
    const { id } = await plan(listings.map((listing) => ({ listing_id: listing.id, price: 90 })))
    await step(id, 'apply')
    const isEarlier = release !== 'of this release'
    if (isEarlier) {
      await sql`update price_job_rows set new_version = null, old_priced_version = null, old_stocked_version = null where job_id = ${id}`.execute(
        node.db.kysely,
      )
      await sql`update listings set priced_version = null, stocked_version = null where id = any(${[back, untouched, restocked]}::int4[])`.execute(
        node.db.kysely,
      )
    }
    for (const price of [95, 90]) await patch(back, { price })
    await patch(restocked, { quantity: 8 })
    await plus(node, 'POST', `/listings/${untouched}/status?action=pause`)
    const { rows } = await step(id, 'undo', other)
    expect(rows.map(({ listing_id: one, outcome, why }) => [one, outcome, why?.rule])).toEqual([
      [back, 'kept', 'changed_since_job'],
      [untouched, 'reversed', undefined],
      // An earlier release recorded only the author of the last change of price or stock.
      [restocked, ...(isEarlier ? ['kept', 'changed_since_job'] : ['reversed', undefined])],
    ])
    expect(await Promise.all([back, untouched].map(stored))).toMatchObject([
      { price: '90.00', quantity: 3 },
      { price: '50.00', quantity: 3 },
    ])
    expect(await stored(restocked)).toMatchObject({ price: isEarlier ? '90.00' : '50.00', quantity: 8 })
  },
)

test('jobs of the same listing can be undone one after the other, the latest first', async () => {
  const { id } = await published(node, item, { price: 50, quantity: 3 })
  const jobs: number[] = []
  for (const change of [{ price: 60 }, { price: 70, quantity: 4 }, { quantity: 5 }]) {
    const job = await plan([{ listing_id: id, ...change }])
    await step(job.id, 'apply')
    jobs.push(job.id)
  }
  expect((await step(jobs[1]!, 'undo')).rows[0]).toMatchObject({ outcome: 'kept' })
  for (const job of [jobs[2]!, jobs[0]!]) expect((await step(job, 'undo')).rows[0]!.outcome, String(job)).toBe(job === jobs[0] ? 'kept' : 'reversed')
  expect(await stored(id)).toMatchObject({ price: '70.00', quantity: 4 })

  const others: number[] = []
  for (const price of [80, 85]) {
    const job = await plan([{ listing_id: id, price }])
    await step(job.id, 'apply')
    others.push(job.id)
  }
  for (const job of others.toReversed()) expect((await step(job, 'undo')).reversed).toBe(1)
  expect(await stored(id)).toMatchObject({ price: '70.00' })
})

describe('an export of listings sent back as a job', () => {
  const exported = async () => {
    const reply = await fetch(`${node.publicUrl}/api/v1/plus/listings/export`, { headers: { authorization: `Bearer ${node.keys.plus}` } })
    return (await reply.text()).trim().split(/\r?\n/)
  }
  const planned = async (lines: string[]) => {
    const { status, body } = await send<PriceJob>(`${node.publicUrl}/api/v1/plus/price-jobs`, node.keys.plus, {
      method: 'POST',
      body: lines.join('\n'),
      headers: { 'content-type': 'text/csv' },
    })
    expect(status, JSON.stringify(body)).toBe(201)
    return body.data
  }

  test('applies edited prices and stock; units sold since the export do not come back', async () => {
    const ids: number[] = []
    for (const sku of [null, 'EDIT-2', 'EDIT-3']) {
      const { id } = await published(node, item, { price: 100, quantity: 5 })
      if (sku !== null) await node.db.kysely.updateTable('listings').set({ sku }).where('id', '=', id).execute()
      ids.push(id)
    }
    const [header, ...rows] = await exported()
    const columns = header!.split(',')
    const at = (name: string) => columns.indexOf(name)
    const edited = rows
      .map((row) => row.split(','))
      .filter((cells) => ids.includes(Number(cells[at('listing_id')])))
      .map((cells, i) => {
        cells[at('price')] = String(110 + i)
        if (i === 2) cells[at('quantity')] = '9'
        return cells.join(',')
      })
    expect(edited).toHaveLength(3)
    await sell(ids[1]!, 2)
    const job = await planned([header!, ...edited])
    expect(job).toMatchObject({ rows_total: 3, rows_refused: 0 })
    expect(job.rows.map((row) => [row.listing_id, row.new_price, row.new_quantity])).toEqual([
      [ids[0], 110, null],
      [ids[1], 111, null],
      [ids[2], 112, 9],
    ])
    expect(job.ignored_columns).toEqual(columns.filter((name) => !['listing_id', 'sku', 'quantity', 'exported_quantity', 'price'].includes(name)))
    expect((await step(job.id, 'apply')).ignored_columns).toEqual(job.ignored_columns)
    expect(await Promise.all(ids.map(stored))).toMatchObject([
      { price: '110.00', quantity: 5 },
      { price: '111.00', quantity: 3 },
      { price: '112.00', quantity: 9 },
    ])
  })
})

describe('an account has a limit of rows', () => {
  const unread = Array.from({ length: 10_000 }, () => ({ listing_id: 2_000_000_000, price: 1 }))
  const planAll = (at = node) => plus<PriceJob>(at, 'POST', '/price-jobs', { rows: unread, policy: 'good_rows' }, { key: node.keys.plus })

  test('in waiting plans, on all nodes together; expired plans lose their rows and make room', { tags: 'slow' }, async () => {
    await node.db.kysely.deleteFrom('price_jobs').execute()
    other.clock.advance(node.clock.now().getTime() - other.clock.now().getTime())
    const replies = await Promise.all([node, other, node, other, node, other, node].map((at) => planAll(at)))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 201, 409, 409])
    const refused = replies.find(({ status }) => status === 409)!
    expect(refused.body.error).toMatchObject({ code: 'CONFLICT', rule: 'job_plans_full', params: { max: 50_000 } })
    // Another account is not affected.
    expect((await plus(node, 'POST', '/price-jobs', { rows: [unread[0]] }, { key: node.keys.enterprise })).status).toBe(201)

    const { id } = replies.find(({ status }) => status === 201)!.body.data
    node.clock.advance(25 * HOUR_MS)
    await forgetOldPriceJobs(node.db, 90, node.clock.now())
    expect((await plus<PriceJob>(node, 'GET', `/price-jobs/${id}`)).body.data).toMatchObject({ state: 'expired', rows_total: 10_000, rows: [] })
    expect((await planAll()).status).toBe(201)
  })

  test('in all jobs: the oldest finished ones lose their rows and can no longer be undone', { tags: 'slow' }, async () => {
    await node.db.kysely.deleteFrom('price_jobs').execute()
    const { id: listing } = await published(node, item, { price: 100, quantity: 2 })
    const applied = await plan([{ listing_id: listing, price: 90 }])
    await step(applied.id, 'apply')
    const newer = await plan([{ listing_id: listing, price: 80 }])
    await step(newer.id, 'apply')
    await node.db.kysely.updateTable('price_jobs').set({ stored_rows: 249_000 }).where('id', '=', applied.id).execute()
    expect((await planAll()).status).toBe(201)
    expect((await plus<PriceJob>(node, 'GET', `/price-jobs/${applied.id}`)).body.data).toMatchObject({ state: 'applied', changed: 1, rows: [] })
    const undo = await plus(node, 'POST', `/price-jobs/${applied.id}/undo`)
    expect([undo.status, undo.body.error]).toMatchObject([409, { rule: 'job_rows_deleted' }])
    expect(await step(newer.id, 'undo')).toMatchObject({ state: 'undone', reversed: 1 })
  })

  test('and of jobs with rows, so that many small ones do not slow down the next', { tags: 'slow' }, async () => {
    await node.db.kysely.deleteFrom('price_jobs').execute()
    const now = node.clock.now()
    const insertJobs = () =>
      sql`
        insert into price_jobs (account_id, policy, state, rows_total, rows_refused, created_at, expires_at, stored_rows, stored_bytes)
        select ${node.accounts.plus}, 'all', 'applied', 1, 0, ${now}, ${now}, 1, 300 from generate_series(1, 20001)`.execute(node.db.kysely)
    // The planner believes that the table is nearly empty.
    await insertJobs()
    await node.db.kysely.deleteFrom('price_jobs').execute()
    await sql`analyze price_jobs`.execute(node.db.kysely)
    await insertJobs()
    await plan([{ listing_id: 2_000_000_000, price: 1 }])
    const jobs = node.db.kysely.selectFrom('price_jobs').where('stored_rows', '>', 0).select(['id', 'state']).orderBy('id')
    const left = await jobs.execute()
    expect([left.length, left.at(-1)!.state]).toEqual([20_000, 'planned'])
    await node.db.kysely.deleteFrom('price_jobs').execute()
  })
})

test('a plan shows the market price, and warns of large changes and of prices far from the market; applying is unchanged', async () => {
  await operator(node, 'POST', '/rates', [{ currency: 'USD', day: '2026-01-01', rate: 20 }])
  // 168.56 USD × 20
  const market = 3371.2
  const priced = async (before: number, after: number) => {
    const { id } = await published(node, item, { price: before })
    return { listing_id: id, price: after }
  }
  const rows = await Promise.all([
    priced(3_373.37, 1),
    priced(3_373.37, 1_686.69),
    priced(3_373.37, 1_685.59),
    priced(3_373.37, 6_742.4),
    priced(5_000, 6_742.41),
    priced(100, 100),
    priced(100, 150),
  ])
  const planned = await plan([...rows, { listing_id: rows[0]!.listing_id + 1_000_000, price: 5 }])
  expect(planned.rows.map(({ market_price, warnings }) => [market_price, warnings.map(({ rule }) => rule)])).toEqual([
    [market, ['price_large_change', 'price_far_below']],
    [market, []],
    [market, ['price_large_change', 'price_far_below']],
    [market, ['price_large_change']],
    [market, ['price_far_above']],
    [market, []],
    [market, ['price_far_below']],
    [null, []],
  ])
  expect(planned.rows[0]!.warnings.map(({ message }) => message)).toEqual([
    'the price changes by more than 50 % from 3373.37',
    'the price is less than the market price of 3371.2 divided by 2',
  ])
  const read = (await plus<PriceJob>(node, 'GET', `/price-jobs/${planned.id}`)).body.data
  expect(read.rows.map(({ warnings }) => warnings.length)).toEqual([2, 0, 2, 1, 1, 0, 1, 0])
  const { data } = await ask<{ priceJob: { rows: { nodes: { marketPrice: number; warnings: { rule: string }[] }[] } } }>(
    node,
    `{ priceJob(id: ${planned.id}) { rows(first: 1) { nodes { marketPrice warnings { rule message } } } } }`,
    { plan: 'plus' },
  )
  expect(data.priceJob.rows.nodes).toMatchObject([{ marketPrice: market, warnings: [{ rule: 'price_large_change' }, { rule: 'price_far_below' }] }])
  expect(await step(planned.id, 'apply')).toMatchObject({ state: 'applied', changed: 7 })
})
