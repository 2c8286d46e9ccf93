// Price lists that are off as a whole: refused before they are applied, with what they look like, unless an operator accepts them.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { call } from '#core/verb.ts'
import { setRates } from '#prices/rates/set-rates.ts'
import { importText, OPERATOR_TOKEN, send, startTestNode, type TestNode, until } from '../support/node.ts'
import { ruleOf } from '../support/reasons.ts'

const CARDS = 60
const IN_LARGE_SET = 100
const DAY_MS = 86_400_000

let node: TestNode
beforeAll(async () => {
  node = await startTestNode({ listeners: 'operator', env: { PRICE_DRIFT_CARDS: '50', PRICE_HOLD_FACTOR: '1000' } })
  const day = node.clock.now().toISOString().slice(0, 10)
  const rates = Object.entries({ USD: 42, EUR: 48, BRL: 8 }).map(([currency, rate]) => ({ currency, day, rate }))
  await call(setRates, { ...node.ctx, rules: node.config.priceRules }, { rates })
  const category = { type: 'category', market: 'service', game: 'pokemon', parent: null, image: null }
  const item = { type: 'item', market: 'service', code: null, genre: 'single', game: 'pokemon', images: [], attributes: [] }
  const cards = Array.from({ length: CARDS + IN_LARGE_SET }, (_, n) => ({
    ...item,
    category: n < CARDS ? 'base' : 'large',
    ref: `card:${n}`,
    name: `Card ${n}`,
    groups: ['ungraded'],
    details: {},
    foreign_ids: [],
    prices: [],
  }))
  await importText(
    node,
    'mintmark-ndjson',
    [{ ...category, ref: 'base', name: 'Base' }, { ...category, ref: 'large', name: 'Large' }, ...cards]
      .map((line) => JSON.stringify(line))
      .join('\n'),
  )
})
afterAll(() => node.close())

/** Imports a price of each card: its number plus ten, times a factor. */
async function importPrices(market: string, factor: number, input: { accept_drift?: boolean } = {}) {
  const at = node.clock.now().toISOString()
  const rows = Array.from({ length: CARDS }, (_, n) => `card:${n},${market},Near Mint,${((n + 10) * factor).toFixed(2)},${at}`)
  const { status, why } = await importText(node, 'mintmark-prices-csv', ['item_ref,market,label,price,updated_at', ...rows].join('\n'), { input })
  return { status, why: why && ruleOf(why) }
}

const countOf = (market: number) => node.db.kysely.selectFrom('prices').select('price').where('market', '=', market).execute()

test('a list in another currency is refused, with the currency that it looks like, and accepted on request', async () => {
  expect((await importPrices('source_c', 1)).status).toBe('done')
  const refused = await importPrices('source_b', (42 / 48) * (48 / 8))
  expect(refused).toEqual({ status: 'failed', why: `feed_drift source_b ${CARDS} 6 source_c BRL EUR` })
  expect(await countOf(2)).toEqual([])
  expect((await importPrices('source_b', (42 / 48) * 6, { accept_drift: true })).status).toBe('done')
  expect(await countOf(2)).toHaveLength(CARDS)
})

test('a list that has moved by a tenth since the day before is refused; one that has moved by a twentieth is not', async () => {
  node.clock.advance(DAY_MS)
  expect(await importPrices('source_c', 1.1)).toEqual({ status: 'failed', why: `feed_drift source_c ${CARDS} 1.1` })
  expect((await importPrices('source_c', 1.05)).status).toBe('done')
  // After more than three days, prices may have moved.
  node.clock.advance(9 * DAY_MS)
  expect((await importPrices('source_c', 1.3)).status).toBe('done')
})

test('a list in which one set has moved by a tenth is refused, with the name of the set', async () => {
  const importBoth = (factor: number, input: { accept_drift?: boolean } = {}) => {
    const at = node.clock.now().toISOString()
    const rows = Array.from(
      { length: CARDS + IN_LARGE_SET },
      (_, n) => `card:${n},source_a,Near Mint,${((n + 10) * (n < CARDS ? factor : 1)).toFixed(2)},${at}`,
    )
    return importText(node, 'mintmark-prices-csv', ['item_ref,market,label,price,updated_at', ...rows].join('\n'), { input })
  }
  expect((await importBoth(1, { accept_drift: true })).status).toBe('done')
  node.clock.advance(DAY_MS)
  const { status, why } = await importBoth(1.1)
  expect({ status, why: why && ruleOf(why) }).toEqual({ status: 'failed', why: `feed_drift source_a ${CARDS} 1.1 Base` })
  expect((await importBoth(1.05)).status).toBe('done')
})

test('an upload names the reason, and accepts the list with `accept_drift`', async () => {
  node.clock.advance(DAY_MS)
  const at = node.clock.now().toISOString()
  const rows = Array.from({ length: CARDS }, (_, n) => `card:${n},source_c,Near Mint,${((n + 10) * 2).toFixed(2)},${at}`)
  const body = ['item_ref,market,label,price,updated_at', ...rows].join('\n')
  const upload = async (query: string) => {
    const path = `${node.operatorUrl}/operator/v1/imports`
    const { body: started } = await send<{ id: number }>(`${path}/mintmark-prices-csv${query}`, OPERATOR_TOKEN, { method: 'POST', body })
    let found: { status: string; message: string | null } | null = null
    await until('the import is over', async () => {
      found = (await send<{ status: string; message: string | null }>(`${path}/${started.data.id}`, OPERATOR_TOKEN)).body.data
      return ['done', 'failed'].includes(found.status)
    })
    return found! as { status: string; message: string | null }
  }
  const refused = await upload('')
  expect([refused.status, refused.message?.includes('the last ones')]).toEqual(['failed', true])
  expect((await upload('?accept_drift=1')).status).toBe('done')
})
