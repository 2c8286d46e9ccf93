// Request bodies as real programs send them: encodings, charsets, byte order marks, values other than objects, and unknown fields.
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode } from '../support/node.ts'
import { importOneItem } from '../support/one-item.ts'
import { rulesIn } from '../support/reasons.ts'

let node: TestNode
let listing: number
let collection: number
let record: number
let item: number

function operator<T = { id: number }>(path: string, json: unknown, method = 'POST', headers = {}) {
  return send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { json, method, headers })
}

beforeAll(async () => {
  node = await startTestNode()
  item = await importOneItem(node)
  listing = (await operator('/listings', { seller_id: node.accounts.plus, item_id: item, title: 'Only', price: 10, quantity: 5 })).body.data.id
  await operator(`/listings/${listing}/approve`, {})
  collection = (await operator('/collections', { account_id: node.accounts.plus, name: 'Binder' })).body.data.id
  record = (await plus<{ id: number }>('POST', `/collections/${collection}/items`, JSON.stringify({ item_id: item }))).body.data.id
})

afterAll(() => node.close())

function plus<T = unknown>(method: string, path: string, body: string | Uint8Array, headers: Record<string, string> = {}) {
  return send<T>(`${node.publicUrl}/api/v1/plus${path}`, node.keys.plus, { method, body, headers })
}

const price = (body: string | Uint8Array, headers = {}) => plus<{ price: number }>('PATCH', `/listings/${listing}/price`, body, headers)

function expectError({ status, body }: Reply, expectedStatus: number, code: string, rule: string): void {
  expect([status, body.error?.code, rulesIn(body.error)]).toEqual([expectedStatus, code, rule])
}

describe('a JSON body', () => {
  test('that is not an object returns 400', async () => {
    for (const body of ['null', '[]', '"x"', '5', 'true', '[{"price": 5}]']) {
      expectError(await price(body), 400, 'INVALID_JSON', 'json_object body')
    }
    for (const body of ['{', '{"price": 5,}', "{'price': 5}", 'price=5', '{"price": NaN}', '\ufeff', '{"price": 5} x']) {
      expectError(await price(body), 400, 'INVALID_JSON', 'json body')
    }
    expect((await operator('/accounts', null)).body.error?.code).toBe('INVALID_JSON')
  })

  test('with a duplicate key returns 400 and names the key', async () => {
    const refused: [string, string][] = [
      ['{"price": 5, "price": 6}', '"price"'],
      ['{"price": 5, "pri\\u0063e": 6}', '"pri\\u0063e"'],
      ['{"a\\"": {"x": "y\\\\", "b": [{"c:": 1}, {"d": 1, "e": {}, "d": 2}]}}', '"d"'],
      ['{"__proto__": 1, "__proto__": 2}', '"__proto__"'],
      ['{"": 1, "": 2}', '""'],
    ]
    for (const [body, key] of refused) expectError(await price(body), 400, 'INVALID_JSON', `json_key body ${key}`)
    const created = await send(`${node.operatorUrl}/operator/v1/accounts`, OPERATOR_TOKEN, {
      method: 'POST',
      body: '{"name": "Shop", "plan": "plus", "name": "Other"}',
    })
    expectError(created, 400, 'INVALID_JSON', 'json_key body "name"')
    // The same key in different objects, and texts that look like keys.
    const lines = [
      { listing_id: listing, quantity: 0 },
      { listing_id: listing, quantity: 0 },
    ]
    expect((await operator('/orders', { order_id: 1, lines })).status).toBe(422)
    expect((await plus('PATCH', `/collections/${collection}/items/${record}`, JSON.stringify({ note: '"note": "a", "note": \\' }))).status).toBe(200)
  })

  test('may start with a byte order mark, as Windows programs write it', async () => {
    expect((await price('\ufeff{"price": 11}')).body.data.price).toBe(11)
  })

  test('must be UTF-8, whatever charset its sender declares', async () => {
    for (const type of [
      'application/json',
      'application/json; charset=utf-8',
      'Application/JSON;Charset="UTF-8"',
      'application/json; charset=utf8',
    ]) {
      expect((await price('{"price": 12}', { 'content-type': type })).status).toBe(200)
    }
    for (const type of ['application/json; charset=iso-8859-9', 'application/json; charset=utf-16', 'application/json;charset="windows-1254"']) {
      expectError(await price('{"price": 13}', { 'content-type': type }), 415, 'UNSUPPORTED_MEDIA_TYPE', 'body_json')
    }
    // Pikaçu in ISO 8859-9: decoding it as UTF-8 would store something else.
    const latin = Buffer.from('{"title": "Pika\xe7u"}', 'latin1')
    expectError(await plus('PATCH', `/listings/${listing}`, latin), 400, 'INVALID_JSON', 'utf8 body')
  })

  test('returns an error for every invalid field', async () => {
    const wrong = { price: 'x', title: 5, description: 5, shipping_payer: 'x', offers_enabled: 'x', min_offer_price: 'x', a: 1, b: 1, c: 1, d: 1 }
    const { body } = await plus('PATCH', `/listings/${listing}`, JSON.stringify(wrong))
    expect(body.error!.details!.map(({ field }) => field).sort()).toEqual(Object.keys(wrong).sort())
  })

  test('follows the same rules in GraphQL', async () => {
    const graphql = (body: string | Buffer<ArrayBuffer>, type = 'application/json') =>
      send(`${node.publicUrl}/graphql`, node.keys.plus, { method: 'POST', body, headers: { 'content-type': type } }) as Promise<{
        status: number
        body: { data?: unknown; errors?: { message: string; extensions: { code: string; rule?: string } }[] }
      }>
    expect(await graphql('\ufeff{"query": "{ __typename }"}')).toMatchObject({ status: 200, body: { data: { __typename: 'Query' } } })
    expect(await graphql('{"query": "{ __typename }"}', 'application/json; charset=utf-16')).toMatchObject({
      status: 415,
      body: { errors: [{ extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' } }] },
    })
    const latin = Buffer.from('{"query": "{ items(search: \\"Pika\xe7u\\") { nodes { id } } }"}', 'latin1')
    expect(await graphql(latin)).toMatchObject({ status: 400, body: { errors: [{ extensions: { code: 'INVALID_JSON', rule: 'utf8' } }] } })
  })

  test('of another type returns 415', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/vnd.api+json',
      'application/jsonx',
      'multipart/form-data; boundary=x',
    ]) {
      expectError(await price('{"price": 13}', { 'content-type': type }), 415, 'UNSUPPORTED_MEDIA_TYPE', 'body_json')
    }
  })

  test('may be compressed; other encodings return 415, broken ones 400, and bodies that expand beyond the limit 413', async () => {
    const body = Buffer.from('{"price": 14}')
    const packed = { gzip: gzipSync(body), deflate: deflateSync(body), br: brotliCompressSync(body), identity: body }
    for (const [encoding, bytes] of Object.entries(packed)) {
      expect([encoding, (await price(bytes, { 'content-encoding': encoding })).status]).toEqual([encoding, 200])
    }
    for (const encoding of ['compress', 'nonsense', 'gzip, gzip']) {
      expectError(await price(body, { 'content-encoding': encoding }), 415, 'UNSUPPORTED_MEDIA_TYPE', 'body_encoding gzip,deflate,br')
    }
    expectError(await price(body, { 'content-encoding': 'gzip' }), 400, 'BAD_REQUEST', 'body_packed')
    const bomb = gzipSync(`{"price": 14${' '.repeat(20_000_000)}}`)
    expectError(await price(bomb, { 'content-encoding': 'gzip' }), 413, 'PAYLOAD_TOO_LARGE', 'body_size')
  })

  test('of 1 MB is accepted, and a larger one returns 413', async () => {
    const padded = (size: number) => `{"price": 15${' '.repeat(size - 13)}}`
    expect((await price(padded(1024 * 1024))).status).toBe(200)
    expectError(await price(padded(1024 * 1024 + 1)), 413, 'PAYLOAD_TOO_LARGE', 'body_size')
  })
})

describe('an unknown field', () => {
  test('is rejected with the list of allowed fields, without path parameters', async () => {
    const own = 'price, quantity, sku, title, description, shipping_payer, offers_enabled, min_offer_price, images, certificate, dry_run'
    const recordFields = 'quantity, for_trade, purchase_price, sale_price, purchase_date, card_uniq_id, note, certificate'
    const answers: [Promise<Reply>, string, string][] = [
      [price('{"price": 1, "x": 1}'), 'PLUS_LISTING_ERROR', 'price,dry_run'],
      [plus('PATCH', `/listings/${listing}`, '{"x": 1}'), 'PLUS_LISTING_ERROR', own],
      [plus('POST', `/listings/${listing}/status?action=pause`, '{"x": 1}'), 'PLUS_LISTING_ERROR', 'action, dry_run'],
      [plus('POST', '/make-highlight', `{"id": ${listing}, "x": 1}`), 'PLUS_LISTING_ERROR', 'id, dry_run'],
      [
        plus('POST', `/collections/${collection}/items`, `{"item_id": ${item}, "x": 1}`),
        'PLUS_COLLECTION_ERROR',
        `item_id, item_group_type_id, ${recordFields}, dry_run`,
      ],
      [plus('PATCH', `/collections/${collection}/items/${record}`, '{"x": 1}'), 'PLUS_COLLECTION_ERROR', `${recordFields}, dry_run`],
      [plus('PUT', '/webhook', '{"url": "https://example.com/", "x": 1}'), 'VALIDATION_ERROR', 'url, on_sale, on_expire, is_active, dry_run'],
      [operator(`/accounts/${node.accounts.plus}`, { x: 1 }, 'PATCH'), 'VALIDATION_ERROR', 'name, plan, suspended, listing_intake'],
      [operator(`/accounts/${node.accounts.plus}/credits`, { amount: 1, x: 1 }), 'VALIDATION_ERROR', 'amount, reason'],
      [operator(`/collections/${collection}`, { x: 1 }, 'PATCH'), 'VALIDATION_ERROR', 'name, description, visibility'],
      [operator(`/listings/${listing}/undo-decision`, { x: 1 }), 'VALIDATION_ERROR', ''],
    ]
    for (const [answer, code, allowed] of answers) {
      const { status, body } = await answer
      expect([status, body.error?.code, rulesIn(body.error)]).toEqual([422, code, `x unknown_field ${allowed.replaceAll(', ', ',')}`.trim()])
    }
  })

  test('inside a list or an object is named with its path', async () => {
    const { body } = await operator('/orders', { order_id: 1, lines: [{ listing_id: listing, quantity: 1, x: 1 }] })
    expect(rulesIn(body.error)).toBe('lines.0.x unknown_field listing_id,quantity,unit_price')
  })
})

describe('the same body again', () => {
  test('is the same request, whatever the order of fields', async () => {
    const repeated = { 'idempotency-key': 'fields-in-another-order' }
    const first = await operator('/accounts', { name: 'Twice', plan: 'plus' }, 'POST', repeated)
    const again = await operator('/accounts', { plan: 'plus', name: 'Twice' }, 'POST', repeated)
    expect([again.status, again.body]).toEqual([first.status, first.body])
    expectError(await operator('/accounts', { plan: 'plus', name: 'Other' }, 'POST', repeated), 409, 'IDEMPOTENCY_CONFLICT', 'idempotency_request')
  })

  test('of an order returns the first response, byte for byte', async () => {
    const post = async (json: unknown) => {
      const answer = await fetch(`${node.operatorUrl}/operator/v1/orders`, {
        method: 'POST',
        headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify(json),
      })
      return [answer.status, await answer.text()]
    }
    const first = await post({ order_id: 71, lines: [{ listing_id: listing, quantity: 1, unit_price: 9.99 }] })
    expect(first[0]).toBe(201)
    expect(await post({ lines: [{ unit_price: 9.99, quantity: 1, listing_id: listing }], order_id: 71 })).toEqual(first)
  })
})
