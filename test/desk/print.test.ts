// The printed statement in a real browser: all lines of the month, while the page shows the first ones.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launch, NO_BROWSER, operator, settled, WHY } from '../console/browser.ts'
import { startSampleNode } from '../support/sample-node.ts'
import type { TestNode } from '../support/node.ts'
import { listingOf, signedInToDesk } from './browser.ts'

const LINES = 60

describe.skipIf(NO_BROWSER)(`Printing${WHY}`, () => {
  let node: TestNode
  let browser: Browser

  beforeAll(async () => {
    node = await startSampleNode()
    // No month ends between the orders and the statement.
    node.clock.stop()
    browser = await launch()
    const listing = await listingOf(node, { title: 'Often sold', price: 80, quantity: LINES })
    for (let id = 1; id <= LINES; id++) await operator(node, 'POST', '/orders', { order_id: id, lines: [{ listing_id: listing, quantity: 1 }] })
  })

  afterAll(() => node.close())

  test('a printed statement has all lines, and the page has its own again afterwards', async () => {
    const { page, open, troubles, close } = await signedInToDesk(browser, node, node.keys.plus)
    // A browser without a window prints nothing.
    await page.addInitScript(`window.printed = []
      window.print = () => {
        printed.push(document.querySelectorAll('main tbody tr').length)
        dispatchEvent(new Event('afterprint'))
      }`)
    await open('/statement?page=2')
    const rows = () => page.locator('main tbody tr').count()
    await expect.poll(rows).toBe(LINES - 50)
    await page.getByRole('button', { name: 'Print' }).click()
    await expect.poll(() => page.evaluate('printed')).toEqual([LINES])
    await expect.poll(rows).toBe(LINES - 50)
    await settled(page)
    expect(troubles).toEqual([])
    await close()
  })
})
