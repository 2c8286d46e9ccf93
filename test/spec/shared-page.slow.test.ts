// The page of a shared collection in a browser: no findings of axe, no requests to other hosts, wide and narrow, light and dark, both languages.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launch, NO_BROWSER, WHY } from '../console/browser.ts'
import { seriousAsShown } from '../support/axe.ts'
import { type DemoNode, startDemoNode } from '../support/demo.ts'
import { send } from '../support/node.ts'

describe.skipIf(NO_BROWSER)(`Shared page${WHY}`, () => {
  let node: DemoNode
  let browser: Browser
  let url: string

  beforeAll(async () => {
    node = await startDemoNode()
    browser = await launch()
    const json = { visibility: 'unlisted' }
    const shared = await send<{ shared_url: string }>(`${node.publicUrl}/api/v1/plus/collections/1`, node.access.keys.plus, { method: 'PATCH', json })
    url = shared.body.data.shared_url
  })

  afterAll(() => node.close())

  test.each([
    { width: 1280, colorScheme: 'light', language: 'en' },
    { width: 390, colorScheme: 'dark', language: 'tr' },
  ] as const)('at $width px, $colorScheme, in $language', async ({ width, colorScheme, language }) => {
    const found: string[] = []
    const context = await browser.newContext({ viewport: { width, height: 900 }, reducedMotion: 'reduce', colorScheme })
    const page = await context.newPage()
    page.on('console', (message) => {
      if (/Content Security Policy|Uncaught/.test(message.text())) found.push(message.text())
    })
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== node.publicUrl) found.push(`a request to ${request.url()}`)
    })
    page.on('response', (response) => {
      if (response.status() >= 400) found.push(`${response.status()} for ${response.url()}`)
    })
    await page.goto(`${url}?lang=${language}`)
    expect(await page.locator('html').getAttribute('lang')).toBe(language)
    expect(await page.locator('.items li').count()).toBeGreaterThan(10)
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    if (wide > 0) found.push(`${wide} px too wide`)
    found.push(...(await seriousAsShown(page)))
    await context.close()
    expect(found).toEqual([])
  })
})
