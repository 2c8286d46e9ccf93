// The bell and the notifications of console and desk, in a real browser, in both languages and on a narrow screen.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { call } from '#core/verb.ts'
import { signedInToDesk } from '../desk/browser.ts'
import { seriousOf } from '../support/axe.ts'
import { startSampleNode } from '../support/sample-node.ts'
import type { TestNode } from '../support/node.ts'
import { launch, NO_BROWSER, signedIn, WHY } from './browser.ts'

const DAY_MS = 86_400_000

describe.skipIf(NO_BROWSER)(`Notifications on the pages${WHY}`, () => {
  let node: TestNode
  let browser: Browser

  beforeAll(async () => {
    node = await startSampleNode({ worker: true })
    browser = await launch()
    const expires = new Date(node.clock.now().getTime() + 3 * DAY_MS).toISOString()
    await call(createKey, node.ctx, { account_id: node.accounts.plus, label: 'Shop', expires_at: expires })
    await node.runTask('notifications')
  })

  afterAll(() => node.close())

  const bell = (page: Page, name: RegExp) => page.getByRole('banner').getByRole('link', { name })

  test('the bell of the console counts what is unread, and its page explains and marks it', async () => {
    const { page, open, troubles, close } = await signedIn(browser, node, { reducedMotion: 'reduce' })
    await open('')
    await bell(page, /^Notifications, \d+ unread$/).click()
    const row = page.getByRole('row').filter({ hasText: 'API keys' })
    await row.getByText('expiring within 7 days: 1').waitFor()
    await row.getByText('mintmark key rotate').waitFor()
    expect(await row.getByRole('link', { name: 'API keys' }).getAttribute('href')).toBe('/console/accounts')
    await row.getByRole('button', { name: 'Mark as read' }).click()
    await row.getByRole('button', { name: 'Mark as read' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Mark all as read' }).click()
    await bell(page, /^Notifications$/).waitFor()
    expect(await seriousOf(page)).toEqual([])
    expect(troubles).toEqual([])
    await close()
  })

  test('the bell of the desk fits into 360 pixels, in Turkish', async () => {
    const options = { viewport: { width: 360, height: 740 }, locale: 'tr-TR', reducedMotion: 'reduce' as const }
    const { page, open, troubles, close } = await signedInToDesk(browser, node, node.keys.plus, options)
    await open('/today')
    await bell(page, /^Bildirimler, 1 okunmamış$/).click()
    await page.getByText(/^Shop adlı, sonu .{4} olan anahtarın süresi .* tarihinde doluyor$/).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    const [link, language] = await Promise.all([bell(page, /okunmamış/).boundingBox(), page.getByLabel('Dil').boundingBox()])
    expect(link!.x + link!.width).toBeLessThanOrEqual(language!.x)
    expect(await seriousOf(page)).toEqual([])
    await page.getByRole('button', { name: /^Okundu say: / }).click()
    await bell(page, /^Bildirimler$/).waitFor()
    expect(troubles).toEqual([])
    await close()
  })
})
