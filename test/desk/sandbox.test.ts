// A sandbox at the desk, in a real browser: created, worked in, advanced and left; the operator sees and deletes it.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launch, NO_BROWSER, operator, signedIn, type Visit, WHY } from '../console/browser.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { signedInToDesk } from './browser.ts'

describe.skipIf(NO_BROWSER)(`A sandbox at the desk${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page

  beforeAll(async () => {
    node = await startTestNode()
    browser = await launch()
    visited = await signedInToDesk(browser, node, node.keys.plus)
    page = visited.page
  }, 120_000)
  afterAll(() => node.close())

  test('is created, shows its clock on every page, is advanced, and left', { timeout: 120_000 }, async () => {
    await visited.open('/sandbox')
    await page.getByText('No sandboxes yet').waitFor()
    await page.getByLabel('Start').fill('2027-01-01T03:00')
    await page.getByRole('button', { name: 'Create sandbox' }).click()
    await page.getByText(/^mintmark_test_/).waitFor({ timeout: 60_000 })
    await page.getByRole('button', { name: 'Work in it' }).first().click()
    const banner = page.getByRole('complementary', { name: 'Sandbox' })
    await banner.getByText(/2027/).waitFor()
    await page.getByRole('button', { name: 'Advance 1 day' }).click()
    await banner.getByText(/\b2\b.*2027|2027.*\b2\b/).waitFor({ timeout: 60_000 })
    await visited.open('')
    await page.getByRole('row').nth(6).waitFor()
    await banner.getByRole('button', { name: 'Leave sandbox' }).click()
    await page.getByRole('button', { name: 'Create sandbox' }).waitFor()
    expect(await banner.count()).toBe(0)
    expect(await operator<{ account_id: number }[]>(node, 'GET', '/sandboxes')).toMatchObject([{ account_id: node.accounts.plus, status: 'ready' }])
    const console = await signedIn(browser, node)
    await console.open('/sandboxes')
    await console.page.getByRole('button', { name: 'Delete' }).click()
    await console.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await console.page.getByText('No sandboxes.').waitFor()
  })
})
