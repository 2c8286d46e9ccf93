// The evidence of prices over GraphQL: the same as over REST, limited by plan, from memory and from the history.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bitsOf } from '#prices/evidence/evidence-types.ts'
import { makeCatalogue, operator } from '../market/kit.ts'
import { setEvidence } from '../support/evidence.ts'
import { send, startTestNode, type TestNode, until } from '../support/node.ts'
import { ask } from './client.ts'

const DAY_MS = 86_400_000
const CONFIRMED = '2026-11-20T10:31:00Z'

let node: TestNode
let items: Record<string, number>
let char: { itemId: number; market: 'source_a'; label: string }

interface Price {
  market: string
  label: string
  price: number
  state: string
  change7: number | null
  change30: number | null
  explain: { rule: { name: string }; inputs: { kind: string; amount: number; importId: number | null }[]; medians: Record<string, number | null> }
}
interface Answer {
  item: { id: string; prices: Price[] | null }
}

const query = (fields: string) => `{ item(id: "${items.char}") { id prices { market label ${fields} } } }`

async function nearMint(fields: string): Promise<Price> {
  const { data, errors } = await ask<Answer>(node, query(fields))
  expect(errors).toBeUndefined()
  return data.item.prices!.find(({ label, market }) => label === 'Near Mint' && market === 'source_a')!
}

beforeAll(async () => {
  node = await startTestNode()
  ;({ items } = await makeCatalogue(node))
  char = { itemId: items.char!, market: 'source_a', label: 'Near Mint' }
})

afterAll(() => node.close())

test('a price has its state, confidence, flags and figures, and the response follows changes', async () => {
  await setEvidence(node, char, {
    state: 'disputed',
    confidence: 'low',
    flags: bitsOf(['jump', 'no_rate']),
    confirmedAtMs: Date.parse(CONFIRMED),
    avg7: 6_050,
    low: 4_100,
    high: 0xff_ff_ff_ff,
  })
  const fields = 'currency state confidence flags confirmedAt avg7 avg30 low high'
  expect(await nearMint(fields)).toEqual({
    market: 'source_a',
    label: 'Near Mint',
    currency: 'USD',
    state: 'disputed',
    confidence: 'low',
    flags: ['jump', 'no_rate'],
    confirmedAt: CONFIRMED,
    avg7: 60.5,
    avg30: null,
    low: 41,
    // Larger than the nodes' cache.
    high: null,
  })
  await setEvidence(node, char, {})
  await until('the cached answer is made anew', async () => (await nearMint(fields)).state === 'trusted')
})

test('changes are in percent of the price 7 and 30 days ago, null if there was none', async () => {
  const at = (days: number) => new Date(node.clock.now().getTime() - days * DAY_MS).toISOString()
  const post = (price: number, days: number) =>
    operator(node, 'POST', '/prices', [{ item_id: items.pika, market: 'source_a', label: 'Near Mint', price, updated_at: at(days) }])
  const changes = async () => {
    const { data } = await ask<Answer>(node, `{ item(id: "${items.pika}") { prices { price change7 change30 } } }`)
    return data.item.prices
  }
  await post(10, 29)
  expect(await changes()).toEqual([{ price: 10, change7: 0, change30: null }])
  await post(11.5, 2)
  expect(await changes()).toEqual([{ price: 11.5, change7: 15, change30: null }])
  node.clock.advance(2 * DAY_MS)
  expect(await changes()).toEqual([{ price: 11.5, change7: 15, change30: 15 }])
  node.clock.advance(4 * DAY_MS)
  expect(await changes()).toEqual([{ price: 11.5, change7: 0, change30: 15 }])
  node.clock.advance(-6 * DAY_MS)
})

test('an explanation equals that of REST, for many prices at once', async () => {
  const rest = async (market: string, label: string) => {
    const path = `/api/v1/items/${items.char}/prices/explain?market=${market}&label=${encodeURIComponent(label)}`
    const { body } = await send<Record<string, unknown>>(node.publicUrl + path, node.keys.professional)
    return body.data as {
      rule: object
      condition_known: boolean
      summary: string
      medians: Record<string, number | null>
      inputs: Record<string, unknown>[]
    }
  }
  const { data } = await ask<Answer>(
    node,
    query(
      'price explain { rule { name version } samples conditionKnown summary rates { currency rate day } medians { days7 days30 days90 } inputs { kind market amount currency at importId line used conditionKnown reason comparison { level } } }',
    ),
  )
  const prices = data.item.prices!
  expect(prices.map(({ label }) => label)).toEqual(['Near Mint', 'PSA 10'])
  for (const { market, label, explain } of prices) {
    const { rule, inputs, medians, condition_known: conditionKnown, summary } = await rest(market, label)
    expect(explain).toMatchObject({ rule, conditionKnown, summary })
    expect(explain.medians).toEqual({ days7: medians['7d'], days30: medians['30d'], days90: medians['90d'] })
    expect(explain.inputs).toEqual(
      inputs.map(({ import_id: importId, condition_known: isKnown, ...input }) => ({ ...input, importId, conditionKnown: isKnown })),
    )
  }
})

test('Starter gets null, and an expensive query is rejected by its cost', async () => {
  const { data, errors } = await ask<Answer>(node, query('state change7 explain { samples }'), { plan: 'starter' })
  expect([data.item.prices, errors]).toEqual([null, undefined])
  const cost = async (fields: string) => (await ask<Answer>(node, query(fields))).extensions!.cost.requested
  const [plain, changes, explained] = [await cost('price'), await cost('change7'), await cost('explain { samples }')]
  expect(changes).toBeGreaterThan(plain)
  expect(explained).toBeGreaterThan(changes)
  const many = await ask(node, '{ items(first: 100) { nodes { prices { explain { inputs { kind amount at } } } } } }')
  expect(many.errors?.[0]?.extensions.rule).toBe('query_cost')
})

test('fields of the history can be read by GET, and are not changed by it', async () => {
  const get = (text: string) =>
    send<unknown>(`${node.publicUrl}/graphql?query=${encodeURIComponent(text)}`, node.keys.plus, { headers: { accept: 'application/json' } })
  const read = await get(query('price change7'))
  expect([read.status, (read.body.data as unknown as Answer).item.prices?.[0]?.change7]).toEqual([200, 0])
  const refused = await get('mutation { deleteListing(listingId: 1) { success } }')
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST'])
})
