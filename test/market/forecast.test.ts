// A write with `dry_run=1`: its effect over REST and GraphQL, rejected like the write itself, and without any change.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { call } from '#core/verb.ts'
import type { Forecast, UsualWait } from '#market/marketplace-types.ts'
import { listingRoutes } from '#rest/listing-routes.ts'
import { ask } from '../graphql/client.ts'
import { stateOf } from '../reliability/authorisation-kit.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { type Change, DAY_MS, endPeriods, found, inStatus, makeCatalogue, operator, pending, plus, published } from './kit.ts'

let node: TestNode
let item: number

beforeAll(async () => {
  node = await startTestNode()
  item = (await makeCatalogue(node)).items.char!
})

afterAll(() => node.close())

type Forecasted = Partial<Change> & { forecast: Forecast }

/** The digests once the node's own sweep has nothing left to change. */
async function settledState() {
  await endPeriods(node)
  return stateOf(node)
}

/** Requests a forecast, which must change nothing. */
async function forecast(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const before = await settledState()
  const reply = await plus<Forecasted>(node, method, `${path}${path.includes('?') ? '&' : '?'}dry_run=1`, body, { headers })
  expect(await stateOf(node)).toEqual(before)
  return reply
}

async function expected(method: string, path: string, body?: object): Promise<Omit<Forecast, 'usual_wait' | 'warnings'>> {
  const { status, body: answer } = await forecast(method, path, body)
  expect([status, answer.error]).toEqual([200, undefined])
  const { usual_wait: wait, warnings: _warnings, ...rest } = answer.data.forecast
  expect(Object.keys(wait)).toEqual(['p50_hours', 'p90_hours', 'n'])
  return rest
}

const edit = (id: number, body: object) => expected('PATCH', `/listings/${id}`, body)
const set = (id: number, action: string) => expected('POST', `/listings/${id}/status?action=${action}`)

describe('status, visibility, and the fields that cause a change', () => {
  test('a price and content of an active listing', async () => {
    const { id } = await published(node, item)
    expect(await expected('PATCH', `/listings/${id}/price`, { price: 150 })).toEqual({ status: 'active', hidden: false, because: [] })
    expect(await edit(id, { price: 150 })).toEqual({ status: 'active', hidden: false, because: [] })
    expect(await edit(id, { price: 150, title: 'Other', offers_enabled: true })).toEqual({
      status: 'pending',
      hidden: true,
      because: ['title', 'offers_enabled'],
    })
    expect(await found(node)).toContain(id)
  })

  test('pause and publish', async () => {
    const { id } = await published(node, item)
    expect(await set(id, 'pause')).toEqual({ status: 'paused', hidden: true, because: ['action'] })
    await plus(node, 'POST', `/listings/${id}/status?action=pause`)
    expect(await set(id, 'publish')).toEqual({ status: 'active', hidden: false, because: ['action'] })
    expect(await edit(id, { price: 150 })).toEqual({ status: 'paused', hidden: true, because: [] })
    await operator(node, 'PATCH', `/listings/${id}`, { language: 'ja' })
    expect(await set(id, 'publish')).toEqual({ status: 'pending', hidden: true, because: ['language'] })
    node.clock.advance(31 * DAY_MS)
    expect(await set(id, 'publish')).toEqual({ status: 'pending', hidden: true, because: ['language', 'expires_at'] })
  })

  test('unpublished listings', async () => {
    const waiting = await pending(node, item)
    expect(await edit(waiting.id, { price: 150 })).toEqual({ status: 'pending', hidden: true, because: [] })
    expect(await edit(waiting.id, { description: 'Clean.' })).toEqual({ status: 'pending', hidden: true, because: ['description'] })
    expect(await set((await inStatus(node, 'rejected', item)).id, 'publish')).toEqual({
      status: 'pending',
      hidden: true,
      because: ['rejection_reason'],
    })
    expect(await set((await inStatus(node, 'expired', item)).id, 'publish')).toEqual({ status: 'pending', hidden: true, because: ['expires_at'] })
  })

  test('stock and SKU, which need no approval', async () => {
    const { id } = await published(node, item)
    expect(await edit(id, { sku: 'A1', quantity: 5 })).toEqual({ status: 'active', hidden: false, because: [] })
    expect(await edit(id, { price: 150, quantity: 0 })).toEqual({ status: 'active', hidden: true, because: ['quantity'] })
    await plus(node, 'PATCH', `/listings/${id}`, { quantity: 0 })
    expect(await edit(id, { price: 150 })).toEqual({ status: 'active', hidden: true, because: [] })
    expect(await edit(id, { quantity: 1 })).toEqual({ status: 'active', hidden: false, because: ['quantity'] })
    expect(await edit(id, { quantity: 1, title: 'Other' })).toEqual({ status: 'pending', hidden: true, because: ['title'] })
  })

  test('prices to check before they are set', async () => {
    const { id } = await published(node, item)
    const warnings = async (price: number) => {
      const { body } = await forecast('PATCH', `/listings/${id}/price`, { price })
      return body.data.forecast.warnings.map(({ rule, params }) => [rule, params])
    }
    const { price } = (await operator<{ price: number }>(node, 'GET', `/listings/${id}`)).body.data
    expect(await warnings(price)).toEqual([])
    expect(await warnings(price * 1.5)).toEqual([])
    expect(await warnings(price * 1.6)).toEqual([['price_large_change', { old: price, percent: 50 }]])
    expect((await expected('DELETE', `/listings/${id}`)).status).toBe('deleted')
  })

  test('a period that is over but not yet expired', async () => {
    const { id } = await published(node, item)
    await node.db.kysely.updateTable('listings').set({ expires_at: node.clock.now() }).where('id', '=', id).execute()
    const reply = await plus<Forecasted>(node, 'PATCH', `/listings/${id}/price?dry_run=1`, { price: 150 })
    expect(reply.body.data).toMatchObject({ status: 'expired', forecast: { status: 'expired', hidden: true, because: [] } })
  })

  test('a highlight and a deletion', async () => {
    const { id } = await published(node, item)
    const highlight = await forecast('POST', `/make-highlight?id=${id}`)
    expect(highlight.body.data).toMatchObject({ id, remaining_highlight_credits: 0, forecast: { status: 'active', hidden: false, because: [] } })
    expect((await plus(node, 'GET', `/listings/${id}?with_details=1`)).body.data).toMatchObject({ highlighted_until: null })
    expect(await expected('DELETE', `/listings/${id}`)).toEqual({ status: 'deleted', hidden: true, because: [] })
    expect((await plus(node, 'GET', `/listings/${id}`)).status).toBe(200)
  })
})

describe('like the write itself', () => {
  test('data, message and entity tag', async () => {
    const { id, etag } = await published(node, item)
    const { headers, body } = await forecast('PATCH', `/listings/${id}/price`, { price: 150 }, { 'if-match': etag })
    expect(body).toMatchObject({ success: true, data: { id, price: 150, status: 'active' }, message: 'Forecast only; nothing was changed' })
    expect(headers.get('etag'), 'of the listing as it is, for the write').toBe(etag)
    const write = await plus(node, 'PATCH', `/listings/${id}/price`, { price: 150 }, { headers: { 'if-match': headers.get('etag')! } })
    expect([write.status, write.body.data]).toEqual([200, { id, price: 150, status: 'active' }])
    const stale = await forecast('PATCH', `/listings/${id}/price`, { price: 160 }, { 'if-match': etag })
    expect([stale.status, stale.body.error?.code]).toEqual([412, 'PRECONDITION_FAILED'])
  })

  test('errors are the same', async () => {
    const [sold, active, foreign] = [
      (await inStatus(node, 'sold', item)).id,
      (await published(node, item)).id,
      (await published(node, item, { seller_id: node.accounts.enterprise })).id,
    ]
    const writes: [method: string, path: string, body?: object][] = [
      ['PATCH', `/listings/${sold}/price`, { price: 5 }],
      ['PATCH', `/listings/${foreign}/price`, { price: 5 }],
      ['PATCH', `/listings/${active}/price`, { price: 0.5 }],
      ['PATCH', `/listings/${active}`, { title: '' }],
      ['PATCH', `/listings/${active}`, { min_offer_price: 5_000 }],
      ['PATCH', `/listings/${active}`, {}],
      ['PATCH', '/listings/999999', { title: 'Other' }],
      ['POST', `/listings/${active}/status?action=publish`],
      ['POST', `/listings/${active}/status?action=burn`],
      ['DELETE', '/listings/999999'],
      ['DELETE', `/listings/${foreign}`],
      ['POST', `/make-highlight?id=${sold}`],
    ]
    for (const [method, path, body] of writes) {
      const told = await forecast(method, path, body)
      const done = await plus(node, method, path, body)
      expect([method, path, told.status, told.body]).toEqual([method, path, done.status, done.body])
      expect(done.status).toBe(422)
    }
    const odd = await plus(node, 'PATCH', `/listings/${active}/price?dry_run=2`, { price: 5 })
    expect([odd.status, odd.body.error?.code, odd.body.error?.details?.[0]?.field]).toEqual([422, 'PLUS_LISTING_ERROR', 'dry_run'])
  })

  test('a read-only key is rejected, as by the write', async () => {
    const { id } = await published(node, item)
    const { body } = await operator<{ key: string }>(node, 'POST', `/accounts/${node.accounts.plus}/keys`, { read_only: true })
    const { status, body: answer } = await plus(node, 'PATCH', `/listings/${id}/price?dry_run=1`, { price: 5 }, { key: body.data.key })
    expect([status, answer.error?.code]).toEqual([403, 'READ_ONLY_KEY'])
  })

  test('an Idempotency-Key is neither used up nor answered from', async () => {
    const { id } = await published(node, item)
    const headers = { 'idempotency-key': 'forecast' }
    expect((await forecast('POST', `/listings/${id}/status?action=pause`, undefined, headers)).body.data.forecast.status).toBe('paused')
    expect((await plus(node, 'POST', `/listings/${id}/status?action=pause`, undefined, { headers })).body.data.status).toBe('paused')
    const again = await forecast('POST', `/listings/${id}/status?action=pause`, undefined, headers)
    expect([again.status, again.body.error?.message]).toEqual([422, 'The listing is already paused'])
  })

  test('every write of a listing can be forecast', () => {
    const writes = listingRoutes(node.listings).filter(({ verb }) => verb.writes)
    expect(writes.length).toBeGreaterThan(4)
    expect(writes.filter(({ verb }) => !('dry_run' in ((verb.input as { properties?: object }).properties ?? {}))).map(({ path }) => path)).toEqual(
      [],
    )
  })

  test('several concurrently with the write', async () => {
    const { id } = await published(node, item)
    const prices = [10, 20, 30, 40]
    const [done, ...told] = await Promise.all([
      plus(node, 'PATCH', `/listings/${id}/price`, { price: 50 }),
      ...prices.map((price) => plus<Forecasted>(node, 'PATCH', `/listings/${id}/price?dry_run=1`, { price })),
    ])
    expect([done.status, ...told.map(({ body }) => body.data.price)]).toEqual([200, ...prices])
    expect((await plus(node, 'GET', `/listings/${id}`)).body.data).toMatchObject({ price: 50, etag: `"${id}-3"` })
  })
})

describe('over GraphQL', () => {
  const FORECAST = 'forecast { status hidden because usualWait { p50Hours p90Hours n } }'
  const mutate = async (fields: string) => {
    const before = await settledState()
    const { data, errors } = await ask<Record<string, unknown>>(node, `mutation { ${fields} }`, { plan: 'plus' })
    expect(await stateOf(node)).toEqual(before)
    return { data, errors }
  }

  test('every mutation of a listing, several in one document', async () => {
    const { id } = await published(node, item)
    const { data, errors } = await mutate(`
      price: updateListingPrice(listingId: ${id}, price: 150, dryRun: true) { message price ${FORECAST} }
      edit: updateListing(listingId: ${id}, input: { minOfferPrice: 5 }, dryRun: true) { status ${FORECAST} }
      pause: setListingStatus(listingId: ${id}, action: "pause", dryRun: true) { status ${FORECAST} }`)
    expect(errors).toBeUndefined()
    const usualWait = expect.objectContaining({ n: expect.any(Number) as number }) as UsualWait
    expect(data).toEqual({
      price: { message: 'Forecast only; nothing was changed', price: 150, forecast: { status: 'active', hidden: false, because: [], usualWait } },
      edit: { status: 'pending', forecast: { status: 'pending', hidden: true, because: ['minOfferPrice'], usualWait } },
      pause: { status: 'paused', forecast: { status: 'paused', hidden: true, because: ['action'], usualWait } },
    })
  })

  test('none without `dryRun`, and the same errors as the mutation', async () => {
    const { id } = await published(node, item)
    const { errors } = await mutate(`done: updateListingPrice(listingId: ${id}, price: 0.5, dryRun: true) { id }`)
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'PLUS_LISTING_ERROR', details: [{ field: 'price' }] })
    const { data } = await ask<object>(
      node,
      `mutation { done: updateListingPrice(listingId: ${id}, price: 5, dryRun: null) { price ${FORECAST} } }`,
      {
        plan: 'plus',
      },
    )
    expect(data).toEqual({ done: { price: 5, forecast: null } })
  })
})

test('the usual wait is that of the latest decisions about pending listings', async () => {
  const wait = async () => {
    const { id } = await pending(node, item)
    return (await forecast('PATCH', `/listings/${id}/price`, { price: 5 })).body.data.forecast.usual_wait
  }
  node.clock.advance(40 * DAY_MS)
  expect(await wait(), 'decisions of the last 30 days').toEqual({ p50_hours: null, p90_hours: null, n: 0 })
  const queued: number[] = []
  for (let i = 0; i < 10; i += 1) {
    queued.push((await pending(node, item)).id)
    node.clock.advance(DAY_MS / 24)
  }
  for (const [i, id] of queued.entries()) {
    const path = `/listings/${id}/${i % 2 === 0 ? 'approve' : 'reject'}`
    expect((await operator(node, 'POST', path, i % 2 === 0 ? {} : { reason: 'blurred photo' })).status).toBe(200)
  }
  // Taken down, and approved after a rejection: neither was in the queue.
  await operator(node, 'POST', `/listings/${queued[0]}/reject`, { reason: 'sold elsewhere' })
  await operator(node, 'POST', `/listings/${queued[1]}/approve`, {})
  node.clock.advance(60_000)
  const { n, p50_hours: p50, p90_hours: p90 } = await wait()
  expect(n).toBe(10)
  expect([p50, p90].map((hours) => Math.round(hours! * 10) / 10)).toEqual([5.5, 9.1])
})

test('keys of other accounts get no information about a listing', async () => {
  const { id } = await published(node, item)
  const { key } = await call(createKey, node.ctx, { account_id: node.accounts.enterprise })
  const { status, body } = await plus(node, 'DELETE', `/listings/${id}?dry_run=1`, undefined, { key })
  expect([status, body.error?.code, body.data]).toEqual([422, 'PLUS_LISTING_ERROR', undefined])
})
