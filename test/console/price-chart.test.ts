// The price chart in a real browser: the same component on an item's page in the console and on a listing's page in the desk.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MARKETS } from '#core/markets.ts'
import { DAY_MS } from '#core/duration.ts'
import type { PriceChart } from '#prices/history/price-chart.ts'
import { STATES } from '#prices/evidence/evidence-types.ts'
import { signedInToDesk } from '../desk/browser.ts'
import { seriousOf } from '../support/axe.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'
import { launch, layoutShift, NO_BROWSER, operator, settled, signedIn, WHY } from './browser.ts'

const ENV = { MARKET_NAMES: 'source_a=PriceCharting,source_b=Cardmarket', SOURCE_CURRENCIES: 'source_b=EUR,source_c=USD', PRICE_HOLD_FACTOR: '1000' }
const NARROW = { viewport: { width: 390, height: 844 } }

describe.skipIf(NO_BROWSER)(`The price chart${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let item: number
  let listing: number
  const at = (days: number) => new Date(node.clock.now().getTime() - days * DAY_MS).toISOString()

  beforeAll(async () => {
    node = await startTestNode({ env: ENV })
    browser = await launch()
    const category = { name: 'Set', game: 'pokemon', market: 'source_a' }
    const { id: category_id } = await operator<{ id: number }>(node, 'POST', '/categories', category)
    const card = { name: 'Charizard', ref: 'chart:1', market: 'source_a', category_id }
    item = (await operator<{ id: number }>(node, 'POST', '/items', card)).id
    const rates = [
      { currency: 'USD', day: at(400).slice(0, 10), rate: 40 },
      { currency: 'EUR', day: at(400).slice(0, 10), rate: 44 },
      { currency: 'EUR', day: at(20).slice(0, 10), rate: 50 },
    ]
    await operator(node, 'POST', '/rates', rates)
    const price = (market: string, days: number, amount: number, label = 'Near Mint') => {
      return { item_id: item, market, label, price: amount, updated_at: at(days) }
    }
    // More points than a page of the table has rows.
    const steps = Array.from({ length: 130 }, (_, i) => price('source_a', 500 - i * 2, Math.round(10_000 + 2_000 * Math.sin(i / 8)) / 100))
    await operator(node, 'POST', '/prices', [
      price('source_a', 600, 55),
      ...steps,
      price('source_a', 100, 117.5),
      price('source_a', 3, 120, 'PSA 10'),
    ])
    await operator(node, 'POST', '/prices', [price('source_b', 200, 90), price('source_b', 60, 105), price('source_b', 10, 99)])
    await operator(node, 'POST', '/prices', [price('source_c', 150, 140), price('source_c', 40, 130)])
    // A price dated in the future is held in any case.
    await operator(node, 'POST', '/prices', [price('source_b', -3, 160)])
    await node.db.kysely
      .updateTable('held_prices')
      .set({ updated_at: new Date(at(1)) })
      .execute()
    const mark = (market: 'source_b' | 'source_c', state: 'disputed' | 'stale') =>
      node.db.kysely
        .updateTable('prices')
        .set({ state: STATES.indexOf(state) })
        .where('market', '=', MARKETS.indexOf(market))
        .execute()
    await mark('source_b', 'disputed')
    await mark('source_c', 'stale')
    const fields = { seller_id: node.accounts.plus, item_id: item, title: 'Charizard of the chart', price: 4_400, quantity: 9 }
    listing = (await operator<{ id: number }>(node, 'POST', '/listings', fields)).id
    await operator(node, 'POST', `/listings/${listing}/approve`, {})
    const order = (id: number, days: number) => ({ order_id: id, sold_at: at(days), lines: [{ listing_id: listing, quantity: 1 }] })
    for (const [index, days] of [120, 50, 12, 5].entries()) await operator(node, 'POST', '/orders', order(index + 1, days))
  })

  afterAll(() => node.close())

  const toItem = async (options = {}) => {
    const visited = await signedIn(browser, node, { reducedMotion: 'reduce', ...options })
    await visited.open(`/catalogue/items/${item}`)
    return visited
  }
  const toListing = async (options = {}) => {
    const visited = await signedInToDesk(browser, node, node.keys.plus, { reducedMotion: 'reduce', ...options })
    await visited.open(`/listings/${listing}`)
    return visited
  }
  const swatches = (page: Page) =>
    page
      .locator('.chart-legend path')
      .evaluateAll((paths) => paths.map((path) => `${path.getAttribute('style')} ${path.getAttribute('stroke-dasharray')}`))

  const control = (page: Page, name: string) => page.getByRole('combobox', { name })
  const range = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  /** The chart as the API returns it. */
  const chartOf = async (query = '') => {
    const { body } = await send<PriceChart>(`${node.publicUrl}/api/v1/items/${item}/price-chart?${query}`, node.keys.plus)
    return body.data
  }
  const openTable = async (page: Page) => {
    await page.getByText(/^Data points as a table/).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('table', { name: /^Prices over time/ }).waitFor()
  }
  const tableOf = (page: Page) =>
    page
      .getByRole('table', { name: /^Prices over time/ })
      .locator('tbody tr')
      .evaluateAll((rows) => rows.map((row) => Array.from(row.children, (cell) => (cell as unknown as { innerText: string }).innerText)))
  const summary = (page: Page) => page.getByText(/^Data points as a table/).innerText()

  test('converts to the currency of the reader, in axis, legend and table, and keeps it on the next page', async () => {
    const { page, open, close, troubles } = await toItem()
    await expect.poll(() => page.getByRole('img', { name: 'Prices over time: Near Mint, in USD' }).count()).toBe(1)
    const legend = page.getByRole('button', { name: /^Cardmarket/ })
    // 99 euros of a day with 50 lira for a euro and 40 for a dollar.
    await expect.poll(() => legend.innerText()).toContain('$123.75')
    await control(page, 'Currency').selectOption('EUR')
    await page.getByRole('img', { name: 'Prices over time: Near Mint, in EUR' }).waitFor()
    await expect.poll(() => legend.innerText()).toContain('€99.00')
    await openTable(page)
    await page.getByRole('columnheader', { name: 'Price in EUR' }).waitFor()
    const [own, held] = await tableOf(page)
    expect(held!.slice(1)).toEqual(['Cardmarket', '€160.00', '€160.00', 'Held'])
    expect((await tableOf(page)).filter(([, , , stated]) => stated === '€99.00')[0]!.slice(1)).toEqual(['Cardmarket', '€99.00', '€99.00', 'Disputed'])
    expect(own!.slice(1, 4)).toEqual(['Service', '€88.00', '₺4,400.00'])
    expect((await tableOf(page)).filter(([, source]) => source === 'Sale').map(([, , converted]) => converted)).toEqual([
      '€88.00',
      '€88.00',
      '€100.00',
      '€100.00',
    ])
    await open(`/catalogue/items/${item}`)
    await expect.poll(() => control(page, 'Currency').inputValue()).toBe('EUR')
    expect(troubles).toEqual([])
    await close()
  })

  test('the ranges show the last month, three months, year, and everything', { tags: 'slow' }, async () => {
    const { page, close } = await toItem()
    const rows: Record<string, string> = {}
    for (const [name, code] of [
      ['1 month', '1m'],
      ['3 months', '3m'],
      ['All', 'all'],
      ['1 year', '1y'],
    ] as const) {
      await range(page, name).focus()
      await page.keyboard.press('Enter')
      await expect.poll(() => range(page, name).getAttribute('aria-pressed')).toBe('true')
      await settled(page)
      const { series, sales } = await chartOf(`range=${code}`)
      // Operators also see the held price.
      const points = series.reduce((sum, one) => sum + one.points.length, sales!.length + 1)
      await expect.poll(() => summary(page)).toBe(`Data points as a table (${points})`)
      rows[code] = await summary(page)
    }
    expect(new Set(Object.values(rows)).size).toBe(4)
    await close()
  })

  test('the table has the data of the API, page by page, and a real caption', async () => {
    const { page, close } = await toListing()
    await range(page, 'All').click()
    const { series, sales, currency } = await chartOf('range=all')
    const total = series.reduce((sum, { points }) => sum + points.length, sales!.length)
    await expect.poll(() => summary(page)).toBe(`Data points as a table (${total})`)
    await openTable(page)
    const money = (amount: number, of: string) =>
      new Intl.NumberFormat('en-GB', { style: 'currency', currency: of, currencyDisplay: 'narrowSymbol' }).format(amount)
    const expected = [
      ...series.flatMap((one) => one.points.map((point) => [money(point.converted!, currency), money(point.amount, one.currency)])),
      ...sales!.map((sale) => [money(sale.converted!, currency), money(sale.amount, sale.currency)]),
    ]
    expect(total).toBeGreaterThan(100)
    await page.getByText(`1–100 of ${total}`).waitFor()
    const first = await tableOf(page)
    await page.getByRole('button', { name: 'Next' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText(`101–${total} of ${total}`).waitFor()
    const shown = [...first, ...(await tableOf(page))].map(([, , converted, stated]) => [converted, stated])
    expect(shown.toSorted()).toEqual(expected.toSorted())
    expect(await page.locator('.price-chart table caption').textContent()).toBe('Prices over time: Near Mint, in USD')
    await close()
  })

  test('sources have the same colours and dashes in the console and in the desk, and states have shapes', { tags: 'slow' }, async () => {
    const [inConsole, inDesk] = [await toItem(), await toListing()]
    const styles = await swatches(inConsole.page)
    expect(styles).toHaveLength(4)
    expect(new Set(styles).size).toBe(4)
    expect(new Set(styles.map((style) => style.split('; ')[1])).size).toBe(4)
    expect(await swatches(inDesk.page)).toEqual(styles)
    await expect.poll(() => inConsole.page.locator('.mark-key').innerText()).toMatch(/^Disputed\s+Held\s+Stale\s+Sale$/)
    // Held prices are not public.
    await expect.poll(() => inDesk.page.locator('.mark-key').innerText()).toMatch(/^Disputed\s+Stale\s+Sale$/)
    const shapes = await inConsole.page.locator('.mark-key path').evaluateAll((paths) => paths.map((path) => path.getAttribute('d')))
    expect(new Set(shapes).size).toBe(4)
    // One source alone keeps its colour.
    await control(inConsole.page, 'Label').selectOption('PSA 10')
    await expect.poll(() => swatches(inConsole.page)).toEqual([styles[1]])
    await inConsole.close()
    await inDesk.close()
  })

  test('the legend has the prices under the pointer, and a click on a source hides its line', { tags: 'slow' }, async () => {
    const { page, close } = await toListing()
    const own = page.getByRole('button', { name: /^Service/ })
    await expect.poll(() => own.innerText()).toContain('$110.00')
    await page.locator('.u-over').hover()
    await expect.poll(() => own.innerText()).toContain('–')
    await page.mouse.move(0, 0)
    await expect.poll(() => own.innerText()).toContain('$110.00')
    const source = page.getByRole('button', { name: /^Source C/ })
    await source.click()
    await expect.poll(() => source.getAttribute('aria-pressed')).toBe('false')
    await expect.poll(() => page.locator('.mark-key').innerText()).not.toContain('Stale')
    await close()
  })

  const fits = async (app: 'console' | 'desk', options: typeof NARROW | object) => {
    const { page, close, troubles } = await (app === 'console' ? toItem : toListing)(options)
    await page.locator('.chart canvas').waitFor()
    expect(await layoutShift(page)).toBeLessThan(0.05)
    await openTable(page)
    expect(await seriousOf(page)).toEqual([])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    expect(troubles).toEqual([])
    await close()
  }
  test.each(['console', 'desk'] as const)('has no accessibility problems, fits and does not move the page: %s', { tags: 'slow' }, (app) =>
    fits(app, {}),
  )
  test('the same on narrow screens', { tags: 'slow' }, async () => {
    await fits('console', NARROW)
    await fits('desk', NARROW)
  })
})
