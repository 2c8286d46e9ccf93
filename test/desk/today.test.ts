// The desk's page "Today" in a real browser: counts what there is to do, links to it, and shows sales and the worth of the stock.
import { sql } from 'kysely'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { call } from '#core/verb.ts'
import { launch, NO_BROWSER, operator, type Visit, WHY } from '../console/browser.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { msPastMidnight, send, type TestNode } from '../support/node.ts'
import { openReceiver, status } from '../webhooks/receiver.ts'
import { listingOf, signedInToDesk } from './browser.ts'

const DAY_MS = 86_400_000

describe.skipIf(NO_BROWSER)(`Today at the desk${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page

  beforeAll(async () => {
    node = await startSampleNode({ worker: true })
    node.clock.advance(msPastMidnight(node.clock.now()))
    browser = await launch()
    visited = await signedInToDesk(browser, node, node.keys.plus)
    page = visited.page
    await page.clock.setFixedTime(node.clock.now())
  })

  afterAll(() => node.close())

  const plus = (path: string, options: object) => send<{ id: number }>(`${node.publicUrl}/api/v1/plus${path}`, node.keys.plus, options)
  const section = (name: string) => page.getByRole('region', { name })
  const toDo = () => section('To do').getByRole('link')

  /** Follows the entry of the to-do list, and returns to it. */
  async function follow(name: RegExp, address: string, content: string | RegExp) {
    await toDo().filter({ hasText: name }).click()
    await page.waitForURL(`${node.publicUrl}${address}`)
    await page.locator('main').getByText(content).first().waitFor()
    await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Today' }).click()
    await toDo().first().waitFor()
  }

  test('without anything to do it says so once a webhook is set, and the navigation marks only this page', { tags: 'slow' }, async () => {
    await visited.open('/today')
    await toDo().filter({ hasText: 'Webhook not set' }).waitFor()
    expect(await toDo().count()).toBe(1)
    await plus('/webhook', { method: 'PUT', json: { url: 'http://127.0.0.1:9/hook' } })
    await visited.open('/today')
    await section('To do').getByText('Nothing to do.').waitFor()
    await section('Today’s sales').getByText('No sales yet.').waitFor()
    await section('Worth of stock').getByText('₺0.00').waitFor()
    const marked = page.getByRole('navigation', { name: 'Places' }).locator('[aria-current]')
    expect(await marked.allInnerTexts()).toEqual(['Today'])
    await visited.open('')
    expect(await marked.allInnerTexts()).toEqual(['Listings'])
    await visited.open('/orders')
    expect(await marked.allInnerTexts()).toEqual(['Sales'])
  })

  test('with one of each: counts, links to the lists, sales and worth', async () => {
    const receiver = await openReceiver(status(500))
    await plus('/webhook', { method: 'PUT', json: { url: receiver.url } })
    const rejected = await listingOf(node, { title: 'With a blurred photo' }, false)
    await operator(node, 'POST', `/listings/${rejected}/reject`, { reason: 'blurred photo' })
    const asked = await listingOf(node, { title: 'With a wrong title' }, false)
    await operator(node, 'POST', `/listings/${asked}/request-change`, { note: 'name the set' })
    await listingOf(node, { title: 'Waits for approval' }, false)
    const ending = await listingOf(node, { title: 'Ends soon', price: 19.99, quantity: 3 })
    const endsOn = new Date(node.clock.now().getTime() + 3 * DAY_MS)
    await sql`update listings set expires_at = ${endsOn} where id = ${ending}`.execute(node.db.kysely)
    const empty = await listingOf(node, { title: 'Sold elsewhere', price: 70 })
    expect((await plus(`/listings/${empty}`, { method: 'PATCH', json: { quantity: 0 } })).status).toBe(200)
    const sold = await listingOf(node, { title: 'A card to sell', price: 80.1, quantity: 4 })
    for (const order of [701, 702]) await operator(node, 'POST', '/orders', { order_id: order, lines: [{ listing_id: sold, quantity: 1 }] })
    await operator(node, 'POST', '/orders', { order_id: 703, lines: [{ listing_id: sold, quantity: 1 }] })
    await operator(node, 'POST', '/orders/703/cancel', { reason: 'lost in the post' })
    await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake: { quota: 10 } })
    await plus('/listings/import', { json: { rows: [{ name: 'A card that nobody has', price: 60 }] } })
    const { body } = await plus('/price-jobs', { json: { rows: [{ listing_id: ending, price: 20 }], policy: 'good_rows' } })
    await plus('/webhook/test', { json: { event: 'sale' } })

    await expect
      .poll(async () => {
        await visited.open('/today')
        return (await toDo().allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim())
      })
      .toEqual([
        'Rejected or change requested 2',
        'Pending 1',
        'Ending within 7 days 1',
        'Out of stock 1 last unit: 0',
        'Parked rows of imports 1',
        'Price changes to apply 1',
        expect.stringMatching(/^Failed webhook attempts [1-9]/),
      ])
    await section('Today’s sales').getByText('₺160.20').first().waitFor()
    expect(
      await section('Today’s sales')
        .getByRole('link', { name: /^Orders/ })
        .innerText(),
    ).toMatch(/^Orders\s+2\s/)
    await section('Today’s sales').getByText('₺144.18').waitFor()
    await section('Today’s sales').getByText('Sales: ₺240.30, Refunds: -₺80.10').waitFor()
    await page.getByRole('row', { name: /703\/1 .*Cancelled/ }).waitFor()
    await page.getByRole('row', { name: /701\/1 .*₺80\.10 Sold/ }).waitFor()

    await follow(/^Rejected/, '/desk?status=rejected', 'With a wrong title')
    await follow(/^Pending/, '/desk?status=pending', 'Waits for approval')
    await follow(/^Ending/, '/desk/renewal?days=7', 'Ends soon')
    await follow(/^Out of stock/, '/desk?status=active&sort_by=quantity_low', 'Sold elsewhere')
    await follow(/^Parked/, '/desk/files', 'A card that nobody has')
    await follow(/^Price changes/, `/desk/price-jobs/${body.data.id}`, `Price change ${body.data.id}`)
    await follow(/^Failed webhook/, '/desk/webhook', 'Webhook deliveries')
    await receiver.close()
  })

  test('the worth is the sum of price × stock of the active listings, over several pages', { tags: 'slow' }, async () => {
    const own = `${node.publicUrl}/api/v1/plus/my-listings?status=active`
    const { data } = (await send<{ price: number; quantity: number }[]>(own, node.keys.plus)).body
    const lira = (amount: number) => `₺${amount.toLocaleString('en-GB', { minimumFractionDigits: 2 })}`
    const kurus = data.reduce((sum, { price, quantity }) => sum + Math.round(price * 100) * quantity, 0)
    await visited.open('/today')
    await section('Worth of stock')
      .getByText(lira(kurus / 100))
      .waitFor()
    const first = await listingOf(node, { title: 'One of many', price: 10, quantity: 2 })
    const copies = (number: number) =>
      sql`insert into listings
        select (jsonb_populate_record(l, jsonb_build_object('id', nextval('listings_id_seq')))).* from listings l, generate_series(1, ${number}::int4)
        where l.id = ${first}`.execute(node.db.kysely)
    await copies(100)
    await visited.open('/today')
    await section('Worth of stock')
      .getByText(lira(kurus / 100 + 2020))
      .waitFor()
    await section('Worth of stock').getByText('Price × stock of 104 active listings').waitFor()
    await copies(200)
    await visited.open('/today')
    await section('Worth of stock')
      .getByText(lira(kurus / 100 + 2020 + 4000 - 4 * 20))
      .waitFor()
    await section('Worth of stock').getByText('of the 300 highest-priced of 304 active listings').waitFor()
  })

  test('a read-only key gets the list of listings by end instead of the renewal page, which it may not use', { tags: 'slow' }, async () => {
    const { key } = await call(createKey, node.ctx, { account_id: node.accounts.plus, read_only: true })
    const reader = await signedInToDesk(browser, node, key)
    await reader.open('/today')
    const ending = reader.page.getByRole('link', { name: /^Ending within/ })
    expect(await ending.getAttribute('href')).toBe('/desk?status=active&sort_by=expiring')
    await reader.close()
  })

  test('a failed request is shown in its section, and can be repeated', async () => {
    await page.route('**/api/v1/plus/parked-listings*', (route) => route.abort())
    await visited.open('/today')
    await section('To do').getByRole('alert').waitFor()
    await toDo().filter({ hasText: 'Pending' }).waitFor()
    expect(await section('Today’s sales').getByRole('alert').count()).toBe(0)
    await page.unroute('**/api/v1/plus/parked-listings*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await toDo().filter({ hasText: 'Parked rows of imports' }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })
})
