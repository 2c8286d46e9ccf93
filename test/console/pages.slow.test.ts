// Every page of the console in a real browser: wide and narrow, light and dark, in both languages; no findings of axe,
// no layout shifts, and no error in the browser's console.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSampleNode } from '../support/sample-node.ts'
import type { PriceReview } from '#prices/reviews/review-schemas.ts'
import { pokemontcgFiles, tcgdexFiles } from '../imports/waiting-cards.ts'
import { seriousOf } from '../support/axe.ts'
import { missingSections } from '../support/guides.ts'
import { importFiles, importText, type TestNode, until } from '../support/node.ts'
import { intercept, launch, LAYOUTS, NO_BROWSER, operator, signedIn, settled, visit, walk, WHY } from './browser.ts'

describe.skipIf(NO_BROWSER)(`Pages${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let paths: string[]

  beforeAll(async () => {
    node = await startSampleNode({ worker: true })
    browser = await launch()
    paths = await fill(node)
  })

  afterAll(() => node.close())

  test.each(LAYOUTS)('have no accessibility problems: $name', async ({ options }) => {
    const visited = await signedIn(browser, node, options)
    expect(await walk(visited, paths)).toEqual([])
    await visited.close()
  })

  test('have a title of their own, and a link to help that exists', async () => {
    const { page, open, close } = await signedIn(browser, node)
    const titles: [string, string][] = []
    const helps = new Set<string>()
    // Filters do not make another page.
    for (const path of paths.filter((each) => !each.includes('?') || each.includes('view='))) {
      await open(path)
      titles.push([await page.title(), path])
      helps.add((await page.getByRole('link', { name: 'Help' }).getAttribute('href'))!)
    }
    const shared = [...Map.groupBy(titles, ([title]) => title)].filter(([, of]) => of.length > 1)
    expect(shared).toEqual([])
    expect(helps.size).toBeGreaterThan(8)
    expect(await missingSections(node.operatorUrl!, helps)).toEqual([])
    await close()
  })

  test('sign-in and dialogs have no accessibility problems', async () => {
    const stranger = await visit(browser, node, { reducedMotion: 'reduce' })
    await stranger.open('')
    expect(await seriousOf(stranger.page)).toEqual([])
    await stranger.close()
    const { page, open, close } = await signedIn(browser, node, { reducedMotion: 'reduce' })
    for (const [path, button] of [
      ['/accounts', 'New account'],
      ['/catalogue', 'New item'],
      ['/catalogue', 'New category'],
      ['/listings', 'New listing'],
      ['/orders', 'Record order'],
    ] as const) {
      await open(path)
      await page.getByRole('button', { name: button }).click()
      await page.getByRole('dialog').waitFor()
      await settled(page)
      expect(await seriousOf(page)).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe(button)
    }
    await close()
  })

  test('dialogs keep the focus', async () => {
    const { page, open, close } = await signedIn(browser, node)
    await open('/accounts')
    await page.getByRole('button', { name: 'New account' }).click()
    await page.getByRole('dialog').waitFor()
    for (let i = 0; i < 9; i++) {
      await page.keyboard.press('Tab')
      // Between the last and the first element, focus is in the browser's own toolbar, which the page sees as `body`.
      await expect
        .poll(() => page.evaluate('document.activeElement === document.body || document.activeElement.closest("dialog") !== null'))
        .toBe(true)
    }
    await close()
  })

  test('keep the selected language and theme', async () => {
    const { page, close } = await signedIn(browser, node)
    await page.getByLabel('Language').selectOption('tr')
    await page.getByRole('heading', { name: 'Bugün' }).waitFor()
    await page.getByLabel('Renkler').selectOption('dark')
    await page.reload()
    await page.getByRole('heading', { name: 'Bugün' }).waitFor()
    await expect
      .poll(() => page.evaluate('[document.documentElement.lang, getComputedStyle(document.documentElement).colorScheme]'))
      .toEqual(['tr', 'dark'])
    await expect.poll(() => page.title()).toBe('Bugün · Mintmark')
    await close()
  })

  test('unknown pages and records show an error', async () => {
    const { page, open, close } = await signedIn(browser, node)
    await open('/nowhere')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await open('/accounts/999999')
    await page.getByRole('alert').getByText('Account not found: 999999').waitFor()
    await open('/accounts?search=nobody-is-called-so')
    await page.getByText('No matches for these filters.').waitFor()
    await open('/listings?status=nonsense')
    await page.getByRole('alert').getByText('must be one of').waitFor()
    await close()
  })

  test('show the last response while the service is unreachable, and recover', async () => {
    const { page, open, close } = await signedIn(browser, node)
    await open('/accounts')
    await intercept(page, '**/operator/v1/**', (route) => route.abort())
    await page.getByLabel('Search').fill('plus')
    await page.getByText('Cannot reach the service').first().waitFor()
    await page.unroute('**/operator/v1/**')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'Test plus' }).waitFor()
    await settled(page)
    await close()
  })
})

/** Creates data for every page. @returns the paths of the pages */
async function fill(node: TestNode): Promise<string[]> {
  const seller = node.accounts.plus
  const [item] = await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard')
  const listing = (title: string) =>
    operator<{ id: number }>(node, 'POST', '/listings', { seller_id: seller, item_id: item!.id, title, price: 1250.5, quantity: 2 })
  const sold = await listing('Sold Charizard')
  await operator(node, 'POST', `/listings/${sold.id}/approve`, {})
  await operator(node, 'POST', '/orders', { order_id: 71, lines: [{ listing_id: sold.id, quantity: 1 }] })
  await operator(node, 'PATCH', `/listings/${sold.id}`, { title: 'Sold Charizard, corrected' })
  const waiting = await listing('Waiting Charizard')
  await listing('Another Charizard')
  await operator(node, 'POST', `/accounts/${seller}/credits`, { amount: 5, reason: 'campaign' })
  await operator(node, 'POST', '/collections', { account_id: seller, name: 'Binder' })
  const at = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
  const price = (days: number, price: number) => ({ item_id: item!.id, market: 'source_b', label: 'Near Mint', price, updated_at: at(days) })
  await operator(node, 'POST', '/prices', [price(60, 10), price(30, 11), price(10, 12)])
  const graded = (days: number, value: number) => ({ ...price(days, value), label: 'CGC 8' })
  await operator(node, 'POST', '/prices', [graded(3, 10), graded(2, 900)])
  const [review] = await operator<PriceReview[]>(node, 'GET', `/price-reviews?item_id=${item!.id}&state=held`)
  await operator(node, 'POST', '/price-decisions', { decision: 'discard', held_ids: [review!.prices[0]!.held_id] })
  await operator(node, 'POST', '/prices', [graded(1, 901)])
  await operator(
    node,
    'POST',
    '/rates',
    Object.entries({ USD: 40, EUR: 50 }).map(([currency, rate]) => ({ currency, day: '2026-01-01', rate })),
  )
  await operator(node, 'POST', '/prices', [{ ...graded(2, 900), market: 'source_c' }])
  await importText(node, 'mintmark-prices-csv', 'item_ref,market,label,price,updated_at\nnobody,source_b,Near Mint,1,2026-01-01T00:00:00Z\n')
  await importFiles(node, 'tcgdex', tcgdexFiles)
  await importFiles(node, 'pokemontcg', pokemontcgFiles)
  const [match] = await operator<{ id: number }[]>(node, 'GET', '/matches')
  await operator(node, 'POST', `/matches/${match!.id}/separate`)
  await operator(node, 'POST', '/sources/source_c/set-aside', { reason: "The feed repeats last year's prices" })
  await operator(node, 'POST', '/dumps')
  await until('the dump is made', async () => (await operator<{ running: object | null }>(node, 'GET', '/dumps')).running === null)
  const rule = await operator<{ id: number }>(node, 'POST', '/approval-rules', {
    name: 'Known sellers at usual prices',
    mode: 'shadow',
    conditions: { price_ratio: { min: 0.5, max: 1.5 }, seller_sales: { min: 20 }, changed_fields: ['title', 'description'] },
  })
  await operator(node, 'POST', '/certificates', { rows: [{ grader: 'PSA', cert: '12345678', grade: '10', item_id: item!.id }] })
  const [last] = await operator<{ id: number }[]>(node, 'GET', '/imports')
  return [
    '',
    '?days=365&measure=wait',
    '/approvals',
    '/approval-rules',
    `/approval-rules/${rule.id}`,
    '/catalogue',
    '/catalogue?query=charizard',
    `/catalogue/items/${item!.id}`,
    '/matches',
    '/matches?state=decided',
    '/set-matches',
    '/imports',
    `/imports/${last!.id}`,
    '/rates',
    '/indices',
    '/sandboxes',
    '/searches',
    '/synonyms',
    '/games',
    '/games/pokemon',
    '/dumps',
    '/price-reviews',
    '/price-reviews?state=disputed',
    '/price-decisions',
    '/sources',
    '/listings',
    `/listings/${waiting.id}`,
    `/listings/${sold.id}`,
    '/orders',
    '/orders/71',
    '/certificates',
    '/certificates?grader=PSA&cert=12345678',
    '/accounts',
    `/accounts/${seller}`,
    `/accounts/${seller}?view=keys`,
    `/accounts/${seller}?view=usage`,
    `/accounts/${seller}?view=credits`,
    `/accounts/${seller}?view=collections`,
    `/accounts/${seller}?view=webhook`,
    '/webhooks',
    '/personal-data',
    '/notices',
    '/notices?state=kept',
    '/audit',
    '/health',
    '/notifications',
    '/settings',
    '/people',
    '/my-account',
    '/first-steps',
  ]
}
