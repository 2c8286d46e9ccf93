// Gain, lots, copies for trade and sharing of a collection at the desk, in a real browser.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { recordWorth } from '#collections/record-worth.ts'
import { readConfig } from '#config.ts'
import { call } from '#core/verb.ts'
import { announced, launch, LAYOUTS, NO_BROWSER, operator, settled, type Visit, WHY } from '../console/browser.ts'
import { seriousOf } from '../support/axe.ts'
import { send, type TestNode } from '../support/node.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { signedInToDesk } from './browser.ts'

const PLUS = '/api/v1/plus'

interface Profit {
  method: string
  realised: number
  unrealised: number
  cpi_month: string | null
  best: { record_id: number; item_name: string; gain: number }[]
  worst: { record_id: number; item_name: string; gain: number }[]
}

describe.skipIf(NO_BROWSER)(`Gain, trade and sharing at the desk${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page
  let collection: number
  /** of the collection: two copies of a Charizard, one Blastoise without a cost */
  let records: { id: number; name: string }[]

  beforeAll(async () => {
    node = await startSampleNode()
    browser = await launch()
    visited = await signedInToDesk(browser, node, node.keys.plus)
    page = visited.page
    await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake: { quota: 100 } })
  })

  afterAll(() => node.close())

  const ask = async <T>(method: string, path: string, json?: object) =>
    (await send<T>(`${node.publicUrl}${PLUS}${path}`, node.keys.plus, { method, json })).body.data
  const profit = (money: string) => ask<Profit>('GET', `/collections/${collection}/profit?currency=${money}`)
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const row = (table: string, name: string | RegExp) => page.getByRole('region', { name: table, exact: true }).getByRole('row', { name })
  const dialog = () => page.getByRole('dialog')

  const newCollection = async (name: string) => {
    ;({ id: collection } = await operator<{ id: number }>(node, 'POST', '/collections', { account_id: node.accounts.plus, name }))
    records = []
    for (const [text, fields] of [
      ['4/102', { quantity: 2, purchase_price: 100, purchase_date: '2026-01-10' }],
      ['2/102', { quantity: 1 }],
    ] as const) {
      const [item] = (await send<{ id: number; name: string }[]>(`${node.publicUrl}/api/v1/items/search?q=${text}`, node.keys.plus)).body.data
      const { id } = await ask<{ id: number }>('POST', `/collections/${collection}/items`, { item_id: item!.id, ...fields })
      records.push({ id, name: item!.name })
    }
  }

  test('gain in four moneys, by both methods, and what is left out', async () => {
    await newCollection('Gains')
    await visited.open(`/collections/${collection}?view=worth`)
    await row('Gain', /^Lira/).waitFor()
    await row('Gain', /^Real lira not known: the service has no consumer price index yet/).waitFor()
    await row('Gain', /^Dollars not known: the service has no exchange rate/).waitFor()
    await page.getByText('Records are left out of a sum').waitFor()

    await operator(node, 'POST', '/rates', [{ currency: 'USD', day: '2026-01-01', rate: 40 }])
    await operator(node, 'POST', '/indices', [
      { index: 'TRY_CPI', month: '2026-01', value: 100 },
      { index: 'TRY_CPI', month: '2026-10', value: 130 },
    ])
    const path = `/collections/${collection}/items/${records[0]!.id}`
    await ask('POST', `${path}/lots`, { acquired_at: '2026-02-10', unit_cost: 200 })
    await ask('POST', `${path}/disposals`, { at: '2026-03-10', gross: 500, fees: 20 })
    await expect.poll(async () => (await profit('TRY_REAL')).cpi_month).toBe('2026-10')
    await visited.open(`/collections/${collection}?view=worth`)
    await row('Gain', /^Real lira in lira of October 2026/).waitFor()
    expect(await profit('TRY')).toMatchObject({ method: 'fifo', realised: 380, best: [{ record_id: records[0]!.id }], worst: [] })
    await row('Gain', /^Lira ₺380\.00/).waitFor()
    await row('Gain', /^Dollars \$9\.50/).waitFor()
    await row('Highest gains', new RegExp(records[0]!.name)).waitFor()

    await button('Average cost').focus()
    await page.keyboard.press('Enter')
    await announced(page, 'Gain is now computed by: Average cost')
    await row('Gain', /^Lira ₺346\.67/).waitFor()
    expect((await profit('TRY')).method).toBe('average')

    const inDollars = (await profit('USD')).best[0]!
    await button('Dollars').click()
    await row('Highest gains', new RegExp(`\\$${inDollars.gain.toLocaleString('en-GB')}`)).waitFor()
    await page.getByRole('link', { name: records[0]!.name }).click()
    await page.getByRole('heading', { name: records[0]!.name }).waitFor()
  })

  test('lots and disposals of a record are added by keyboard, refused with the numbers, removed and added again', async () => {
    await newCollection('Lots')
    const { id, name } = records[0]!
    await visited.open(`/collections/${collection}`)
    await page.getByRole('link', { name }).click()
    await button('Add lot').focus()
    await page.keyboard.press('Enter')
    await dialog().getByLabel('Purchased').fill('2999-01-01')
    await dialog().getByLabel('Quantity').fill('3')
    await dialog().getByLabel('Price paid each').fill('12.5')
    await page.keyboard.press('Enter')
    await dialog().getByRole('alert').getByText('Purchased').waitFor()
    await dialog().getByLabel('Purchased').fill('2026-02-01')
    await page.keyboard.press('Enter')
    await announced(page, `${name}: lot added`)
    await row('Lots', /^1 Feb 2026 Bought 3 3 ₺12\.50/).waitFor()

    await button('Add disposal').click()
    await dialog().getByLabel('Quantity').fill('9')
    await dialog().getByLabel('Received').fill('600')
    await page.keyboard.press('Enter')
    await dialog().getByRole('alert').getByText('The record has 5 copies, fewer than 9').waitFor()
    await dialog().getByLabel('Quantity').fill('2')
    await page.keyboard.press('Enter')
    await announced(page, `${name}: disposal added`)
    await row('Disposals', /Sold elsewhere 2 ₺600\.00/).waitFor()
    expect(await ask('GET', `/collections/${collection}/items/${id}`)).toMatchObject({ quantity: 3 })

    await page
      .getByRole('button', { name: /^Remove:/ })
      .last()
      .click()
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await announced(page, `${name}: entry removed`)
    await page.getByText('No disposals yet.').waitFor()
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
    await announced(page, `${name}: entry added again`)
    await row('Disposals', /Sold elsewhere 2 ₺600\.00/).waitFor()
  })

  test('copies for trade are changed and listed for sale; more than owned are refused with the numbers', async () => {
    await newCollection('Trade')
    const { id, name } = records[0]!
    await visited.open(`/collections/${collection}?view=for-trade`)
    await page.getByText('Nothing is for trade yet.').waitFor()
    await page.getByRole('combobox', { name: 'Records' }).selectOption('All')
    const input = page.getByRole('spinbutton', { name: `For trade of ${name}` })
    await input.fill('2')
    await input.press('Enter')
    await announced(page, `${name}: for trade 2`)
    expect(await ask('GET', `/collections/${collection}/items/${id}`)).toMatchObject({ for_trade: 2 })
    await page.getByRole('combobox', { name: 'Records' }).selectOption('Only for trade')
    await expect.poll(() => page.getByRole('row', { name: records[1]!.name }).count()).toBe(0)

    await page.getByRole('checkbox', { name: `Select ${name}` }).check()
    await button('List for sale').click()
    await dialog().getByText('Market price').waitFor()
    expect(await dialog().getByLabel('Quantity').inputValue()).toBe('2')
    await dialog().getByLabel('Quantity').fill('3')
    await dialog().getByLabel('Price in TL').fill('1250')
    const confirm = async () => {
      await dialog().getByRole('button', { name: 'List for sale' }).click()
      // The price is far from that of the sample.
      await page.getByRole('dialog', { name: 'Save this unusual price?' }).getByRole('button', { name: 'Save anyway' }).click()
    }
    await confirm()
    await dialog().getByRole('alert').getByText('3 more do not fit: 2 owned, 0 of them in listings').waitFor()
    await dialog().getByLabel('Quantity').fill('2')
    await confirm()
    await announced(page, 'Listings created, pending approval: 1')
    await row('For trade', new RegExp(`${name}.*2 × ₺1,250\\.00 Pending`)).waitFor()
    expect(await ask('GET', `/my-listings?record_id[]=${id}`)).toMatchObject([{ record_id: id, quantity: 2, status: 'pending' }])
    expect(await ask('GET', `/my-listings?record_id[]=${records[1]!.id}`)).toEqual([])
  })

  test('a collection is shared, copied, shown and revoked', async () => {
    await newCollection('Shared "cards" & more')
    await visited.open(`/collections/${collection}?view=sharing`)
    await page.getByText('This collection is not shared.').waitFor()
    await page.getByRole('radio', { name: /^Unlisted/ }).check()
    await button('Save').click()
    await announced(page, 'Visibility: Unlisted')
    const { shared_url: address } = await ask<{ shared_url: string }>('GET', `/collections/${collection}`)
    expect(await page.getByRole('textbox', { name: 'Link to the shared page' }).inputValue()).toBe(address)
    expect(await page.getByRole('link', { name: 'Preview' }).getAttribute('href')).toBe(address)
    const snippet = await page.getByRole('textbox', { name: 'HTML for other pages' }).inputValue()
    expect(snippet).toBe(
      `<a href="${address}"><img src="${address}/worth.svg" alt="Shared &quot;cards&quot; &amp; more" width="640" height="240"></a>`,
    )
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await button('Copy: Link to the shared page').click()
    await page.getByText('Copied').waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(address)
    await expect.poll(() => page.locator('.worth-picture').evaluate((image: { naturalWidth?: number }) => image.naturalWidth)).toBeGreaterThan(0)
    const { pathname } = new URL(address)
    expect((await fetch(`${node.publicUrl}${pathname}`)).status).toBe(200)

    await button('Revoke link').click()
    await page.keyboard.press('Escape')
    expect((await fetch(`${node.publicUrl}${pathname}`)).status).toBe(200)
    await button('Revoke link').click()
    await dialog().getByRole('button', { name: 'Revoke link' }).click()
    await announced(page, 'Link revoked')
    await page.getByText('This collection is not shared.').waitFor()
    expect((await fetch(`${node.publicUrl}${pathname}`)).status).toBe(404)
    expect(visited.troubles).toEqual([])
  })

  test('a read-only key sees everything and changes nothing', { tags: 'slow' }, async () => {
    await newCollection('Read')
    await ask('PATCH', `/collections/${collection}`, { visibility: 'public' })
    await ask('PATCH', `/collections/${collection}/items/${records[0]!.id}`, { for_trade: 1 })
    const { key } = await call(createKey, node.ctx, { account_id: node.accounts.plus, read_only: true })
    const reader = await signedInToDesk(browser, node, key)
    const controls = () => reader.page.locator('main').getByRole('button', { name: /Save|Add|Remove|Revoke|Edit|List for sale/ })
    for (const path of [`?view=worth`, `?view=for-trade`, `?view=sharing`, `/records/${records[0]!.id}`]) {
      await reader.open(`/collections/${collection}${path}`)
      await settled(reader.page)
      expect([path, await controls().count()]).toEqual([path, 0])
    }
    await reader.close()
  })

  test.each(LAYOUTS)('pages and dialogs have no accessibility problems and fit: $name', { tags: 'slow' }, async ({ options }) => {
    await newCollection(`Layout ${options.viewport.width} ${options.locale}`)
    const { id } = records[0]!
    const path = `/collections/${collection}/items/${id}`
    await ask('POST', `${path}/lots`, { acquired_at: '2026-02-10', unit_cost: 200 })
    await ask('POST', `${path}/disposals`, { at: '2026-03-10', gross: 500, fees: 20 })
    await ask('PATCH', path, { for_trade: 1 })
    await ask('PATCH', `/collections/${collection}`, { visibility: 'public' })
    await recordWorth({ ...node, currencies: readConfig({}).sourceCurrencies, market: { timeZone: 'Europe/Istanbul' }, now: node.clock.now })
    const visit = await signedInToDesk(browser, node, node.keys.plus, options)
    const problems: unknown[] = []
    const check = async (name: string) => {
      await settled(visit.page)
      problems.push(...(await seriousOf(visit.page)))
      const tooWide = await visit.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      if (tooWide > 0) problems.push(`${name} is ${tooWide} pixels too wide`)
    }
    await visit.open(`/collections/${collection}?view=worth`)
    await check('gain')
    await visit.open(`/collections/${collection}?view=sharing`)
    await check('sharing')
    await visit.page.getByRole('button', { name: /^(Revoke link|Bağlantıyı iptal et)$/ }).click()
    await check('revoke')
    await visit.open(`/collections/${collection}?view=for-trade`)
    await check('for-trade')
    await visit.page.locator('td.pick input').first().check()
    await visit.page.locator('.bulk button.main').click()
    await visit.page.locator('dialog .sale-row dd').first().waitFor()
    await check('list')
    await visit.open(`/collections/${collection}/records/${id}`)
    await check('record')
    for (const [index, name] of ['lot', 'disposal', 'edit'].entries()) {
      await visit.page.locator('main > .buttons button').nth(index).click()
      await visit.page.getByRole('dialog').waitFor()
      await check(name)
      await visit.page.keyboard.press('Escape')
      await visit.page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    expect([problems, visit.troubles]).toEqual([[], []])
    await visit.close()
  })
})
