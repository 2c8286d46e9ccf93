// Every page of the seller's desk in a real browser, tested like those of the console: see `walk`.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordWorth } from '#collections/record-worth.ts'
import { readConfig } from '#config.ts'
import { launch, LAYOUTS, NO_BROWSER, operator, settled, walk, WHY } from '../console/browser.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { seriousOf } from '../support/axe.ts'
import { missingSections } from '../support/guides.ts'
import { send, type TestNode } from '../support/node.ts'
import { listingOf, signedInToDesk, visitDesk } from './browser.ts'

const PATHS = [
  '',
  '/today',
  '?status=pending',
  '?search=no-such-title',
  '/listings/1',
  '/listings/2',
  '/listings/new',
  '/price-jobs',
  '/price-jobs/1',
  '/repricing',
  '/repricing/new',
  '/repricing/1',
  '/renewal?days=60',
  '/files',
  '/vacation',
  '/sandbox',
  '/orders',
  '/statement',
  '/offers',
  '/collections',
  '/collections/1',
  '/collections/1?view=worth',
  '/collections/1?view=completion',
  '/collections/1?view=completion&query=name:charizard',
  '/cards/1',
  '/watches',
  '/collections/1?view=for-trade',
  '/collections/1?view=sharing',
  '/collections/1/records/1',
  '/webhook',
  '/account',
  '/notifications',
]

describe.skipIf(NO_BROWSER)(`Pages${WHY}`, () => {
  let node: TestNode
  let browser: Browser

  beforeAll(async () => {
    node = await startSampleNode({ worker: true })
    browser = await launch()
    const first = await listingOf(node, { title: 'Charizard of the first edition', price: 1250.5, quantity: 3 })
    const rows = [
      { listing_id: first, price: 1300 },
      { sku: 'no such SKU', price: 5 },
    ]
    await send(`${node.publicUrl}/api/v1/plus/price-jobs`, node.keys.plus, { json: { rows, policy: 'good_rows' } })
    await listingOf(node, { title: 'Charizard that waits' }, false)
    const sold = await listingOf(node, { title: 'Charizard that was sold', quantity: 2 })
    for (const order of [1, 2]) await operator(node, 'POST', '/orders', { order_id: order, lines: [{ listing_id: sold, quantity: 1 }] })
    await operator(node, 'POST', '/orders/2/cancel', { reason: 'lost in the post' })
    const [item] = await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard')
    const { id } = await operator<{ id: number }>(node, 'POST', '/collections', { account_id: node.accounts.plus, name: 'Binder' })
    await send(`${node.publicUrl}/api/v1/plus/collections/${id}/items`, node.keys.plus, { json: { item_id: item!.id } })
    await recordWorth({ ...node, currencies: readConfig({}).sourceCurrencies, market: { timeZone: 'Europe/Istanbul' }, now: node.clock.now })
    const watch = { kind: 'offer_below', item_id: item!.id, amount: 90 }
    await send(`${node.publicUrl}/api/v1/plus/watches`, node.keys.plus, { method: 'PUT', json: watch })
    const rule = { name: 'Below the others', target: { kind: 'cheapest', amount: -1 }, scope: { kind: 'all' }, floor: { price: 100 } }
    await send(`${node.publicUrl}/api/v1/plus/repricing-rules`, node.keys.plus, { json: rule })
    await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake: { quota: 10 } })
    const unclear = {
      rows: [
        { name: 'Charizard', price: 60 },
        { name: 'A card that nobody has', price: 60 },
      ],
    }
    await send(`${node.publicUrl}/api/v1/plus/listings/import`, node.keys.plus, { json: unclear })
    const json = { url: 'http://127.0.0.1:9/hook', on_sale: true, on_expire: true }
    await send(`${node.publicUrl}/api/v1/plus/webhook`, node.keys.plus, { method: 'PUT', json })
    await send(`${node.publicUrl}/api/v1/plus/webhook/test`, node.keys.plus, { json: { event: 'sale' } })
    await send(`${node.publicUrl}/api/v1/me`, node.keys.plus)
  })

  afterAll(() => node.close())

  test.each(LAYOUTS)('have no accessibility problems: $name', async ({ options }) => {
    const visited = await signedInToDesk(browser, node, node.keys.plus, options)
    expect(await walk(visited, PATHS)).toEqual([])
    await visited.close()
  })

  test.each(LAYOUTS.filter(({ options }) => options.locale === 'en-GB'))(
    'with pending edits have no accessibility problems, and work by keyboard alone: $name',
    async ({ options }) => {
      const { page, close } = await signedInToDesk(browser, node, node.keys.plus, options)
      await page.getByLabel('Price of Charizard of the first edition').focus()
      await page.keyboard.press('ArrowUp')
      await page.getByText('Changed listings: 1').waitFor()
      expect(await seriousOf(page)).toEqual([])
      await expect.poll(() => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
      const focused = () => page.evaluate<string>('document.activeElement.textContent')
      for (let i = 0; i < 40 && (await focused()) !== 'Review'; i += 1) await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: /^Price change/ }).waitFor()
      await close()
    },
  )

  test.each(LAYOUTS)('with a simulation and a choice of items have no accessibility problems: $name', async ({ options }) => {
    const { page, open, close } = await signedInToDesk(browser, node, node.keys.plus, { ...options, locale: 'en-GB', reducedMotion: 'reduce' })
    const tooWide = async () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    await open('/repricing/1')
    await page.getByRole('button', { name: 'Simulate' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Simulation' }).waitFor()
    await settled(page)
    expect([await seriousOf(page), await tooWide()]).toEqual([[], 0])
    await page.getByRole('button', { name: 'Edit' }).click()
    expect([await seriousOf(page), await tooWide()]).toEqual([[], 0])
    await open('/files')
    await page.getByRole('button', { name: 'Choose item: Charizard' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    expect([await seriousOf(page), await tooWide()]).toEqual([[], 0])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await close()
  })

  test('link to help that exists', async () => {
    const { page, open, close } = await signedInToDesk(browser, node, node.keys.plus)
    const helps = new Set<string>()
    for (const path of ['', '/today', '/orders', '/collections', '/watches', '/webhook', '/account']) {
      await open(path)
      helps.add((await page.getByRole('link', { name: 'Help' }).getAttribute('href'))!)
    }
    expect(helps.size).toBe(7)
    expect(await missingSections(node.publicUrl!, helps)).toEqual([])
    await close()
  })

  test('sign-in and unknown pages have no accessibility problems', async () => {
    const { page, open, close } = await visitDesk(browser, node, { reducedMotion: 'reduce', viewport: { width: 390, height: 800 } })
    await open('')
    expect(await seriousOf(page)).toEqual([])
    await close()
    const signedIn = await signedInToDesk(browser, node, node.keys.plus)
    await signedIn.open('/nowhere')
    await signedIn.page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await signedIn.close()
  })
})
