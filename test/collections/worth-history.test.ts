// Worth of collections by day: recorded once a day, never twice and never late, and read over REST, GraphQL and the operator API.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordWorth } from '#collections/record-worth.ts'
import { readConfig } from '#config.ts'
import { ask } from '../graphql/client.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'
import { collector, makeCollection, makeItems, operator } from './kit.ts'

interface Day {
  day: string
  at: string
  currencies: { currency: string; value: number; cost: number; gain: number | null }[]
  without_price: number
  without_trusted_price: number
  without_cost: number
}

let node: TestNode
let ids: Record<string, number>
let plus: ReturnType<typeof collector>
/** when the recording runs next */
let now = new Date('2026-11-20T08:00:00Z')

beforeAll(async () => {
  node = await startTestNode()
  ids = await makeItems(node, [
    { ref: 'lira', name: 'Lira', prices: [['service', 'Near Mint', '100.10']] },
    { ref: 'euro', name: 'Euro', prices: [['source_b', 'Near Mint', '0.10']] },
    { ref: 'huge', name: 'Huge', prices: [['source_c', 'Near Mint', '9999999999.99']] },
    { ref: 'none', name: 'None' },
    // A graded card that costs less than an ungraded one: both prices are disputed.
    {
      ref: 'odd',
      name: 'Odd',
      prices: [
        ['source_c', 'Near Mint', '50.00'],
        ['source_c', 'PSA 10', '20.00'],
      ],
    },
  ])
  plus = collector(node, node.keys.plus)
})

afterAll(() => node.close())

const settings = readConfig({ PORT: '0', OPERATOR_PORT: '0' })
const record = (at: string) => {
  now = new Date(at)
  const { db, catalogue } = node
  return recordWorth({ db, catalogue, currencies: settings.sourceCurrencies, market: { timeZone: 'Europe/Istanbul' }, now: () => now })
}
const history = async (id: number, query = '') => (await plus.ask<Day[]>('GET', `/${id}/worth-history${query}`)).body.data
const days = async (id: number, query = '') => (await history(id, query)).map(({ day }) => day)
const setPrice = (price: number) =>
  operator(node, 'POST', '/prices', [{ item_id: ids.lira, market: 'service', label: 'Near Mint', price, updated_at: new Date().toISOString() }])

test("is recorded once a day in the service's time zone, and a missed day stays without a value", async () => {
  const id = await makeCollection(node, node.accounts.plus, 'By day')
  await plus.add(id, { item_id: ids.lira, quantity: 2, purchase_price: 120.55 })
  for (let i = 0; i < 10; i += 1) await plus.add(id, { item_id: ids.euro })
  await plus.add(id, { item_id: ids.none })
  await record('2026-11-20T20:59:59Z')
  const first: Day = {
    day: '2026-11-20',
    at: '2026-11-20T23:59:59+03:00',
    currencies: [
      { currency: 'TRY', value: 200.2, cost: 241.1, gain: -40.9 },
      { currency: 'EUR', value: 1, cost: 0, gain: null },
    ],
    without_price: 1,
    without_trusted_price: 0,
    without_cost: 11,
  }
  expect(await history(id)).toEqual([first])
  // In Istanbul, it is already the next day.
  await record('2026-11-20T21:00:00Z')
  await plus.add(id, { item_id: ids.lira })
  await record('2026-11-21T10:00:00Z')
  await record('2026-11-24T10:00:00Z')
  const [, second, third, ...others] = await history(id)
  expect(others).toEqual([])
  expect(second).toEqual({ ...first, day: '2026-11-21', at: '2026-11-21T00:00:00+03:00' })
  expect(third).toMatchObject({ day: '2026-11-24', currencies: [{ currency: 'TRY', value: 300.3 }, { currency: 'EUR' }] })
  await record('2026-11-22T10:00:00Z')
  expect(await days(id)).toEqual(['2026-11-20', '2026-11-21', '2026-11-22', '2026-11-24'])
  expect(await days(id, '?from=2026-11-21&to=2026-11-22')).toEqual(['2026-11-21', '2026-11-22'])
  expect(await days(id, '?from=2027-01-01')).toEqual([])
})

test('concurrent workers write one value, and values do not change with later prices', async () => {
  const id = await makeCollection(node, node.accounts.plus, 'Together')
  await plus.add(id, { item_id: ids.lira })
  await Promise.all(Array.from({ length: 5 }, () => record('2026-12-01T10:00:00Z')))
  await setPrice(105)
  await record('2026-12-01T11:00:00Z')
  await record('2026-12-02T11:00:00Z')
  expect((await history(id)).map(({ day, currencies }) => [day, currencies[0]!.value])).toEqual([
    ['2026-12-01', 100.1],
    ['2026-12-02', 105],
  ])
  await setPrice(100.1)
})

test('a collection without records has no value, and values are deleted with their collection', async () => {
  const id = await makeCollection(node, node.accounts.plus, 'Comes and goes')
  await record('2026-12-10T10:00:00Z')
  expect(await days(id)).toEqual([])
  const { body } = await plus.add(id, { item_id: ids.none })
  await record('2026-12-10T11:00:00Z')
  expect(await history(id)).toMatchObject([{ day: '2026-12-10', currencies: [], without_price: 1 }])
  await plus.remove(id, body.data.id)
  await record('2026-12-11T11:00:00Z')
  expect(await days(id)).toEqual(['2026-12-10'])
  expect((await operator(node, 'DELETE', `/collections/${id}`)).status).toBe(200)
  const left = await node.db.kysely.selectFrom('collection_worth_days').select('day').where('collection_id', '=', id).execute()
  expect(left).toEqual([])
})

test('untrusted prices are excluded and counted, as in the current worth', async () => {
  const id = await makeCollection(node, node.accounts.plus, 'Trusted only')
  await plus.add(id, { item_id: ids.lira })
  await plus.add(id, { item_id: ids.odd })
  await record('2026-12-20T10:00:00Z')
  const now = (await plus.ask<(Day & { id: number; worth: Omit<Day, 'day' | 'at'> })[]>('GET', '?with_value=1')).body.data
  const { day, at, ...worth } = (await history(id))[0]!
  expect([day, at]).toEqual(['2026-12-20', '2026-12-20T13:00:00+03:00'])
  expect(worth).toMatchObject({ currencies: [{ currency: 'TRY', value: 100.1 }], without_trusted_price: 1 })
  expect(worth).toEqual(now.find((collection) => collection.id === id)!.worth)
})

describe('is returned', () => {
  let id: number

  beforeAll(async () => {
    id = await makeCollection(node, node.accounts.plus, 'Huge')
    await plus.add(id, { item_id: ids.huge, quantity: 99_999, purchase_price: 0.01 })
    await plus.add(id, { item_id: ids.lira, quantity: 3, purchase_price: 0.07 })
    await record('2027-01-05T10:00:00Z')
  })

  test('over REST and the operator API, exact to the cent', async () => {
    const own = await fetch(`${node.publicUrl}/api/v1/plus/collections/${id}/worth-history`, {
      headers: { authorization: `Bearer ${node.keys.plus}` },
    })
    const text = await own.text()
    expect(text).toContain('"value":999989999999000.01')
    expect(text).toContain('{"currency":"TRY","value":300.3,"cost":1000.2,"gain":300.09}')
    const { body } = await operator<Day[]>(node, 'GET', `/collections/${id}/worth-history`)
    expect(body).toEqual(JSON.parse(text))
  })

  test('over GraphQL', async () => {
    const rest = await history(id)
    const query = `query ($id: ID!) { collectionWorthHistory(collectionId: $id, from: "2027-01-01") {
      day at currencies { currency value cost gain } withoutPrice withoutTrustedPrice withoutCost } }`
    const { data } = await ask<{ collectionWorthHistory: Record<string, unknown>[] }>(node, query, { plan: 'plus', variables: { id } })
    expect(data!.collectionWorthHistory).toEqual(
      rest.map(({ without_price: withoutPrice, without_trusted_price: withoutTrustedPrice, without_cost: withoutCost, ...day }) => ({
        ...day,
        withoutPrice,
        withoutTrustedPrice,
        withoutCost,
      })),
    )
  })

  test('errors name the invalid field', async () => {
    const foreign = await makeCollection(node, node.accounts.enterprise, 'Of another')
    const outcomeOf = async (path: string) => {
      const { status, body } = await send(`${node.publicUrl}/api/v1/plus/collections/${path}`, node.keys.plus)
      return [status, (body as { error?: { code: string; message: string } }).error?.code]
    }
    expect(await outcomeOf(`${foreign}/worth-history`)).toEqual([409, 'CONFLICT'])
    expect(await outcomeOf('999999/worth-history')).toEqual([404, 'NOT_FOUND'])
    for (const bad of ['from=2026-02-30', 'to=yesterday', 'from=20261101']) {
      expect(await outcomeOf(`${id}/worth-history?${bad}`)).toEqual([422, 'VALIDATION_ERROR'])
    }
    expect((await operator(node, 'GET', '/collections/999999/worth-history')).status).toBe(404)
  })
})
