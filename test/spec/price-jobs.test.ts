// Price jobs over REST, CSV and GraphQL: what a plan shows and rejects, when it can be applied, and what an undo restores.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PriceJob, PriceJobRow, PriceJobSummary } from '#market/jobs/types.ts'
import { ask } from '../graphql/client.ts'
import { found, inStatus, makeCatalogue, operator, orderId, pending, plus, published } from '../market/kit.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'
import { ruleOf } from '../support/reasons.ts'

let node: TestNode
let items: Record<string, number>
let grades: Record<string, number>

beforeAll(async () => {
  node = await startTestNode()
  ;({ items, grades } = await makeCatalogue(node))
})

afterAll(() => node.close())

const plan = (rows: unknown[], policy?: string, headers?: Record<string, string>) =>
  plus<PriceJob>(node, 'POST', '/price-jobs', { rows, ...(policy && { policy }) }, headers && { headers })
const planned = async (rows: unknown[], policy?: string) => {
  const { status, body } = await plan(rows, policy)
  expect({ status, error: body.error }).toEqual({ status: 201, error: undefined })
  return body.data
}
const step = (id: number, what: 'apply' | 'undo', key = node.keys.plus) =>
  plus<PriceJob>(node, 'POST', `/price-jobs/${id}/${what}`, undefined, { key })
const read = async (id: number) => (await plus<PriceJob>(node, 'GET', `/price-jobs/${id}`)).body.data
const own = async (id: number) => {
  type Own = { price: number; quantity: number; status: string; approved_price: number; changed_by: object | null }
  const { price, quantity, status, approved_price, changed_by } = (await plus<Own>(node, 'GET', `/listings/${id}`)).body.data
  return { price, quantity, status, approved_price, changed_by }
}
const refusals = (rows: PriceJobRow[]) => rows.map(({ refused }) => refused?.map((one) => ruleOf(one as never)).join('; ') ?? null)
const outcomes = (rows: PriceJobRow[]) => rows.map(({ outcome, why }) => [outcome, why?.rule ?? null])
const sell = (id: number, quantity = 1) => operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: id, quantity }] })

describe('a plan', () => {
  test('returns old and new values, payout and rank, and changes nothing', async () => {
    const mine = await published(node, items.luffy!, { price: 100, quantity: 3 })
    await published(node, items.luffy!, { price: 10 })
    const others = { seller_id: node.accounts.enterprise }
    for (const price of [80, 90, 90, 120]) await published(node, items.luffy!, { ...others, price })
    await published(node, items.luffy!, { ...others, price: 1, grade_id: grades['PSA 10'] })
    await pending(node, items.luffy!, { ...others, price: 1 })
    const paused = await inStatus(node, 'paused', items.luffy!, { price: 50 })
    await plus(node, 'PATCH', `/listings/${paused.id}`, { sku: 'PAUSED' })
    const job = await planned([
      { listing_id: mine.id, price: 90.5 },
      { sku: 'PAUSED', price: 60.05, quantity: 7 },
    ])
    expect(job).toMatchObject({ state: 'planned', policy: 'all', rows_total: 2, rows_refused: 0, changed: 0, kept: 0, failed: 0, applied_at: null })
    expect(Date.parse(job.expires_at) - Date.parse(job.created_at)).toBe(86_400_000)
    const same = { refused: null, reason: null, outcome: null, why: null, market_price: null, warnings: [] }
    expect(job.rows).toEqual([
      {
        row: 1,
        listing_id: mine.id,
        sku: null,
        old_price: 100,
        new_price: 90.5,
        old_quantity: 3,
        new_quantity: null,
        payout: 81.45,
        rank: 4,
        ...same,
      },
      {
        row: 2,
        listing_id: paused.id,
        sku: 'PAUSED',
        old_price: 50,
        new_price: 60.05,
        old_quantity: 1,
        new_quantity: 7,
        payout: 54.05,
        rank: null,
        ...same,
      },
    ])
    expect(await read(job.id)).toEqual(job)
    expect(await own(mine.id)).toMatchObject({ price: 100, quantity: 3, changed_by: null })
    const ranks = async (price: number) => (await planned([{ listing_id: mine.id, price }])).rows[0]!.rank
    expect([await ranks(79), await ranks(80), await ranks(89.99), await ranks(90), await ranks(500)]).toEqual([1, 1, 2, 2, 5])
    expect((await planned([{ listing_id: mine.id, quantity: 0 }])).rows[0]!.rank).toBeNull()
  })

  test('rejects rows by field and rule like the single change, and plans the others', async () => {
    const { id } = await published(node, items.char!, { price: 100, min_offer_price: 50, offers_enabled: true })
    const sold = await inStatus(node, 'sold', items.char!)
    const theirs = await published(node, items.char!, { seller_id: node.accounts.enterprise })
    const [twice, other] = [await published(node, items.char!), await published(node, items.char!)]
    await plus(node, 'PATCH', `/listings/${twice.id}`, { sku: 'TWICE' })
    const alone: [row: Record<string, unknown>, body: object][] = [
      [{ listing_id: id, price: 0.5 }, { price: 0.5 }],
      [{ listing_id: id, price: 10.001 }, { price: 10.001 }],
      [{ listing_id: id, price: '12' }, { price: '12' }],
      [{ listing_id: id, price: 49.99 }, { price: 49.99 }],
      [{ listing_id: id, quantity: -1 }, { quantity: -1 }],
      [
        { listing_id: id, price: null, quantity: 2.5 },
        { price: null, quantity: 2.5 },
      ],
    ]
    for (const [row, body] of alone) {
      const single = await plus(node, 'PATCH', `/listings/${id}`, body)
      const [refused] = (await planned([row])).rows
      expect(refused!.refused).toEqual(single.body.error!.details)
    }
    for (const one of [sold.id, theirs.id, 999_999]) {
      const single = await plus(node, 'PATCH', `/listings/${one}/price`, { price: 5 })
      const { refused } = (await planned([{ listing_id: one, price: 5 }])).rows[0]!
      expect(refused).toMatchObject([{ field: 'listing_id', rule: single.body.error!.rule, params: single.body.error!.params }])
    }
    const job = await planned(
      [
        { listing_id: twice.id, price: 5 },
        { sku: ' TWICE ', quantity: 5 },
        { sku: 'NOBODY', price: 5 },
        { listing_id: id, sku: 'TWICE', price: 5 },
        { price: 5 },
        { listing_id: id },
        { listing_id: id, price: 70, qty: 3 },
        'row',
        null,
        { listing_id: 1e300, price: 5 },
        { listing_id: id, price: 70 },
        { listing_id: other.id, price: 70 },
      ],
      'good_rows',
    )
    expect(refusals(job.rows)).toEqual([
      'listing_id job_row_again 2',
      'sku job_row_again 1',
      'sku not_found listing NOBODY',
      'listing_id exactly_one sku',
      'listing_id exactly_one sku',
      'row at_least_one price,quantity',
      expect.stringMatching(/^qty unknown_field/),
      expect.stringMatching(/^row /),
      expect.stringMatching(/^row /),
      'listing_id not_found listing 1e+300',
      'listing_id job_row_again 4',
      null,
    ])
    expect(job).toMatchObject({ rows_total: 12, rows_refused: 11 })
  })

  test.each<[body: object, field: string]>([
    [{}, 'rows'],
    [{ rows: [] }, 'rows'],
    [{ rows: 'all' }, 'rows'],
    [{ rows: Array(10_001).fill({}) }, 'rows'],
    [{ rows: [{}], policy: 'some' }, 'policy'],
    [{ rows: [{}], dry: 1 }, 'dry'],
  ])('is rejected as a whole for an invalid body', async (body, field) => {
    const reply = await plus<PriceJob>(node, 'POST', '/price-jobs', body)
    expect(reply).toMatchObject({ status: 422, body: { error: { code: 'VALIDATION_ERROR', details: [{ field }] } } })
  })

  test('is created once for an Idempotency-Key', async () => {
    const { id } = await published(node, items.char!)
    const headers = { 'idempotency-key': 'plan-once' }
    const first = await plan([{ listing_id: id, price: 7 }], 'all', headers)
    expect((await plan([{ listing_id: id, price: 7 }], 'all', headers)).body).toEqual(first.body)
    expect((await plan([{ listing_id: id, price: 8 }], 'all', headers)).status).toBe(409)
  })
})

describe('CSV', () => {
  const csv = (text: string, query = '', headers = {}) =>
    send<PriceJob>(`${node.publicUrl}/api/v1/plus/price-jobs${query}`, node.keys.plus, {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'text/csv', ...headers },
    })

  test('is read by its header, with any delimiter, and validated like JSON', async () => {
    const [one, other] = [await published(node, items.char!), await published(node, items.char!)]
    await plus(node, 'PATCH', `/listings/${other.id}`, { sku: '=1+1, "x"' })
    const file = `\ufefflisting_id,title,sku,price,quantity\r\n${one.id},"A, b",,12.5,\r\n,,"'=1+1, ""x""",,3\r\n,,X,"12,5",\r\n\r\n${one.id},short\r\n`
    const { status, body } = await csv(file, '?policy=good_rows', { 'idempotency-key': 'csv' })
    expect(status).toBe(201)
    expect(body.data).toMatchObject({ policy: 'good_rows', rows_total: 4, rows_refused: 2 })
    expect(body.data.rows).toMatchObject([
      { listing_id: one.id, new_price: 12.5, new_quantity: null },
      { listing_id: other.id, new_price: null, new_quantity: 3 },
      { refused: [{ field: 'price', rule: 'number' }] },
      { refused: [{ field: 'row', rule: 'row_cells' }] },
    ])
    expect((await csv(file, '?policy=good_rows', { 'idempotency-key': 'csv' })).body).toEqual(body)
    const semicolons = await csv(`sku;quantity\n"=1+1, ""x""";4`)
    expect(semicolons.body.data.rows).toMatchObject([{ listing_id: other.id, new_quantity: 4 }])
  })

  test.each(['', 'price\n5', 'listing_id,title\n1,x', '\n\n', 'listing_id,price\n"1'])('%j is rejected', async (text) => {
    const reply = await csv(text)
    expect(reply.status).toBe(422)
  })

  test('of other types or too long is rejected', async () => {
    expect((await csv('x', '', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await csv(`listing_id,price\n${'1,2\n'.repeat(10_001)}`)).body.error).toMatchObject({ details: [{ field: 'rows' }] })
    expect((await csv('listing_id,price\n1,2', '?policy=none')).status).toBe(422)
  })
})

describe('applying and undoing', () => {
  test('writes all rows at once: searches, own listings and the audit log show it, and an undo restores everything', async () => {
    const one = await published(node, items.pika!, { price: 100, quantity: 2, title: 'Job target one' })
    const two = await published(node, items.pika!, { price: 200, quantity: 1, title: 'Job target two' })
    const before = [await own(one.id), await own(two.id)]
    const job = await planned([
      { listing_id: one.id, price: 110 },
      { listing_id: two.id, price: 190, quantity: 0 },
    ])
    const applied = await step(job.id, 'apply')
    expect(applied).toMatchObject({ status: 200, body: { data: { state: 'applied', changed: 2, reversed: 0, kept: 0, failed: 0 } } })
    expect(outcomes(applied.body.data.rows)).toEqual([
      ['changed', null],
      ['changed', null],
    ])
    expect(await read(job.id)).toEqual(applied.body.data)
    expect(await found(node, '?search=job%20target&min_price=110')).toEqual([one.id])
    const by = { kind: 'price_job', id: job.id, at: expect.stringMatching(/\+03:00$/) }
    expect(await own(one.id)).toEqual({ price: 110, quantity: 2, status: 'active', approved_price: 110, changed_by: by })
    expect(await own(two.id)).toEqual({ price: 190, quantity: 0, status: 'active', approved_price: 190, changed_by: by })
    const { body } = await operator<{ action: string; after: object }[]>(node, 'GET', `/audit?subject_type=listing&subject_id=${two.id}`)
    expect(body.data[0]).toMatchObject({ action: 'listing.restock', after: { price: 190, quantity: 0 } })
    const jobs = await operator<{ action: string }[]>(node, 'GET', `/audit?subject_type=price_job&subject_id=${job.id}`)
    expect(jobs.body.data.map(({ action }) => action)).toEqual(['price_job.apply', 'price_job.plan'])

    expect((await step(job.id, 'apply')).body.error).toMatchObject({ code: 'CONFLICT', rule: 'job_not_planned' })
    const undone = await step(job.id, 'undo')
    expect(undone.body.data).toMatchObject({ state: 'undone', changed: 0, reversed: 2, kept: 0, failed: 0 })
    expect([await own(one.id), await own(two.id)]).toEqual(before)
    expect(new Set(await found(node, '?search=job%20target'))).toEqual(new Set([one.id, two.id]))
    for (const what of ['undo', 'apply'] as const) expect((await step(job.id, what)).status).toBe(409)
  })

  test('with the policy `all`, nothing is applied if a row is rejected or has changed since', async () => {
    const [one, two] = [await published(node, items.char!, { quantity: 5 }), await published(node, items.char!, { quantity: 5 })]
    const refused = await planned([
      { listing_id: one.id, price: 5 },
      { listing_id: two.id, price: 0 },
    ])
    const reply = await step(refused.id, 'apply')
    expect(reply).toMatchObject({
      status: 409,
      body: { error: { code: 'CONFLICT', rule: 'job_refused', params: { row: 2, must: { rule: 'number' } } } },
    })
    const raced = await planned([
      { listing_id: one.id, price: 5 },
      { listing_id: two.id, quantity: 4 },
    ])
    await sell(two.id)
    expect((await step(raced.id, 'apply')).body.error).toMatchObject({
      rule: 'job_refused',
      params: { row: 2, must: { rule: 'changed_since_plan' } },
    })
    expect(await own(one.id)).toMatchObject({ price: 100, changed_by: null })
    expect((await read(raced.id)).state).toBe('planned')
  })

  test('with `good_rows`, rows that changed since are kept and rejected ones fail, each with the reason', async () => {
    const listings = await Promise.all(Array.from({ length: 6 }, () => published(node, items.char!, { quantity: 2 })))
    const [good, soldOne, priced, offered, soldOut, gone] = listings.map(({ id }) => id) as [number, number, number, number, number, number]
    const job = await planned(
      [
        ...[good, priced, offered, soldOut, gone].map((id) => ({ listing_id: id, price: 60 })),
        { listing_id: soldOne, quantity: 9 },
        { listing_id: 999_999, price: 5 },
      ],
      'good_rows',
    )
    await plus(node, 'PATCH', `/listings/${priced}/price`, { price: 70 })
    await plus(node, 'PATCH', `/listings/${offered}`, { offers_enabled: true, min_offer_price: 61 })
    await sell(soldOne)
    await sell(soldOut, 2)
    await plus(node, 'DELETE', `/listings/${gone}`)
    const { data } = (await step(job.id, 'apply')).body
    expect(data).toMatchObject({ state: 'applied', changed: 1, kept: 2, failed: 3, rows_refused: 1 })
    expect(outcomes(data.rows)).toEqual(
      [
        ['changed', null],
        ['kept', 'changed_since_plan'],
        ['failed', 'several'],
        ['failed', 'listing_sold'],
        ['failed', 'not_found'],
        ['kept', 'changed_since_plan'],
        [null, null],
      ].map(([outcome, rule]) => [outcome, rule === 'several' ? 'not_below' : rule]),
    )
    expect(await read(job.id)).toEqual(data)
    expect(await own(soldOne)).toMatchObject({ quantity: 1, price: 100 })
  })

  test('an undo keeps later changes, and reports rows that the rules reject', async () => {
    const listings = await Promise.all(Array.from({ length: 4 }, () => published(node, items.char!, { quantity: 2, price: 100 })))
    const [good, sold, priced, stocked] = listings.map(({ id }) => id) as [number, number, number, number]
    const job = await planned([good, sold, priced, stocked].map((id) => ({ listing_id: id, price: 50 })))
    await step(job.id, 'apply')
    await sell(sold, 2)
    await plus(node, 'PATCH', `/listings/${priced}/price`, { price: 55 })
    await plus(node, 'PATCH', `/listings/${stocked}`, { quantity: 9 })
    const { data } = (await step(job.id, 'undo')).body
    expect(outcomes(data.rows)).toEqual([
      ['reversed', null],
      ['failed', 'listing_sold'],
      ['kept', 'changed_since_job'],
      ['reversed', null],
    ])
    expect(data).toMatchObject({ changed: 0, reversed: 2, kept: 1, failed: 1 })
    expect([await own(priced), await own(stocked)]).toMatchObject([{ price: 55 }, { price: 100, quantity: 9 }])
  })

  test('an undo restores which job had set the price before', async () => {
    const { id } = await published(node, items.char!, { price: 100 })
    const first = await planned([{ listing_id: id, price: 90 }])
    await step(first.id, 'apply')
    const before = await own(id)
    const second = await planned([{ listing_id: id, price: 80 }])
    await step(second.id, 'apply')
    await step(second.id, 'undo')
    expect(await own(id)).toEqual(before)
  })

  test('a period that is over is ended first, with its notification', async () => {
    const soon = new Date(node.clock.now().getTime() + 60_000)
    const { id } = await published(node, items.char!, { price: 100 }, soon)
    const job = await planned([{ listing_id: id, price: 90 }])
    node.clock.advance(60_000)
    expect((await step(job.id, 'apply')).body.data).toMatchObject({ changed: 1 })
    expect(await own(id)).toMatchObject({ status: 'expired', price: 90, approved_price: 100 })
  })

  test('a plan expires after 24 hours', async () => {
    const { id } = await published(node, items.char!)
    const job = await planned([{ listing_id: id, price: 5 }])
    node.clock.advance(86_400_000)
    expect((await read(job.id)).state).toBe('expired')
    expect((await step(job.id, 'apply')).body.error).toMatchObject({ rule: 'job_not_planned', params: { state: 'expired' } })
    expect((await step(job.id, 'undo')).body.error).toMatchObject({ rule: 'job_not_applied', params: { state: 'expired' } })
  })

  test('of many concurrent applications or undos, one succeeds', async () => {
    const { id } = await published(node, items.char!)
    const job = await planned([{ listing_id: id, price: 5 }])
    for (const what of ['apply', 'undo'] as const) {
      const replies = await Promise.all(Array.from({ length: 8 }, () => step(job.id, what)))
      expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(409)])
    }
  })

  test('jobs of other accounts return 404, and own ones are listed newest first', async () => {
    const { id } = await published(node, items.char!)
    const job = await planned([{ listing_id: id, price: 5 }])
    const key = node.keys.enterprise
    for (const [method, path] of [
      ['GET', `/price-jobs/${job.id}`],
      ['POST', `/price-jobs/${job.id}/apply`],
      ['POST', `/price-jobs/${job.id}/undo`],
      ['GET', '/price-jobs/99999999999'],
    ] as const) {
      expect(await plus(node, method, path, undefined, { key })).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } })
    }
    const list = await plus<PriceJobSummary[]>(node, 'GET', '/price-jobs?per_page=2')
    const { rows: _rows, ...summary } = job
    expect(list.body).toMatchObject({ data: [summary, { id: job.id - 1 }], pagination: { per_page: 2, has_more: true } })
    expect((await plus<PriceJobSummary[]>(node, 'GET', '/price-jobs', undefined, { key })).body.data).toEqual([])
  })
})

test('GraphQL plans, pages through, applies and undoes the same jobs', async () => {
  const [one, two] = [await published(node, items.char!, { price: 100 }), await published(node, items.char!, { price: 100 })]
  const ROWS =
    'nodes { row listingId sku oldPrice newPrice oldQuantity newQuantity payout rank outcome why refused { field message rule } } pageInfo { hasNextPage endCursor }'
  type Rows = { nodes: { row: number; listingId: string; newPrice: number; outcome: string; refused: object[] | null }[]; pageInfo: object }
  type Job = { id: string; state: string; rowsTotal: number; rowsRefused: number; changed: number; reversed: number; rows: Rows }
  const over = async (query: string, variables = {}) => {
    const { data, errors } = await ask<{ job: Job }>(node, query, { plan: 'plus', variables })
    expect(errors).toBeUndefined()
    return data!.job
  }
  const rows = [
    { listingId: String(one.id), price: 120.5 },
    { listingId: two.id, price: 130, quantity: 4 },
    { listingId: 999_999, sku: 'A', price: 1 },
  ]
  const job = await over(
    `mutation ($rows: [PriceJobRowInput!]!) { job: planPriceJob(rows: $rows, policy: "good_rows") { id state rowsTotal rowsRefused rows(first: 2) { ${ROWS} } } }`,
    { rows },
  )
  expect(job).toMatchObject({ state: 'planned', rowsTotal: 3, rowsRefused: 1, rows: { pageInfo: { hasNextPage: true, endCursor: '2' } } })
  expect(job.rows.nodes[0]).toMatchObject({ row: 1, listingId: String(one.id), oldPrice: 100, newPrice: 120.5, payout: 108.45, refused: null })
  const rest = await over(`{ job: priceJob(id: ${job.id}) { rows(after: "2") { ${ROWS} } } }`)
  expect(rest.rows).toMatchObject({
    nodes: [{ row: 3, refused: [{ field: 'listingId', rule: 'exactly_one', message: 'must be given, or sku, but not both' }] }],
    pageInfo: { hasNextPage: false },
  })
  expect(await over(`mutation { job: applyPriceJob(id: ${job.id}) { state changed } }`)).toEqual({ state: 'applied', changed: 2 })
  expect(await own(two.id)).toMatchObject({ price: 130, quantity: 4 })
  const listed = await ask<{ priceJobs: object[]; listing: object }>(
    node,
    `{ priceJobs(perPage: 1) { id state } listing(id: ${two.id}) { sku changedBy { kind id } } }`,
    { plan: 'plus' },
  )
  expect(listed.data).toEqual({ priceJobs: [{ id: job.id, state: 'applied' }], listing: { sku: null, changedBy: { kind: 'price_job', id: job.id } } })
  expect(await over(`mutation { job: undoPriceJob(id: ${job.id}) { state reversed } }`)).toEqual({ state: 'undone', reversed: 2 })
  const none = await ask<{ job: Job | null }>(node, '{ job: priceJob(id: 999999) { id } }', { plan: 'plus' })
  expect(none).toMatchObject({ data: { job: null } })
  for (const wrong of ['first: 0', 'first: 501', 'after: "x"']) {
    const { errors } = await ask(node, `{ priceJob(id: ${job.id}) { rows(${wrong}) { nodes { row } } } }`, { plan: 'plus' })
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'VALIDATION_ERROR' })
  }
  const again = await ask(node, `mutation { applyPriceJob(id: ${job.id}) { id } }`, { plan: 'plus' })
  expect(again.errors?.[0]?.extensions).toMatchObject({ code: 'CONFLICT', rule: 'job_not_planned' })
})
