// The console's page of settings in a real browser: where values come from, changing, refusals, conflicts, and undoing.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seriousOf } from '../support/axe.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { OPERATOR_TOKEN, send, type TestNode } from '../support/node.ts'
import { launch, NO_BROWSER, signedIn, WHY } from './browser.ts'

describe.skipIf(NO_BROWSER)(`Settings in the console${WHY}`, () => {
  let node: TestNode
  let browser: Browser

  beforeAll(async () => {
    node = await startSampleNode({ listeners: 'operator', env: { LISTING_PERIOD_DAYS: '45' } })
    browser = await launch()
  })

  afterAll(() => node.close())

  test('are changed, checked and undone', async () => {
    const { page, open, troubles, close } = await signedIn(browser, node, { reducedMotion: 'reduce' })
    await open('/settings')
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    expect(await row('LISTING_PERIOD_DAYS').innerText()).toMatch(/45 days\s+30 days\s+Environment/)
    const commission = row('COMMISSION_PERCENT')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Change Commission' }).click()
    await dialog.getByLabel('Commission').fill('12.5')
    expect(await seriousOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await commission.getByText('12.5 %').waitFor()
    await commission.getByText('Changed here').waitFor()

    // Another operator has changed it meanwhile: the answer says so, and nothing is overwritten.
    await page.getByRole('button', { name: 'Change Commission' }).click()
    await send(`${node.operatorUrl}/operator/v1/settings/COMMISSION_PERCENT`, OPERATOR_TOKEN, { method: 'PATCH', json: { value: '13' } })
    await dialog.getByLabel('Commission').fill('14')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Changed since it was read').waitFor()
    await page.keyboard.press('Escape')
    await open('/settings')
    await page.getByRole('button', { name: 'Undo the last change of Commission: back to 12.5' }).click()
    await commission.getByText('12.5 %').waitFor()

    await page.getByRole('button', { name: 'Change Names of the markets' }).click()
    await dialog.getByLabel('source_b').fill('Cardmarket')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await row('MARKET_NAMES').getByText('source_b: Cardmarket').waitFor()
    await page.getByRole('button', { name: 'Change Order of the markets' }).click()
    await dialog.getByLabel('Place 1').selectOption('source_b')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText(/must be a list of markets, each at most once/).waitFor()
    await page.keyboard.press('Escape')
    expect(await seriousOf(page)).toEqual([])
    expect(troubles).toEqual([])
    await close()
  })
})
