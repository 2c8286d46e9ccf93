// Times out of range, and texts that are invisible or change the order of letters: rejected by name in every field.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask } from '../graphql/client.ts'
import { makeCatalogue, operator, orderId, pending, plus, published } from '../market/kit.ts'
import { importText, send, startTestNode, type TestNode } from '../support/node.ts'
import { rulesIn } from '../support/reasons.ts'

let node: TestNode
let item: number
let collection: number

beforeAll(async () => {
  node = await startTestNode()
  item = (await makeCatalogue(node)).items.char!
  collection = (await operator<{ id: number }>(node, 'POST', '/collections', { account_id: node.accounts.plus, name: 'Binder' })).body.data.id
})

afterAll(() => node.close())

interface Answer {
  status: number
  body: { error?: { code: string; message: string; details?: { field: string; message: string; rule: string; params: object }[] } }
}

function expectRefused({ status, body }: Answer, field: string, rule: RegExp) {
  expect([status, rulesIn(body.error)]).toEqual([422, expect.stringMatching(rule)])
  expect(body.error!.details!.map((problem) => problem.field)).toContain(field)
}

describe('times from 1970 to 9999', () => {
  const OUT = ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '1969-12-31T23:59:59Z', '1970-01-01T00:00:00+03:00', '9999-12-31T23:59:59-03:00']
  const RANGE = /1970-01-01 9999-12-31/

  test.each(OUT)('%s in bodies', async (time) => {
    const { id } = await published(node, item)
    const waiting = await pending(node, item)
    expectRefused(
      await operator(node, 'POST', '/orders', { order_id: orderId(), sold_at: time, lines: [{ listing_id: id, quantity: 1 }] }),
      'sold_at',
      RANGE,
    )
    expectRefused(await operator(node, 'POST', `/listings/${waiting.id}/approve`, { expires_at: time }), 'expires_at', RANGE)
    expectRefused(await operator(node, 'POST', `/accounts/${node.accounts.plus}/keys`, { expires_at: time }), 'expires_at', RANGE)
    const prices = await operator<{ rejected: number; errors: { rule: string }[] }>(node, 'POST', '/prices', [
      { item_id: item, market: 'source_a', label: 'Near Mint', price: 1, updated_at: time },
    ])
    expect(prices.body.data).toMatchObject({ rejected: 1 })
    expect(prices.body.data.errors).toMatchObject([{ field: 'updated_at', rule: 'time' }])
  })

  test.each(OUT)('%s in queries', async (time) => {
    for (const path of ['/audit', '/orders', `/accounts/${node.accounts.plus}/credits`, `/items/${item}/price-history`]) {
      for (const name of ['from', 'to']) expectRefused(await operator(node, 'GET', `${path}?${name}=${encodeURIComponent(time)}`), name, RANGE)
    }
    const history = `${node.publicUrl}/api/v1/items/${item}/price-history?to=${encodeURIComponent(time)}`
    expectRefused(await send(history, node.keys.professional), 'to', RANGE)
  })

  test.each(['0000-01-01', '0001-01-01', '1969-12-31'])('%s as a day, over REST, GraphQL and in files', async (day) => {
    expectRefused(await plus(node, 'POST', `/collections/${collection}/items`, { item_id: item, purchase_date: day }), 'purchase_date', RANGE)
    expectRefused(await operator(node, 'POST', '/rates', { day, currency: 'USD', TRY: 40 }), 'rates.day', RANGE)
    const mutation = `mutation { addCollectionItem(collectionId: ${collection}, input: { itemId: ${item}, purchaseDate: "${day}" }) { id } }`
    const added = await ask(node, mutation, { plan: 'plus' })
    expect(rulesIn(added.errors![0]!.extensions)).toMatch(RANGE)
  })

  test('exactly at the limits', async () => {
    const { id } = await published(node, item)
    const first = { order_id: orderId(), sold_at: '1970-01-01T00:00:00Z', lines: [{ listing_id: id, quantity: 1 }] }
    expect((await operator(node, 'POST', '/orders', first)).status).toBe(201)
    const waiting = await pending(node, item)
    expect((await operator(node, 'POST', `/listings/${waiting.id}/approve`, { expires_at: '9999-12-31T23:59:59Z' })).status).toBe(200)
    for (const day of ['1970-01-01', '9999-12-31']) {
      expect((await plus(node, 'POST', `/collections/${collection}/items`, { item_id: item, purchase_date: day })).status).toBe(201)
    }
    expect((await operator(node, 'GET', '/audit?from=1970-01-01T00:00:00Z&to=9999-12-31T23:59:59Z')).status).toBe(200)
  })

  test('a price of the last possible month can be held, accepted and read', async () => {
    const posted = await operator<{ held: number }>(node, 'POST', '/prices', [
      { item_id: item, market: 'source_b', label: 'Near Mint', price: 5, updated_at: '9999-12-31T23:59:59Z' },
    ])
    expect(posted.body.data.held).toBe(1)
    const held = await operator<{ id: number }[]>(node, 'GET', '/held-prices')
    expect((await operator(node, 'POST', `/held-prices/${held.body.data[0]!.id}/accept`, {})).status).toBe(200)
    expect((await operator(node, 'GET', `/items/${item}/price-history?market=source_b`)).body.data).toMatchObject([
      { updated_at: '9999-12-31T23:59:59.000Z' },
    ])
  })

  test('prices in files', async () => {
    const at = (updated_at: string) => ({
      type: 'item',
      market: 'source_c',
      ref: `at ${updated_at}`,
      name: 'x',
      code: null,
      genre: 'single',
      game: 'pokemon',
      category: 'base',
      images: [],
      attributes: [],
      groups: [],
      details: {},
      foreign_ids: [],
      prices: [{ market: 'source_a', label: 'Near Mint', price: '1.00', updated_at }],
    })
    const report = await importText(
      node,
      'mintmark-ndjson',
      ['0000-01-01T00:00:00Z', '1969-12-31T23:59:59Z'].map((time) => JSON.stringify(at(time))).join('\n'),
    )
    expect(report.counts.rejected).toBe(2)
    expect(report.errors.map(({ rule }) => rule)).toEqual(['time', 'time'])
  })
})

describe('texts', () => {
  const INVISIBLE = ['\u200b', '\u200d', '\u00ad', '\u3164', '\u2800', ' \u200b ']
  const REFUSED = ['Charizard\u202efd', 'Charizard\u2066x', 'Charizard\u2028x', 'Charizard\u2029x']
  const RULE = /on one line, with|without spaces at its ends/

  test.each([...INVISIBLE, ...REFUSED])('%j as a name', async (text) => {
    const { id } = await pending(node, item)
    const edited = await plus(node, 'PATCH', `/listings/${id}`, { title: text })
    expect(edited).toMatchObject({
      status: 422,
      body: {
        error: { code: 'PLUS_LISTING_ERROR', details: [{ field: 'title', rule: 'text', params: { form: expect.stringMatching(RULE) as string } }] },
      },
    })
    const mutation = await ask(node, 'mutation ($id: ID!, $title: String!) { updateListing(listingId: $id, input: { title: $title }) { id } }', {
      plan: 'plus',
      variables: { id: String(id), title: text },
    })
    expect(JSON.stringify(mutation.errors)).toMatch(RULE)
    expectRefused(await operator(node, 'POST', '/listings', { seller_id: node.accounts.plus, item_id: item, title: text, price: 1 }), 'title', RULE)
    expectRefused(await operator(node, 'POST', '/accounts', { name: text, plan: 'plus' }), 'name', RULE)
    expectRefused(await operator(node, 'POST', `/accounts/${node.accounts.plus}/keys`, { label: text }), 'label', RULE)
    expectRefused(await operator(node, 'POST', `/listings/${id}/reject`, { reason: text }), 'reason', RULE)
    expectRefused(await operator(node, 'POST', '/categories', { name: text, game: 'pokemon', market: 'source_c' }), 'name', RULE)
    expectRefused(await operator(node, 'PATCH', `/items/${item}`, { name: text }), 'name', RULE)
    expectRefused(await operator(node, 'POST', '/collections', { account_id: node.accounts.plus, name: text }), 'name', RULE)
  })

  test('descriptions and notes may have several lines, and are stored unchanged', async () => {
    const { id } = await pending(node, item)
    expect((await plus(node, 'PATCH', `/listings/${id}`, { description: 'First line\nSecond 👩‍👩‍👧‍👦' })).status).toBe(200)
    expect((await plus(node, 'PATCH', `/listings/${id}`, { description: 'First\n\u202eSecond' })).status).toBe(422)
    const note = (text: string) => plus(node, 'POST', `/collections/${collection}/items`, { item_id: item, note: text })
    expect([(await note('a\nb')).status, (await note('a\n\u202eb')).status]).toEqual([201, 422])
  })

  test('names in other scripts and emoji are valid', async () => {
    for (const title of ['👩‍👩‍👧‍👦', 'می‌خواهم', '\u200fעברית', 'ポケモン', 'İıŞşĞğ', 'e\u0301']) {
      const { id } = await pending(node, item)
      expect([title, (await plus(node, 'PATCH', `/listings/${id}`, { title })).status]).toEqual([title, 200])
    }
  })

  test('imported catalogues: control characters are removed, and an invisible text is not a name', async () => {
    const row = (id: number, name: string) => ({
      idProduct: id,
      name,
      idCategory: 1,
      categoryName: 'Pokémon Booster',
      idExpansion: 1,
      idMetacard: 0,
      dateAdded: '2024-01-01 00:00:00',
    })
    const file = JSON.stringify({
      version: 1,
      createdAt: '2026-11-01T00:00:00+0100',
      products: [row(1, 'Booster \u202ePack'), row(2, '\u200b\u3164')],
    })
    const report = await importText(node, 'cardmarket-products', file)
    expect(report.counts).toMatchObject({ rejected: 1 })
    const names = await node.db.kysely.selectFrom('items').select('name').where('name', 'like', 'Booster%').execute()
    expect(names).toEqual([{ name: 'Booster Pack' }])
  })
})
