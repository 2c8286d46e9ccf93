// Cancelling an order in the console, in a real browser: the service stores what the page shows.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSampleNode } from '../support/sample-node.ts'
import { seriousOf } from '../support/axe.ts'
import type { TestNode } from '../support/node.ts'
import { LAYOUTS, launch, layoutShift, NO_BROWSER, operator, settled, signedIn, WHY } from './browser.ts'

interface Order {
  lines: { line: number; cancellation: { reason: string; refunded: number } | null }[]
}

interface Listing {
  id: number
  status: string
  quantity: number
}

describe.skipIf(NO_BROWSER)(`Cancelling orders in the console${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let itemId: number

  beforeAll(async () => {
    node = await startSampleNode({ listeners: 'operator' })
    browser = await launch()
    itemId = (await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard'))[0]!.id
  })

  afterAll(() => node.close())

  /** An order of two listings: two units of one and the last unit of the other. */
  const makeOrder = async (id: number): Promise<[Listing, Listing]> => {
    const list = async (title: string, quantity: number) => {
      const body = { seller_id: node.accounts.plus, item_id: itemId, title, price: 1_250.5, quantity }
      const listing = await operator<Listing>(node, 'POST', '/listings', body)
      return operator<Listing>(node, 'POST', `/listings/${listing.id}/approve`, {})
    }
    const listings: [Listing, Listing] = [await list(`Many of ${id}`, 5), await list(`Last of ${id}`, 1)]
    const lines = [
      { listing_id: listings[0].id, quantity: 2 },
      { listing_id: listings[1].id, quantity: 1, unit_price: 99.5 },
    ]
    await operator(node, 'POST', '/orders', { order_id: id, lines })
    return listings
  }
  const cancellations = async (id: number) =>
    (await operator<Order>(node, 'GET', `/orders/${id}`)).lines.map(
      ({ cancellation }) => cancellation && [cancellation.reason, cancellation.refunded],
    )
  const listing = ({ id }: Listing) => operator<Listing>(node, 'GET', `/listings/${id}`)

  test.each(LAYOUTS)(
    'lists of orders and listings with large amounts and long names fit and do not move: $name',
    { tags: 'slow' },
    async ({ options }) => {
      const sellers = ['Galata Koleksiyon Dünyası', 'Kart Evi'].map(async (name) =>
        operator<{ id: number }>(node, 'POST', '/accounts', { name: `${name} ${options.locale}`, plan: 'plus' }),
      )
      for (const [n, { id: sellerId }] of (await Promise.all(sellers)).entries()) {
        for (let i = 0; i < 6; i++) {
          const title = `${'Scarlet & Violet Elite Trainer Box: Miraidon '.repeat(1 + n)}${i}`
          const body = { seller_id: sellerId, item_id: itemId, title, price: 9_876_543.21, quantity: 2, language: 'zh-tw' }
          const { id } = await operator<Listing>(node, 'POST', '/listings', body)
          await operator(node, 'POST', `/listings/${id}/approve`, {})
          const order = { order_id: 9_000_000_000 + id, buyer_reference: `customer ${id}`, lines: [{ listing_id: id, quantity: 1 }] }
          await operator(node, 'POST', '/orders', order)
        }
      }
      const { page, open, close } = await signedIn(browser, node, options)
      for (const path of ['/orders', '/listings']) {
        await open(path)
        expect(await layoutShift(page), path).toBeLessThan(0.05)
        const tooWide = await page.evaluate<number>(
          "(() => { const table = document.querySelector('.scroll'); return table.scrollWidth - table.clientWidth })()",
        )
        expect(tooWide, path).toBeLessThanOrEqual(0)
      }
      await close()
    },
  )

  test('cancels a line, then the rest of the order, each with a reason and a confirmation', async () => {
    const [many, last] = await makeOrder(4711)
    const { page, open, troubles, close } = await signedIn(browser, node, { reducedMotion: 'reduce' })
    const dialog = page.getByRole('dialog')
    const button = (name: string) => page.getByRole('button', { name })
    await open('/orders/4711')
    await button('Cancel line 2').click()
    await dialog.getByRole('heading', { name: 'Cancel line 2 of order 4711' }).waitFor()
    await dialog.getByText(/99\.50.* will be refunded to the buyer/).waitFor()
    expect(await seriousOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => cancellations(4711)).toEqual([null, null])
    await button('Cancel line 2').click()
    await dialog.getByRole('button', { name: 'Cancel and refund' }).click()
    expect(
      await dialog.getByLabel('Reason').evaluate((input: unknown) => (input as { validity: { valueMissing: boolean } }).validity.valueMissing),
    ).toBe(true)
    await dialog.getByLabel('Reason').fill('Damaged on arrival')
    await page.keyboard.press('Enter')
    await page.getByText('Damaged on arrival').waitFor()
    await expect.poll(() => cancellations(4711)).toEqual([null, ['Damaged on arrival', 99.5]])
    await expect.poll(() => listing(last)).toMatchObject({ status: 'active', quantity: 1 })
    await button('Cancel line 2').waitFor({ state: 'detached' })
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    await button('Cancel order').click()
    await dialog.getByLabel('Reason').fill('Buyer withdrew')
    await dialog.getByRole('button', { name: 'Cancel and refund' }).click()
    await page.getByText('Buyer withdrew').waitFor()
    await expect
      .poll(() => cancellations(4711))
      .toEqual([
        ['Buyer withdrew', 2_501],
        ['Damaged on arrival', 99.5],
      ])
    await expect.poll(() => listing(many)).toMatchObject({ status: 'active', quantity: 5 })
    await button('Cancel order').waitFor({ state: 'detached' })
    await open('/orders')
    await page.getByRole('row', { name: /^4711 .*Cancelled/ }).waitFor()
    expect(troubles).toEqual([])
    await close()
  })

  test('an order cancelled in the meantime is rejected, in Turkish and on a phone', { tags: 'slow' }, async () => {
    await makeOrder(4712)
    const { page, open, troubles, close } = await signedIn(browser, node, {
      locale: 'tr-TR',
      viewport: { width: 390, height: 844 },
      reducedMotion: 'reduce',
    })
    await open('/orders/4712')
    await page.getByRole('button', { name: 'Siparişi iptal et' }).click()
    const dialog = page.getByRole('dialog')
    await operator(node, 'POST', '/orders/4712/cancel', { reason: 'By the shop' })
    await dialog.getByLabel('Neden').fill('Vazgeçti')
    await dialog.getByRole('button', { name: 'İptal et ve iade et' }).click()
    await dialog.getByText('4712 numaralı siparişin 1. satırı zaten iptal edilmiş').waitFor()
    await page.reload()
    await settled(page)
    await page.getByText('By the shop').first().waitFor()
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    expect(await seriousOf(page)).toEqual([])
    expect(troubles).toEqual([])
    await close()
  })
})
