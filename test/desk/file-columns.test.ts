// Importing a file whose columns the service does not recognise, at the desk: corrected once, used by the next file, in a real browser.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { announced, launch, NO_BROWSER, operator, type Visit, WHY } from '../console/browser.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { send, type TestNode } from '../support/node.ts'
import { signedInToDesk } from './browser.ts'

describe.skipIf(NO_BROWSER)(`Columns of a file at the desk${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page

  beforeAll(async () => {
    node = await startSampleNode()
    browser = await launch()
    visited = await signedInToDesk(browser, node, node.keys.plus)
    page = visited.page
    await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake: { quota: 100 } })
  })

  afterAll(() => node.close())

  const file = (lines: string[]) => ({ name: 'karty.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\n')) })
  const choose = (lines: string[]) => page.getByLabel('Import listings from a CSV file').setInputFiles(file(lines))
  const row = (name: RegExp) => page.getByRole('row', { name })
  const select = (column: string) => page.getByLabel(`What “${column}” holds`)
  const save = async () => {
    await page.getByRole('button', { name: 'Save and check again' }).click()
    await announced(page, 'Columns saved')
  }
  const counts = async () => (await page.locator('.facts').innerText()).replace(/\s+/g, ' ')
  const mine = async () =>
    (await send<{ sku: string; price: number }[]>(`${node.publicUrl}/api/v1/plus/my-listings?with_details=1`, node.keys.plus)).body.data

  test('an unreadable header is corrected column by column, checked again, and imported; the next file needs nothing', async () => {
    const [item] = await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard')
    const header = 'Karta;Cena;Cena stara;Półka;sku'
    await visited.open('/files')
    await choose([header, `${item!.id};50;40;A3;K-1`])
    await page.getByRole('alert').getByText('the header must have').waitFor()
    await row(/^Karta –/).waitFor()
    await select('Karta').selectOption({ label: 'Item id' })
    await save()
    // The item is clear now, the price is not.
    await page.getByRole('alert').getByText('the header must have the columns price').waitFor()
    await expect.poll(() => select('Karta').inputValue()).toBe('item_id')
    await select('Cena').selectOption({ label: 'Price' })
    await select('Cena stara').selectOption({ label: 'Price' })
    await save()
    await page.getByRole('alert').getByText('the columns Cena, Cena stara all hold price').waitFor()
    await expect.poll(() => row(/–/).count()).toBe(2)
    await select('Cena stara').selectOption({ label: 'Ignore this column' })
    await save()
    await page.getByRole('heading', { name: 'What an import would do' }).waitFor()
    expect(await counts()).toMatch(/Created 1 Parked 0 Refused 0 Without stock 0 Columns not read Cena stara, Półka/)
    await row(/^Karta Item id as you chose/).waitFor()
    await row(/^Cena stara Ignored, as you chose/).waitFor()
    await row(/^Półka Not read/).waitFor()
    await row(/^sku SKU by its name/).waitFor()
    expect(await mine()).toEqual([])
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByRole('heading', { name: 'Import result' }).waitFor()
    await row(/Line 2 · K-1 Created Listing \d+/).waitFor()
    expect(await page.getByRole('heading', { name: 'What an import would do' }).count()).toBe(0)
    expect(await mine()).toMatchObject([{ sku: 'K-1', price: 50 }])

    await choose(['KARTA;cena;sku', `${item!.id};60;K-2`])
    await row(/^cena Price as you chose/).waitFor()
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await row(/Line 2 · K-2 Created Listing \d+/).waitFor()
    // "Automatic" removes a choice.
    await choose([header, `${item!.id};70;40;A3;K-3`])
    await row(/^Cena Price/).waitFor()
    await select('Cena').selectOption({ label: 'Automatic' })
    await save()
    await page.getByRole('alert').getByText('the header must have the columns price').waitFor()
    expect((await send<{ columns: object[] }>(`${node.publicUrl}/api/v1/plus/listings/columns`, node.keys.plus)).body.data.columns).toEqual([
      { column: 'Karta', field: 'item_id' },
      { column: 'Cena stara', field: null },
    ])
  })

  test('in Turkish, and narrow, the page does not scroll sideways', async () => {
    await page.setViewportSize({ width: 390, height: 800 })
    await page.getByLabel('Language').selectOption('tr')
    await page.getByLabel('CSV dosyasından ilan içe aktar').setInputFiles(file(['Kart adı;Fiyat;Raf', 'Charizard;5;A']))
    await row(/Fiyat.*Fiyat.*adından tahmin edildi/).waitFor()
    await row(/Raf.*Okunmuyor/).waitFor()
    expect(await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0)
    expect(visited.troubles).toEqual([])
  })
})
