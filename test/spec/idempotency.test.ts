// Idempotency-Key on every write: the same request again gets the first response and changes nothing, a different one is a conflict.
// Writes of the operator API are repeated in reference.test.ts, which sends each of them anyway.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { post } from '../graphql/client.ts'
import { makeCatalogue, operator, plus, published } from '../market/kit.ts'
import { filled, makeOwner, makeThings, type Owner, partsIn, stateOf, withIds } from '../reliability/authorisation-kit.ts'
import { GRAPHQL_ROWS, PUBLIC_ROWS } from '../reliability/authorisation-rows.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { rowsOf } from '../support/runs.ts'

let node: TestNode
let item: number
let owner: Owner

beforeAll(async () => {
  node = await startTestNode()
  item = (await makeCatalogue(node)).items.char!
  owner = await makeOwner(node, 'plus')
})

afterAll(() => node.close())

let keys = 0
const newKey = () => `key-${(keys += 1)}`

interface Answered {
  status: number
  text: string
  code: string | undefined
}

async function sendText(url: string, method: string, headers: Record<string, string>, body: string | Buffer | undefined): Promise<Answered> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers: { ...type, ...headers }, ...(body !== undefined && { body }) })
  const text = await response.text()
  const told = (text.startsWith('{') ? JSON.parse(text) : {}) as { error?: { code: string }; errors?: { extensions: { code: string } }[] }
  return { status: response.status, text, code: told.error?.code ?? told.errors?.[0]?.extensions.code }
}

describe('over GraphQL', () => {
  const price = (id: number, amount: number) => `mutation { done: updateListingPrice(listingId: ${id}, price: ${amount}) { id price } }`
  const mutate = (query: string, key: string, more: object = {}) =>
    post<{ done: { price: number } | null }>(node, JSON.stringify({ query, ...more }), {
      authorization: `Bearer ${node.keys.plus}`,
      'idempotency-key': key,
    })
  const priceOf = async (id: number) => (await operator(node, 'GET', `/listings/${id}`)).body.data.price

  test('a late repeat of a price does not restore it, and a different price is a conflict', async () => {
    const { id } = await published(node, item)
    const first = await mutate(price(id, 50), 'price-50')
    expect(first.data.done).toMatchObject({ price: 50 })
    await mutate(price(id, 60), 'price-60')
    const { status: _status, headers: _headers, ...repeated } = await mutate(price(id, 50), 'price-50')
    expect(repeated.data).toEqual(first.data)
    const other = await mutate(price(id, 70), 'price-50')
    expect(other.data.done).toBeNull()
    expect(other.errors![0]!.extensions).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT', status: 409 })
    expect(await priceOf(id)).toBe(60)
  })

  test('equivalent JSON is the same request; other variables and other names are not', async () => {
    const { id } = await published(node, item)
    const query = 'mutation ($price: Float!) { done: updateListingPrice(listingId: ID, price: $price) { id price } }'.replace('ID', String(id))
    expect((await mutate(query, 'variables', { variables: { price: 50 } })).data.done).toMatchObject({ price: 50 })
    const headers = { authorization: `Bearer ${node.keys.plus}`, 'idempotency-key': 'variables' }
    const spaced = await post<{ done: { price: number } }>(node, `{ "variables": {"price": 50.0}, "query": ${JSON.stringify(query)} }`, headers)
    expect(spaced.data.done).toMatchObject({ price: 50 })
    const codes = await Promise.all(
      [
        { q: query, price: 51 },
        { q: query.replace('done:', 'other:'), price: 51 },
        { q: query.replace('done:', 'other:'), price: 50 },
      ].map(async ({ q, price: amount }) => (await mutate(q, 'variables', { variables: { price: amount } })).errors?.[0]?.extensions.code),
    )
    expect(codes).toEqual(Array.from({ length: 3 }, () => 'IDEMPOTENCY_CONFLICT'))
    expect(await priceOf(id)).toBe(50)
  })

  test('of several mutations, each result is stored: a repeat executes only failed ones', async () => {
    const [one, two] = [await published(node, item), await published(node, item)]
    const query = `mutation {
      one: updateListingPrice(listingId: ${one.id}, price: 50) { price }
      two: setListingStatus(listingId: ${two.id}, action: "publish") { status }
      __proto__: updateListingPrice(listingId: ${two.id}, price: 51) { price } }`
    const failed = await mutate(query, 'several')
    expect(failed.errors?.map(({ path }) => path)).toEqual([['two']])
    await plus(node, 'POST', `/listings/${two.id}/status?action=pause`)
    await mutate(price(one.id, 60), 'between')
    const whole = await mutate(query, 'several')
    expect(whole.errors).toBeUndefined()
    expect(whole.data).toMatchObject({ one: { price: 50 }, two: { status: 'active' } })
    expect([await priceOf(one.id), await priceOf(two.id)]).toEqual([60, 51])
  })

  test('of concurrent requests, one is executed', async () => {
    const { id } = await published(node, item)
    const replies = await Promise.all(Array.from({ length: 8 }, () => mutate(price(id, 50), 'race')))
    for (const { data, errors } of replies) {
      if (data.done === null) expect(errors![0]!.extensions.code).toBe('IDEMPOTENCY_CONFLICT')
      else expect(data.done).toMatchObject({ price: 50 })
    }
    expect(replies.some(({ data }) => data.done !== null)).toBe(true)
    const audited = await operator<object[]>(node, 'GET', `/audit?subject_type=listing&subject_id=${id}&action=listing.reprice`)
    expect(audited.body.data).toHaveLength(1)
  })
})

test('of concurrent prices over REST, with and without keys, each counts once', async () => {
  const { id } = await published(node, item)
  const change = (price: number, key?: string) =>
    plus(node, 'PATCH', `/listings/${id}/price`, { price }, key === undefined ? {} : { headers: { 'idempotency-key': key } })
  const replies = await Promise.all([...Array.from({ length: 6 }, () => change(50, 'rest-race')), change(51), change(52), change(53, 'rest-other')])
  for (const { status, body } of replies) if (status !== 200) expect(body.error!.code).toBe('IDEMPOTENCY_CONFLICT')
  const audited = await operator<object[]>(node, 'GET', `/audit?subject_type=listing&subject_id=${id}&action=listing.reprice`)
  expect(audited.body.data).toHaveLength(4)
  await change(60)
  expect((await change(50, 'rest-race')).body.data.price).toBe(50)
  expect((await change(70, 'rest-race')).body.error!.code).toBe('IDEMPOTENCY_CONFLICT')
  expect((await operator(node, 'GET', `/listings/${id}`)).body.data.price).toBe(60)
})

test('an invalid key is rejected with the code of the family', async () => {
  const { id } = await published(node, item)
  const headers = { 'idempotency-key': 'x'.repeat(256) }
  const writes = [
    ['PATCH', `/listings/${id}/price`, { price: 61 }, 'PLUS_LISTING_ERROR'],
    ['POST', '/collections/1/items', { item_id: item }, 'PLUS_COLLECTION_ERROR'],
    ['PUT', '/webhook', { sale: { url: 'https://shop.example/hook' } }, 'VALIDATION_ERROR'],
  ] as const
  for (const [method, path, body, code] of writes) {
    const details = [{ field: 'Idempotency-Key', message: expect.any(String) as string }]
    expect(await plus(node, method, path, body, { headers })).toMatchObject({ status: 422, body: { error: { code, details } } })
  }
})

// Those that only a test key may call are repeated in test/sandbox/.
const REST_WRITES = Object.entries(PUBLIC_ROWS).filter(
  ([name, { reads, test: inSandbox, status = 200 }]) => !name.startsWith('GET ') && !reads && !inSandbox && status < 400,
)
const MUTATIONS = Object.entries(GRAPHQL_ROWS).filter(
  ([name, { test: inSandbox, missing }]) => name.startsWith('mutation ') && !inSandbox && missing === undefined,
)

/** Sends the first request twice, then the other one, all with the same key. */
async function repeat(ask: (key: string, other: boolean) => Promise<Answered>): Promise<void> {
  // Some writes are accepted once a minute.
  await node.db.kysely.deleteFrom('webhook_turns').execute()
  const key = newKey()
  const first = await ask(key, false)
  expect([first.status, first.code]).toEqual([first.status < 300 ? first.status : 200, undefined])
  const state = await writtenState()
  expect(await ask(key, false)).toEqual(first)
  expect((await ask(key, true)).code).toBe('IDEMPOTENCY_CONFLICT')
  expect(await writtenState()).toEqual(state)
}

/** Deliveries continue meanwhile: for events, only their number counts. */
async function writtenState(): Promise<Record<string, string>> {
  const { webhook_attempts: _attempts, webhooks: _health, webhook_events: events, ...state } = await stateOf(node)
  return { ...state, webhook_events: events!.split(' ')[0]! }
}

test.each(rowsOf(REST_WRITES))('%s', async (name, { query = '', body, upload }) => {
  const things = await makeThings(node, owner, item, partsIn(name, query, JSON.stringify(body)))
  const [method, path] = name.split(' ') as [string, string]
  const url = node.publicUrl + withIds(path, things)
  const sent = upload ?? (body && filled(JSON.stringify(body), things))
  await repeat((key, other) =>
    sendText(`${url}?${query}${other ? '&other=1' : ''}`, method, { authorization: `Bearer ${owner.key}`, 'idempotency-key': key }, sent),
  )
})

test.each(rowsOf(MUTATIONS))('%s', async (_name, { field }) => {
  const things = await makeThings(node, owner, item, partsIn(field))
  const query = `mutation { ${filled(field, things)} }`
  const headers = (key: string) => ({ authorization: `Bearer ${owner.key}`, 'idempotency-key': key })
  await repeat((key, other) =>
    sendText(`${node.publicUrl}/graphql`, 'POST', headers(key), JSON.stringify({ query: other ? `${query} # other` : query })),
  )
})
