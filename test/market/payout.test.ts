// Payouts: the preview equals what sales are recorded with, in both directions, exact to the kuruş.
import { payoutKurus, priceForPayout } from '#core/money.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PayoutPreview } from '#market/marketplace-types.ts'
import { ask } from '../graphql/client.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { makeCatalogue, operator, orderId, plus, published } from './kit.ts'
import { runs } from '../support/runs.ts'

/** Commissions in ten-thousandths of a percent. */
const percents = fc.integer({ min: 0, max: 1_000_000 }).map((millionths) => millionths / 10_000)
const prices = fc.oneof(fc.integer({ min: 100, max: 999_999_900 }), fc.integer({ min: 100, max: 20_000 }))

test('finds the lowest price for a payout', () => {
  fc.assert(
    fc.property(fc.nat(999_999_900), percents, (net, percent) => {
      const price = priceForPayout(net, percent)
      if (price === Infinity) {
        expect([percent, net > 0]).toEqual([100, true])
        return
      }
      expect(payoutKurus(price, 1, percent)).toBeGreaterThanOrEqual(net)
      if (price > 0) expect(payoutKurus(price - 1, 1, percent)).toBeLessThan(net)
    }),
    { numRuns: runs(20_000) },
  )
})

test('the lowest price for the payout of a price is that price or a lower one', () => {
  fc.assert(
    fc.property(prices, percents, (price, percent) => {
      const payout = payoutKurus(price, 1, percent)
      expect(priceForPayout(payout, percent)).toBeLessThanOrEqual(price)
      expect(payoutKurus(priceForPayout(payout, percent), 1, percent)).toBe(payout)
    }),
    { numRuns: runs(20_000) },
  )
})

let node: TestNode
let item: number

beforeAll(async () => {
  node = await startTestNode({ env: { COMMISSION_PERCENT: '12.345' } })
  item = (await makeCatalogue(node)).items.char!
})

afterAll(() => node.close())

const preview = (query: string) => plus<PayoutPreview>(node, 'GET', `/payout-preview?${query}`)

test('previews equal the payouts of recorded sales', async () => {
  const { id } = await published(node, item, { quantity: 1_000 })
  for (const batch of fc.sample(fc.array(prices, { minLength: runs(50), maxLength: runs(50) }), runs(4))) {
    const lines = batch.map((kurus) => ({ listing_id: id, quantity: 1, unit_price: kurus / 100 }))
    const { status, body } = await operator<{ lines: { unit_price: number; seller_payout: number }[] }>(node, 'POST', '/orders', {
      order_id: orderId(),
      lines,
    })
    expect(status).toBe(201)
    for (const { unit_price: price, seller_payout: payout } of body.data.lines) {
      const { data } = (await preview(`price=${price}`)).body
      expect(data).toEqual({ price, payout, commission: Math.round((price - payout) * 100) / 100 })
      const back = (await preview(`net=${payout}`)).body.data
      expect([back.payout >= payout, back.price <= price]).toEqual([true, true])
    }
  }
})

test('rejects values out of range, and requires exactly one of price and net', async () => {
  expect((await preview('price=1')).body.data).toEqual({ price: 1, commission: 0.12, payout: 0.88 })
  const { payout: most } = (await preview('price=9999999')).body.data
  expect((await preview(`net=${most}`)).body.data).toMatchObject({ payout: most })
  expect((await preview('net=0')).body.data, 'prices begin at 1').toEqual({ price: 1, commission: 0.12, payout: 0.88 })
  const refused: [query: string, field: string, rule: string][] = [
    ['', 'price', 'exactly_one'],
    ['price=5&net=5', 'price', 'exactly_one'],
    ['price=0.99', 'price', 'number'],
    ['price=9999999.01', 'price', 'number'],
    ['price=10.005', 'price', 'number'],
    ['price=1e3', 'price', 'number'],
    ['price=many', 'price', 'number'],
    ['net=-1', 'net', 'number'],
    ['net=10.005', 'net', 'number'],
    [`net=${(Math.round(most * 100) + 1) / 100}`, 'net', 'number'],
  ]
  for (const [query, field, rule] of refused) {
    const { status, body } = await preview(query)
    const [problem] = body.error?.details ?? []
    expect([query, status, body.error?.code, problem?.field, problem?.rule]).toEqual([query, 422, 'VALIDATION_ERROR', field, rule])
  }
  const { body } = await preview(`net=${most + 1}`)
  expect(body.error?.message).toBe(`net must be a number between 0 and ${most}, with at most 2 decimals`)
})

test('the same over GraphQL', async () => {
  const over = (args: string) =>
    ask<{ payoutPreview: PayoutPreview | null }>(node, `{ payoutPreview${args} { price commission payout } }`, { plan: 'plus' })
  for (const name of ['price', 'net']) {
    expect((await over(`(${name}: 1250.5)`)).data.payoutPreview).toEqual((await preview(`${name}=1250.5`)).body.data)
  }
  for (const args of ['', '(price: 5, net: 5)', '(price: 0.5)', '(net: 99999999)']) {
    const { data, errors } = await over(args)
    expect([args, data, errors?.[0]?.extensions.code]).toEqual([args, { payoutPreview: null }, 'VALIDATION_ERROR'])
  }
  const { errors } = await ask(node, '{ payoutPreview(price: 5) { payout } }', { plan: 'professional' })
  expect(errors?.[0]?.extensions.code).toBe('PLAN_UPGRADE_REQUIRED')
})
