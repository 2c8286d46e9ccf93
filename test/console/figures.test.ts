// Figures of a period, all data of an account, manual prices and health in the console, in a real browser.
import { sql } from 'kysely'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSampleNode } from '../support/sample-node.ts'
import { seriousOf } from '../support/axe.ts'
import type { TestNode } from '../support/node.ts'
import { launch, NO_BROWSER, operator, settled, signedIn, WHY } from './browser.ts'

/** The day may change during the test. */
const began = Date.now()
const DAY_MS = 86_400_000

describe.skipIf(NO_BROWSER)(`Figures in the console${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let itemId: number

  beforeAll(async () => {
    node = await startSampleNode({ listeners: 'operator' })
    browser = await launch()
    itemId = (await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard'))[0]!.id
    const fields = { seller_id: node.accounts.plus, item_id: itemId, title: 'Sold', price: 1_000, quantity: 9 }
    const { id } = await operator<{ id: number }>(node, 'POST', '/listings', fields)
    await operator(node, 'POST', `/listings/${id}/approve`, {})
    const soldAt = (days: number) => new Date(began - days * DAY_MS).toISOString()
    const order = (number: number, quantity: number, days: number) => ({
      order_id: number,
      sold_at: soldAt(days),
      buyer_reference: `customer ${number}`,
      lines: [{ listing_id: id, quantity }],
    })
    await operator(node, 'POST', '/orders', order(1, 3, 1))
    await operator(node, 'POST', '/orders', order(2, 2, 10))
    await operator(node, 'POST', '/collections', { account_id: node.accounts.plus, name: 'Binder' })
  })

  afterAll(() => node.close())

  test('of today compare the selected period and chart the selected figure', async () => {
    const { page, open, troubles, close } = await signedIn(browser, node, { reducedMotion: 'reduce' })
    await open('?days=7')
    const tile = (name: string) => page.getByRole('button', { name: new RegExp(`^${name}`) })
    await expect.poll(() => tile('Turnover').textContent()).toMatch(/₺3,000\.00.*previously ₺2,000\.00.*\+50%/)
    await expect.poll(() => tile('Commission').textContent()).toContain('₺300.00')
    await expect.poll(() => tile('Turnover').getAttribute('aria-pressed')).toBe('true')
    const table = page.getByRole('table', { name: /by day$/ })
    await table.waitFor({ state: 'attached' })
    await expect.poll(() => table.locator('tbody tr').count()).toBe(7)
    const soldOn = new Date(began - DAY_MS).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'Europe/Istanbul' })
    const row = table.locator('tbody tr', { has: page.getByRole('rowheader', { name: soldOn, exact: true }) })
    await expect.poll(() => row.textContent()).toContain('₺3,000.00')
    await tile('API requests').click()
    await page.getByRole('heading', { name: 'API requests by day' }).waitFor()
    await expect.poll(() => page.getByRole('table', { name: 'API requests by day' }).textContent()).toContain('not recorded')
    expect(page.url()).toContain('measure=requests')
    await page.getByLabel('Period').selectOption('30')
    await tile('Turnover').filter({ hasText: '₺5,000.00' }).waitFor()
    await page.getByRole('region', { name: 'Top sellers' }).first().getByRole('link', { name: 'Test plus' }).click()
    await page.getByRole('heading', { name: 'Test plus' }).waitFor()
    await settled(page)
    await page.getByText('0 records in 1 collections').waitFor()
    await page.getByText('1 active of 1').waitFor()
    await tile('Turnover').filter({ hasText: '₺5,000.00' }).waitFor()
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    expect(troubles).toEqual([])
    await close()
  })

  test('of today: a long approval wait in days, one number of active listings, and old exchange rates with what to do', {
    tags: 'slow',
  }, async () => {
    const wait = sql`interval '724.9 hours'`
    await node.db.kysely
      .updateTable('listing_decisions')
      .set({ before: sql`before || jsonb_build_object('waiting_since', decided_at - ${wait})` })
      .where('decision', 'is not', null)
      .execute()
    await operator(
      node,
      'POST',
      '/rates',
      ['USD', 'EUR'].map((currency) => ({ currency, day: new Date(began - 53 * DAY_MS).toISOString().slice(0, 10), rate: 40 })),
    )
    const { page, open, close } = await signedIn(browser, node, { reducedMotion: 'reduce' })
    const tile = (name: string) => page.getByRole('button', { name: new RegExp(`^${name}`) }).locator('strong')
    await open('')
    await expect.poll(() => tile('Approval wait, median').textContent()).toBe('30 days')
    const active = page.locator('.ranks li', { hasText: 'Active' }).locator('.number')
    await expect.poll(async () => (await tile('Active listings').textContent()) === (await active.textContent())).toBe(true)
    const problem = page.getByRole('main').getByText(/^Exchange rates: those of USD, EUR are 5\d days old/)
    await problem.waitFor()
    await page.getByText('load current rates, and then every working day: mintmark rates set USD=... EUR=...').waitFor()
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    await page.getByLabel('Language').selectOption('tr')
    await expect.poll(() => tile('Onay bekleme süresi').textContent()).toBe('30 gün')
    await page.getByText('güncel kurları yükleyin').waitFor()
    await close()
  })

  test('of the first steps: setup is not complete while a step is open', { tags: 'slow' }, async () => {
    const { page, open, close } = await signedIn(browser, node)
    await operator(node, 'POST', `/accounts/${node.accounts.plus}/keys`, { label: 'first' })
    await open('/first-steps')
    await expect.poll(() => page.locator('.first-steps li', { hasText: /^open/i }).count()).toBe(1)
    await page.getByText('Remaining steps to set up this service.').waitFor()
    expect(await page.getByText('Setup is complete.').count()).toBe(0)
    await close()
  })

  test('of orders show seller, buyer and commission, and link to all orders of the buyer', { tags: 'slow' }, async () => {
    const { page, open, close } = await signedIn(browser, node)
    await open('/orders/1')
    await page.getByRole('link', { name: 'Test plus' }).waitFor()
    await expect.poll(() => page.getByRole('main').textContent()).toContain('₺300.00')
    await page.getByRole('link', { name: 'customer 1' }).click()
    await settled(page)
    await page.getByRole('link', { name: '1', exact: true }).waitFor()
    await expect.poll(() => page.getByRole('link', { name: '2', exact: true }).count()).toBe(0)
    await close()
  })

  test('of an item are set and corrected manually', { tags: 'slow' }, async () => {
    const { page, open, troubles, close } = await signedIn(browser, node, { reducedMotion: 'reduce' })
    await open(`/catalogue/items/${itemId}`)
    await page.getByRole('button', { name: 'Set a price' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Source').selectOption('source_b')
    await dialog.getByLabel('Label').fill('sgc 6')
    await dialog.getByLabel('Price').fill('12.5')
    expect(await seriousOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await settled(page)
    await page.getByRole('button', { name: 'Correct: Source B SGC 6' }).click()
    await dialog.getByLabel('Price').fill('900')
    await dialog.getByLabel('Reason').fill('A digit was missing')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const prices = (await operator<{ prices: { label: string; price: number }[] }>(node, 'GET', `/items/${itemId}`)).prices
    expect(prices.find(({ label }) => label === 'SGC 6')).toMatchObject({ price: 900 })
    expect(troubles).toEqual([])
    await close()
  })

  test('of health show what is wrong and how to fix it', async () => {
    const { page, open, close } = await signedIn(browser, node)
    await open('/health')
    await page.getByRole('row', { name: /Database.*PostgreSQL/ }).waitFor()
    await page.getByRole('row', { name: /Migrations.*up to date/ }).waitFor()
    await close()
    const turkish = await signedIn(browser, node, { locale: 'tr-TR' })
    await turkish.open('/health')
    await turkish.page.getByRole('row', { name: /Şema güncellemeleri.*güncel/ }).waitFor()
    await turkish.page.getByRole('row', { name: /Ayarlar.*hepsi geçerli/ }).waitFor()
    await turkish.page.getByRole('row', { name: /Veritabanı.*sürüm/ }).waitFor()
    await expect.poll(() => turkish.page.locator('main td[lang=en], main span[lang=en]').count()).toBe(0)
    await turkish.close()
  })
})
