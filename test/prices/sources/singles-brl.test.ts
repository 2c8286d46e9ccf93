// Single-card prices in Brazilian real, in both key forms.
import { expect, it } from 'vitest'
import { singlesBrl } from '#prices/sources/singles-brl.ts'
import { itReads, readShort, readText } from './reading.ts'

const sources = (values: Record<string, unknown>) => Object.entries(values).map(([source, valueBrl]) => ({ source, valueBrl, detail: null }))

function earlier(finish: string, values: Record<string, unknown>, more: Record<string, unknown> = {}): string {
  return `${JSON.stringify({
    key: `t1-1::${finish}`,
    cardId: 't1-1',
    finish,
    name: 'Testmon',
    number: '1',
    language: 'en',
    updatedAt: '2026-07-23T15:32:16.011Z',
    priceBrl: 1.23,
    sources: sources(values),
    ...more,
  })}\n`
}

function later(finish: string, values: Record<string, unknown>, more: Record<string, unknown> = {}): string {
  return earlier(finish, values, {
    updatedAt: '2026-08-05T18:50:49.548Z',
    printVariation: 'unlimited',
    stamp: 'unstamped',
    ...more,
  })
}

const JULY = '2026-07-23T15:32:16.011Z'
const AUGUST = '2026-08-05T18:50:49.548Z'

it('states amounts in BRL, for the import to convert', async () => {
  const text = earlier('normal', {
    cardmarketTrend: 57.78,
    cardmarketAvg30: 99,
    tcgplayerMarket: 5.07,
    tcgplayerMid: 99,
  })
  expect(await readShort(singlesBrl, text)).toEqual([
    `1 tcgdex:t1-1:normal Near Mint source_b 57.78 ${JULY}`,
    `1 tcgdex:t1-1:normal Near Mint source_c 5.07 ${JULY}`,
  ])
  expect((await readText(singlesBrl, text)).map((row) => 'currency' in row && row.currency)).toEqual(['BRL', 'BRL'])
  expect(await readShort(singlesBrl, later('normal', { cardmarketTrend: 59.1, 'tcgplayerMarket:normal': 51.15 }))).toEqual([
    `1 tcgdex:t1-1:normal Near Mint source_b 59.10 ${AUGUST}`,
    `1 tcgdex:t1-1:normal Near Mint source_c 51.15 ${AUGUST}`,
  ])
})

it('passes on name and number, and keeps Japanese cards apart', async () => {
  const [row] = await readText(singlesBrl, earlier('holo', { cardmarketTrend: 10 }, { language: 'ja', cardId: 'T-1' }))
  expect(row).toMatchObject({
    item: { source: 'tcgdex-asia', id: 'T-1', finish: 'holo', name: 'Testmon', number: '1' },
  })
})

it('uses only the printing that matches the finish of the row', async () => {
  const printings = {
    'tcgplayerMarket:normal': 51.15,
    'tcgplayerMarket:unlimited-holofoil': 102.31,
    'tcgplayerMarket:reverse-holofoil': 153.46,
    'tcgplayerMarket:1st-edition-holofoil': 204.61,
    'tcgplayerMid:holofoil': 1,
  }
  const first = { printVariation: 'firstEdition' }
  const text =
    later('normal', printings) +
    later('holo', printings) +
    later('reverse', printings) +
    later('holo', printings, first) +
    later('normal', printings, first) +
    later('reverse', printings, first)
  expect(await readShort(singlesBrl, text)).toEqual([
    `1 tcgdex:t1-1:normal Near Mint source_c 51.15 ${AUGUST}`,
    `2 tcgdex:t1-1:holo Near Mint source_c 102.31 ${AUGUST}`,
    `3 tcgdex:t1-1:reverse Near Mint source_c 153.46 ${AUGUST}`,
    `4 tcgdex:t1-1:holo first edition Near Mint source_c 204.61 ${AUGUST}`,
    '5 none',
    '6 none',
  ])
})

it('ignores a first-edition price that is the price of the plain printing', async () => {
  const values = { cardmarketTrend: 10, tcgplayerMarket: 20 }
  expect(await readShort(singlesBrl, earlier('firstEdition', values))).toEqual(['1 none'])
  expect(await readShort(singlesBrl, later('normal', { cardmarketTrend: 10 }, { printVariation: 'firstEdition' }))).toEqual(['1 none'])
})

it('ignores a Cardmarket reverse-holo trend that was copied to the holo card', async () => {
  const other = { cardId: 't1-2' }
  const text =
    earlier('holo', { cardmarketTrend: 57.78, tcgplayerMarket: 5.07 }) +
    earlier('reverse', { cardmarketTrend: 57.78 }) +
    earlier('holo', { cardmarketTrend: 57.78 }, other) +
    earlier('reverse', { cardmarketTrend: 115.55 }, other)
  expect(await readShort(singlesBrl, text)).toEqual([
    `1 tcgdex:t1-1:holo Near Mint source_c 5.07 ${JULY}`,
    `2 tcgdex:t1-1:reverse Near Mint source_b 57.78 ${JULY}`,
    `3 tcgdex:t1-2:holo Near Mint source_b 57.78 ${JULY}`,
    `4 tcgdex:t1-2:reverse Near Mint source_b 115.55 ${JULY}`,
  ])
})

it('does so across two batches, too', async () => {
  const filler = Array.from({ length: 999 }, (_, i) => earlier('normal', { cardmarketTrend: 10 }, { cardId: `f-${i}` })).join('')
  const rows = await readShort(singlesBrl, filler + earlier('holo', { cardmarketTrend: 9 }) + earlier('reverse', { cardmarketTrend: 9 }))
  expect(rows).toHaveLength(1_001)
  expect(rows.slice(-2)).toEqual(['1000 none', `1001 tcgdex:t1-1:reverse Near Mint source_b 9.00 ${JULY}`])
})

it.each([
  [earlier('normal', { cardmarketTrend: 10 }, { updatedAt: 'x' }), 'updatedAt time x'],
  [earlier('normal', { cardmarketTrend: 0 }), 'valueBrl number 0'],
  [earlier('normal', { cardmarketTrend: 0.001 }), 'valueBrl number 0'],
  [earlier('normal', { cardmarketTrend: 'much' }), 'valueBrl number 9999999999.99 much'],
  [later('normal', { cardmarketTrend: 10 }, { stamp: 'staff' }), 'stamp one_of unstamped staff'],
  ['{"cardId":"t1-1"}\n', 'sources list'],
  ['{broken\n', 'json line'],
])('rejects %s', async (text, reason) => {
  const rows = await readShort(singlesBrl, earlier('normal', { cardmarketTrend: 57.78 }, { cardId: 't1-0' }) + text)
  expect(rows).toEqual([`1 tcgdex:t1-0:normal Near Mint source_b 57.78 ${JULY}`, `2 reject ${reason}`])
})

it('rejects the file of changes', async () => {
  const csv = 'key,date,oldPriceBrl,newPriceBrl,changePercent\nt1-1::holo,2026-08-01,38.32,39.38,2.77\n'
  await expect(readShort(singlesBrl, csv)).rejects.toMatchObject({ why: { rule: 'file_format', params: { format: 'singles-brl' } } })
})

itReads(singlesBrl, 'prices/pokemon-singles-brl-2026-07-23.ndjson.gz', (counts) => {
  expect(counts).toEqual({ lines: 27_601, prices: 33_224, none: 2_296, rejects: {} })
})

itReads(singlesBrl, 'prices/pokemon-singles-brl-2026-08-05.ndjson.gz', (counts) => {
  expect(counts).toEqual({ lines: 27_514, prices: 44_438, none: 404, rejects: {} })
})
