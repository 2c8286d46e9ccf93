// The work of sellers at the desk, done in a real browser against a real node: the service stores what the pages show.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { call } from '#core/verb.ts'
import { announced, launch, NO_BROWSER, operator, settled, signInWith, type Visit, WHY } from '../console/browser.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { msPastMidnight, send, type TestNode, until } from '../support/node.ts'
import { openReceiver, status } from '../webhooks/receiver.ts'
import { listingOf, signedInToDesk, visitDesk } from './browser.ts'

interface Listing {
  id: number
  title: string
  status: string
  price: number
  quantity: number
}

describe.skipIf(NO_BROWSER)(`Work at the desk${WHY}`, () => {
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

  const own = async (id: number) => (await send<Listing>(`${node.publicUrl}/api/v1/plus/listings/${id}`, node.keys.plus)).body.data
  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const dialog = () => page.getByRole('dialog')

  test('sign-in and sign-out: wrong keys, keys of other plans, and the right key, which the page cannot read', async () => {
    const { page, open, close, troubles } = await visitDesk(browser, node)
    const tryKey = async (key: string) => {
      await page.getByLabel('API key').fill(key)
      await page.keyboard.press('Enter')
    }
    await open('/account')
    await tryKey('not a key')
    await page.getByRole('alert').getByText('This API key is not valid').waitFor()
    await tryKey(node.keys.starter)
    await page.getByRole('alert').getByText('This needs the Plus plan or a larger one; the account has Starter').waitFor()
    await signInWith({ page, troubles, open, close }, node.keys.plus)
    await page.getByRole('heading', { name: 'Test plus' }).waitFor()
    const secrets = [node.keys.plus, (await page.context().cookies()).find(({ name }) => name === 'mintmark_desk')!.value]
    const readable = await page.evaluate<string>(
      `JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML])`,
    )
    for (const secret of secrets) expect(readable).not.toContain(secret)
    const answer = await page.evaluate<string>(`fetch('/desk/session', { headers: { 'x-desk': '1' } }).then((response) => response.text())`)
    for (const secret of secrets) expect(answer).not.toContain(secret)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    await page.reload()
    await page.getByLabel('API key').waitFor()
    expect(troubles).toEqual([])
    await close()
  })

  test('a page of another origin can neither read nor write with the session', async () => {
    const id = await listingOf(node, { title: 'Kept from others' })
    // The same site by the rules of cookies, which ignore the port.
    const elsewhere = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<title>Elsewhere</title>'))
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    const other = await page.context().newPage()
    try {
      await other.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`)
      const attempt = (method: string, path: string, headers: object, body?: string) =>
        other.evaluate<string>(
          `fetch(${JSON.stringify(`${node.publicUrl}${path}`)}, ${JSON.stringify({ method, headers, credentials: 'include', ...(body && { body }) })}).then(
            async (response) => response.status + ' ' + (await response.text()), () => 'blocked')`,
        )
      const path = `/api/v1/plus/listings/${id}`
      expect(await attempt('GET', path, { 'x-desk': '1' })).toBe('blocked')
      expect(await attempt('DELETE', path, { 'x-desk': '1' })).toBe('blocked')
      expect(await attempt('GET', path, {})).toBe('blocked')
      expect(await attempt('POST', `/api/v1/plus/listings/${id}/status?action=pause`, { 'content-type': 'text/plain' }, '{}')).toBe('blocked')
      expect(await attempt('POST', '/desk/session', { 'content-type': 'text/plain' }, '{}')).toBe('blocked')
      await other.evaluate(`{
        const form = document.createElement('form')
        form.method = 'post'
        form.action = ${JSON.stringify(`${node.publicUrl}/api/v1/plus/listings/${id}/status?action=pause`)}
        document.body.append(form)
        form.submit()
      }`)
      await other.waitForURL(/status/)
      await expect.poll(() => other.locator('body').innerText()).toMatch(/UNAUTHENTICATED|FORBIDDEN/)
      expect((await own(id)).status).toBe('active')
    } finally {
      await other.close()
      elsewhere.close()
    }
  })

  test('an expired session redirects to sign-in', { tags: 'slow' }, async () => {
    const ended = await signedInToDesk(browser, node, node.keys.plus)
    const cookies = await ended.page.context().cookies()
    await send(`${node.publicUrl}/desk/session`, null, {
      method: 'DELETE',
      headers: { 'x-desk': '1', origin: node.publicUrl!, cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') },
    })
    await ended.page.getByRole('link', { name: 'Account' }).click()
    await ended.page.getByLabel('API key').waitFor()
    await ended.close()
  })

  test('listings: searched, filtered and sorted, with the address', async () => {
    await listingOf(node, { title: 'Cheap Charizard', price: 5, quantity: 9 })
    await listingOf(node, { title: 'Dear Charizard', price: 5000 })
    await listingOf(node, { title: 'Charizard in the queue', price: 50 }, false)
    await visited.open('')
    await page.getByLabel('Title or SKU').fill('charizard')
    await page.waitForURL(/search=charizard/)
    await settled(page)
    const titles = () => page.locator('tbody th').allInnerTexts()
    const names = async () => (await titles()).map((text) => text.split('\n')[0]!.trim())
    await expect.poll(() => names()).toEqual(['Charizard in the queue', 'Dear Charizard', 'Cheap Charizard'])
    await page.getByLabel('Sort by').selectOption('price_low')
    await page.waitForURL(/sort_by=price_low/)
    await settled(page)
    await expect.poll(() => titles()).toMatchObject([/^Cheap/, /queue/, /^Dear/].map((pattern) => expect.stringMatching(pattern)))
    await page.getByLabel('State').selectOption('pending')
    await page.waitForURL(/status=pending/)
    await settled(page)
    await expect.poll(() => titles()).toHaveLength(1)
  })

  test('a listing: paused, published, highlighted and deleted', async () => {
    const id = await listingOf(node, { title: 'A card to act on', quantity: 2 })
    await visited.open('?search=to act on')
    await button('Pause: A card to act on').click()
    await announced(page, 'A card to act on: Paused')
    expect((await own(id)).status).toBe('paused')
    await button('Publish: A card to act on').click()
    await announced(page, 'A card to act on: Active')
    await button('Highlight: A card to act on').click()
    await dialog().getByRole('button', { name: 'Highlight' }).click()
    await announced(page, /credits left: 0$/)
    await button('Highlight: A card to act on').click()
    await dialog().getByRole('button', { name: 'Highlight' }).click()
    await page.getByRole('alert').first().waitFor()
    await button('Delete: A card to act on').click()
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    expect((await own(id)).status).toBe('active')
    await button('Delete: A card to act on').click()
    await dialog().getByRole('button', { name: 'Delete' }).click()
    await announced(page, 'A card to act on deleted')
    expect((await send(`${node.publicUrl}/api/v1/plus/listings/${id}`, node.keys.plus)).status).toBe(404)
  })

  describe('new prices and stock', () => {
    const price = (title: string) => page.getByLabel(`Price of ${title}`)
    const stock = (title: string) => page.getByLabel(`Stock of ${title}`)

    test('are collected, reviewed before they are applied, and undone', async () => {
      const first = await listingOf(node, { title: 'Repriced one', price: 100, quantity: 2 })
      const second = await listingOf(node, { title: 'Repriced two', price: 200, quantity: 3 })
      const third = await listingOf(node, { title: 'Repriced three', price: 300, quantity: 1 })
      await visited.open('?search=repriced')
      await price('Repriced one').fill('110.5')
      await stock('Repriced one').fill('7')
      await price('Repriced two').fill('250')
      await price('Repriced three').fill('310')
      await price('Repriced three').fill('300')
      await page.getByText('Changed listings: 2').waitFor()
      // Edits are kept while the seller searches for other listings.
      await page.getByLabel('Sort by').selectOption('price_low')
      await page.waitForURL(/sort_by/)
      await settled(page)
      await expect.poll(() => price('Repriced two').inputValue()).toBe('250.00')
      await button('Review').click()
      await page.getByRole('heading', { name: /^Price change \d+$/ }).waitFor()
      await page.getByRole('row', { name: /Repriced one ₺100\.00 ₺110\.50 \S+ 2 7 ₺99\.45/ }).waitFor()
      await page.getByRole('row', { name: /Repriced two ₺200\.00 ₺250\.00 \S+ 3 ₺225\.00/ }).waitFor()
      expect((await own(first)).price).toBe(100)
      await button('Apply (2)').click()
      await page.getByRole('dialog').getByRole('button', { name: 'Apply anyway' }).click()
      await announced(page, 'Applied; changed listings: 2')
      await expect.poll(() => own(first)).toMatchObject({ price: 110.5, quantity: 7, status: 'active' })
      await expect.poll(() => own(second)).toMatchObject({ price: 250, quantity: 3, status: 'active' })
      await expect.poll(() => own(third)).toMatchObject({ price: 300 })
      // A later change is kept: undo skips the row.
      await send(`${node.publicUrl}/api/v1/plus/listings/${second}/price`, node.keys.plus, { method: 'PATCH', json: { price: 260 } })
      await button('Undo').click()
      await announced(page, 'Undone; reverted listings: 1')
      await page.getByRole('row', { name: /Repriced two .*Skipped/ }).waitFor()
      await expect.poll(() => own(first)).toMatchObject({ price: 100, quantity: 2 })
      await expect.poll(() => own(second)).toMatchObject({ price: 260 })
      await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Listings' }).click()
      await settled(page)
      await expect.poll(() => page.getByText(/Changed listings/).count()).toBe(0)
      await page.getByRole('link', { name: 'Price changes' }).click()
      await page.getByRole('row', { name: /Price change \d+ .*Undone 2 0/ }).waitFor()
    })

    test('that break a rule are rejected by row in the plan, and the others are applied', { tags: 'slow' }, async () => {
      await listingOf(node, { title: 'Judged good', price: 40 })
      const bad = await listingOf(node, { title: 'Judged bad', price: 50 })
      await visited.open('?search=judged')
      await price('Judged good').fill('45')
      await price('Judged bad').fill('55.555')
      await button('Review').click()
      await page.getByRole('row', { name: /Judged bad .*Refused Price must be .*decimals/ }).waitFor()
      await button('Apply (1)').click()
      await page.getByRole('dialog').getByRole('button', { name: 'Apply anyway' }).click()
      await announced(page, 'Applied; changed listings: 1')
      expect((await own(bad)).price).toBe(50)
    })

    test('can be discarded', { tags: 'slow' }, async () => {
      await listingOf(node, { title: 'Never applied', price: 60 })
      await visited.open('?search=never applied')
      await price('Never applied').fill('61')
      await button('Discard').click()
      await page.getByText('Changed listings: 1').waitFor({ state: 'detached' })
      await expect.poll(() => price('Never applied').inputValue()).toBe('60.00')
    })
  })

  test('a hidden listing says why, and what to do', { tags: 'slow' }, async () => {
    const id = await listingOf(node, { title: 'Hidden card' })
    await visited.open('?search=hidden card')
    await page.getByRole('link', { name: 'Hidden card' }).click()
    await page.getByRole('heading', { name: 'Hidden card' }).waitFor()
    await page.locator('section').getByText('Visible', { exact: true }).waitFor()
    await send(`${node.publicUrl}/api/v1/plus/listings/${id}/status`, node.keys.plus, { json: { action: 'pause' } })
    await page.reload()
    await page.getByText('Publish it again.').waitFor()
    await visited.open('/listings/999999')
    await page.getByRole('alert').waitFor()
  })

  test('a read-only key sees its listings without any actions', { tags: 'slow' }, async () => {
    await listingOf(node, { title: 'Only to be seen' })
    const { key } = await call(createKey, node.ctx, { account_id: node.accounts.plus, read_only: true })
    const reader = await signedInToDesk(browser, node, key)
    await reader.open('?search=only to be')
    await reader.page.getByRole('row', { name: /Only to be seen/ }).waitFor()
    await expect.poll(() => reader.page.getByRole('button', { name: /Only to be seen/ }).count()).toBe(0)
    await expect.poll(() => reader.page.locator('main tbody input').count()).toBe(0)
    await reader.close()
  })

  test('a vacation: set, shown on the listings, and ended', async () => {
    const id = await listingOf(node, { title: 'Away for a while' })
    await visited.open('/vacation')
    await page.getByLabel('From').fill('2020-01-01T00:00')
    await page.getByLabel('Until').fill('2020-01-02T00:00')
    await button('Save').click()
    await page.getByRole('alert').waitFor()
    const day = (days: number) => `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)}T12:00`
    await page.getByLabel('From').fill('')
    await page.getByLabel('Until').fill(day(7))
    await button('Save').click()
    await announced(page, 'Vacation saved')
    expect((await send(`${node.publicUrl}/api/v1/plus/listings?search=away`, node.keys.plus)).body.data).toEqual([])
    await visited.open(`/listings/${id}`)
    await page.getByText('End the vacation or wait until it ends.').waitFor()
    await visited.open('/vacation')
    // An unchanged start stays.
    const vacation = async () => (await send<{ from: string; to: string }>(`${node.publicUrl}/api/v1/plus/vacation`, node.keys.plus)).body.data
    const before = await vacation()
    await page.getByLabel('Until').fill(day(8))
    await button('Save').click()
    await until('the vacation is longer', async () => (await vacation()).to > before.to)
    expect((await vacation()).from).toBe(before.from)
    await button('End vacation').click()
    await announced(page, 'Vacation ended')
    expect((await send(`${node.publicUrl}/api/v1/plus/listings?search=away`, node.keys.plus)).body.data).toHaveLength(1)
  })

  test("times are read and shown in the service's time zone, whatever that of the browser", { tags: 'slow' }, async () => {
    const abroad = await signedInToDesk(browser, node, node.keys.plus, { timezoneId: 'America/New_York' })
    await abroad.open('/vacation')
    const until = `${new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10)}T12:00`
    await abroad.page.getByLabel('Until').fill(until)
    await abroad.page.getByRole('button', { name: 'Save' }).click()
    await announced(abroad.page, 'Vacation saved')
    const { body } = await send<{ to: string }>(`${node.publicUrl}/api/v1/plus/vacation`, node.keys.plus)
    expect(Date.parse(body.data.to)).toBe(Date.parse(`${until}+03:00`))
    await abroad.open('/vacation')
    expect(await abroad.page.getByLabel('Until').inputValue()).toBe(until)
    await abroad.page.getByText(/^From .* until .* 12:00$/).waitFor()
    await abroad.page.getByRole('button', { name: 'End vacation' }).click()
    await announced(abroad.page, 'Vacation ended')
    await abroad.close()
  })

  test('orders and the statement of a month, on the page and as a file', async () => {
    node.clock.advance(msPastMidnight(node.clock.now()))
    const listing = await listingOf(node, { title: 'A card to sell', price: 80, quantity: 5 })
    const order = (order_id: number, quantity: number) => operator(node, 'POST', '/orders', { order_id, lines: [{ listing_id: listing, quantity }] })
    await order(501, 2)
    await order(502, 1)
    await operator(node, 'POST', '/orders/502/cancel', { reason: 'lost in the post' })
    await visited.open('/orders')
    await page.getByRole('row', { name: /501\/1 .*2 ₺80\.00 ₺16\.00 ₺144\.00 Sold/ }).waitFor()
    await page.getByRole('row', { name: /502\/1 .*Cancelled ₺80\.00 refunded/ }).waitFor()
    expect(await page.content()).not.toContain('lost in the post')
    await page.getByRole('spinbutton', { name: 'Order' }).fill('501')
    await page.waitForURL(/order_id=501/)
    await page.getByRole('row', { name: /502/ }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Statement' }).click()
    await settled(page)
    const facts = async () => (await page.locator('.facts').innerText()).replace(/\s+/g, ' ')
    await expect.poll(() => facts()).toMatch(/Sales ₺240\.00 Refunds -₺80\.00 Commission ₺16\.00 Payout ₺144\.00/)
    await page.getByRole('row', { name: /Refund 502\/1/ }).waitFor()
    const download = page.waitForEvent('download')
    await button('Download as CSV').click()
    const text = await readFile(await (await download).path(), 'utf8')
    expect(text.trim().split('\n')).toHaveLength(4)
    await page.getByLabel('Month').fill('2020-01')
    await page.getByText('No sales or refunds in this month.').waitFor()
    expect(new URL(page.url()).searchParams.get('month')).toBe('2020-01')
  })

  test('the webhook: saved, tested, logged and checked', async () => {
    const receiver = await openReceiver(status(500, 'out of cards'))
    await visited.open('/webhook')
    await page.getByLabel('Address').fill('ftp://shop.example')
    await button('Save').click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Address').fill(receiver.url)
    await page.getByLabel('Notify about expired listings').uncheck()
    await button('Save').click()
    await announced(page, 'Webhook saved')
    type Webhook = { url: string; on_sale: boolean; on_expire: boolean; is_active: boolean; secret: string }
    const { secret, ...settings } = (await send<Webhook>(`${node.publicUrl}/api/v1/plus/webhook`, node.keys.plus)).body.data
    expect(settings).toEqual({ url: receiver.url, on_sale: true, on_expire: false, is_active: true })
    await page.getByText('Show secret').waitFor()
    expect(await page.content()).not.toContain(secret)
    await page.getByText('Show secret').click()
    await page.getByText(secret).waitFor()
    await button('Test: sale').click()
    await page.getByRole('row', { name: /Sale test 1 Failed/ }).waitFor()
    await page.getByLabel(/^Response to attempt \d+: 500$/).click()
    await page.getByText('out of cards').waitFor()
    receiver.behave(status(200))
    await button('Check receiver').click()
    await page.getByRole('row', { name: /Altered body Failed/ }).waitFor()
    await page.getByRole('row', { name: /Valid Passed/ }).waitFor()
    await button('Check receiver').click()
    await page.getByRole('alert').waitFor()
    await receiver.close()
  })

  test('collections and their records, with their worth', async () => {
    const [item] = await operator<{ id: number; name: string }[]>(node, 'GET', '/items?search=charizard')
    const { id } = await operator<{ id: number }>(node, 'POST', '/collections', { account_id: node.accounts.plus, name: 'Red binder' })
    const price = { item_id: item!.id, market: 'source_b', label: 'PSA 6', price: 12.5, updated_at: new Date().toISOString() }
    await operator(node, 'POST', '/prices', [price])
    const groups = await operator<{ types: { id: number; label: string }[] }[]>(node, 'GET', '/groups')
    const grade = groups.flatMap(({ types }) => types).find(({ label }) => label === 'PSA 6')!
    const record = { item_id: item!.id, item_group_type_id: grade.id, quantity: 4, purchase_price: 100 }
    expect((await send(`${node.publicUrl}/api/v1/plus/collections/${id}/items`, node.keys.plus, { json: record })).status).toBe(201)
    await visited.open('/collections')
    await page.getByRole('row', { name: /Red binder Private 1 .*€50\.00/ }).waitFor()
    await page.getByRole('link', { name: 'Red binder' }).click()
    await page.getByRole('heading', { name: 'Red binder' }).waitFor()
    await page.getByRole('row', { name: new RegExp(`^${item!.name} .*PSA 6 4 €50\\.00`) }).waitFor()
  })

  test('the account, its key and its usage', async () => {
    await visited.open('/account')
    await page.getByRole('heading', { name: 'Test plus' }).waitFor()
    await page.getByText(`…${node.keys.plus.slice(-4)}`).waitFor()
    await page.getByRole('row', { name: /listMyListings/ }).waitFor()
  })
})
