// Proves that the Turkish console knows what the service says when it refuses what operators do there.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { turkishRefusal, turkishSentence } from '../../console/src/words/refusals-tr.ts'
import { startSampleNode } from '../graphql/client.ts'
import { OPERATOR_TOKEN, send, type TestNode } from '../support/node.ts'
import { operator } from './browser.ts'

let node: TestNode
let itemId: number
let listingId: number
let keyId: number

beforeAll(async () => {
  node = await startSampleNode()
  itemId = (await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard'))[0]!.id
  const listing = { seller_id: node.accounts.plus, item_id: itemId, title: 'One', price: 100, quantity: 1 }
  listingId = (await operator<{ id: number }>(node, 'POST', '/listings', listing)).id
  await operator(node, 'POST', `/listings/${listingId}/approve`, {})
  keyId = (await operator<{ id: number }>(node, 'POST', `/accounts/${node.accounts.plus}/keys`, {})).id
  await operator(node, 'DELETE', `/keys/${keyId}`)
})

afterAll(() => node.close())

const LONG = 'x'.repeat(300)
const NOBODY = 999_999

/** What people can get wrong in the console: method, path, body. */
const wrong = (): [string, string, object?][] => [
  ['GET', '/listings?status=nonsense'],
  ['GET', '/listings?seller_id=x'],
  ['GET', '/accounts?page=0'],
  ['GET', `/accounts/${NOBODY}`],
  ['GET', `/items/${NOBODY}`],
  ['GET', `/listings/${NOBODY}`],
  ['GET', `/orders/${NOBODY}`],
  ['GET', `/imports/${NOBODY}`],
  ['GET', '/audit?from=yesterday'],
  ['POST', '/accounts', { name: LONG, plan: 'free', highlight_credits: -1 }],
  ['POST', '/accounts', {}],
  ['POST', `/accounts/${node.accounts.plus}/credits`, { amount: 0 }],
  ['POST', `/accounts/${node.accounts.plus}/credits`, { amount: -50 }],
  ['POST', `/accounts/${node.accounts.plus}/credits`, { amount: 1, reason: LONG }],
  ['POST', `/accounts/${node.accounts.plus}/keys`, { expires_at: '2001-01-01T00:00:00Z' }],
  ['POST', `/keys/${keyId}/rotate`, { overlap_hours: 1 }],
  ['POST', `/accounts/${node.accounts.plus}/webhook/test`, { event: 'sale' }],
  ['POST', '/categories', { name: 'New', game: 'pokemon', market: 'source_c', parent_id: NOBODY }],
  ['POST', '/items', { name: 'New', genre: 'single', game: 'pokemon', market: 'source_c', category_id: NOBODY }],
  ['PATCH', `/items/${itemId}`, {}],
  ['PATCH', `/items/${itemId}`, { name: '' }],
  ['POST', '/listings', { seller_id: NOBODY, item_id: itemId, title: 'T', price: 0, quantity: -1 }],
  ['POST', '/listings', { seller_id: NOBODY, item_id: itemId, title: 'T', price: 5 }],
  ['POST', '/listings', { seller_id: node.accounts.plus, item_id: NOBODY, title: 'T', price: 5 }],
  ['PATCH', `/listings/${listingId}`, { min_offer_price: 5_000 }],
  ['PATCH', `/listings/${listingId}`, { language: LONG }],
  ['POST', `/listings/${listingId}/approve`, {}],
  ['POST', `/listings/${listingId}/reject`, {}],
  ['POST', '/orders', { order_id: 5, lines: [{ listing_id: NOBODY, quantity: 1 }] }],
  ['POST', '/orders', { order_id: 5, lines: [{ listing_id: listingId, quantity: 9 }] }],
  ['POST', '/orders', { order_id: 5, sold_at: '2099-01-01T00:00:00Z', lines: [{ listing_id: listingId, quantity: 1 }] }],
  ['POST', '/collections', { account_id: node.accounts.plus, name: '' }],
  ['POST', '/held-prices/accept', {}],
  ['POST', `/held-prices/${NOBODY}/accept`, {}],
]

test('every sentence is known', async () => {
  const unknown: string[] = []
  for (const [method, path, json] of wrong()) {
    const { status, body } = await send(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, json })
    expect([path, status >= 400]).toEqual([path, true])
    const said = body.error!.details?.map(({ message }) => message) ?? [body.error!.message]
    unknown.push(...said.filter((sentence) => turkishSentence(sentence) === null).map((sentence) => `${method} ${path}: ${sentence}`))
  }
  expect(unknown).toEqual([])
})

test('what is not known stays as the service said it', () => {
  expect(turkishSentence('must be a whole number from 1 to 100')).toBe('1 ile 100 arasında bir tam sayı olmalı')
  expect(turkishSentence('is required: it must be one of a, b')).toBe('gerekli: şunlardan biri olmalı: a, b')
  expect(turkishRefusal({ code: 'UNAVAILABLE', message: 'Something new' })).toContain('veritabanına')
  expect(turkishRefusal({ code: 'CONFLICT', message: 'Something new' })).toBe('Something new')
})
