// Managing a large stock at the desk: renewal, repricing rules, files of prices and listings, and worth over time, in a real browser.
import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { recordWorth } from '#collections/record-worth.ts'
import { readConfig } from '#config.ts'
import { call } from '#core/verb.ts'
import { announced, launch, NO_BROWSER, operator, settled, signedIn, type Visit, WHY } from '../console/browser.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { send, type TestNode } from '../support/node.ts'
import { listingOf, signedInToDesk } from './browser.ts'

interface Listing {
  id: number
  title: string
  status: string
  price: number
  quantity: number
  expires_at: string
}

describe.skipIf(NO_BROWSER)(`Stock at the desk${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page

  beforeAll(async () => {
    node = await startSampleNode()
    browser = await launch()
    visited = await signedInToDesk(browser, node, node.keys.plus)
    page = visited.page
  })

  afterAll(() => node.close())

  const own = async (id: number) => (await send<Listing>(`${node.publicUrl}/api/v1/plus/listings/${id}?with_details=1`, node.keys.plus)).body.data
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const dialog = () => page.getByRole('dialog')
  const file = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) })
  const endIn = (id: number, days: number) =>
    sql`update listings set expires_at = ${new Date(node.clock.now().getTime() + days * 86_400_000)} where id = ${id}`.execute(node.db.kysely)

  describe('renewal', () => {
    test('lists listings that end soon, renews the selected ones, and shows the result by row', async () => {
      const soon = await listingOf(node, { title: 'Ends soon' })
      const changed = await listingOf(node, { title: 'Ends soon and changed' })
      const unselected = await listingOf(node, { title: 'Ends soon and is left' })
      const later = await listingOf(node, { title: 'Ends later' })
      for (const id of [soon, changed, unselected]) await endIn(id, 3)
      await endIn(later, 20)
      await send(`${node.publicUrl}/api/v1/plus/listings/${changed}`, node.keys.plus, { method: 'PATCH', json: { description: 'Better pictures' } })
      await endIn(changed, 3)
      await visited.open('/renewal')
      await page.getByRole('row', { name: /Ends soon and is left/ }).waitFor()
      await expect.poll(() => page.getByRole('row', { name: /Ends later/ }).count()).toBe(0)
      await page.getByLabel('Expires within').selectOption('30')
      await page.getByRole('row', { name: /Ends later .*Renewed without approval/ }).waitFor()
      await page.getByLabel(`Select #${unselected}`).uncheck()
      await page.getByLabel(`Select #${later}`).uncheck()
      const before = await own(unselected)
      await button(/^Renew \(/).click()
      await announced(page, /^Renewed listings: [12]$/)
      await page.getByRole('row', { name: /Ends soon Active .*Renewed/ }).waitFor()
      const inDays = async (id: number) => (Date.parse((await own(id)).expires_at) - node.clock.now().getTime()) / 86_400_000
      await expect.poll(() => inDays(soon)).toBeGreaterThan(29)
      await expect.poll(() => inDays(later)).toBeLessThan(21)
      expect((await own(unselected)).expires_at).toBe(before.expires_at)
      await button('Refresh').click()
      await page.getByRole('row', { name: /Ends soon and is left/ }).waitFor()
    })

    test('a read-only key gets a message that it cannot change anything', { tags: 'slow' }, async () => {
      const { key } = await call(createKey, node.ctx, { account_id: node.accounts.plus, read_only: true })
      const reader = await signedInToDesk(browser, node, key)
      await reader.open('/renewal')
      await reader.page
        .getByRole('alert')
        .getByText(/read-only/)
        .waitFor()
      for (const path of ['/repricing', '/files', '/price-jobs']) {
        await reader.open(path)
        await expect.poll(() => reader.page.locator('main input[type=file]').count()).toBe(0)
        await expect.poll(() => reader.page.getByRole('link', { name: 'New rule' }).count()).toBe(0)
      }
      await reader.close()
    })
  })

  test('a repricing rule is created, rejected without a floor, simulated before it is enabled, run, explained, undone, edited and deleted', async () => {
    const mine = await listingOf(node, { title: 'Follows the cheapest', price: 400 })
    const [item] = await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard')
    const rival = { seller_id: node.accounts.enterprise, item_id: item!.id, price: 350, quantity: 1, title: 'Rival' }
    const { id: rivalId } = await operator<{ id: number }>(node, 'POST', '/listings', rival)
    await operator(node, 'POST', `/listings/${rivalId}/approve`, {})
    await visited.open('/repricing')
    await page.getByText('No rules yet.').waitFor()
    await page.getByRole('link', { name: 'New rule' }).click()
    await page.getByLabel('Name').fill('Just below')
    await page.getByLabel('Difference in TL').fill('-1.5')
    await page.getByLabel('Applies to').selectOption('listings')
    await page.getByLabel('Listing ids').fill(String(mine))
    await button('Save').click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Floor: lowest price in TL').fill('300')
    // One rival is fewer than the default.
    await page.getByLabel('Minimum comparables').fill('1')
    await button('Save').click()
    await page.getByRole('heading', { name: 'Just below' }).waitFor()
    await settled(page)
    // It can be enabled only next to a preview of what it would do.
    await expect.poll(() => button('Enable').count()).toBe(0)
    await expect.poll(() => button('Run now').count()).toBe(0)
    await button('Simulate').click()
    await page.getByText('Would change 1 of 1 listings now').waitFor()
    await page
      .getByRole('row', { name: /Follows the cheapest ₺400\.00 ₺348\.50 .*the target is 348\.5; the cheapest comparable listing \d+ costs 350/ })
      .waitFor()
    expect((await own(mine)).price).toBe(400)
    // As if it had just run: otherwise the worker, which checks every minute, might run it before the button does.
    await sql`update repricing_rules set last_run_at = now()`.execute(node.db.kysely)
    // The price is far below the sample's market price.
    await page.getByRole('row', { name: /Follows the cheapest .*Check the price is less than the market price of/ }).waitFor()
    await button('Enable').click()
    await dialog()
      .getByText(/less than the market price of/)
      .waitFor()
    await dialog().getByRole('button', { name: 'Enable anyway' }).click()
    await announced(page, 'Rule enabled')
    await button('Disable').waitFor()
    await page.reload()
    await button('Run now').click()
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    expect((await own(mine)).price).toBe(400)
    await button('Run now').click()
    await dialog().getByRole('button', { name: 'Run anyway' }).click()
    await announced(page, 'Changed prices: 1')
    expect((await own(mine)).price).toBe(348.5)
    await page.getByRole('row', { name: /Price change \d+ .*Applied/ }).waitFor()
    await page.getByRole('link', { name: /^Price change \d+$/ }).click()
    await page.getByRole('row', { name: /Follows the cheapest .*Check the price is less than .*the target is 348\.5/ }).waitFor()
    await button('Undo').click()
    await announced(page, 'Undone; reverted listings: 1')
    expect((await own(mine)).price).toBe(400)
    await page.getByRole('link', { name: /^Repricing rule \d+$/ }).click()
    await page.getByRole('heading', { name: 'Just below' }).waitFor()
    await button('Edit').click()
    await page.getByRole('combobox', { name: 'Target' }).selectOption('market')
    await page.getByRole('combobox', { name: 'Market' }).selectOption('source_a')
    await page.getByLabel('Factor').fill('0.95')
    await button('Save').click()
    await announced(page, 'Rule saved')
    await page.getByText(/Source A × 0\.95/).waitFor()
    // With other terms it is off until it is simulated again.
    await expect.poll(() => button('Run now').count()).toBe(0)
    await button('Delete').click()
    await dialog().getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No rules yet.').waitFor()
  })

  test('an unusual price is marked, and applied only after a confirmation that names the listing', { tags: 'slow' }, async () => {
    const id = await listingOf(node, { title: 'Almost given away', price: 3_373.37 })
    await visited.open('?q=Almost+given+away')
    await page.getByRole('spinbutton', { name: 'Price of Almost given away' }).fill('1')
    await button('Review').click()
    const row = page.getByRole('row', { name: /Almost given away .*Check the price changes by more than 50 % from 3373\.37/ })
    await row.waitFor()
    await button('Apply (1)').click()
    await dialog().getByRole('heading', { name: 'Apply unusual prices? (1)' }).waitFor()
    await dialog()
      .getByRole('listitem')
      .getByText(/Almost given away\s+₺3,373\.37 ₺1\.00/)
      .waitFor()
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    expect((await own(id)).price).toBe(3_373.37)
    await button('Apply (1)').click()
    await dialog().getByRole('button', { name: 'Apply anyway' }).click()
    await announced(page, 'Applied; changed listings: 1')
    expect((await own(id)).price).toBe(1)
  })

  test('a listing that a rule changed links to the rule', { tags: 'slow' }, async () => {
    const id = await listingOf(node, { title: 'Changed by a rule' })
    await sql`update listings set changed_by = ${JSON.stringify({ kind: 'repricing_rule', id: 77, at: new Date().toISOString() })} where id = ${id}`.execute(
      node.db.kysely,
    )
    await visited.open('?search=changed by a rule')
    await page.getByRole('link', { name: 'Repricing rule 77' }).click()
    await page.getByText('This rule was deleted. Its runs are kept.').waitFor()
  })

  test('price file: planned, rejected rows shown, applied and undone', async () => {
    const id = await listingOf(node, { title: 'Priced by file', price: 70, quantity: 2 })
    await visited.open('/price-jobs')
    const choose = page.getByLabel('Prices and stock from a CSV file')
    await choose.setInputFiles(file('prices.csv', 'colour\nred\n'))
    await button('Review').click()
    await page.getByRole('alert').waitFor()
    await choose.setInputFiles(file('prices.csv', `listing_id,price,quantity\n${id},75.5,9\n999999,10,\n`))
    await page.getByText('prices.csv').waitFor()
    await button('Review').click()
    await page.getByRole('heading', { name: /^Price change \d+$/ }).waitFor()
    await page.getByRole('row', { name: /Priced by file ₺70\.00 ₺75\.50 \S+ 2 9/ }).waitFor()
    await page.getByRole('row', { name: /#999999 .*Refused/ }).waitFor()
    await button('Apply (1)').click()
    // The sample's market price is far above.
    await dialog().getByRole('button', { name: 'Apply anyway' }).click()
    await announced(page, 'Applied; changed listings: 1')
    await expect.poll(() => own(id)).toMatchObject({ price: 75.5, quantity: 9 })
    await button('Undo').click()
    await announced(page, 'Undone; reverted listings: 1')
    await expect.poll(() => own(id)).toMatchObject({ price: 70, quantity: 2 })
  })

  test('listing file: disabled until the operator enables it, then created, parked with candidates, placed, discarded and rejected; and exported', async () => {
    const [item] = await operator<{ id: number; name: string }[]>(node, 'GET', '/items?search=charizard')
    const rows = [
      'sku,item_id,name,quantity,price',
      `DESK-1,${item!.id},,2,50`,
      'DESK-2,,Charizard,1,60',
      'DESK-3,,A card that nobody has,1,70',
      `DESK-4,${item!.id},,1,0.5`,
    ]
    await visited.open('/files')
    const choose = page.getByLabel('Import listings from a CSV file')
    await choose.setInputFiles(file('stock.csv', rows.join('\n')))
    // The alert may already be that of the check of the file: what is enabled now would let this import through.
    const refused = page.waitForResponse((response) => response.url().endsWith('/plus/listings/import'))
    await button('Import').click()
    expect((await refused).ok()).toBe(false)
    await page.getByRole('alert').waitFor()
    await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake: { quota: 100 } })
    await button('Import').click()
    await page.getByRole('heading', { name: 'Import result' }).waitFor()
    expect((await page.locator('.facts').innerText()).replace(/\s+/g, ' ')).toMatch(/Created 1 Parked 2 Refused 1 Without stock 0/)
    await page.getByRole('row', { name: /Line 5 · DESK-4 Refused Price must/ }).waitFor()
    await page.getByRole('row', { name: /Line 2 · DESK-1 Created Listing \d+/ }).waitFor()
    await button('Choose item: Charizard').click()
    await expect.poll(() => dialog().getByRole('radio').count()).toBeGreaterThan(1)
    await dialog().getByLabel('Another item').check()
    await dialog().getByLabel('Item id').fill('999999')
    await dialog().getByRole('button', { name: 'Create listing' }).click()
    await dialog().getByRole('alert').waitFor()
    await dialog().getByRole('radio').first().check()
    await dialog().getByRole('button', { name: 'Create listing' }).click()
    await announced(page, /created, pending approval$/)
    await button('Discard: A card that nobody has').click()
    await dialog().getByRole('button', { name: 'Discard' }).click()
    await page.getByText('No parked rows.').waitFor()
    const download = page.waitForEvent('download')
    await button('Download my listings').click()
    const text = await readFile(await (await download).path(), 'utf8')
    expect(text).toContain('DESK-1')
    expect(text).toContain('DESK-2')
    expect(text).not.toContain('DESK-3')
  })

  describe('worth over time', () => {
    let id: number

    const record = (at: string) => {
      const { sourceCurrencies: currencies, timeZone } = readConfig({})
      return recordWorth({ db: node.db, catalogue: node.catalogue, currencies, market: { timeZone }, now: () => new Date(at) })
    }

    beforeAll(async () => {
      const [item] = await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard')
      ;({ id } = await operator<{ id: number }>(node, 'POST', '/collections', { account_id: node.accounts.plus, name: 'Over the days' }))
      const json = { item_id: item!.id, quantity: 2, purchase_price: 10 }
      await send(`${node.publicUrl}/api/v1/plus/collections/${id}/items`, node.keys.plus, { json })
    })

    test('says if there is none, then shows the days as chart and table, with gaps, at the desk and in the console', { tags: 'slow' }, async () => {
      await visited.open(`/collections/${id}?view=worth`)
      await page.getByText('No figures yet.').waitFor()
      for (const day of ['18', '19', '22']) await record(`2026-11-${day}T09:00:00Z`)
      await page.reload()
      await page.getByRole('img', { name: 'Worth and cost by day, in' }).waitFor()
      await page.locator('.chart canvas').waitFor()
      await page.getByText('Days as a table (3)').click()
      const shown = (place: Page) => place.locator('details tbody th').allInnerTexts()
      await expect.poll(async () => (await shown(page)).map((text) => text.trim())).toEqual(['22 Nov 2026', '19 Nov 2026', '18 Nov 2026'])
      const days = await shown(page)
      const console = await signedIn(browser, node)
      await console.open(`/accounts/${node.accounts.plus}?view=collections`)
      await console.page.getByRole('button', { name: 'Worth: Over the days' }).click()
      await console.page.getByRole('heading', { name: 'Over the days: worth over time' }).waitFor()
      await console.page.locator('.chart canvas').waitFor()
      await console.page.getByText('Days as a table (3)').click()
      await expect.poll(() => shown(console.page)).toEqual(days)
      expect([...visited.troubles, ...console.troubles]).toEqual([])
      await console.close()
    })
  })
})
