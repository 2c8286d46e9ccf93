// The data of a price chart over HTTP: conversion by the rates of each day, states, held prices, sales, ranges, and the same over GraphQL.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DAY_MS } from '#core/duration.ts'
import { MARKETS } from '#core/markets.ts'
import { STATES } from '#prices/evidence/evidence-types.ts'
import type { PriceChart } from '#prices/history/price-chart.ts'
import { ask } from '../graphql/client.ts'
import { OPERATOR_TOKEN, type Reply, send, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
let item: number
let began: number
const at = (days: number) => new Date(began - days * DAY_MS).toISOString()
const day = (days: number) => at(days).slice(0, 10)

beforeAll(async () => {
  node = await startTestNode({ env: { PRICE_HOLD_FACTOR: '1000', SOURCE_CURRENCIES: 'source_b=EUR,source_c=USD' } })
  began = node.clock.now().getTime()
  const { id: category_id } = await operator<{ id: number }>('/categories', { name: 'Set', game: 'pokemon', market: 'source_c' })
  item = (await operator<{ id: number }>('/items', { name: 'Charizard', ref: 'chart:1', market: 'source_c', category_id })).id
  await operator('/rates', [
    { currency: 'USD', day: day(300), rate: 40 },
    { currency: 'EUR', day: day(300), rate: 44 },
    { currency: 'EUR', day: day(20), rate: 50 },
  ])
  const price = (market: string, days: number, amount: number, label = 'Near Mint') => {
    return { item_id: item, market, label, price: amount, updated_at: at(days) }
  }
  await operator('/prices', [price('source_c', 500, 60), price('source_c', 40, 80), price('source_c', 1, 90), price('source_c', 5, 900, 'PSA 10')])
  await operator('/prices', [price('source_b', 100, 70), price('source_b', 10, 66)])
  // A price dated in the future is held in any case.
  await operator('/prices', [price('source_b', -3, 160)])
  const disputed = { state: STATES.indexOf('disputed') }
  await node.db.kysely.updateTable('prices').set(disputed).where('market', '=', MARKETS.indexOf('source_b')).execute()
  const listing = { seller_id: node.accounts.plus, item_id: item, title: 'Charizard', price: 4_000, quantity: 9 }
  const { id } = await operator<{ id: number }>('/listings', listing)
  await operator(`/listings/${id}/approve`, {})
  await operator('/orders', { order_id: 1, sold_at: at(50), lines: [{ listing_id: id, quantity: 1 }] })
  await operator('/orders', { order_id: 2, sold_at: at(5), lines: [{ listing_id: id, quantity: 1 }] })
})
afterAll(() => node.close())

async function operator<T>(path: string, json: object): Promise<T> {
  const { status, body } = await send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { json })
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body.data
}

function read(query = '', key = node.keys.plus): Promise<Reply<PriceChart>> {
  return send<PriceChart>(`${node.publicUrl}/api/v1/items/${item}/price-chart?${query}`, key)
}

const seriesOf = (chart: PriceChart, market: string) => chart.series.find((one) => one.market === market)

describe('a price chart', () => {
  test('has the prices of each source in the currency of the shown market, by the rates of each day', async () => {
    const { data } = (await read()).body
    expect(data).toMatchObject({ item_id: item, label: 'Near Mint', labels: ['Near Mint', 'PSA 10'], currency: 'USD', range: '1y', from: day(365) })
    expect(data.currencies).toEqual(['TRY', 'USD', 'EUR'])
    expect(seriesOf(data, 'source_c')).toEqual({
      market: 'source_c',
      currency: 'USD',
      // The price at the start of the range is the one of 500 days ago.
      points: [
        { day: day(365), amount: 60, converted: 60, state: null },
        { day: day(40), amount: 80, converted: 80, state: null },
        { day: day(1), amount: 90, converted: 90, state: 'trusted' },
      ],
    })
    expect(seriesOf(data, 'source_b')).toEqual({
      market: 'source_b',
      currency: 'EUR',
      points: [
        { day: day(100), amount: 70, converted: 77, state: null },
        { day: day(10), amount: 66, converted: 82.5, state: 'disputed' },
      ],
    })
    expect(data.sales).toEqual([
      { at: at(50), amount: 4_000, currency: 'TRY', converted: 100 },
      { at: at(5), amount: 4_000, currency: 'TRY', converted: 100 },
    ])
    expect(data.sales_total).toBe(2)
  })

  test('has null where no exchange rate is known', async () => {
    const { data } = (await read('currency=TRY&range=all')).body
    expect(seriesOf(data, 'source_c')!.points.map(({ converted }) => converted)).toEqual([null, 3_200, 3_600])
    expect((await read('currency=JPY')).body.data.series.flatMap(({ points }) => points).every(({ converted }) => converted === null)).toBe(true)
  })

  test.each([
    ['1m', 30, 1],
    ['3m', 91, 2],
    ['1y', 365, 2],
  ])('of %s starts %i days ago', async (range, days, sales) => {
    const { data } = (await read(`range=${range}`)).body
    expect([data.from, data.sales!.length, seriesOf(data, 'source_c')!.points[0]!.day]).toEqual([day(days), sales, day(days)])
  })

  test('of everything starts with the first price', async () => {
    const { data } = (await read('range=all')).body
    expect([data.from, seriesOf(data, 'source_c')!.points[0]]).toEqual([day(500), { day: day(500), amount: 60, converted: 60, state: null }])
  })

  test('has sales from the Plus plan on, and held prices for operators only', async () => {
    expect((await read('', node.keys.professional)).body.data).toMatchObject({ sales: null, sales_total: null })
    expect(await read('', node.keys.starter)).toMatchObject({ status: 403 })
    const forOperators = async () => (await send<PriceChart>(`${node.operatorUrl}/operator/v1/items/${item}/price-chart`, OPERATOR_TOKEN)).body.data
    // One dated in the future would stretch the chart to that day.
    const future = await forOperators()
    expect(seriesOf(future, 'source_b')!.points.filter(({ state }) => state === 'held')).toEqual([])
    await node.db.kysely
      .updateTable('held_prices')
      .set({ updated_at: new Date(at(3)) })
      .execute()
    const stored = await forOperators()
    expect(seriesOf(stored, 'source_b')!.points.at(-1)).toEqual({ day: day(3), amount: 160, converted: 200, state: 'held' })
    const { series, ...rest } = (await read()).body.data
    expect({ ...stored, series: [], to: rest.to }).toEqual({ ...rest, series: [] })
    expect(series.flatMap(({ points }) => points).filter(({ state }) => state === 'held')).toEqual([])
  })

  test('of another label, and invalid parameters', async () => {
    const { data } = (await read('label=psa 10')).body
    expect([data.label, data.series.map(({ market }) => market), data.sales]).toEqual(['PSA 10', ['source_c'], []])
    for (const query of ['label=Shiny', 'currency=lira', 'range=2w']) expect([query, (await read(query)).status]).toEqual([query, 422])
  })

  test('over GraphQL equals REST', async () => {
    const query = `query ($id: ID!, $currency: String, $range: String) { item(id: $id) { priceChart(currency: $currency, range: $range) {
      label labels currency currencies range from salesTotal sales { at amount currency converted }
      series { market currency points { day amount converted state } } } } }`
    for (const variables of [{}, { currency: 'EUR', range: 'all' }] as Record<string, string>[]) {
      const { data, errors } = await ask<{ item: { priceChart: object } }>(node, query, { plan: 'plus', variables: { id: item, ...variables } })
      expect(errors).toBeUndefined()
      const { item_id: _item, to: _to, sales_total: salesTotal, ...rest } = (await read(String(new URLSearchParams(variables)))).body.data
      expect(data.item.priceChart).toEqual({ ...rest, salesTotal })
    }
  })
})
