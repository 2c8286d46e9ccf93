// Merging of items: what moves, what every lookup returns for the old id, and what other nodes know about it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collector } from '../collections/kit.ts'
import type { Merge } from '#identity/merge/stored-merges.ts'
import { ask } from '../graphql/client.ts'
import { pending } from '../market/kit.ts'
import { importText, send, startTwoNodes, type TestNode, until } from '../support/node.ts'
import { current, hangOn, history, item, listed, makeTwins, merge, merged, operator, postPrices, stateOf } from './kit.ts'

let here: TestNode
let there: TestNode
let close: () => Promise<void>

beforeAll(async () => {
  ;({ here, there, close } = await startTwoNodes())
})

afterAll(() => close())

describe('an item with every kind of related data', () => {
  let from: number
  let into: number
  let hung: Awaited<ReturnType<typeof hangOn>>
  let mergeId: number

  beforeAll(async () => {
    const ids = await makeTwins(here, [
      {
        ref: 'full:a',
        market: 'source_a',
        name: 'Charizard full',
        prices: [
          ['source_a', 'Near Mint', '100.00'],
          ['source_a', 'PSA 10', '900.00'],
          ['source_b', 'Near Mint', '50.00', '2026-10-05T00:00:00Z'],
        ],
        foreignIds: [
          { source: 'cardmarket', id: 'full-1' },
          { source: 'pokemontcg', id: 'full-4' },
        ],
      },
      {
        ref: 'full:b',
        market: 'source_c',
        name: 'Charizard full',
        prices: [
          ['source_c', 'Near Mint', '120.00'],
          ['source_b', 'Near Mint', '60.00'],
        ],
        foreignIds: [
          { source: 'cardmarket', id: 'full-1' },
          { source: 'tcgdex', id: 'full-4' },
        ],
      },
    ])
    from = ids['full:a']!
    into = ids['full:b']!
    hung = await hangOn(here, from, 1_000)
    const { body } = await merge(here, from, into)
    mergeId = body.data.id
    expect(body.data).toMatchObject({
      batch_id: mergeId,
      from: { id: from, ref: 'full:a', market: 'source_a' },
      into: { id: into, ref: 'full:b' },
      moved: { foreign_ids: 2, held_prices: 1, listings: 2, sales: 2, collection_records: 1 },
      author: 'operator:bootstrap',
      undone_at: null,
    })
  })

  const bothNodes = (check: (node: TestNode) => Promise<void>) => async () => {
    await until('the other node knows the alias', async () => (await item(there, from)).body.data?.id === into)
    for (const node of [here, there]) await check(node)
  }

  test(
    'the old id returns the remaining item with its own id, over REST and GraphQL',
    bothNodes(async (node) => {
      const redirected = await item(node, from)
      expect(redirected).toMatchObject({ status: 200, body: { data: { id: into } } })
      expect(redirected.body).toEqual((await item(node, into)).body)
      const byGraphql = (id: number) => ask<object>(node, `{ item(id: ${id}) { id slug prices { market label price } } }`)
      expect((await byGraphql(from)).data).toEqual((await byGraphql(into)).data)
      expect((await byGraphql(from)).data).toMatchObject({ item: { id: String(into) } })
    }),
  )

  test(
    'lists and searches return the remaining item only',
    bothNodes(async (node) => {
      for (const query of ['?search=charizard+full', '/search?q=charizard+full']) {
        const { body } = await listed(node, query)
        expect(body.data.map(({ id }) => id)).toEqual([into])
        expect(body.pagination!.total).toBe(1)
      }
      // The moved prices belong to the survivor, which a search by their market finds.
      expect((await listed(node, '?market=source_a&search=full')).body.data.map(({ id }) => id)).toEqual([into])
    }),
  )

  test(
    'current prices: the later one of a market and label is kept',
    bothNodes(async (node) => {
      const prices = (await current(node, into)).map(({ market, label, price }) => `${market} ${label} ${price}`)
      // 1,005: the median of the moved sales, which was the other item's service price before.
      expect(prices).toEqual([
        'service Near Mint 1005',
        'source_a Near Mint 100',
        'source_a PSA 10 900',
        'source_b Near Mint 50',
        'source_b PSA 9 10',
        'source_c Near Mint 120',
      ])
      expect(await current(node, from)).toEqual(await current(node, into))
    }),
  )

  test(
    'the history contains the points of both items',
    bothNodes(async (node) => {
      const points = await history(node, into, '?market=source_b&label=Near+Mint')
      expect(points.map(({ price, updated_at }) => [price, updated_at])).toEqual([
        [60, '2026-10-01T00:00:00.000Z'],
        [50, '2026-10-05T00:00:00.000Z'],
      ])
      expect(await history(node, from, '?market=source_b&label=Near+Mint')).toEqual(points)
      const periods = (id: number) =>
        send<unknown[]>(`${node.publicUrl}/api/v1/items/${id}/price-history?market=source_b&from=2026-09-01T00:00:00Z`, node.keys.professional)
      expect((await periods(from)).body.data).toHaveLength(3)
      expect((await periods(from)).body).toEqual((await periods(into)).body)
    }),
  )

  test('the item has the foreign ids of both', async () => {
    const { body } = await operator<{ id: number; foreign_ids: object[] }>(here, 'GET', `/items/${from}`)
    expect(body.data).toMatchObject({
      id: into,
      foreign_ids: [
        { source: 'cardmarket', id: 'full-1' },
        { source: 'pokemontcg', id: 'full-4' },
        { source: 'tcgdex', id: 'full-4' },
      ],
    })
  })

  test(
    'listings refer to the remaining item, and keep slug and approval',
    bothNodes(async (node) => {
      const { body } = await send<{ id: number; slug: string; item: { id: number } }[]>(
        `${node.publicUrl}/api/v1/plus/listings?search=${encodeURIComponent('full')}&with_item=1`,
        node.keys.plus,
      )
      expect(body.data).toMatchObject([{ id: hung.listing.id, slug: hung.listing.slug, item: { id: into } }])
      const own = (await operator<{ item_id: number; etag: string; changed_since_approval: object[] }>(node, 'GET', `/listings/${hung.listing.id}`))
        .body.data
      expect(own).toMatchObject({ item_id: into, changed_since_approval: [] })
    }),
  )

  test('a paused listing is published again without a new approval', async () => {
    const { body } = await send(`${here.publicUrl}/api/v1/plus/listings/${hung.paused.id}/status?action=publish`, here.keys.plus, { method: 'POST' })
    expect(body.data).toMatchObject({ status: 'active' })
  })

  test(
    'filters by the old id find the remaining item',
    bothNodes(async (node) => {
      const counts = async (id: number) => {
        const total = async (path: string) => (await operator<object[]>(node, 'GET', path)).body.pagination!.total
        const recent = await send(`${node.publicUrl}/api/v1/plus/recent-sales?item_id=${id}`, node.keys.plus)
        return [
          await total(`/listings?item_id=${id}`),
          await total(`/sales?item_id=${id}`),
          await total(`/orders?item_id=${id}`),
          await total(`/held-prices?item_id=${id}`),
          recent.body.pagination!.total,
        ]
      }
      expect(await counts(from)).toEqual([2, 2, 2, 1, 2])
      expect(await counts(into)).toEqual([2, 2, 2, 1, 2])
    }),
  )

  test(
    'collection records refer to the remaining item',
    bothNodes(async (node) => {
      const { slug } = (await item(node, into)).body.data
      expect(await collector(node, here.keys.plus).list(hung.collection)).toMatchObject([
        { id: hung.record.id, item_id: into, item_slug: slug, quantity: 2 },
      ])
    }),
  )

  test('writes with the old id apply to the remaining item', async () => {
    const mine = collector(here, here.keys.plus)
    const added = (await mine.add(hung.collection, { item_id: from })).body.data
    expect(added).toMatchObject({ item_id: into })
    const document = `mutation { addCollectionItem(collectionId: ${hung.collection}, input: { itemId: ${from} }) { id itemId } }`
    const twin = await ask<{ addCollectionItem: { itemId: string } }>(here, document, { plan: 'plus' })
    expect(twin.data.addCollectionItem.itemId).toBe(String(into))
    const listing = await pending(here, from)
    expect(listing.item_id).toBe(into)
    const corrected = await operator<{ item_id: number }>(here, 'PATCH', `/listings/${listing.id}`, { item_id: from })
    expect(corrected.body.data.item_id).toBe(into)
    expect((await postPrices(here, [{ item_id: from, market: 'source_c', price: 121, updated_at: '2026-11-01T00:00:00Z' }])).accepted).toBe(1)
    const byRef = { item_ref: 'full:a', market: 'source_c', label: 'Near Mint', price: 122, updated_at: '2026-11-02T00:00:00Z' }
    expect((await operator<{ accepted: number }>(here, 'POST', '/prices', [byRef])).body.data.accepted).toBe(1)
    expect((await current(here, into)).find(({ market }) => market === 'source_c')!.price).toBe(122)
    const changed = await operator<{ id: number; name: string }>(here, 'PATCH', `/items/${from}`, { name: 'Charizard full of life' })
    expect(changed.body.data).toMatchObject({ id: into, name: 'Charizard full of life' })
    await until('the other node has the name', async () => (await item(there, from)).body.data.name === 'Charizard full of life')
  })

  test('a file about the merged item creates no duplicate', async () => {
    const report = await importText(
      here,
      'mintmark-ndjson',
      JSON.stringify({
        type: 'item',
        market: 'source_a',
        ref: 'full:a',
        name: 'Charizard full',
        code: '4/102',
        genre: 'single',
        game: 'pokemon',
        category: 'base',
        images: [],
        attributes: [],
        groups: [],
        details: {},
        foreign_ids: [],
        prices: [{ market: 'source_a', label: 'Near Mint', price: '101.00', updated_at: '2026-11-03T00:00:00Z' }],
      }),
    )
    expect(report.counts).toMatchObject({ created: 0, updated: 0, unchanged: 1, accepted: 1 })
    expect((await current(here, into)).find(({ market, label }) => market === 'source_a' && label === 'Near Mint')!.price).toBe(101)
    const second = await operator(here, 'POST', '/items', { ref: 'full:a', market: 'source_a', name: 'Another', category_id: 1 })
    expect(second.status).toBe(409)
  })

  test('the audit log and the list of merges contain it', async () => {
    const audit = await operator<{ action: string; subject_id: string; after: object }[]>(here, 'GET', `/audit?action=item.merge`)
    expect(audit.body.data).toContainEqual(expect.objectContaining({ subject_id: String(from), after: { into, merge: mergeId } }))
    const merges = await operator<{ id: number }[]>(here, 'GET', `/merges?item_id=${from}&state=in_effect`)
    expect(merges.body.data.map(({ id }) => id)).toEqual([mergeId])
    expect((await operator<object[]>(here, 'GET', `/merges?item_id=${from}&state=undone`)).body.data).toEqual([])
  })
})

test('of two prices with the same time, the one of the later import is current and in the history', async () => {
  const ids = await makeTwins(here, [
    { ref: 'tie:a', market: 'source_a' },
    { ref: 'tie:b', market: 'source_c' },
  ])
  const at = '2026-10-10T00:00:00Z'
  const row = (ref: string, price: number) => ({ item_id: ids[ref]!, market: 'source_b', price, updated_at: at })
  await postPrices(here, [row('tie:b', 20)])
  await postPrices(here, [row('tie:a', 21)])
  await merged(here, ids['tie:a']!, ids['tie:b']!)
  expect((await current(here, ids['tie:b']!)).map(({ price }) => price)).toEqual([21])
  expect((await history(here, ids['tie:b']!)).map(({ price }) => price)).toEqual([21])

  const same = await makeTwins(here, [
    { ref: 'tie:c', market: 'source_a' },
    { ref: 'tie:d', market: 'source_c' },
  ])
  await postPrices(here, [
    { item_id: same['tie:c']!, market: 'source_b', price: 30, updated_at: at },
    { item_id: same['tie:d']!, market: 'source_b', price: 31, updated_at: at },
  ])
  await merged(here, same['tie:c']!, same['tie:d']!)
  expect((await current(here, same['tie:d']!)).map(({ price }) => price)).toEqual([31])
  expect((await history(here, same['tie:d']!)).map(({ price }) => price)).toEqual([31])
})

test('reverting the import that won such a tie restores the other price', async () => {
  const ids = await makeTwins(here, [
    { ref: 'rev:a', market: 'source_a' },
    { ref: 'rev:b', market: 'source_c' },
  ])
  const at = '2026-10-10T00:00:00Z'
  await postPrices(here, [{ item_id: ids['rev:b']!, market: 'source_b', price: 20, updated_at: at }])
  const later = await postPrices(here, [{ item_id: ids['rev:a']!, market: 'source_b', price: 21, updated_at: at }])
  await merged(here, ids['rev:a']!, ids['rev:b']!)
  await operator(here, 'POST', `/imports/${later.import_id}/revert`)
  expect((await current(here, ids['rev:b']!)).map(({ price }) => price)).toEqual([20])
})

test("the service's own price is computed from the sales of both", async () => {
  const ids = await makeTwins(here, [
    { ref: 'sold:a', market: 'source_a' },
    { ref: 'sold:b', market: 'source_c' },
  ])
  await hangOn(here, ids['sold:a']!, 100)
  await hangOn(here, ids['sold:b']!, 200)
  await merged(here, ids['sold:a']!, ids['sold:b']!)
  const service = (await current(here, ids['sold:b']!)).find(({ market }) => market === 'service')!
  // The median of 100, 110, 200 and 210.
  expect(service.price).toBe(155)
  // Both had the same price pending: only one remains.
  expect((await operator<object[]>(here, 'GET', `/held-prices?item_id=${ids['sold:b']!}`)).body.data).toHaveLength(1)
  expect((await operator<object[]>(here, 'GET', `/held-prices?item_id=${ids['sold:b']!}&state=discarded`)).body.data).toHaveLength(1)
})

test('an item merged into one that is merged again refers to the last one, on every node', async () => {
  const ids = await makeTwins(
    here,
    ['a', 'b', 'c'].map((ref) => ({ ref: `chain:${ref}`, market: 'source_a', name: `Chain ${ref}` })),
  )
  const [a, b, c] = ['a', 'b', 'c'].map((ref) => ids[`chain:${ref}`]!) as [number, number, number]
  await merged(here, a, b)
  await merged(here, b, c)
  expect((await item(here, a)).body.data.id).toBe(c)
  await until('the other node follows', async () => (await item(there, a)).body.data.id === c && (await item(there, b)).body.data.id === c)
  await there.catalogue.reload()
  expect((await item(there, a)).body.data.id).toBe(c)
  expect((await operator<{ id: number }>(here, 'GET', `/items/${a}`)).body.data.id).toBe(c)
  // Merging into an alias merges into the item that it refers to.
  const [d] = Object.values(await makeTwins(here, [{ ref: 'chain:d', market: 'source_a' }])) as [number]
  expect((await merge(here, d, a)).body.data.into.id).toBe(c)
})

test('a preview counts what the merge moves, changes nothing, and fails as the merge would', async () => {
  const ids = await makeTwins(here, [
    { ref: 'preview:a', market: 'source_a' },
    { ref: 'preview:b', market: 'source_c' },
  ])
  const [from, into] = [ids['preview:a']!, ids['preview:b']!]
  await postPrices(here, [
    { item_id: from, market: 'source_b', price: 20, updated_at: '2026-10-10T00:00:00Z' },
    { item_id: from, market: 'source_b', price: 21, updated_at: '2026-10-11T00:00:00Z' },
  ])
  await hangOn(here, from, 500)
  const preview = (body: object) => operator<Merge>(here, 'POST', `/items/${from}/merge?dry_run=1`, body)
  const before = await stateOf(here)
  const { status, body: planned } = await preview({ into })
  expect([status, planned.message, planned.data.dry_run]).toEqual([200, 'Preview only; nothing was changed', true])
  expect(await stateOf(here)).toEqual(before)
  expect((await operator(here, 'POST', `/items/${from}/merge?dry_run=yes`, { into })).status).toBe(422)
  expect((await preview({ into: from })).status).toBe(409)
  expect((await preview({ into: 999_999 })).status).toBe(422)
  const real = (await merge(here, from, into)).body.data
  expect(real.moved).toEqual(planned.data.moved)
  expect(real.moved).toMatchObject({ listings: expect.toSatisfy((count) => count > 0), sales: expect.toSatisfy((count) => count > 0) })
  expect(real).not.toHaveProperty('dry_run')
})

test('invalid merges are rejected with the reason', async () => {
  const ids = await makeTwins(
    here,
    ['a', 'b', 'c'].map((ref) => ({ ref: `bad:${ref}`, market: 'source_a' })),
  )
  const [a, b, c] = ['a', 'b', 'c'].map((ref) => ids[`bad:${ref}`]!) as [number, number, number]
  const refused = async (from: number | string, body: unknown) => {
    const reply = await operator(here, 'POST', `/items/${from}/merge`, body)
    return [reply.status, reply.body.error!.code, reply.body.error!.message]
  }
  expect(await refused(a, { into: a })).toEqual([409, 'CONFLICT', `Item ${a} cannot be merged into itself`])
  expect(await refused(999_999, { into: a })).toEqual([404, 'NOT_FOUND', 'Item not found: 999999'])
  expect(await refused(2 ** 40, { into: a })).toMatchObject([404, 'NOT_FOUND', expect.any(String)])
  for (const into of [999_999, 0, -1, 2 ** 40])
    expect(await refused(a, { into })).toEqual([422, 'VALIDATION_ERROR', `into must be the id of an existing item, not ${into}`])
  for (const body of [{}, { into: 'b' }, { into: b, force: true }]) expect((await refused(a, body)).slice(0, 2)).toEqual([422, 'VALIDATION_ERROR'])
  expect((await refused('x', { into: a }))[0]).toBe(422)
  await merged(here, a, b)
  expect(await refused(a, { into: c })).toEqual([409, 'CONFLICT', `Item ${a} is already merged into item ${b}`])
  expect(await refused(b, { into: a })).toEqual([409, 'CONFLICT', `Item ${b} cannot be merged into itself`])
})

test('the same request again under one Idempotency-Key merges once', async () => {
  const ids = await makeTwins(here, [
    { ref: 'key:a', market: 'source_a' },
    { ref: 'key:b', market: 'source_c' },
  ])
  const once = () =>
    operator<{ id: number }>(here, 'POST', `/items/${ids['key:a']!}/merge`, { into: ids['key:b']! }, { 'idempotency-key': 'merge once' })
  const first = await once()
  expect((await once()).body).toEqual(first.body)
})
