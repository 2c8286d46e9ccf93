// Offers at the desk, in a real browser: the seller sees, accepts, declines and counters them, and the service stores the answers.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { announced, launch, NO_BROWSER, operator, type Visit, WHY } from '../console/browser.ts'
import { startSampleNode } from '../support/sample-node.ts'
import type { TestNode } from '../support/node.ts'
import { listingOf, signedInToDesk } from './browser.ts'

interface Offer {
  id: number
  status: string
  counter_price: number | null
}

describe.skipIf(NO_BROWSER)(`Offers at the desk${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page
  let listing: number

  beforeAll(async () => {
    node = await startSampleNode()
    browser = await launch()
    visited = await signedInToDesk(browser, node, node.keys.plus)
    page = visited.page
    listing = await listingOf(node, { title: 'Open to offers', price: 200, quantity: 5, offers_enabled: true })
  })

  afterAll(() => node.close())

  const offer = async (price: number, order: number): Promise<number> => {
    const body = { listing_id: listing, unit_price: price, order_id: order, buyer_reference: `buyer ${order}` }
    return (await operator<Offer>(node, 'POST', '/offers', body)).id
  }
  const stored = (id: number) => operator<Offer>(node, 'GET', `/offers/${id}`)
  const row = (amount: string) => page.getByRole('row').filter({ hasText: amount })

  test('are counted on Today, and accepted, declined and countered', async () => {
    await visited.open('/offers')
    await page.getByText('No offers yet.').waitFor()
    const [accepted, declined, countered] = [await offer(150, 801), await offer(20, 802), await offer(140.5, 803)]
    await visited.open('/today')
    await page.getByRole('link').filter({ hasText: 'Offers to answer' }).filter({ hasText: '3' }).click()
    await page.waitForURL(`${node.publicUrl}/desk/offers?status=open`)

    await row('₺150.00').getByRole('button', { name: 'Accept: Open to offers' }).click()
    await page.getByRole('dialog').getByText('You sell 1 at ₺150.00 each; your payout is ₺135.00.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Accept' }).click()
    await announced(page, 'Offer accepted')
    await row('₺20.00').getByRole('button', { name: 'Decline: Open to offers' }).click()
    await announced(page, 'Offer declined')
    await row('₺140.50').getByRole('button', { name: 'Counter: Open to offers' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Unit price').fill('250')
    await dialog.getByRole('button', { name: 'Counter' }).click()
    await dialog.getByText('must be above 140.5 and below 200').waitFor()
    await dialog.getByLabel('Unit price').fill('180')
    await page.keyboard.press('Enter')
    await announced(page, 'Counter-offer made')

    await visited.open('/offers')
    expect([await stored(accepted), await stored(declined), await stored(countered)]).toMatchObject([
      { status: 'accepted' },
      { status: 'declined' },
      { status: 'countered', counter_price: 180 },
    ])
    await row('Countered').filter({ hasText: '₺180.00' }).waitFor()
    await row('Accepted').getByRole('link', { name: 'Order 801' }).click()
    await page.getByRole('row').filter({ hasText: '801/1' }).waitFor()
    expect(visited.troubles).toEqual([])
  })
})
