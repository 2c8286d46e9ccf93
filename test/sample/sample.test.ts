// The shipped sample catalogue: the output of its generator, and the promises of records, slugs and prices.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { labelOrder, parseLabel } from '#core/labels.ts'
import { MARKETS, type Market } from '#core/markets.ts'
import { parseMinor } from '#core/money.ts'
import { buildSample } from '../../sample/build.ts'

interface Price {
  market: Market
  label: string
  price: string
  updated_at: string
}

interface Category {
  type: 'category'
  market: Market
  ref: string
  slug: string
  game: string
  parent: string | null
}

interface Item {
  type: 'item'
  market: Market
  ref: string
  slug: string
  genre: string
  game: string
  category: string
  attributes: { name: string; value: string }[]
  prices: Price[]
}

const NAMED_LABELS = ['Near Mint', 'Lightly Played', 'Moderately Played', 'Heavily Played', 'PSA 10', 'CGC 10']
const CONDITIONS = NAMED_LABELS.slice(0, 4)

const built = buildSample()
const fileNames = ['pokemon.ndjson', 'onepiece.ndjson']
const records = fileNames.flatMap((name) =>
  built[name]!.trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Category | Item),
)
const categories = records.filter((record) => record.type === 'category')
const items = records.filter((record) => record.type === 'item')

function minorOf(item: Item, market: Market, label: string): number | null {
  const price = item.prices.find((candidate) => candidate.market === market && candidate.label === label)
  return price ? parseMinor(price.price) : null
}

function count(game: string, genre: string): number {
  return items.filter((item) => item.game === game && item.genre === genre).length
}

test('the generator writes exactly the shipped files', () => {
  expect(Object.keys(built)).toEqual(fileNames)
  for (const name of fileNames) {
    expect(readFileSync(new URL(`../../sample/${name}`, import.meta.url), 'utf8')).toBe(built[name])
  }
})

test('the sample is small but has singles, sealed products and bundles of both games', () => {
  expect(items.length).toBeGreaterThanOrEqual(350)
  expect(items.length).toBeLessThanOrEqual(450)
  expect(count('pokemon', 'single')).toBeGreaterThanOrEqual(220)
  expect(count('onepiece', 'single')).toBeGreaterThanOrEqual(110)
  for (const game of ['pokemon', 'onepiece']) {
    expect(count(game, 'sealed')).toBeGreaterThanOrEqual(10)
    expect(count(game, 'bundle')).toBeGreaterThanOrEqual(3)
  }
})

describe('records', () => {
  test('refs are unique per market, slugs over everything', () => {
    const refs = records.map((record) => `${record.type} ${record.market} ${record.ref}`)
    expect(new Set(refs).size).toBe(refs.length)
    const slugs = records.map((record) => record.slug)
    expect(new Set(slugs).size).toBe(slugs.length)
    for (const slug of slugs) expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
  })

  test('a category precedes its first use, in the same market and game', () => {
    const seen = new Set<string>()
    for (const record of records) {
      const above = record.type === 'category' ? record.parent : record.category
      if (above !== null) expect(seen, record.ref).toContain(`${record.market} ${record.game} ${above}`)
      if (record.type === 'category') seen.add(`${record.market} ${record.game} ${record.ref}`)
    }
  })

  test('every category without subcategories contains items', () => {
    const used = new Set([
      ...categories.map((category) => `${category.market} ${category.parent}`),
      ...items.map((item) => `${item.market} ${item.category}`),
    ])
    for (const { market, ref } of categories) expect(used).toContain(`${market} ${ref}`)
  })

  test('items are from three markets, most from source_c', () => {
    const markets = items.map((item) => item.market)
    expect(new Set(markets)).toEqual(new Set(['source_a', 'source_b', 'source_c']))
    expect(markets.filter((market) => market === 'source_c').length).toBeGreaterThan(items.length / 2)
  })

  test('every item states that its prices are samples', () => {
    for (const { attributes } of items) expect(attributes).toContainEqual({ name: 'Price Data', value: 'Sample' })
  })
})

describe('prices', () => {
  test('every item has a Near Mint price in all four markets, each label once per market', () => {
    for (const item of items) {
      for (const market of MARKETS) expect(minorOf(item, market, 'Near Mint'), item.ref).toBeGreaterThan(0)
      const keys = item.prices.map(({ market, label }) => `${market} ${label}`)
      expect(new Set(keys).size).toBe(keys.length)
    }
  })

  test('all named labels occur, every label is canonical, and amounts are exact', () => {
    const prices = items.flatMap((item) => item.prices)
    expect(new Set(prices.map(({ label }) => label))).toEqual(new Set([...NAMED_LABELS, 'PSA 9', 'CGC 9', 'BGS 9.5']))
    for (const { label, price, updated_at } of prices) {
      expect(parseLabel(label)?.label).toBe(label)
      expect(price).toMatch(/^\d+\.\d\d$/)
      expect(updated_at).toMatch(/^2026-1[01]-\d\dT\d\d:\d\d:00Z$/)
      expect(updated_at >= '2026-10-20' && updated_at < '2026-11-16').toBe(true)
    }
  })

  test('prices of one market are in response order', () => {
    for (const { prices } of items) {
      const order = prices.map(({ market, label }) => `${MARKETS.indexOf(market)} ${labelOrder(label)}`)
      expect(order).toEqual(order.toSorted())
    }
  })

  test('in its own market, a single has all conditions, each more expensive than the next worse one', () => {
    for (const item of items.filter(({ genre }) => genre === 'single')) {
      const amounts = CONDITIONS.map((label) => minorOf(item, item.market, label)!)
      expect(
        amounts.every((amount) => amount > 0),
        item.ref,
      ).toBe(true)
      expect(amounts, item.ref).toEqual([...new Set(amounts)].sort((a, b) => b - a))
    }
  })

  test('a top grade is more expensive than Near Mint and lower grades', () => {
    for (const item of items) {
      for (const market of MARKETS) {
        const nearMint = minorOf(item, market, 'Near Mint')!
        for (const [higher, lower] of [
          ['PSA 10', 'PSA 9'],
          ['CGC 10', 'CGC 9'],
          ['PSA 10', 'BGS 9.5'],
        ] as const) {
          const top = minorOf(item, market, higher)
          if (top === null) continue
          expect(top, item.ref).toBeGreaterThan(nearMint)
          expect(top, item.ref).toBeGreaterThan(minorOf(item, market, lower) ?? 0)
        }
      }
    }
  })

  test('markets differ by at most a tenth at 42 TRY and 0.90 EUR to the dollar', () => {
    const perDollar = { service: 42, source_a: 1, source_b: 0.9, source_c: 1 }
    for (const item of items) {
      const dollars = MARKETS.map((market) => minorOf(item, market, 'Near Mint')! / 100 / perDollar[market])
      // half a cent of rounding on either side matters for the cheapest cards
      expect(Math.max(...dollars), item.ref).toBeLessThan(Math.min(...dollars) * 1.11 + 0.02)
    }
  })
})
