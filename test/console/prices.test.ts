// Prices in the console, in a real browser: states and held prices of an item, exchange rates, and the names of the markets.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MARKETS } from '#core/markets.ts'
import { STATES } from '#prices/evidence/evidence-types.ts'
import type { PriceSource } from '#prices/reviews/list-sources.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { OPERATOR_TOKEN, type TestNode, until } from '../support/node.ts'
import { announced, launch, NO_BROWSER, operator, signedIn, settled, type Visit, WHY } from './browser.ts'

const ENV = { MARKET_NAMES: 'source_a=PriceCharting,source_b=Cardmarket (EU)', SOURCE_CURRENCIES: 'source_b=EUR,source_c=GBP' }

describe.skipIf(NO_BROWSER)(`Prices in the console${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page
  let item: { id: number; ref: string }

  beforeAll(async () => {
    node = await startSampleNode({ env: ENV, listeners: 'operator' })
    browser = await launch()
    ;[item] = (await operator<{ id: number; ref: string }[]>(node, 'GET', '/items?search=charizard')) as [typeof item]
    visited = await signedIn(browser, node)
    page = visited.page
  })

  afterAll(async () => {
    expect(visited.troubles).toEqual([])
    await node.close()
  })

  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const dialog = () => page.getByRole('dialog')

  test('an item shows every price with its state, held prices, and both in its chart', async () => {
    const at = (days: number) => new Date(node.clock.now().getTime() - days * 86_400_000).toISOString()
    const price = (days: number, value: number) => ({ item_id: item.id, market: 'source_b', label: 'PSA 9', price: value, updated_at: at(days) })
    await operator(node, 'POST', '/prices', [price(20, 100), price(10, 110)])
    // A price dated in the future is held in any case.
    await operator(node, 'POST', '/prices', [price(-3, 120)])
    const prices = node.db.kysely.updateTable('prices').where('item_id', '=', item.id).where('market', '=', MARKETS.indexOf('source_b'))
    await prices
      .set({ state: STATES.indexOf('disputed'), confidence: 1, flags: 0b1_0001 })
      .where('price', '=', '110.00')
      .execute()

    await visited.open(`/catalogue/items/${item.id}`)
    await page
      .getByRole('row', { name: /^PSA 9 Cardmarket \(EU\) €110\.00 Disputed Low .*Far from its own averages, Far from other markets/ })
      .waitFor()
    await page
      .getByRole('row', { name: /^Near Mint .* Trusted/ })
      .first()
      .waitFor()
    await page.getByRole('heading', { name: 'Held prices' }).waitFor()
    await page.getByRole('row', { name: /^PSA 9 Cardmarket \(EU\) €120\.00 Date in the future/ }).waitFor()

    // A chart ends today: it shows the price once its date is not in the future.
    await node.db.kysely
      .updateTable('held_prices')
      .set({ updated_at: new Date(at(1)) })
      .where('item_id', '=', item.id)
      .execute()
    await visited.open(`/catalogue/items/${item.id}`)
    await page.getByRole('combobox', { name: 'Label' }).selectOption('PSA 9')
    await page.getByRole('combobox', { name: 'Currency' }).selectOption('EUR')
    await until('the chart explains its marks', async () => /^Disputed\s+Held$/.test(await page.locator('.mark-key').innerText()))
    await page.getByText(/^Data points as a table/).click()
    await page.getByRole('row', { name: /Cardmarket \(EU\) €120\.00 €120\.00 Held$/ }).waitFor()
    await page.getByRole('row', { name: /Cardmarket \(EU\) €110\.00 €110\.00 Disputed$/ }).waitFor()
    await page.getByRole('link', { name: 'Review held prices (1)' }).click()
    await page.getByRole('heading', { name: 'Price review' }).waitFor()
    expect(new URL(page.url()).search).toBe(`?state=held&item_id=${item.id}`)
  })

  test('synonyms are added, rejected if invalid, and removed', { tags: 'slow' }, async () => {
    await visited.open('/catalogue')
    await page.getByRole('link', { name: 'Synonyms' }).click()
    await page.getByText('No synonyms yet.').waitFor()
    await button('New synonym').click()
    await dialog().getByLabel('Word').fill('ejderha')
    await dialog().getByLabel('Equivalent').fill('!')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().getByRole('alert').getByText('must have 1 to 12 words').waitFor()
    await dialog().getByLabel('Equivalent').fill('charizard')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: 'ejderha charizard Remove' }).waitFor()
    await expect.poll(() => operator(node, 'GET', '/synonyms')).toEqual([{ word: 'ejderha', means: 'charizard' }])
    await page.locator('header select').first().selectOption('tr')
    await page.getByRole('heading', { name: 'Eş anlamlılar' }).waitFor()
    await button('Sil: ejderha, charizard').click()
    await page.getByText('Henüz eş anlamlı yok.').waitFor()
    await page.locator('header select').first().selectOption('en')
    await page.getByRole('heading', { name: 'Synonyms' }).waitFor()
  })

  test('months of an index are listed, refused if invalid, and saved, with the month that profits use', { tags: 'slow' }, async () => {
    await visited.open('/rates')
    await page.getByRole('link', { name: 'Price indices' }).click()
    await page.getByText('TRY_CPI has no month yet').waitFor()
    await button('New month').click()
    await dialog().getByLabel('Month').fill('2026-13')
    await dialog().getByLabel('Level').fill('3512.18')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog()
      .getByRole('alert')
      .getByText(/^Month must be a date/)
      .waitFor()
    await dialog().getByLabel('Month').fill('2026-10')
    await page.keyboard.press('Enter')
    await announced(page, 'TRY_CPI for 2026-10 saved')
    await page.getByRole('row', { name: '2026-10 TRY_CPI 3,512.18' }).waitFor()
    await page.getByText('Profits in real lira are stated in prices of 2026-10.').waitFor()
    expect(await operator(node, 'GET', '/indices')).toEqual([{ index: 'TRY_CPI', month: '2026-10', value: 3512.18 }])
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.locator('header select').first().selectOption('tr')
    await page.getByRole('heading', { name: 'Fiyat endeksleri' }).waitFor()
    await page.locator('header select').first().selectOption('en')
  })

  test('exchange rates are listed, missing ones are named, and new ones are saved', async () => {
    await visited.open('/rates')
    await page.getByText('No exchange rate for GBP').waitFor()
    await button('New rate').click()
    await dialog().getByLabel('Currency').fill('gbp')
    await dialog().getByLabel('Day').fill('2062-11-22')
    await dialog().getByLabel('Rate in TL').fill('55.123456')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog()
      .getByRole('alert')
      .getByText(/^Day must be a date .* between 1996-01-01 and /)
      .waitFor()
    await dialog().getByLabel('Day').fill('2026-11-20')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await announced(page, 'GBP rate for 20 Nov 2026 saved')
    await page.getByRole('row', { name: '20 Nov 2026 GBP 55.123456' }).waitFor()
    await page.getByText('No exchange rate for GBP').waitFor({ state: 'detached' })
    await expect.poll(() => operator(node, 'GET', '/rates?currency=GBP')).toMatchObject([{ currency: 'GBP', day: '2026-11-20', rate: 55.123456 }])
    await page.getByLabel('Currency').selectOption('EUR')
    await page.getByText('No matches for these filters.').waitFor()
    await page.locator('header select').first().selectOption('tr')
    await page.getByRole('heading', { name: 'Döviz kurları' }).waitFor()
    await page.getByText('EUR kuru yok').waitFor()
    await page.getByLabel('Para birimi').selectOption('GBP')
    await page.getByRole('row', { name: '20 Kas 2026 GBP 55,123456' }).waitFor()
    await button('Yeni kur').click()
    await dialog().getByLabel('Para birimi').fill('TRY')
    await dialog().getByLabel('Kur (TL)').fill('1')
    await dialog().getByRole('button', { name: 'Kaydet' }).click()
    await dialog().getByRole('alert').getByText('Para birimi TRY olamaz').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('header select').first().selectOption('en')
  })

  test('ratios of sets that are far from that of the game are listed, confirmed and rejected', { tags: 'slow' }, async () => {
    const { category_id: set } = await node.db.kysely.selectFrom('items').select('category_id').where('id', '=', item.id).executeTakeFirstOrThrow()
    const { name } = await node.db.kysely.selectFrom('categories').select('name').where('id', '=', set!).executeTakeFirstOrThrow()
    const ratio = (category_id: number, value: number) => {
      return { game: 'pokemon', category_id, finish: 'mirror', market_a: 2, market_b: 3, ratio: value, spread: 1.5, cards: 12 }
    }
    await node.db.kysely
      .insertInto('usual_ratios')
      .values([ratio(set!, 4.25), { ...ratio(0, 1.25), finish: '' }])
      .execute()
    await visited.open('/sources')
    const row = (ending: string) => page.getByRole('row', { name: new RegExp(`^${name} mirror 12 cards Cardmarket \\(EU\\) : Source C ${ending}`) })
    await row('4\\.25 1\\.25 3\\.75 .*Open').waitFor()
    await page.setViewportSize({ width: 390, height: 800 })
    await expect.poll(() => page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await page.setViewportSize({ width: 1280, height: 800 })
    await button(`Confirm: ${name}, mirror, Cardmarket (EU), Source C`).click()
    await dialog().getByText('All prices of the set are then judged by the ratio 4.25.').waitFor()
    await dialog().getByRole('button', { name: 'Confirm' }).click()
    await announced(page, `${name}: the ratio 4.25 is applied`)
    await row('4\\.25 1\\.25 4\\.25 .*Confirmed').waitFor()
    await button(`Reject: ${name}, mirror, Cardmarket (EU), Source C`).click()
    await dialog().getByRole('button', { name: 'Reject' }).click()
    await announced(page, `${name}: the ratio 1.25 is applied`)
    await row('4\\.25 1\\.25 1\\.25 .*Rejected').waitFor()
    await page.locator('header select').first().selectOption('tr')
    await page.getByRole('heading', { name: 'Setlerin olağan oranları' }).waitFor()
    await page.getByRole('button', { name: `Onayla: ${name}` }).waitFor()
    await page.locator('header select').first().selectOption('en')
  })

  test('sources show their age and shares, link to their reviews, and are set aside and restored', async () => {
    const { id } = await operator<{ id: number }>(node, 'POST', '/items', {
      name: 'Sealed box',
      ref: 'test:sealed',
      market: 'source_c',
      category_id: (await operator<{ id: number }[]>(node, 'GET', '/categories'))[0]!.id,
    })
    const future = new Date(node.clock.now().getTime() + 3 * 86_400_000).toISOString()
    await operator(node, 'POST', '/prices', [
      { item_id: id, market: 'source_c', label: 'Near Mint', price: 50, updated_at: node.clock.now().toISOString() },
      { item_id: id, market: 'source_c', label: 'Near Mint', price: 60, updated_at: future },
    ])
    const [waiting] = (await operator<PriceSource[]>(node, 'GET', '/sources')).filter(({ market }) => market === 'source_c')
    await visited.open('/sources')
    await page.locator('nav a[aria-current=page]').getByText('Price sources').waitFor()
    const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) })
    await row('PriceCharting USD').waitFor()
    await row('Service TRY').waitFor()
    await row('Source C GBP')
      .getByRole('link', { name: new RegExp(`^${waiting!.held} `) })
      .click()
    await page.getByRole('heading', { name: 'Price review' }).waitFor()
    expect(new URL(page.url()).search).toBe('?state=held&market=source_c')
    await page.goBack()
    await button('Set aside: Source C').click()
    await dialog().getByLabel('Reason').fill('Wrong file')
    await dialog().getByRole('button', { name: 'Set aside' }).click()
    await announced(page, `Source C set aside; stale prices: ${waiting!.prices.toLocaleString('en-GB')}`)
    await row('Source C GBP').getByText('Wrong file').waitFor()
    await row('Source C GBP')
      .getByRole('link', { name: `${waiting!.prices.toLocaleString('en-GB')} (100%)` })
      .waitFor()
    await button('Restore: Source C').click()
    await announced(page, /^Source C restored/)
    await button('Set aside: Source C').waitFor()
    await expect.poll(() => button(/^(Set aside|Restore): Service$/).count()).toBe(0)
    await button('Edit use and licence of Source C').click()
    await dialog().getByRole('combobox', { name: /^Use/ }).selectOption('internal')
    await dialog().getByLabel('Licence or terms').fill('Terms of the shop')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await announced(page, 'Source C updated; use: internal')
    await row('Source C GBP').getByText('Terms of the shop').waitFor()
    expect(await operator(node, 'PATCH', '/sources/source_c', { use: 'show', licence: null })).toMatchObject({ use: 'show', licence: null })
  })

  test('markets are shown by their configured names, while programs use their codes', { tags: 'slow' }, async () => {
    await visited.open('/price-reviews')
    const market = page.locator('select').filter({ hasText: 'Service' })
    await expect.poll(() => market.locator('option').allInnerTexts()).toEqual(['All', 'Service', 'PriceCharting', 'Cardmarket (EU)', 'Source C'])
    await market.selectOption('PriceCharting')
    await until('the address has the code', () => new URL(page.url()).searchParams.get('market') === 'source_a')
    await page.reload()
    await settled(page)
    await expect.poll(() => market.inputValue()).toBe('source_a')
    const { sources } = await operator<{ sources: { market: string; name: string }[] }>(node, 'GET', '/stats')
    expect(sources).toEqual(expect.arrayContaining([expect.objectContaining({ market: 'source_b', name: 'Cardmarket (EU)' })]))
    const metrics = await (await fetch(`${node.operatorUrl}/metrics`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })).text()
    expect(metrics).toContain('mintmark_prices{market="source_b"')
    expect(metrics).not.toContain('Cardmarket')
  })
})
