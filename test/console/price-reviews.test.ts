// The review of prices in a real browser: groups with both sides, decided by keyboard and by mouse, one by one or all that match, and undone.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { judgeAllPrices } from '#prices/reviews/judge-all.ts'
import type { PriceDecision } from '#prices/reviews/price-decisions.ts'
import type { PriceReview } from '#prices/reviews/review-schemas.ts'
import { startTestNode, type TestNode, until } from '../support/node.ts'
import { announced, launch, NO_BROWSER, operator, settled, signedIn, type Visit, WHY } from './browser.ts'

const at = (day: number) => new Date(Date.UTC(2026, 9, day)).toISOString()

describe.skipIf(NO_BROWSER)(`Price review in the console${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page
  let category: number
  let cards = 0

  beforeAll(async () => {
    node = await startTestNode({ listeners: 'operator' })
    category = (await operator<{ id: number }>(node, 'POST', '/categories', { name: 'Base Set', game: 'pokemon', market: 'source_c' })).id
    const rates = Object.entries({ USD: 40, EUR: 50 })
    await operator(
      node,
      'POST',
      '/rates',
      rates.map(([currency, rate]) => ({ day: '2026-09-01', currency, rate })),
    )
    browser = await launch()
    visited = await signedIn(browser, node)
    page = visited.page
  })

  afterAll(() => node.close())

  const post = (id: number, price: number, day: number, market = 'source_c') =>
    operator(node, 'POST', '/prices', [{ item_id: id, market, label: 'Near Mint', price, updated_at: at(day) }])
  async function card(name: string): Promise<number> {
    cards += 1
    const fields = { name, ref: `card:${cards}`, code: `${cards}/102`, market: 'source_c', category_id: category }
    return (await operator<{ id: number }>(node, 'POST', '/items', fields)).id
  }
  /** A card whose second price jumped. */
  async function held(name: string, price = 100): Promise<number> {
    const id = await card(name)
    await post(id, 10, 1)
    await post(id, price, 2)
    return id
  }
  async function disputed(name: string): Promise<number> {
    const id = await card(name)
    await post(id, 90, 1)
    await post(id, 100, 2)
    await post(id, 10, 2, 'source_b')
    return id
  }
  const waiting = (query: string) => operator<PriceReview[]>(node, 'GET', `/price-reviews?${query}`)
  const current = async (id: number, market = 'source_c') => {
    const { prices } = await operator<{ prices: { market: string; price: number }[] }>(node, 'GET', `/items/${id}`)
    return prices.find((price) => price.market === market)?.price
  }
  const shown = (name: string) => page.getByRole('article', { name, exact: true })
  const done = (text: string) => announced(page, text)
  const focusList = () => page.getByRole('list', { name: 'Prices under review' }).getByRole('button').first().focus()

  test('a held price is shown next to the published one, with set, number, reason and history', async () => {
    const id = await held('Charizard')
    await visited.open(`/price-reviews?item_id=${id}`)
    const side = shown('Charizard').getByRole('region', { name: /Near Mint/ })
    for (const text of ['1/102', 'Base Set']) await shown('Charizard').getByText(text, { exact: true }).first().waitFor()
    for (const text of ['$100.00', '$10.00', 'Held', 'Trusted']) await side.getByText(text, { exact: true }).waitFor()
    await side.getByText('Far from the last price: 100.00 after 10.00').waitFor()
    await side.getByRole('img', { name: 'Prices: 1, from $10.00 to $10.00; Held: $100.00, 2 Oct 2026' }).waitFor()
    expect(new URL(page.url()).searchParams.get('item_id')).toBe(String(id))
  })

  test('held prices are decided by keyboard, the next one follows at once, and the last decision is undone', async () => {
    const [one, two, three] = [await held('Alakazam', 1000), await held('Blastoise', 900), await held('Chansey', 800)]
    await visited.open('/price-reviews?state=held&cause=jump')
    await focusList()
    await shown('Alakazam').waitFor()
    await page.keyboard.press('a')
    await shown('Blastoise').waitFor()
    await page.keyboard.press('d')
    await shown('Chansey').waitFor()
    await done('Discarded: Blastoise (1)')
    await settled(page)
    expect([await current(one), await current(two), await current(three)]).toEqual([1000, 10, 10])
    await page.keyboard.press('u')
    await done('Undone: 1 restored.')
    await until('the price waits again', async () => (await waiting(`item_id=${two}`)).length === 1)
    await settled(page)
    await page.keyboard.press('ArrowDown')
    await shown('Chansey').waitFor()
    await page.keyboard.press('ArrowUp')
    await shown('Blastoise').waitFor()
  })

  test('the decision about the last row is undone with U, although the list is empty', { tags: 'slow' }, async () => {
    const id = await held('Jynx')
    await visited.open(`/price-reviews?item_id=${id}`)
    await focusList()
    await page.keyboard.press('a')
    await done('Accepted: Jynx (1)')
    await page.getByText('No matches for these filters.').waitFor()
    await settled(page)
    await page.keyboard.press('u')
    await done('Undone: 1 restored.')
    await shown('Jynx').waitFor()
    await expect.poll(() => current(id)).toBe(10)
  })

  test('one side of a dispute is confirmed, the other is withdrawn', async () => {
    const id = await disputed('Gyarados')
    await visited.open(`/price-reviews?state=disputed&item_id=${id}`)
    await shown('Gyarados').getByText('Far from other markets').first().waitFor()
    await focusList()
    await page.keyboard.press('2')
    await done('Confirmed: Gyarados (1)')
    await settled(page)
    await shown('Gyarados').getByText('Trusted', { exact: true }).waitFor()
    await shown('Gyarados')
      .getByRole('button', { name: /^Withdraw: .*€10\.00/ })
      .click()
    await done('Withdrawn: Gyarados (1)')
    await page.getByText('No matches for these filters.').waitFor()
    expect([await current(id), await current(id, 'source_b')]).toEqual([100, undefined])
  })

  test('a price with the figures of another item names and links that item', { tags: 'slow' }, async () => {
    const [one, other] = [await card('Kangaskhan'), await card('Kangaskhan')]
    for (const id of [one, other]) await post(id, 77, 3)
    await judgeAllPrices(node.ctx)
    await visited.open(`/price-reviews?item_id=${one}`)
    const link = shown('Kangaskhan').getByRole('listitem').filter({ hasText: 'Same figures as another item: Kangaskhan' }).getByRole('link')
    expect(await link.getAttribute('href')).toBe(`/console/catalogue/items/${other}`)
    await page.getByRole('button', { name: /^Withdraw \(/ }).click()
    await done('Withdrawn: Kangaskhan (1)')
  })

  test('a whole dispute is withdrawn', { tags: 'slow' }, async () => {
    const id = await disputed('Hitmonlee')
    await visited.open(`/price-reviews?item_id=${id}`)
    await page.getByRole('button', { name: 'Withdraw (2)' }).click()
    await done('Withdrawn: Hitmonlee (2)')
    expect([await current(id), await current(id, 'source_b')]).toEqual([90, undefined])
  })

  test('a decision by another person is reported, and the remaining prices are shown', { tags: 'slow' }, async () => {
    const id = await held('Hitmonchan')
    await post(id, 110, 3)
    await visited.open(`/price-reviews?item_id=${id}`)
    await shown('Hitmonchan').waitFor()
    const [review] = await waiting(`item_id=${id}`)
    await operator(node, 'POST', '/price-decisions', { decision: 'discard', held_ids: [review!.prices[0]!.held_id] })
    await page.getByRole('button', { name: 'Accept (2)' }).click()
    await page.getByText('Hitmonchan: 1 of these prices changed since you saw them; look at them and decide again').waitFor()
    await expect.poll(() => current(id)).toBe(10)
    await page.getByRole('button', { name: 'Accept (1)' }).click()
    await done('Accepted: Hitmonchan (1)')
    await expect.poll(() => current(id)).toBe(110)
  })

  test('all matches are decided after their count is shown', { tags: 'slow' }, async () => {
    const id = await card('Machamp')
    await post(id, 10, 1)
    await operator(
      node,
      'POST',
      '/prices',
      Array.from({ length: 27 }, (_none, i) => ({ item_id: id, market: 'source_c', label: 'Near Mint', price: 400 + i, updated_at: at(i + 2) })),
    )
    await visited.open(`/price-reviews?state=held&item_id=${id}`)
    await page.getByRole('button', { name: 'Discard all that match' }).click()
    await page.getByRole('heading', { name: 'Discard the 27 held prices that match the filters?' }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    expect((await waiting(`item_id=${id}`))[0]!.prices).toHaveLength(28)
    await page.getByRole('button', { name: 'Discard all that match' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard (27)' }).click()
    await done('Discarded: 27')
    await page.getByText('No matches for these filters.').waitFor()
    await expect.poll(() => waiting(`item_id=${id}`)).toEqual([])
  })

  test('decisions are listed and undone; prices that changed since are reported', async () => {
    const id = await held('Ninetales')
    const [review] = await waiting(`item_id=${id}`)
    const decision = await operator<PriceDecision>(node, 'POST', '/price-decisions', { decision: 'accept', held_ids: [review!.prices[0]!.held_id] })
    await post(id, 120, 3)
    await visited.open('/price-reviews')
    await page.getByRole('link', { name: 'Decisions' }).click()
    await settled(page)
    await page.getByRole('button', { name: `Undo: #${decision.id}` }).click()
    await done('Undone: 0 restored. Skipped because they changed since: 1 (newer price: 1).')
    await page.getByLabel('State').selectOption('undone')
    await page
      .getByRole('row', { name: new RegExp(`#${decision.id} Accepted.*Ninetales`) })
      .getByText('Undone by operator')
      .waitFor()
    await expect.poll(() => current(id)).toBe(120)
  })

  test('the number of pending reviews is shown in the navigation', { tags: 'slow' }, async () => {
    await held('Poliwrath')
    await visited.open('')
    const { held: heldCount, disputed: disputedCount } = await operator<{ held: number; disputed: number }>(node, 'GET', '/price-reviews/count')
    await page
      .getByRole('navigation', { name: 'Places' })
      .getByText(`Prices under review: ${heldCount + disputedCount}`)
      .waitFor()
  })

  test('the item page explains a price and links to held prices', { tags: 'slow' }, async () => {
    const id = await held('Raichu')
    await visited.open(`/catalogue/items/${id}`)
    const why = page.getByRole('region', { name: 'Why this price?' }).first()
    await why.getByText('Latest price from its feed').waitFor()
    await why.getByText(/^Only .+ has a price of this item for Near Mint, .*; prices held for review: 1\.$/).waitFor()
    await why.getByRole('row', { name: /Feed price.*\$10\.00.*Sets the price/ }).waitFor()
    await why.getByText('100.00 after 10.00').waitFor()
    await page.getByRole('link', { name: 'Review held prices (1)' }).click()
    await shown('Raichu').waitFor()
  })

  test('there were no page errors', () => {
    expect(visited.troubles).toEqual([])
  })
})
