// The pages of both references in a browser: no findings of axe, no requests to other hosts, wide and narrow, light and dark.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launch, NO_BROWSER, WHY } from '../console/browser.ts'
import { seriousOf } from '../support/axe.ts'
import { startTestNode, type TestNode } from '../support/node.ts'

describe.skipIf(NO_BROWSER)(`Reference pages${WHY}`, () => {
  let node: TestNode
  let browser: Browser

  beforeAll(async () => {
    node = await startTestNode({ worker: true })
    browser = await launch()
  })

  afterAll(() => node.close())

  const VIEWS = [
    { width: 1280, colorScheme: 'light' },
    { width: 390, colorScheme: 'dark' },
  ] as const
  const LISTENERS = [
    { name: 'public', url: () => node.publicUrl!, operation: 'makeHighlight' },
    { name: 'operator', url: () => node.operatorUrl!, operation: 'readStats' },
  ]

  test.each(LISTENERS)('of the $name API are accessible, fit a phone, and need no other host', async ({ url }) => {
    const found: string[] = []
    for (const { width, colorScheme } of VIEWS) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, reducedMotion: 'reduce', colorScheme })
      const page = await context.newPage()
      page.on('pageerror', (error) => found.push(error.message))
      page.on('console', (message) => {
        if (/Content Security Policy|Uncaught/.test(message.text())) found.push(message.text())
      })
      page.on('request', (request) => {
        if (new URL(request.url()).origin !== url()) found.push(`a request to ${request.url()}`)
      })
      await page.goto(`${url()}/docs`)
      const paths = await page.locator('nav a[href^="/docs/reference"]').evaluateAll((links) => links.map((link) => link.getAttribute('href')!))
      for (const path of ['/docs', ...paths]) {
        await page.goto(url() + path)
        const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        if (wide > 0) found.push(`${path} at ${width}: ${wide} px too wide`)
        found.push(...(await seriousOf(page)).map((what) => `${path}, ${colorScheme}: ${what}`))
      }
      await context.close()
    }
    expect(found).toEqual([])
  })

  test.each(LISTENERS)('of the $name API show samples by language, and are found by the search', async ({ url, operation }) => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(`${url()}/docs`)
    await page.getByLabel('Search the documentation').fill(operation)
    await page.locator(`#found a[href$="#${operation}"]`).click()
    await page.locator(`#${operation}`).waitFor()
    const python = page.locator(`#${operation}`).getByRole('tab', { name: 'Python' })
    await python.click()
    await expect.poll(() => page.locator(`#${operation} figure:visible`).first().textContent()).toContain('import requests')
    // The choice applies to all operations and to later pages.
    await page.goto(`${url()}/docs/reference/catalogue`)
    await expect.poll(() => page.locator('.operation figure:visible').first().textContent()).toContain('import requests')
    // Earlier releases had other links to operations.
    await page.goto('about:blank')
    await page.goto(`${url()}/docs#/Tag/${operation}`)
    await page.waitForURL(new RegExp(`/docs/reference/[a-z-]+#${operation}$`))
    await context.close()
  })
})
