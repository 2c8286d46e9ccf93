// The pages of both references in a browser: nothing for axe to find, nothing from another host, a request that works.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launch, NO_BROWSER, WHY } from '../console/browser.ts'
import { seriousAsShown } from '../support/axe.ts'
import { OPERATOR_TOKEN, startTestNode, type TestNode } from '../support/node.ts'

describe.skipIf(NO_BROWSER)(`Reference pages${WHY}`, () => {
  let node: TestNode
  let browser: Browser

  beforeAll(async () => {
    node = await startTestNode()
    browser = await launch()
  }, 60_000)

  afterAll(async () => {
    await browser.close()
    await node.close()
  })

  const PAGES = [
    {
      name: 'public',
      url: () => node.publicUrl!,
      operation: '#operations-Catalogue-listItems',
      address: '#/Catalogue/listItems',
      credential: () => node.keys.plus,
    },
    {
      name: 'operator',
      url: () => node.operatorUrl!,
      operation: '#operations-Stats-readStats',
      address: '#/Stats/readStats',
      credential: () => OPERATOR_TOKEN,
    },
  ]

  const CASES = PAGES.flatMap((page) => (['light', 'dark'] as const).map((colorScheme) => ({ ...page, colorScheme })))

  test.each(CASES)(
    'of the $name API are accessible and work alone, $colorScheme',
    { timeout: 120_000 },
    async ({ url, operation, address, credential, colorScheme }) => {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', colorScheme })
      const page = await context.newPage()
      const troubles: string[] = []
      page.on('pageerror', (error) => troubles.push(error.message))
      page.on('console', (message) => {
        if (/Content Security Policy|Uncaught/.test(message.text())) troubles.push(message.text())
      })
      page.on('request', (request) => {
        const { protocol, origin } = new URL(request.url())
        if (protocol.startsWith('http') && origin !== url()) troubles.push(`a request to ${request.url()}`)
      })
      await page.goto(`${url()}/docs`)
      await page.locator(operation).waitFor()
      expect(await page.locator('html.dark-mode').count()).toBe(colorScheme === 'dark' ? 1 : 0)
      const found = (await seriousAsShown(page)).map((what) => `closed: ${what}`)
      await page.locator(`${operation} .opblock-summary-control`).click()
      await page.locator(`${operation} .opblock-body`).waitFor()
      found.push(...(await seriousAsShown(page)).map((what) => `open: ${what}`))
      await page.getByRole('button', { name: 'Authorize' }).first().click()
      await page.locator('.modal-ux').waitFor()
      found.push(...(await seriousAsShown(page)).map((what) => `dialog: ${what}`))
      await page.locator('.modal-ux input').fill(credential())
      await page.locator('.modal-ux button[type=submit]').click()
      await page.locator('.modal-ux .btn-done').click()
      await page.locator(`${operation} .try-out__btn`).click()
      await page.locator(`${operation} .execute`).click()
      await page.locator(`${operation} .live-responses-table`).waitFor()
      found.push(...(await seriousAsShown(page)).map((what) => `answered: ${what}`))
      expect(await page.locator(`${operation} .live-responses-table .response-col_status`).last().textContent()).toContain('200')
      // Opening an operation gives its address, which opens it again, on a narrow page too.
      expect(page.url()).toBe(`${url()}/docs${address}`)
      await page.setViewportSize({ width: 390, height: 800 })
      await page.reload()
      await page.locator(`${operation} .opblock-body`).waitFor()
      found.push(...(await seriousAsShown(page)).map((what) => `narrow: ${what}`))
      expect(found).toEqual([])
      expect(troubles).toEqual([])
      await context.close()
    },
  )
})
