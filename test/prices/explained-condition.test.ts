// Whether a price has a known condition, over HTTP: what the formats and mappings say, how it changes a comparison, and the sentence of an explanation.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { judgeAllPrices } from '#prices/reviews/judge-all.ts'
import { importText, OPERATOR_TOKEN, send, startTestNode, type TestNode } from '../support/node.ts'

interface Explanation {
  price: number | null
  state: string | null
  flags: string[]
  condition_known: boolean | null
  summary: string
  inputs: { kind: string; market: string; condition_known: boolean; state?: string; flags?: string[]; comparison: { level: string } | null }[]
  findings: { rule: string; market: string | null; counts: boolean }[]
  thresholds: { market_factor: number; condition_factor: number } | null
  held?: object[]
}

let node: TestNode
let category: number
let cards = 0

beforeAll(async () => {
  node = await startTestNode({ env: { MARKET_NAMES: 'source_b=Cardmarket,source_c=TCGplayer', PRICE_FEED_PRICES: '1' } })
  category = (await operator<{ id: number }>('/categories', { name: 'Set', game: 'pokemon', market: 'source_c' })).id
  await operator('/rates', [
    { day: '2026-01-01', currency: 'USD', rate: 40 },
    { day: '2026-01-01', currency: 'EUR', rate: 40 },
  ])
})
afterAll(() => node.close())

async function operator<T = unknown>(path: string, json?: unknown): Promise<T> {
  const reply = await send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, json === undefined ? {} : { json })
  expect(reply.body.success, JSON.stringify(reply.body)).toBe(true)
  return reply.body.data
}

/** A new card; its number is its id at Cardmarket and TCGplayer. */
async function newCard(): Promise<{ id: number; number: number; ref: string }> {
  cards += 1
  const foreign_ids = ['cardmarket', 'tcgplayer'].map((source) => ({ source, id: String(cards) }))
  const body = { name: `Card ${cards}`, ref: `card:${cards}`, market: 'source_c', category_id: category, foreign_ids }
  const { id } = await operator<{ id: number }>('/items', body)
  await node.ctx.caughtUp()
  return { id, number: cards, ref: body.ref }
}

const now = () => node.clock.now().toISOString()
const post = (item_id: number, market: string, price: number, label = 'Near Mint') =>
  operator<{ import_id: number }>('/prices', [{ item_id, market, label, price, updated_at: now() }])

/** Imports the trend of a card from a price guide of Cardmarket. */
async function trend(number: number, amount: number): Promise<void> {
  const guide = { version: 1, createdAt: now(), priceGuides: [{ idProduct: number, trend: amount }] }
  expect((await importText(node, 'cardmarket-price-guide', JSON.stringify(guide))).counts).toMatchObject({ accepted: 1 })
}

async function explain(id: number, market: string, label = 'Near Mint'): Promise<Explanation> {
  const path = `/items/${id}/prices/explain?market=${market}&label=${encodeURIComponent(label)}`
  const { held, ...stored } = await operator<Explanation>(path)
  const { body } = await send<Explanation>(`${node.publicUrl}/api/v1${path}`, node.keys.professional)
  if (held!.length === 0) expect(body.data).toEqual(stored)
  return { ...stored, held: held! }
}

describe('a condition is', () => {
  test('not known for the trend of Cardmarket, and known for a price with a condition', async () => {
    const card = await newCard()
    await trend(card.number, 10)
    await post(card.id, 'source_c', 11)
    const { condition_known: isKnown, inputs } = await explain(card.id, 'source_b')
    expect(isKnown).toBe(false)
    expect(inputs).toMatchObject([
      { kind: 'statement', condition_known: false },
      { kind: 'market', market: 'source_c', condition_known: true, state: 'trusted', flags: [] },
    ])
    expect(await explain(card.id, 'source_c')).toMatchObject({
      condition_known: true,
      inputs: [{ condition_known: true }, { condition_known: false }],
    })
    // A price set by hand replaces it.
    await operator(`/items/${card.id}/prices`, { market: 'source_b', label: 'Near Mint', price: 10.5, reason: 'seen' })
    expect(await explain(card.id, 'source_b')).toMatchObject({ price: 10.5, condition_known: true })
  })

  test('known for grades, not for the ungraded price of PriceCharting', async () => {
    const card = await newCard()
    const csv = `id,console-name,product-name,loose-price,manual-only-price,bgs-10-price,tcg-id\n7,Pokemon Set,Card,$3.00,$40.00,,${card.number}\n`
    expect((await importText(node, 'pricecharting-csv', csv)).counts).toMatchObject({ accepted: 2 })
    expect((await explain(card.id, 'source_a')).condition_known).toBe(false)
    expect((await explain(card.id, 'source_a', 'PSA 10')).condition_known).toBe(true)
  })

  test('what the mapping of a list says, which an upload can override', async () => {
    const card = await newCard()
    const mapping = { columns: { price: 'eur', 'price[PSA 10]': 'psa', item_ref: 'ref' }, market: 'source_b', condition_known: false }
    const saved = await send(`${node.operatorUrl}/operator/v1/price-mappings/averages`, OPERATOR_TOKEN, { method: 'PUT', json: mapping })
    expect(saved.body).toMatchObject({ success: true, data: { mapping } })
    const list = (eur: number) => `ref,eur,psa\n${card.ref},${eur},90\n`
    await importText(node, 'prices-csv', list(5), { input: { map_name: 'averages' } })
    expect((await explain(card.id, 'source_b')).condition_known).toBe(false)
    expect((await explain(card.id, 'source_b', 'PSA 10')).condition_known).toBe(true)
    await importText(node, 'prices-csv', list(6), { input: { map_name: 'averages', condition_known: true } })
    expect(await explain(card.id, 'source_b')).toMatchObject({ price: 6, condition_known: true })
  })
})

describe('a comparison', () => {
  test('with a lower figure over all conditions has a wider band, in which the difference is explained', async () => {
    const card = await newCard()
    await trend(card.number, 10)
    const { import_id: first } = await post(card.id, 'source_c', 60)
    const explained = await explain(card.id, 'source_b')
    expect(explained).toMatchObject({
      state: 'trusted',
      flags: ['condition_unknown'],
      findings: [{ rule: 'condition_unknown', market: 'source_c', counts: false }],
      thresholds: { market_factor: 4.5, condition_factor: 1.5 },
      summary:
        'Two markets differ 6-fold (Cardmarket and TCGplayer); both prices are used, because Cardmarket states no condition and the difference may be one of condition.',
    })
    expect((await explain(card.id, 'source_c')).summary).toContain('(TCGplayer and Cardmarket); both prices are used, because Cardmarket states no')
    // The same amounts with known conditions are a conflict; the verdict follows the price across a revert.
    const { import_id: known } = await post(card.id, 'source_b', 10.01)
    const neither = 'Two markets differ 6-fold (TCGplayer and Cardmarket); ours follows neither, because nothing shows which of them is wrong.'
    expect(await explain(card.id, 'source_c')).toMatchObject({ state: 'disputed', flags: ['other_markets'], summary: neither })
    await operator(`/imports/${known}/revert`, {})
    expect(await explain(card.id, 'source_b')).toMatchObject({ price: 10, state: 'trusted', flags: ['condition_unknown'], condition_known: false })
    await operator(`/imports/${first}/revert`, {})
    expect(await explain(card.id, 'source_b')).toMatchObject({ state: 'trusted', flags: [] })
  })

  test('with a higher figure over all conditions is as usual', async () => {
    const card = await newCard()
    await trend(card.number, 60)
    await post(card.id, 'source_c', 10)
    expect(await explain(card.id, 'source_b')).toMatchObject({ state: 'disputed', flags: ['other_markets'] })
  })
})

describe('the sentence says', () => {
  const sentence = async (id: number, market: string, label?: string) => (await explain(id, market, label)).summary

  test('that a market has no price, or is the only one', async () => {
    const card = await newCard()
    expect(await sentence(card.id, 'source_c')).toBe('TCGplayer has no price of this item for Near Mint.')
    await post(card.id, 'source_c', 20)
    expect(await sentence(card.id, 'source_c')).toBe('Only TCGplayer has a price of this item for Near Mint, so there is nothing to compare it with.')
  })

  test('which of two prices is followed, and why', async () => {
    const card = await newCard()
    await post(card.id, 'source_b', 20)
    await post(card.id, 'source_c', 23)
    const agree = 'Two markets agree: Cardmarket and TCGplayer differ by 15 %, no more than usual, so the price of Cardmarket is used.'
    expect(await sentence(card.id, 'source_b')).toBe(agree)
    await post(card.id, 'source_a', 180)
    expect(await sentence(card.id, 'source_a')).toBe(
      'Two markets differ 9-fold (source_a and Cardmarket); ours follows Cardmarket, because TCGplayer agrees with it.',
    )
    expect(await sentence(card.id, 'source_c')).toBe(
      'Two markets differ 7.8-fold (TCGplayer and source_a); ours follows TCGplayer, because Cardmarket agrees with it.',
    )
  })

  test('that a price is in doubt by its own feed', async () => {
    const card = await newCard()
    const guide = { version: 1, createdAt: now(), priceGuides: [{ idProduct: card.number, trend: 10, avg7: 30, avg30: 30 }] }
    await importText(node, 'cardmarket-price-guide', JSON.stringify(guide))
    expect(await sentence(card.id, 'source_b')).toBe(
      'The price of Cardmarket is shown but not used for other figures, because it is far from the figures of its own feed.',
    )
    await post(card.id, 'source_c', 70)
    const followed = 'ours follows TCGplayer, because the price of Cardmarket is far from the figures of its own feed.'
    expect(await sentence(card.id, 'source_b')).toBe(`Two markets differ 7-fold (Cardmarket and TCGplayer); ${followed}`)
    expect(await sentence(card.id, 'source_c')).toBe(`Two markets differ 7-fold (TCGplayer and Cardmarket); ${followed}`)
  })

  test('that a person confirmed a price, and that others are held', async () => {
    const card = await newCard()
    await post(card.id, 'source_b', 10)
    await post(card.id, 'source_c', 90)
    const prices = [{ item_id: card.id, market: 'source_c', label: 'Near Mint', price: 90 }]
    await operator('/price-decisions', { decision: 'confirm', prices })
    const day = now().slice(0, 10)
    const confirmed = `A person confirmed the price of TCGplayer on ${day}, although Cardmarket differs 9-fold, so it is used`
    expect(await sentence(card.id, 'source_c')).toBe(`${confirmed}.`)
    const far = new Date(node.clock.now().getTime() + 400 * 86_400_000).toISOString()
    await operator('/prices', [{ item_id: card.id, market: 'source_c', label: 'Near Mint', price: 95, updated_at: far }])
    expect(await sentence(card.id, 'source_c')).toBe(`${confirmed}; prices held for review: 1.`)
    const waiting = await newCard()
    await operator('/prices', [{ item_id: waiting.id, market: 'source_c', label: 'Near Mint', price: 95, updated_at: far }])
    expect(await sentence(waiting.id, 'source_c')).toBe('A price of TCGplayer is held for review, so none is published.')
  })

  test('that a source is set aside, or has not confirmed a price for long', async () => {
    const card = await newCard()
    await post(card.id, 'source_c', 20)
    await operator('/sources/source_c/set-aside', { reason: 'broken' })
    expect(await sentence(card.id, 'source_c')).toBe('An operator has set TCGplayer aside, so its price is shown but not used for other figures.')
    await operator('/sources/source_c/restore', {})
    const day = now().slice(0, 10)
    for (let days = 0; days < 6; days += 1) {
      node.clock.advance(86_400_000)
      await post((await newCard()).id, 'source_c', 20)
    }
    await judgeAllPrices(node.ctx)
    expect(await sentence(card.id, 'source_c')).toBe(
      `TCGplayer has not confirmed this price since ${day}, longer than usual, so it is shown but not used for other figures.`,
    )
  })
})
