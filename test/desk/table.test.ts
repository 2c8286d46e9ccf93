// The listings table of the desk in a real browser: actions on several listings with undo, SKUs, columns and saved views.
import { sql } from 'kysely'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launch, NO_BROWSER, operator, settled, type Visit, WHY } from '../console/browser.ts'
import { seriousOf } from '../support/axe.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { send, type TestNode, until } from '../support/node.ts'
import { listingOf, signedInToDesk } from './browser.ts'

interface Listing {
  id: number
  title: string
  status: string
  sku: string | null
  expires_at: string | null
}

describe.skipIf(NO_BROWSER)(`The listings table of the desk${WHY}`, () => {
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

  const api = '/api/v1/plus'
  const own = async (search: string) => {
    const path = `${api}/my-listings?with_details=1&per_page=100&sort_by=title&search=${encodeURIComponent(search)}`
    return (await send<Listing[]>(`${node.publicUrl}${path}`, node.keys.plus)).body.data
  }
  const states = async (search: string) => (await own(search)).map(({ title, status }) => `${title}: ${status}`)
  const patch = (id: number, json: object) => send(`${node.publicUrl}${api}/listings/${id}`, node.keys.plus, { method: 'PATCH', json })
  const dialog = () => page.getByRole('dialog')
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  const notice = (text: string | RegExp) => page.locator('.bulk-notices').getByText(text)
  const search = async (text: string) => {
    await visited.open(`?search=${encodeURIComponent(text)}`)
    await page.getByLabel('Select all').waitFor()
  }

  test('several listings are paused and restored as one; those that failed, or have changed since, are named', async () => {
    const first = await listingOf(node, { title: 'Paused one' })
    const second = await listingOf(node, { title: 'Paused two' })
    await listingOf(node, { title: 'Paused three' })
    await listingOf(node, { title: 'Paused four' }, false)
    await search('paused')
    await page.getByLabel('Select all').check()
    await patch(first, { price: 101 })
    await button('Pause (3)').click()
    await notice('Paused: 2 of 3').waitFor()
    await page.getByRole('listitem').getByText('Paused one').waitFor()
    expect(await states('paused')).toEqual(['Paused four: pending', 'Paused one: active', 'Paused three: paused', 'Paused two: paused'])
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    await patch(second, { price: 102 })
    await button('Undo').click()
    await notice('Undone: 1 of 2').waitFor()
    await page.getByRole('listitem').filter({ hasText: 'Paused two' }).getByText('It has changed since, so it was left alone.').waitFor()
    expect(await states('paused')).toEqual(['Paused four: pending', 'Paused one: active', 'Paused three: active', 'Paused two: paused'])
    await page.locator('.bulk-notices').getByRole('button', { name: 'Close' }).click()
    await expect.poll(() => page.locator('.bulk-notices section').count()).toBe(0)
  })

  test('publishing is undone by pausing; what waits for approval is named, because it cannot be withdrawn', { tags: 'slow' }, async () => {
    const paused = await listingOf(node, { title: 'Published from pause' })
    const rejected = await listingOf(node, { title: 'Published from rejection' }, false)
    await send(`${node.publicUrl}${api}/listings/${paused}/status`, node.keys.plus, { json: { action: 'pause' } })
    await operator(node, 'POST', `/listings/${rejected}/reject`, { reason: 'The picture is blurred' })
    await search('published')
    await page.getByLabel('Select all').check()
    await button('Publish (2)').click()
    await dialog().getByText('Published from rejection').waitFor()
    await expect.poll(() => dialog().getByText('Published from pause').count()).toBe(0)
    await dialog().getByRole('button', { name: 'Publish' }).click()
    await notice('Published or submitted for approval: 2 of 2').waitFor()
    expect(await states('published')).toEqual(['Published from pause: active', 'Published from rejection: pending'])
    await button('Undo').click()
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Published from rejection' })
      .getByText(/waits for approval, which cannot be withdrawn/)
      .waitFor()
    expect(await states('published')).toEqual(['Published from pause: paused', 'Published from rejection: pending'])
  })

  test('a deletion is held back: undone, carried out after the wait, or when the page is left', { tags: 'slow' }, async () => {
    const titles = Array.from({ length: 26 }, (_, i) => `Removed ${String.fromCharCode(97 + i)}`)
    for (const title of titles) await listingOf(node, { title })
    const remove = async (text: string) => {
      await search(text)
      await page.getByLabel('Select all').check()
      await button(/^Delete \(/).click()
      await dialog().getByRole('button', { name: 'Delete' }).click()
      await notice(/^Deleting in 10 seconds/).waitFor()
    }
    await remove('removed a')
    await page.getByText('will be deleted', { exact: true }).waitFor()
    expect(await own('removed')).toHaveLength(26)
    await button('Undo').click()
    await notice('Not carried out; listings left as they were: 1').waitFor()
    await remove('removed b')
    // Opening another page of the desk does not shorten the wait.
    await page.getByRole('link', { name: 'Price changes' }).click()
    await page.getByRole('link', { name: 'Listings', exact: true }).first().click()
    await notice('Deleted: 1 of 1').waitFor()
    expect(await own('removed b')).toEqual([])
    await remove('removed')
    await page.goto('about:blank')
    await until('all are deleted', async () => (await own('removed')).length === 0)
  })

  test('a renewal asks only about listings that need approval, and is held back', { tags: 'slow' }, async () => {
    const soon = await listingOf(node, { title: 'Renewed soon' })
    const changed = await listingOf(node, { title: 'Renewed and changed' })
    const end = new Date(node.clock.now().getTime() + 86_400_000)
    await sql`update listings set expires_at = ${end} where id in (${soon}, ${changed})`.execute(node.db.kysely)
    await send(`${node.publicUrl}${api}/listings/${changed}/status`, node.keys.plus, { json: { action: 'pause' } })
    await sql`update listings set title = title || ', first edition' where id = ${changed}`.execute(node.db.kysely)
    await search('renewed soon')
    await page.getByLabel('Select all').check()
    await button('Renew (1)').click()
    await notice(/^Renewing in 10 seconds/).waitFor()
    await notice('Renewed: 1 of 1').waitFor()
    await expect.poll(async () => Date.parse((await own('renewed soon'))[0]!.expires_at!)).toBeGreaterThan(end.getTime() + 86_400_000)
    await page.getByRole('row', { name: /Renewed soon .*(29|30) days/ }).waitFor()
    await search('renewed and changed')
    await page.getByLabel('Select all').check()
    await button('Renew (1)').click()
    await dialog().getByText('Renewed and changed, first edition').waitFor()
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    expect(await states('renewed and changed')).toEqual(['Renewed and changed, first edition: paused'])
  })

  test('SKUs are edited in the table, saved as one and undone; one that is taken stays, and prices stay edited', { tags: 'slow' }, async () => {
    const first = await listingOf(node, { title: 'Numbered one' })
    await listingOf(node, { title: 'Numbered two' })
    await patch(await listingOf(node, { title: 'Has a number' }), { sku: 'TAKEN' })
    await patch(first, { sku: 'OLD-1' })
    await search('numbered')
    await button('View').click()
    await page.getByRole('checkbox', { name: 'SKU' }).check()
    await page.keyboard.press('Escape')
    await page.getByLabel('SKU of Numbered one').fill('BOX 3, ROW 1')
    await page.getByLabel('SKU of Numbered two').fill('TAKEN')
    await page.getByLabel('Price of Numbered one').fill('111')
    await button('Save SKUs (2)').click()
    await notice('SKUs saved: 1 of 2').waitFor()
    await page.getByRole('listitem').getByText('Numbered two').waitFor()
    const skus = async () => (await own('numbered')).map(({ sku }) => sku)
    expect(await skus()).toEqual(['BOX 3, ROW 1', null])
    await button('Save SKUs (1)').waitFor()
    await button('Review').waitFor()
    await button('Undo').click()
    await notice('Undone: 1 of 1').waitFor()
    expect(await skus()).toEqual(['OLD-1', null])
    await button('Discard').click()
  })

  test('market price, rank and payout are columns that the seller chooses, and share one request', async () => {
    await listingOf(node, { title: 'Compared with the market', price: 500 })
    await search('compared')
    const plans: string[] = []
    page.on('request', (request) => request.url().includes('price-jobs?dry_run') && plans.push(request.url()))
    await button('View').click()
    for (const name of ['Market price', 'Price rank', 'Payout']) await page.getByRole('checkbox', { name }).check()
    await page.getByRole('row', { name: /Compared with the market .*₺[\d,.]+ [+-]\d+% \d+ ₺450\.00/ }).waitFor()
    await page.reload()
    await page.getByRole('row', { name: /Compared with the market .*₺[\d,.]+ [+-]\d+% \d+ ₺450\.00/ }).waitFor()
    // One for each column as it was selected, and one for all three after the reload.
    expect(plans).toHaveLength(4)
  })

  test('a saved view has filters, sort order and columns, is an address, and is renamed and removed', async () => {
    await visited.open('?search=compared')
    await page.getByLabel('Sort by').selectOption('price_low')
    await page.waitForURL(/sort_by=price_low/)
    await button('View').click()
    const menu = page.locator('.menu')
    await menu.getByLabel('View name').fill('Cheap first')
    await page.keyboard.press('Enter')
    await menu.getByRole('checkbox', { name: 'Payout' }).uncheck()
    await menu.getByLabel('View name').fill('Without payout')
    await page.keyboard.press('Enter')
    await menu.getByRole('button', { name: 'Rename view Cheap first' }).click()
    await menu.getByLabel('New name of Cheap first').fill('Without payout')
    await page.keyboard.press('Enter')
    await menu.getByLabel('New name of Cheap first').fill('Lowest prices')
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    await page.keyboard.press('Enter')
    await menu.getByRole('link', { name: 'Lowest prices' }).waitFor()
    await visited.open('')
    await expect.poll(() => page.getByRole('columnheader', { name: 'Payout' }).count()).toBe(0)
    await button('View').click()
    await menu.getByRole('link', { name: 'Lowest prices' }).click()
    await page.getByRole('columnheader', { name: 'Payout' }).waitFor()
    expect(new URL(page.url()).searchParams.toString()).toBe('search=compared&sort_by=price_low')
    await menu.getByRole('button', { name: 'Remove view Lowest prices' }).click()
    await menu.getByRole('link', { name: 'Lowest prices' }).waitFor({ state: 'detached' })
    await menu.getByRole('link', { name: 'Without payout' }).waitFor()
    await expect.poll(() => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
  })

  test('views in searches: summed in the table, by day on the page of the listing', { tags: 'slow' }, async () => {
    const id = await listingOf(node, { title: 'Often found' })
    await send(`${node.publicUrl}${api}/listings?search=often+found`, node.keys.enterprise)
    await send(`${node.publicUrl}${api}/listings?search=often+found`, node.keys.plus)
    await node.runTask('listing-views')
    await search('often found')
    await button('View').click()
    await page.getByLabel('Views (7 days)').check()
    const at = await page.getByRole('columnheader').allInnerTexts()
    const cells = page.getByRole('row', { name: /Often found/ }).locator('th, td')
    await expect.poll(() => cells.nth(at.indexOf('Views (7 days)')).innerText()).toBe('1')
    await visited.open(`/listings/${id}`)
    await page.getByText('Searches of other accounts that returned this listing in the last 7 days: 1').waitFor()
    await expect.poll(() => page.locator('figure.bars rect').count()).toBe(30)
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
  })
})
