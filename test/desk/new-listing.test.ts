// Listing cards at the desk in a real browser: by keyboard alone, in stack mode, after a reload and after failures.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { call } from '#core/verb.ts'
import { announced, intercept, launch, layouts, NO_BROWSER, operator, settled, type Visit, WHY } from '../console/browser.ts'
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
  quantity: number
  sku: string | null
  description: string
  item_id: number
  grade: { label: string } | null
  language: string | null
  offers_enabled: boolean
  shipping_payer: string
  images: { url: string }[]
}

describe.skipIf(NO_BROWSER)(`New listings at the desk${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page

  beforeAll(async () => {
    node = await startSampleNode({ worker: true })
    browser = await launch()
    await intake({ quota: 100 })
    visited = await signedInToDesk(browser, node, node.keys.plus)
    page = visited.page
  })

  afterAll(() => node.close())

  const api = `/api/v1/plus`
  const own = async (search: string) =>
    (await send<Listing[]>(`${node.publicUrl}${api}/my-listings?with_details=1&search=${encodeURIComponent(search)}`, node.keys.plus)).body.data
  const dialog = () => page.getByRole('dialog')
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const search = () => page.getByRole('combobox', { name: 'Card', exact: true })
  const suggestion = (on: Page) =>
    on
      .getByRole('listbox', { name: /^(Suggestions|Öneriler)$/ })
      .getByRole('option')
      .first()
  const stackMode = () => page.getByRole('checkbox', { name: /^Stack mode/ })
  const price = () => page.getByLabel('Price in TL')
  const focused = (name: string) => expect.poll(() => page.evaluate<string>('document.activeElement.name')).toBe(name)
  const searchFocused = () => expect.poll(() => page.evaluate<string>('document.activeElement.placeholder')).toBe('Name, code or number')
  const intake = (listing_intake: { quota: number } | null) => operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake })

  /** Types into the focused element, counting the keys. */
  const typing = () => {
    let keys = 0
    return {
      text: async (text: string) => {
        keys += text.length
        await page.keyboard.type(text)
      },
      press: async (key: string) => {
        keys += 1
        await page.keyboard.press(key)
      },
      count: () => keys,
    }
  }

  /** The price of the sample, so that nothing has to be confirmed. */
  const marketPrice = async () => {
    const text = page.getByRole('region', { name: 'Market' }).locator('dd').first()
    await expect.poll(() => text.innerText()).toMatch(/₺/)
    return Math.round(Number((await text.innerText()).replaceAll(',', '').match(/[\d.]+/)![0]))
  }

  test('says so if the operator has not enabled listings for the account, or the key is read-only', { tags: 'slow' }, async () => {
    await intake(null)
    await visited.open('')
    await page.getByRole('link', { name: 'New listing' }).click()
    await page.getByText('You cannot create listings yet.').waitFor()
    await intake({ quota: 100 })
    const { key } = await call(createKey, node.ctx, { account_id: node.accounts.plus, read_only: true })
    const reader = await signedInToDesk(browser, node, key)
    await expect.poll(() => reader.page.getByRole('link', { name: 'New listing' }).count()).toBe(0)
    await reader.open('/listings/new')
    await reader.page.getByText('This key is read-only.').waitFor()
    await reader.close()
  })

  test('one card by keyboard alone: found by its number, compared with the market and saved', async () => {
    await visited.open('/listings/new')
    await searchFocused()
    const keys = typing()
    await keys.text('4/102')
    await suggestion(page).waitFor()
    await keys.press('ArrowDown')
    await keys.press('ArrowUp')
    await keys.press('Enter')
    await focused('price')
    const market = await marketPrice()
    await keys.text(String(market))
    await page.getByText(/\d+ of \d+/).waitFor()
    await keys.press('Enter')
    await announced(page, /^Charizard .*created, pending approval$/)
    await page.waitForURL(/\/listings\/\d+$/)
    const [created] = await own('Charizard')
    expect(created).toMatchObject({ status: 'pending', price: market, quantity: 1, grade: null, sku: null, title: 'Charizard 4/102, Base Set' })
    // Without the two arrows: the number, Enter, the price, Enter.
    expect(keys.count() - 2).toBe('4/102'.length + String(market).length + 2)
  })

  test('all fields are saved, and a check before tells what saving leads to without saving', async () => {
    await visited.open('/listings/new')
    await search().fill('blastoise')
    await suggestion(page).waitFor()
    await page.keyboard.press('Enter')
    await focused('price')
    await page.getByLabel('Condition or grade').selectOption('PSA 10')
    await page.getByRole('region', { name: 'Market' }).getByText('PSA 10').waitFor()
    const market = await marketPrice()
    await price().fill(String(market))
    await page.getByLabel('Card language').fill('en')
    await page.getByLabel('Quantity').fill('3')
    await page.getByLabel('SKU').fill('BLAST-1')
    await page.getByLabel('Title').fill('Blastoise, graded')
    await page.getByLabel('Description').fill('Bought in 1999')
    await page.getByLabel('Shipping paid by').selectOption('seller')
    await page.getByLabel('Buyers may offer a different price').check()
    await page.getByLabel('Minimum offer in TL').fill('10')
    await button('Check without saving').click()
    await page.getByText('Buyers do not see the listing then.').waitFor()
    expect(await own('Blastoise, graded')).toEqual([])
    await button('Create listing').click()
    await announced(page, 'Blastoise, graded created, pending approval')
    expect((await own('BLAST-1'))[0]).toMatchObject({
      title: 'Blastoise, graded',
      price: market,
      quantity: 3,
      description: 'Bought in 1999',
      grade: { label: 'PSA 10' },
      language: 'en',
      shipping_payer: 'seller',
      offers_enabled: true,
      min_offer_price: 10,
    })
  })

  test('photos are uploaded, survive a reload, can be removed, and are refused by name', { tags: 'slow' }, async () => {
    await visited.open('/listings/new')
    await search().fill('venusaur')
    await suggestion(page).waitFor()
    await page.keyboard.press('Enter')
    await focused('price')
    const market = String(await marketPrice())
    await price().fill(market)
    const file = async (name: string, colour: string) => ({ name, mimeType: 'image/jpeg', buffer: await fromPhone(400, 560, colour) })
    const text = { name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no image') }
    await page.locator('input[type=file]').setInputFiles([await file('front.jpg', '#aa2222'), text, await file('back.jpg', '#2222aa')])
    await page.getByText('notes.png').waitFor()
    await page.getByRole('img', { name: 'Photo 2' }).waitFor()
    expect(await price().inputValue()).toBe(market)
    await page.reload()
    await settled(page)
    await page.getByRole('img', { name: 'Photo 2' }).waitFor()
    await expect.poll(() => page.evaluate<number>("document.querySelector('.photos img').naturalWidth")).toBe(320)
    await button('Delete: Photo 1').click()
    await expect.poll(() => page.getByRole('img', { name: /^Photo / }).count()).toBe(1)
    await button('Create listing').click()
    await announced(page, /^Venusaur .*created/)
    const [created] = await own('Venusaur')
    expect(created!.images).toHaveLength(1)
    expect((await fetch(created!.images[0]!.url)).headers.get('content-type')).toBe('image/webp')
  })

  test('stack mode: the next card is written while the last one is saved; a failed one stays with its reason and can be edited', {
    tags: 'slow',
  }, async () => {
    await visited.open('/listings/new')
    await stackMode().check()
    await page.reload()
    await settled(page)
    await expect.poll(() => stackMode().isChecked()).toBe(true)
    await page.getByLabel('Condition or grade').selectOption('Near Mint')
    await searchFocusedByClick()
    const keys = typing()
    const listCard = async (number: string, sku: string) => {
      await keys.text(number)
      await keys.press('Enter')
      await focused('price')
      const market = await marketPrice()
      await price().fill(String(market))
      await page.getByLabel('SKU').fill(sku)
      await keys.press('Enter')
      await searchFocused()
    }
    await listCard('1/102', 'STACK-1')
    await announced(page, /^Alakazam .*created/)
    // The same SKU again is refused.
    await listCard('2/102', 'STACK-1')
    const unsaved = page.getByRole('region', { name: 'Not saved' })
    await unsaved.getByRole('alert').waitFor()
    await unsaved.getByText(/^Blastoise/).waitFor()
    await listCard('4/102', 'STACK-2')
    await announced(page, /^Charizard .*created/)
    await page.reload()
    await settled(page)
    await unsaved.getByRole('button', { name: /^Edit: Blastoise/ }).click()
    await focused('price')
    await page.getByLabel('SKU').fill('STACK-3')
    await page.keyboard.press('Enter')
    await announced(page, /^Blastoise .*created/)
    await expect.poll(() => unsaved.count()).toBe(0)
    const created = await own('STACK-')
    expect(created.map(({ sku, grade }) => [sku, grade?.label]).sort()).toEqual([
      ['STACK-1', 'Near Mint'],
      ['STACK-2', 'Near Mint'],
      ['STACK-3', 'Near Mint'],
    ])
    await stackMode().uncheck()
  })

  const searchFocusedByClick = async () => {
    await search().click()
    await searchFocused()
  }

  test('a save whose response is lost is repeated without creating a second listing', { tags: 'slow' }, async () => {
    await visited.open('/listings/new')
    await stackMode().check()
    await searchFocusedByClick()
    await page.keyboard.type('15/102')
    await page.keyboard.press('Enter')
    await focused('price')
    const market = await marketPrice()
    await price().fill(String(market))
    await page.getByLabel('SKU').fill('LOST-1')
    await intercept(page, /\/plus\/listings$/, async (route) => {
      await route.fetch()
      await route.abort()
    })
    await page.keyboard.press('Enter')
    const unsaved = page.getByRole('region', { name: 'Not saved' })
    await unsaved.getByRole('alert').getByText('Cannot reach the service').waitFor()
    await page.unroute(/\/plus\/listings$/)
    expect(await own('LOST-1')).toHaveLength(1)
    await unsaved.getByRole('button', { name: /^Try again/ }).click()
    await announced(page, /created, pending approval$/)
    expect(await own('LOST-1')).toHaveLength(1)
    await stackMode().uncheck()
  })

  test('Enter never chooses a card of an earlier text', { tags: 'slow' }, async () => {
    await visited.open('/listings/new')
    await searchFocusedByClick()
    await page.keyboard.type('charizard')
    await suggestion(page).waitFor()
    // Enter follows the text at once, before its cards can arrive.
    await page.evaluate(`new Promise((resolve) => {
      const input = document.activeElement
      input.value = '2/102'
      input.dispatchEvent(new Event('input', { bubbles: true }))
      setTimeout(() => resolve(input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))))
    })`)
    await page.locator('.chosen-card').getByText('2/102').waitFor()
  })

  test('a draft survives a reload', { tags: 'slow' }, async () => {
    await visited.open('/listings/new')
    await searchFocusedByClick()
    await page.keyboard.type('15/102')
    await page.keyboard.press('Enter')
    await focused('price')
    await page.keyboard.type('77.5')
    await page.getByLabel('Title').fill('A title that is half wri')
    await page.reload()
    await settled(page)
    await page.locator('.chosen-card').getByText('15/102').waitFor()
    await expect.poll(() => price().inputValue()).toBe('77.5')
    await expect.poll(() => page.getByLabel('Title').inputValue()).toBe('A title that is half wri')
  })

  test('an unusual price is saved only after a confirmation', { tags: 'slow' }, async () => {
    await visited.open('/listings/new')
    await page.getByLabel('Title').fill('Almost a gift')
    await price().fill('1')
    await page.keyboard.press('Enter')
    await dialog().getByRole('heading', { name: 'Save this unusual price?' }).waitFor()
    await dialog()
      .getByText(/less than|below|market price/)
      .first()
      .waitFor()
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    await focused('price')
    expect(await own('Almost a gift')).toEqual([])
    await page.keyboard.press('Enter')
    await dialog().getByRole('button', { name: 'Save anyway' }).click()
    await announced(page, 'Almost a gift created, pending approval')
    expect(await own('Almost a gift')).toMatchObject([{ price: 1 }])
  })

  test.each(layouts())('the form has no accessibility problems and fits: $name', async ({ options }) => {
    const layout = options.viewport.width === 390 ? { ...options, viewport: { width: 375, height: 800 } } : options
    const visit = await signedInToDesk(browser, node, node.keys.plus, layout)
    const id = await listingOf(node, { title: 'Seen in every layout' })
    await visit.open('/listings/new')
    await visit.page.keyboard.type('4/102')
    await suggestion(visit.page).waitFor()
    const problems = [await seriousOf(visit.page)]
    await visit.page.keyboard.press('Enter')
    await visit.page.locator('.chosen-card').waitFor()
    await settled(visit.page)
    problems.push(await seriousOf(visit.page))
    const tooWide = () => visit.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    expect(await tooWide()).toBeLessThanOrEqual(0)
    await visit.open(`/listings/${id}`)
    problems.push(await seriousOf(visit.page))
    expect(await tooWide()).toBeLessThanOrEqual(0)
    expect([problems, visit.troubles]).toEqual([[[], [], []], []])
    await visit.close()
  })
})
