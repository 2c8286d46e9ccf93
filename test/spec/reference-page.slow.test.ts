// The pages of both references in a browser: no findings of axe, no requests to other hosts, and a request that works.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launch, NO_BROWSER, WHY } from '../console/browser.ts'
import { seriousAsShown, seriousColours } from '../support/axe.ts'
import { OPERATOR_TOKEN, startTestNode, type TestNode } from '../support/node.ts'

describe.skipIf(NO_BROWSER)(`Reference pages${WHY}`, () => {
  let node: TestNode
  let browser: Browser

  beforeAll(async () => {
    node = await startTestNode()
    browser = await launch()
  })

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

  test.each(PAGES)('of the $name API are accessible, light and dark, and need no other host', async ({ url, operation, address, credential }) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', colorScheme: 'light' })
    const page = await context.newPage()
    page.setDefaultTimeout(120_000)
    const troubles: string[] = []
    page.on('pageerror', (error) => troubles.push(error.message))
    page.on('console', (message) => {
      if (/Content Security Policy|Uncaught/.test(message.text())) troubles.push(message.text())
    })
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url())
      if (protocol.startsWith('http') && origin !== url()) troubles.push(`a request to ${request.url()}`)
    })
    const found: string[] = []
    const isDark = () => page.evaluate<boolean>("document.documentElement.classList.contains('dark-mode')")
    // What Swagger UI's button does, without the transitions.
    const turn = (how: 'add' | 'remove') =>
      page.evaluate(`document.documentElement.classList.${how}('dark-mode'); document.getAnimations().forEach((each) => each.finish())`)
    // Checks the whole page, or the part that has changed since the last check.
    const look = async (state: string, part?: string) => {
      await turn('remove')
      found.push(...(await seriousAsShown(page, part)).map((what) => `${state}: ${what}`))
      await turn('add')
      found.push(...(await seriousColours(page, part)).map((what) => `${state}, dark: ${what}`))
    }
    await page.goto(`${url()}/docs`)
    await page.locator(operation).waitFor()
    await expect.poll(() => isDark()).toBe(false)
    await look('closed')
    await page.locator(`${operation} .opblock-summary-control`).click()
    await page.locator(`${operation} .opblock-body`).waitFor()
    await look('open', operation)
    await page.getByRole('button', { name: 'Authorize' }).first().click()
    await page.locator('.modal-ux').waitFor()
    await look('dialog', '.modal-ux')
    await page.locator('.modal-ux input').fill(credential())
    await page.locator('.modal-ux button[type=submit]').click()
    await page.locator('.modal-ux .btn-done').click()
    await page.locator(`${operation} .try-out__btn`).click()
    await page.locator(`${operation} .execute`).click()
    await page.locator(`${operation} .live-responses-table`).waitFor()
    await look('answered', operation)
    await expect.poll(() => page.locator(`${operation} .live-responses-table .response-col_status`).last().textContent()).toContain('200')
    // Opening an operation changes the address, which opens the operation again, on a narrow page, too.
    expect(page.url()).toBe(`${url()}/docs${address}`)
    await page.setViewportSize({ width: 390, height: 800 })
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    await page.reload()
    await page.locator(`${operation} .opblock-body`).waitFor()
    await expect.poll(() => isDark()).toBe(true)
    await look('narrow')
    expect(found).toEqual([])
    expect(troubles).toEqual([])
    await context.close()
  })
})
