// Cardmarket's price guide, complete and split by expansion.
import { expect, it } from 'vitest'
import { cardmarketPriceGuide } from '#prices/sources/cardmarket-price-guide.ts'
import { itReads, readShort } from './reading.ts'

const guide = (priceGuides: unknown[], more = {}) => JSON.stringify({ version: 1, createdAt: '2026-06-29T02:55:18+0200', priceGuides, ...more })
const TIME = '2026-06-29T00:55:18.000Z'

it('uses the trend, otherwise the average, even if the lowest offer is above it', async () => {
  const json = guide([
    { idProduct: 1, avg: 5, low: 175, trend: 132.275 },
    { idProduct: 2, avg: 0.5, low: 0.4, trend: null },
    { idProduct: 3, avg: 0.5, trend: 0 },
    { idProduct: 4, avg: null, low: 8.99, trend: null },
  ])
  expect(await readShort(cardmarketPriceGuide, json)).toEqual([
    `1 cardmarket:1 Near Mint source_b 132.28 ${TIME}`,
    `2 cardmarket:2 Near Mint source_b 0.50 ${TIME}`,
    `3 cardmarket:3 Near Mint source_b 0.50 ${TIME}`,
    '4 none',
  ])
})

it('gives the foil version a separate finish, and none if its trend is 0, null or missing', async () => {
  const json = guide([
    { idProduct: 1, trend: 1, 'trend-holo': 2.5 },
    { idProduct: 2, trend: 1, 'trend-foil': 3 },
    { idProduct: 3, trend: 1, 'trend-holo': 0, 'trend-foil': null },
  ])
  expect(await readShort(cardmarketPriceGuide, json, 'source_a')).toEqual([
    `1 cardmarket:1 Near Mint source_a 1.00 ${TIME}`,
    `1 cardmarket:1:reverse Near Mint source_a 2.50 ${TIME}`,
    `2 cardmarket:2 Near Mint source_a 1.00 ${TIME}`,
    `2 cardmarket:2:foil Near Mint source_a 3.00 ${TIME}`,
    `3 cardmarket:3 Near Mint source_a 1.00 ${TIME}`,
  ])
})

it('reads an array of guides, each with its date', async () => {
  const json = JSON.stringify([
    { date: '2025-10-01', market: 18, priceGuides: [{ idProduct: 7, trend: 6.38, 'trend-foil': 0 }] },
    { date: '2025-10-02', market: 18, priceGuides: [{ idProduct: 8, trend: 1 }] },
  ])
  expect(await readShort(cardmarketPriceGuide, json)).toEqual([
    '1 cardmarket:7 Near Mint source_b 6.38 2025-10-01T00:00:00.000Z',
    '2 cardmarket:8 Near Mint source_b 1.00 2025-10-02T00:00:00.000Z',
  ])
})

it('rejects single products, not the file', async () => {
  const json = guide([{ trend: 1 }, 'x', { idProduct: 3, trend: -1 }, { idProduct: 4, trend: 'NaN' }, { idProduct: 5, trend: 2 }])
  expect(await readShort(cardmarketPriceGuide, json.replace('"NaN"', '1e309'))).toEqual([
    '1 reject idProduct required',
    '2 reject idProduct required',
    '3 reject trend number 0',
    '4 reject trend number 9999999999.99 Infinity',
    `5 cardmarket:5 Near Mint source_b 2.00 ${TIME}`,
  ])
})

it('dates a guide without a date as now, and rejects prices with an unreadable date', async () => {
  expect(await readShort(cardmarketPriceGuide, guide([{ idProduct: 1, trend: 1 }], { createdAt: undefined }))).toEqual([
    '1 cardmarket:1 Near Mint source_b 1.00 2026-11-21T00:00:00.000Z',
  ])
  expect(await readShort(cardmarketPriceGuide, guide([{ idProduct: 1, trend: 1 }], { createdAt: 'May' }))).toEqual(['1 reject createdAt time May'])
})

it.each(['[]', '{}', '[1]', '{"products":[]}', '"x"', 'null'])('rejects %s, which is not a price guide', async (json) => {
  await expect(readShort(cardmarketPriceGuide, json)).rejects.toMatchObject({
    why: { rule: 'file_format', params: { format: 'cardmarket-price-guide' } },
  })
})

itReads(cardmarketPriceGuide, 'formats/cardmarket-price-guide-6.sample.json', (counts) => {
  expect(counts).toEqual({ lines: 5, prices: 2, none: 3, rejects: {} })
})

itReads(cardmarketPriceGuide, 'prices/onepiece-cardmarket-price-guide.part.json.gz', (counts) => {
  expect(counts).toEqual({ lines: 89, prices: 89, none: 0, rejects: {} })
})
