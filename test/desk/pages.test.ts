// Every page of the seller's desk in a real browser: wide and narrow, light and dark, both languages, nothing for axe to find.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordWorth } from '#collections/record-worth.ts'
import { readConfig } from '#config.ts'
import { launch, NO_BROWSER, operator, settled, WHY } from '../console/browser.ts'
import { startSampleNode } from '../graphql/client.ts'
import { seriousOf } from '../support/axe.ts'
import { send, type TestNode } from '../support/node.ts'
import { listingOf, signedInToDesk, visitDesk } from './browser.ts'

const LAYOUTS = [
  { name: 'wide', options: { viewport: { width: 1280, height: 900 }, locale: 'en-GB' }, other: 'tr' },
  { name: 'narrow', options: { viewport: { width: 390, height: 800 }, locale: 'tr-TR' }, other: 'en' },
] as const

const PATHS = [
  '',
  '?status=pending',
  '?search=no-such-title',
  '/listings/1',
  '/listings/2',
  '/price-jobs',
  '/price-jobs/1',
  '/repricing',
  '/repricing/new',
  '/repricing/1',
  '/renewal?days=60',
  '/files',
  '/vacation',
  '/orders',
  '/statement',
  '/collections',
  '/collections/1',
  '/webhook',
  '/account',
]

/** Sum of the layout shifts that no input caused, as browsers measure it from the start of a page. */
const SHIFTS = `new Promise((resolve) => {
  let sum = 0
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => entry.hadRecentInput || (sum += entry.value))).observe({ type: 'layout-shift', buffered: true })
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)))
})`

describe.skipIf(NO_BROWSER)(`Pages${WHY}`, () => {
  let node: TestNode
  let browser: Browser

  beforeAll(async () => {
    node = await startSampleNode()
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
    await recordWorth({ ...node, currencies: readConfig({}).sourceCurrencies, timeZone: 'Europe/Istanbul', now: node.clock.now })
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
  }, 90_000)

  afterAll(async () => {
    await browser.close()
    await node.close()
  })

  test.each(LAYOUTS)('are sound $name: light and dark, in both languages', { timeout: 180_000 }, async ({ options, other }) => {
    const { page, open, close, troubles } = await signedInToDesk(browser, node, node.keys.plus, { ...options, reducedMotion: 'reduce' })
    const errors: string[] = []
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
    const found: string[] = []
    const tooWide = async () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    const language = page.locator('header select').first()
    const first = await language.inputValue()
    for (const path of PATHS) {
      await open(path)
      const shifts = await page.evaluate<number>(SHIFTS)
      if (shifts > 0.1) found.push(`${path} shifts by ${shifts}`)
      for (const one of [other, first]) {
        await language.selectOption(one)
        await settled(page)
        found.push(...(await seriousOf(page)).map((what) => `${path} in ${one}: ${what}`))
        if ((await tooWide()) > 0) found.push(`${path} is ${await tooWide()} pixels too wide in ${one}`)
      }
      if ((await page.locator('h1').count()) !== 1) found.push(`${path} has not one heading`)
      if ((await page.locator('.state.bad').count()) > 0) found.push(`${path} shows an error`)
      if (!(await page.title()).endsWith('· Mintmark')) found.push(`${path} has no title`)
    }
    expect(found).toEqual([])
    expect([...troubles, ...errors]).toEqual([])
    await close()
  })

  test.each(LAYOUTS)('with edits that are not applied are sound $name, and work by keyboard alone', async ({ options }) => {
    const { page, close } = await signedInToDesk(browser, node, node.keys.plus, { ...options, locale: 'en-GB', reducedMotion: 'reduce' })
    await page.getByLabel('Price of Charizard of the first edition').focus()
    await page.keyboard.press('ArrowUp')
    await page.getByText('Changed listings: 1').waitFor()
    expect(await seriousOf(page)).toEqual([])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    const focused = () => page.evaluate<string>('document.activeElement.textContent')
    for (let i = 0; i < 40 && (await focused()) !== 'Review'; i += 1) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Price change/ }).waitFor()
    await close()
  })

  test.each(LAYOUTS)('with a simulation and a choice of items are sound $name', async ({ options }) => {
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
    await page.getByRole('button', { name: 'Choose the item: Charizard' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    expect([await seriousOf(page), await tooWide()]).toEqual([[], 0])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await close()
  })

  test('of sign-in are sound, and those that do not exist say so', { timeout: 60_000 }, async () => {
    const { page, open, close } = await visitDesk(browser, node, { reducedMotion: 'reduce', viewport: { width: 390, height: 800 } })
    await open('')
    expect(await seriousOf(page)).toEqual([])
    await close()
    const signedIn = await signedInToDesk(browser, node, node.keys.plus)
    await signedIn.open('/nowhere')
    await signedIn.page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await signedIn.close()
  })
})
