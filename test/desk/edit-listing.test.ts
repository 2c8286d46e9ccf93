// Editing listings at the desk in a real browser: with a forecast of the result, and prices compared with the market.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { announced, launch, NO_BROWSER, operator, settled, type Visit, WHY } from '../console/browser.ts'
import { fromPhone } from '../photos/pictures.ts'
import { seriousOf } from '../support/axe.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { send, type TestNode } from '../support/node.ts'
import { listingOf, signedInToDesk } from './browser.ts'

interface Listing {
  id: number
  title: string
  status: string
  price: number
  images: { url: string; order: number }[]
}

describe.skipIf(NO_BROWSER)(`Editing listings at the desk${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page

  beforeAll(async () => {
    node = await startSampleNode({ worker: true })
    browser = await launch()
    visited = await signedInToDesk(browser, node, node.keys.plus)
    page = visited.page
  })

  afterAll(() => node.close())

  const api = `/api/v1/plus`
  const own = async (search: string) =>
    (await send<Listing[]>(`${node.publicUrl}${api}/my-listings?with_details=1&search=${encodeURIComponent(search)}`, node.keys.plus)).body.data
  const dialog = () => page.getByRole('dialog')
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const price = () => page.getByLabel('Price in TL')

  test('shows what a new title leads to before it is saved, and asks about a large change of the price', async () => {
    const id = await listingOf(node, { title: 'Before the edit', price: 3_000 })
    await visited.open(`/listings/${id}`)
    await page.getByLabel('Title').fill('After the edit')
    await button('Review').click()
    await page.getByText('Needs approval because of: Title').waitFor()
    await page.getByText('Buyers do not see the listing then.').waitFor()
    expect(await own('After the edit')).toEqual([])
    await button('Save').click()
    await announced(page, 'After the edit: Pending')
    expect(await own('After the edit')).toMatchObject([{ id, status: 'pending' }])
    await page.getByRole('heading', { name: 'After the edit' }).waitFor()
    await operator(node, 'POST', `/listings/${id}/approve`, {})
    await page.reload()
    await settled(page)
    await price().fill('1200')
    await page.keyboard.press('Enter')
    await page.getByText('Buyers see the listing.').waitFor()
    await page.keyboard.press('Enter')
    await dialog()
      .getByText(/more than 50 %/)
      .waitFor()
    await dialog().getByRole('button', { name: 'Save anyway' }).click()
    await announced(page, 'After the edit: Active')
    expect(await own('After the edit')).toMatchObject([{ status: 'active', price: 1200 }])
  })

  test('answers a change that the operator requested, also if only the price is changed', { tags: 'slow' }, async () => {
    const id = await listingOf(node, { title: 'To be changed', price: 3_000 }, false)
    await operator(node, 'POST', `/listings/${id}/request-change`, { note: 'State the edition in the title' })
    await visited.open(`/listings/${id}`)
    await page.getByRole('region', { name: 'The operator requests a change' }).getByText('State the edition in the title').waitFor()
    await page.getByLabel('Title').fill('To be changed, first edition')
    await button('Review').click()
    await button('Save and submit for approval').click()
    await announced(page, 'To be changed, first edition: Pending')
    await expect.poll(() => page.getByRole('region', { name: 'The operator requests a change' }).count()).toBe(0)
    await operator(node, 'POST', `/listings/${id}/request-change`, { note: 'Lower the price' })
    await page.reload()
    await settled(page)
    await price().fill('2990')
    await button('Review').click()
    await button('Save and submit for approval').click()
    // The sample's market price is far above.
    await dialog().getByRole('button', { name: 'Save anyway' }).click()
    await announced(page, 'To be changed, first edition: Pending')
    expect(await own('To be changed')).toMatchObject([{ status: 'pending', price: 2990 }])
  })

  test('the cheapest listing to compare with ignores an outlier, and says if there are too few', { tags: 'slow' }, async () => {
    const [item] = await operator<{ id: number; name: string }[]>(node, 'GET', '/items?search=blastoise')
    const list = async (seller: number, price: number) => {
      const body = { seller_id: seller, item_id: item!.id, price, quantity: 1, title: `Compared at ${price}` }
      const { id } = await operator<{ id: number }>(node, 'POST', '/listings', body)
      await operator(node, 'POST', `/listings/${id}/approve`, {})
      return id
    }
    const id = await list(node.accounts.plus, 290)
    const market = () => page.getByRole('region', { name: 'Market' })
    await visited.open(`/listings/${id}`)
    await market().getByText('none published').waitFor()
    for (const price of [1, 300]) await list(node.accounts.enterprise, price)
    await page.reload()
    await market().getByText('₺1.00 (only 2 published)').waitFor()
    await list(node.accounts.enterprise, 310)
    await page.reload()
    await market().getByText('₺300.00 (ignored as too low: 1)').waitFor()
  })

  test('pictures are added, moved by keyboard, removed and saved; without any, the listing has none', { tags: 'slow' }, async () => {
    await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake: { quota: 100 } })
    const id = await listingOf(node, { title: 'With pictures', price: 3_000 })
    await visited.open(`/listings/${id}`)
    const file = async (name: string, colour: string) => ({ name, mimeType: 'image/jpeg', buffer: await fromPhone(400, 560, colour) })
    const files = await Promise.all([file('a.jpg', '#aa2222'), file('b.jpg', '#22aa22'), file('c.jpg', '#2222aa')])
    const images = async () => (await own('With pictures'))[0]!.images.map(({ url }) => url)
    const shown = () => page.evaluate<string[]>("[...document.querySelectorAll('.photos img')].map(({ src }) => src.split('/').at(-2))")
    const focused = (name: string) => expect.poll(() => page.evaluate<string | null>('document.activeElement.ariaLabel')).toBe(name)
    const text = { name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no image') }
    await page.locator('input[type=file]').setInputFiles([...files, text])
    await page.getByText('notes.png').waitFor()
    await page.getByRole('img', { name: 'Photo 3' }).waitFor()
    const [a, b, c] = await shown()
    await button('Move earlier: Photo 3').focus()
    await page.keyboard.press('Enter')
    await focused('Move earlier: Photo 2')
    await page.keyboard.press('Space')
    await focused('Move later: Photo 1')
    expect(await shown()).toEqual([c, a, b])
    expect(await button('Move earlier: Photo 1').isDisabled()).toBe(true)
    await button('Delete: Photo 2').focus()
    await page.keyboard.press('Enter')
    await focused('Delete: Photo 2')
    expect(await shown()).toEqual([c, b])
    expect(await seriousOf(page)).toEqual([])
    await button('Review').click()
    await page.getByText('Needs approval because of: Images').waitFor()
    expect(await images()).toEqual([])
    await button('Save').click()
    await announced(page, 'With pictures: Pending')
    await expect.poll(async () => (await images()).map((url) => url.split('/').at(-2))).toEqual([c, b])
    await operator(node, 'POST', `/listings/${id}/approve`, {})
    await page.reload()
    await settled(page)
    await button('Move later: Photo 1').click()
    await button('Move earlier: Photo 2').click()
    await button('Review').click()
    await announced(page, 'Nothing has changed.')
    await button('Delete: Photo 1').click()
    await button('Delete: Photo 1').click()
    await expect.poll(() => page.evaluate<string>('document.activeElement.type')).toBe('file')
    await button('Review').click()
    await button('Save').click()
    await announced(page, 'With pictures: Pending')
    await expect.poll(images).toEqual([])
    const phone = await signedInToDesk(browser, node, node.keys.plus, { viewport: { width: 375, height: 800 }, hasTouch: true })
    await phone.open(`/listings/${id}`)
    await phone.page.locator('input[type=file]').setInputFiles(files)
    await phone.page.getByRole('button', { name: 'Move later: Photo 1' }).tap()
    await phone.page.getByRole('button', { name: 'Delete: Photo 3' }).tap()
    await expect.poll(() => phone.page.locator('.photos img').count()).toBe(2)
    expect(await phone.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    expect(await seriousOf(phone.page)).toEqual([])
    await phone.close()
  })
})
