// The work of operators, done in a real browser against a real node: the service stores what the pages show.
import { readFile } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MARKETS } from '#core/markets.ts'
import { lockMarkets } from '#prices/writing/lock-markets.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { send, type TestNode, until } from '../support/node.ts'
import { openReceiver, status } from '../webhooks/receiver.ts'
import { announced, launch, layoutShift, NO_BROWSER, operator, signedIn, settled, type Visit, visit, WHY } from './browser.ts'

interface Item {
  id: number
  name: string
  ref: string
}

interface Listing {
  id: number
  status: string
  quantity: number
  rejection_reason: string | null
}

describe.skipIf(NO_BROWSER)(`Work in the console${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let item: Item
  let visited: Visit
  let page: Page

  beforeAll(async () => {
    // A failed delivery is not retried during the test.
    node = await startSampleNode({ env: { WEBHOOK_RETRY_DELAYS: '1h,1h', PRICE_DRIFT_CARDS: '20' }, worker: true })
    browser = await launch()
    ;[item] = (await operator<Item[]>(node, 'GET', '/items?search=charizard')) as [Item]
    visited = await signedIn(browser, node)
    page = visited.page
  })

  afterAll(() => node.close())

  const listingOf = (title: string, quantity = 1) =>
    operator<Listing>(node, 'POST', '/listings', { seller_id: node.accounts.plus, item_id: item.id, title, price: 500, quantity })
  /** A write by the owner of a listing. */
  const ownerEdits = (id: number, json: object) => send(`${node.publicUrl}/api/v1/plus/listings/${id}`, node.keys.plus, { method: 'PATCH', json })
  const dialog = () => page.getByRole('dialog')
  const button = (name: string | RegExp) => page.getByRole('button', { name })

  test('signing in and out', async () => {
    const stranger = await visit(browser, node)
    await stranger.open('/accounts')
    await stranger.page.getByLabel('Operator token').fill('no token')
    await stranger.page.keyboard.press('Enter')
    await stranger.page.getByRole('alert').getByText('This token is invalid').waitFor()
    await stranger.close()
    const leaving = await signedIn(browser, node)
    await expect.poll(() => leaving.page.evaluate('document.cookie')).toBe('')
    await expect.poll(() => leaving.page.evaluate('JSON.stringify(localStorage)')).not.toContain('operator token')
    await leaving.page.getByRole('button', { name: 'Sign out' }).click()
    await leaving.page.getByLabel('Operator token').waitFor()
    await leaving.page.reload()
    await leaving.page.getByLabel('Operator token').waitFor()
    expect(leaving.troubles).toEqual([])
    await leaving.close()
  })

  test('an expired session redirects to sign-in', { tags: 'slow' }, async () => {
    const ended = await signedIn(browser, node)
    const cookies = await ended.page.context().cookies()
    await send(`${node.operatorUrl}/console/session`, null, {
      method: 'DELETE',
      headers: { 'x-console': '1', origin: node.operatorUrl!, cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') },
    })
    await ended.page.getByRole('navigation').getByRole('link', { name: 'Accounts' }).click()
    await ended.page.getByLabel('Operator token').waitFor()
    await ended.close()
  })

  test('an account is created, changed, suspended and resumed', async () => {
    await visited.open('/accounts')
    await button('New account').click()
    await dialog().getByLabel('Name').fill('Kart Evi')
    await dialog().getByLabel('Plan').selectOption('plus')
    await dialog().getByLabel('Highlight credits').fill('3')
    await dialog().getByRole('button', { name: 'Open' }).click()
    await page.getByRole('heading', { name: 'Kart Evi' }).waitFor()
    const id = Number(new URL(page.url()).pathname.split('/').at(-1))
    await button('Edit').click()
    await dialog().getByLabel('Plan').selectOption('enterprise')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().waitFor({ state: 'detached' })
    await button('Suspend').click()
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    await expect.poll(() => operator(node, 'GET', `/accounts/${id}`)).toMatchObject({ plan: 'enterprise', suspended: false, highlight_credits: 3 })
    await button('Suspend').click()
    await dialog().getByRole('button', { name: 'Suspend' }).click()
    await button('Resume').waitFor()
    await expect.poll(() => operator(node, 'GET', `/accounts/${id}`)).toMatchObject({ suspended: true })
    await button('Resume').click()
    await button('Suspend').waitFor()
  })

  test('a key with restrictions is created and changed, and shows its usage', { tags: 'slow' }, async () => {
    const { professional: accountId } = node.accounts
    await visited.open(`/accounts/${accountId}?view=keys`)
    await button('New key').click()
    await dialog().getByLabel('Label').fill('widget')
    await dialog()
      .getByLabel(/Read-only/)
      .check()
    await dialog().getByLabel('Allowed addresses').fill('127.0.0.0/8\n203.0.113.0/33')
    await dialog().getByRole('button', { name: 'Create' }).click()
    await dialog()
      .getByRole('alert')
      .getByText(/IP address/)
      .waitFor()
    await dialog().getByLabel('Allowed addresses').fill('127.0.0.0/8')
    await dialog().getByRole('button', { name: 'Create' }).click()
    const key = await dialog().locator('.secret').innerText()
    await button('I have saved it').click()
    await page.getByRole('row', { name: /widget.*read-only, 127\.0\.0\.0\/8/ }).waitFor()
    expect((await send(`${node.publicUrl}/api/v1/items`, key)).status).toBe(200)
    await button('Edit: widget').click()
    await expect.poll(() => dialog().getByLabel('Allowed addresses').inputValue()).toBe('127.0.0.0/8')
    await dialog().getByLabel('Expires').fill('2099-01-31T12:00:00')
    await dialog()
      .getByLabel(/Read-only/)
      .uncheck()
    await dialog().getByLabel('Allowed addresses').fill('')
    await dialog().getByLabel('Allowed web pages').fill('https://shop.example')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await announced(page, 'Key updated')
    const [changed] = await operator<object[]>(node, 'GET', `/accounts/${accountId}/keys?search=widget`)
    expect(changed).toMatchObject({ read_only: false, allowed_origins: ['https://shop.example'], allowed_addresses: [] })
    await until('the use is stored', async () => (await operator<object[]>(node, 'GET', `/accounts/${accountId}/usage`)).length > 0)
    await visited.open(`/accounts/${accountId}?view=usage`)
    await page.getByRole('row', { name: /widget listItems 1/ }).waitFor()
  })

  test('a key is created and shown once, rotated and revoked', async () => {
    await visited.open(`/accounts/${node.accounts.starter}?view=keys`)
    const knows = async (key: string) => (await send(`${node.publicUrl}/api/v1/items`, key)).status === 200
    await button('New key').click()
    await dialog().getByLabel('Label').fill('shop')
    await dialog().getByRole('button', { name: 'Create' }).click()
    const first = await dialog().locator('.secret').innerText()
    await expect.poll(() => knows(first)).toBe(true)
    await button('I have saved it').click()
    expect(await page.content()).not.toContain(first)
    await button('Rotate: shop').click()
    await dialog().getByLabel('Overlap in hours').fill('0')
    await dialog().getByRole('button', { name: 'Rotate' }).click()
    const second = await dialog().locator('.secret').innerText()
    expect(second).not.toBe(first)
    await button('I have saved it').click()
    await page.getByRole('row', { name: 'shop' }).nth(1).waitFor()
    await button('Revoke: shop').last().click()
    await dialog().getByRole('button', { name: 'Revoke' }).click()
    await announced(page, 'Key revoked')
    await until('the revoked key is refused', async () => !(await knows(second)))
  })

  test('credits are added, rejected below 0, and listed in the ledger', async () => {
    await visited.open(`/accounts/${node.accounts.plus}?view=credits`)
    await button('Add or deduct credits').click()
    await dialog().getByLabel('Amount').fill('-50')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().getByRole('alert').getByText('must keep the balance of 1 between 0 and 2147483647').waitFor()
    await dialog().getByLabel('Amount').fill('9')
    await dialog().getByRole('textbox', { name: 'Reason' }).fill('campaign')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: /\+9.*10.*campaign/ }).waitFor()
  })

  test('a collection is created, changed and removed', async () => {
    await visited.open(`/accounts/${node.accounts.plus}?view=collections`)
    await button('New collection').click()
    await dialog().getByLabel('Name').fill('Binder')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await button('Edit: Binder').click()
    await dialog().getByLabel('Visibility').selectOption('public')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row', { name: /Binder Public/ }).waitFor()
    await button('Remove: Binder').click()
    await dialog().getByRole('button', { name: 'Remove' }).click()
    await page.getByText('This account has no collections.').waitFor()
  })

  test('the catalogue is searched while typing, with the search in the address and in the history', async () => {
    await visited.open('/catalogue')
    await page.getByLabel('Search').pressSequentially('charizard', { delay: 20 })
    await page.waitForURL(/query=charizard/)
    await page.getByRole('link', { name: item.name, exact: true }).first().click()
    await page.getByRole('heading', { name: item.name }).waitFor()
    await page.goBack()
    await expect.poll(() => page.getByLabel('Search').inputValue()).toBe('charizard')
    await button(/^Below Pokémon/)
      .first()
      .click()
    await page.locator('.tree ul li a').first().click()
    await page.waitForURL(/category_id=\d+/)
  })

  test('an item shows its price history as chart and table, and is edited', async () => {
    const at = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString()
    const price = (days: number, value: number) => ({
      item_id: item.id,
      market: 'source_b',
      label: 'Lightly Played',
      price: value,
      updated_at: at(days),
    })
    await operator(node, 'POST', '/prices', [price(60, 10), price(30, 11), price(10, 12.5)])
    await visited.open(`/catalogue/items/${item.id}`)
    await page.getByRole('combobox', { name: 'Label' }).selectOption('Lightly Played')
    await page.getByRole('combobox', { name: 'Currency' }).selectOption('EUR')
    await settled(page)
    for (const other of await page.locator('.chart-legend button:not([data-source=source_b])').all()) await other.click()
    await page.locator('.chart canvas').waitFor()
    // Prices hold until they change: as many levels as prices, drawn to the right edge, which is now.
    let line = await drawnLine(page)
    await until('the line has three heights', async () => (line = await drawnLine(page)).heights.length === 3)
    expect(line.to).toBeGreaterThan(0.98)
    expect(line.from).toBeLessThan(0.02)
    await page.getByText(/^Data points as a table/).click()
    await page
      .getByRole('row', { name: /Source B €12\.50/ })
      .first()
      .waitFor()
    await button('Edit').click()
    await dialog().getByLabel('Name', { exact: true }).fill('Charizard of Proof')
    await dialog().getByLabel('Attributes').fill('Finish: Holo\nNote: with: colons')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Charizard of Proof' }).waitFor()
    await expect
      .poll(() => operator(node, 'GET', `/items/${item.id}`))
      .toMatchObject({
        name: 'Charizard of Proof',
        attributes: [
          { name: 'Finish', value: 'Holo' },
          { name: 'Note', value: 'with: colons' },
        ],
      })
  })

  test('an import is detected, tested, run, reported and reverted', async () => {
    const rows = [`${item.ref},source_b,Near Mint,400.50,2026-11-20T00:00:00Z`, 'nobody,source_b,Near Mint,1.00,2026-11-20T00:00:00Z']
    const buffer = Buffer.from(`item_ref,market,label,price,updated_at\n${rows.join('\n')}\n`)
    const send = async (dry: boolean) => {
      await visited.open('/imports')
      await page.locator('input[type=file]').setInputFiles({ name: 'prices.csv', mimeType: 'text/csv', buffer })
      const format = page.getByLabel('Format of prices.csv')
      await format.waitFor()
      await expect.poll(() => format.inputValue()).toBe('mintmark-prices-csv')
      await button(dry ? 'Check (1)' : 'Import (1)').click()
      if (dry) {
        const result = page.locator('.check-result')
        await result.getByRole('link', { name: 'Check report' }).waitFor()
        expect((await result.locator('.facts').innerText()).replace(/\s+/g, ' ')).toBe('New 0 Changed 1 Unchanged 0 Held 0 Rejected 1 50%')
        await expect.poll(() => result.locator('.much').count()).toBe(1)
        await result.getByText('no item has the ref …: 1').waitFor()
        await expect.poll(() => button('Import (1)').getAttribute('class')).toBe('main')
        await result.getByRole('link', { name: 'Check report' }).click()
      } else await page.getByRole('link', { name: /^Import #/ }).click()
      await page.getByRole('heading', { name: 'Rejected rows' }).waitFor()
      await page.locator('.facts').getByText('Done').waitFor()
    }
    const near = async () => {
      const { prices } = await operator<{ prices: { market: string; label: string; price: number }[] }>(node, 'GET', `/items/${item.id}`)
      return prices.find((price) => price.market === 'source_b' && price.label === 'Near Mint')?.price
    }
    const before = await near()
    await send(true)
    await page.locator('.facts').getByText('dry run').waitFor()
    await expect.poll(() => button('Revert').count()).toBe(0)
    await expect.poll(() => near()).toBe(before)
    await send(false)
    await page.getByRole('row', { name: /no item has the ref … 1 Line 3: no item has the ref nobody/ }).waitFor()
    await expect.poll(() => near()).toBe(400.5)
    await button('Revert').click()
    await dialog().getByRole('button', { name: 'Revert' }).click()
    await announced(page, 'Import reverted')
    await expect.poll(() => near()).toBe(before)
  })

  test('a list with a column mapping, which is saved and used again', { tags: 'slow' }, async () => {
    const { code, category: set } = await operator<{ code: string; category: { name: string } }>(node, 'GET', `/items/${item.id}`)
    // By the name that the catalogue's source states: price lists do not know an operator's new name.
    const buffer = Buffer.from(`title;expansion;nr;amount;lang\nCharizard;${set.name};${code};"9.321,50 €";en\n`)
    const choose = async () => {
      await visited.open('/imports')
      await page.locator('input[type=file]').setInputFiles({ name: 'shop.csv', mimeType: 'text/csv', buffer })
      // No format has these columns: the file is read by a mapping, which the column names suggest.
      await expect.poll(() => page.getByLabel('Format of shop.csv').inputValue()).toBe('prices-csv')
      await page.getByRole('region', { name: 'First rows of shop.csv' }).getByRole('cell', { name: '9.321,50 €' }).waitFor()
    }
    await choose()
    // The fields that the column names identify are filled in.
    await expect
      .poll(() => Promise.all(['Price', 'Name', 'Number'].map((label) => page.getByLabel(label, { exact: true }).inputValue())))
      .toEqual(['amount', 'title', 'nr'])
    await page.getByLabel('Set', { exact: true }).fill('expansion')
    await page.getByLabel('Label', { exact: true }).fill('=PSA 8')
    await page.getByLabel('Currency').fill('eur')
    await page.locator('select[name=market]').selectOption('source_b')
    await page.getByLabel('Save the mapping as').fill('Shop')
    await page.getByLabel('Only rows with').fill('lang')
    await button('Import (1)').click()
    await page.getByRole('alert').getByText('must be pairs of a field and a column', { exact: false }).waitFor()
    await page.getByLabel('Only rows with').fill('lang=en')
    await page.getByLabel('Decimal separator').selectOption(',')
    await button('Import (1)').click()
    await page.getByRole('link', { name: /^Import #/ }).click()
    await page.locator('.facts').getByText('Done').waitFor()
    const { prices } = await operator<{ prices: { market: string; label: string; price: number }[] }>(node, 'GET', `/items/${item.id}`)
    expect(prices).toContainEqual(expect.objectContaining({ market: 'source_b', label: 'PSA 8', price: 9321.5 }))
    await choose()
    // The saved mapping for these columns is used again.
    await expect.poll(() => page.getByLabel('Saved mapping').inputValue()).toBe('Shop')
    await expect.poll(() => page.getByLabel('Set', { exact: true }).inputValue()).toBe('expansion')
    await expect.poll(() => page.locator('select[name=market]').inputValue()).toBe('source_b')
    await button('Import (1)').click()
    await page.getByRole('link', { name: /^Import #/ }).click()
    await page.locator('.facts').getByText('Done').waitFor()
    await page.locator('.tiles').getByText('Unchanged').waitFor()
    await expect
      .poll(() => operator<{ name: string }[]>(node, 'GET', '/price-mappings'))
      .toMatchObject([{ name: 'Shop', mapping: { columns: { set: 'expansion' }, only: { lang: 'en' }, decimal: ',', currency: 'EUR' } }])
  })

  test('the approval queue is decided by keyboard alone', async () => {
    const [first, second, third, fourth] = [await listingOf('First'), await listingOf('Second'), await listingOf('Third'), await listingOf('Fourth')]
    const statusOf = async ({ id }: Listing) => (await operator<Listing>(node, 'GET', `/listings/${id}`)).status
    await visited.open('/approvals')
    const { keyboard } = page
    await page.getByRole('article', { name: 'First' }).waitFor()
    await keyboard.press('a')
    await announced(page, 'Approved: 1')
    await page.getByRole('article', { name: 'Second' }).waitFor()
    await expect.poll(() => statusOf(first)).toBe('active')
    await keyboard.press('r')
    await dialog().getByRole('textbox', { name: 'Reason' }).waitFor()
    await keyboard.type('The picture shows another card')
    for (let n = 0; n < 3; n++) await keyboard.press('Tab')
    await keyboard.press('Enter')
    await announced(page, 'Rejected: 1')
    await expect
      .poll(() => operator<Listing>(node, 'GET', `/listings/${second.id}`))
      .toMatchObject({
        status: 'rejected',
        rejection_reason: 'The picture shows another card',
      })
    await page.getByRole('article', { name: 'Third' }).waitFor()
    await keyboard.press('x')
    await keyboard.press('j')
    expect([await page.getByLabel('Select Third').isChecked(), await page.getByLabel('Select all').isChecked()]).toEqual([true, false])
    await keyboard.press('x')
    await expect.poll(() => page.getByLabel('Select all').isChecked()).toBe(true)
    await keyboard.press('a')
    await dialog().waitFor()
    await keyboard.press('Enter')
    await page.getByText('No pending listings.').waitFor()
    expect([await statusOf(third), await statusOf(fourth)]).toEqual(['active', 'active'])
  })

  test('a listing that changed since its approval shows the differences', { tags: 'slow' }, async () => {
    const listing = await listingOf('Approved title')
    await operator(node, 'POST', `/listings/${listing.id}/approve`, {})
    await operator(node, 'PATCH', `/listings/${listing.id}`, { title: 'Another title' })
    await visited.open(`/listings/${listing.id}`)
    await page.getByRole('row', { name: 'Title Approved title Another title' }).waitFor()
    await button('Edit').click()
    await dialog().getByLabel('Condition or grade').selectOption('PSA 10')
    await dialog().getByLabel('Buyers may offer a different price').check()
    await dialog().getByLabel('Minimum offer').fill('400')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().waitFor({ state: 'detached' })
    await expect
      .poll(() => operator(node, 'GET', `/listings/${listing.id}`))
      .toMatchObject({
        offers_enabled: true,
        min_offer_price: 400,
        title: 'Another title',
      })
  })

  test('a listing that its owner edits during the review is not approved unseen', { tags: 'slow' }, async () => {
    const listing = await listingOf('Honest title')
    await visited.open('/approvals')
    await page.getByRole('article', { name: 'Honest title' }).waitFor()
    expect((await ownerEdits(listing.id, { title: 'Another thing', description: 'Not what it was' })).status).toBe(200)
    await page.keyboard.press('a')
    const article = page.getByRole('article', { name: 'Another thing' })
    await article.getByRole('alert').getByText('has changed since you opened it').waitFor()
    await article.getByRole('row', { name: 'Title Honest title Another thing' }).waitFor()
    await article.getByRole('row', { name: 'Description – Not what it was' }).waitFor()
    await expect.poll(() => operator<Listing>(node, 'GET', `/listings/${listing.id}`)).toMatchObject({ status: 'pending' })
    await page.keyboard.press('a')
    await page.getByText('No pending listings.').waitFor()
    await expect.poll(() => operator<Listing>(node, 'GET', `/listings/${listing.id}`)).toMatchObject({ status: 'active', title: 'Another thing' })
  })

  test('bulk approval skips listings that have changed', { tags: 'slow' }, async () => {
    const [same, other] = [await listingOf('Stays the same'), await listingOf('Is edited')]
    await visited.open('/approvals')
    await page.getByLabel('Select all').check()
    await ownerEdits(other.id, { price: 750 })
    await button('Approve (2)').click()
    await dialog().getByRole('button', { name: 'Approve' }).click()
    await announced(page, 'Approved: 1')
    await page.getByRole('row', { name: /^Price ₺500\.00 ₺750\.00$/ }).waitFor()
    await expect.poll(() => page.getByLabel('Select Is edited').isChecked()).toBe(false)
    await expect.poll(() => operator<Listing>(node, 'GET', `/listings/${same.id}`)).toMatchObject({ status: 'active' })
    await expect.poll(() => operator<Listing>(node, 'GET', `/listings/${other.id}`)).toMatchObject({ status: 'pending' })
    await page.keyboard.press('r')
    await dialog().getByRole('textbox', { name: 'Reason' }).fill('Not our kind of thing')
    await ownerEdits(other.id, { price: 760 })
    await dialog().getByRole('button', { name: 'Reject' }).click()
    await page.getByRole('row', { name: /^Price ₺750\.00 ₺760\.00$/ }).waitFor()
    await button('Reject').click()
    await expect.poll(() => dialog().getByRole('textbox', { name: 'Reason' }).inputValue()).toBe('Not our kind of thing')
    await dialog().getByRole('button', { name: 'Reject' }).click()
    await page.getByText('No pending listings.').waitFor()
    await expect.poll(() => operator<Listing>(node, 'GET', `/listings/${other.id}`)).toMatchObject({ status: 'rejected' })
  })

  test('a listing changed while its page is open is shown again before it is rejected or edited, and no input is lost', {
    tags: 'slow',
  }, async () => {
    const listing = await listingOf('Open on a page')
    await visited.open(`/listings/${listing.id}`)
    await ownerEdits(listing.id, { description: 'New text of the owner' })
    await button('Reject').click()
    await dialog().getByRole('textbox', { name: 'Reason' }).fill('No pictures')
    await dialog().getByRole('button', { name: 'Reject' }).click()
    await dialog().getByRole('row', { name: 'Description – New text of the owner' }).waitFor()
    await dialog().getByRole('button', { name: 'Cancel' }).click()
    await button('Edit').click()
    await dialog().getByLabel('Title').fill('Corrected title')
    await ownerEdits(listing.id, { price: 999 })
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog()
      .getByRole('row', { name: /^Price ₺500\.00 ₺999\.00$/ })
      .waitFor()
    await expect.poll(() => dialog().getByLabel('Title').inputValue()).toBe('Corrected title')
    await dialog().getByRole('button', { name: 'Save' }).click()
    await dialog().waitFor({ state: 'detached' })
    const saved = await operator(node, 'GET', `/listings/${listing.id}`)
    expect(saved).toMatchObject({ title: 'Corrected title', price: 999, description: 'New text of the owner', status: 'pending' })
  })

  test('condition or grade and language are shown in the queue and in lists', { tags: 'slow' }, async () => {
    const groups = await operator<{ types: { id: number; label: string }[] }[]>(node, 'GET', '/groups')
    const psa = groups.flatMap((group) => group.types).find(({ label }) => label === 'PSA 10')!
    const body = { seller_id: node.accounts.plus, item_id: item.id, title: 'Graded one', price: 500, grade_id: psa.id, language: 'ja' }
    const { id } = await operator<Listing>(node, 'POST', '/listings', body)
    await visited.open('/approvals?search=Graded one')
    const article = page.getByRole('article', { name: 'Graded one' })
    const facts = async () => (await page.locator('.facts').first().innerText()).replaceAll('\n', ' ')
    await article.locator('.facts').getByText('PSA 10').waitFor()
    await expect.poll(() => facts()).toContain('Card language Japanese')
    await page.locator('.rows').getByText('PSA 10').waitFor()
    await visited.open(`/listings/${id}`)
    await page.locator('.facts').getByText('PSA 10').waitFor()
    await expect.poll(() => facts()).toContain('Condition or grade PSA 10 Card language Japanese')
    await visited.open('/listings?search=Graded one')
    await page.getByRole('row', { name: /Graded one.*PSA 10 Japanese/ }).waitFor()
    const plain = await listingOf('Without either')
    await visited.open(`/listings/${plain.id}`)
    await until('nothing is stated', async () => (await facts()).includes('Condition or grade not stated Card language not stated'))
    for (const one of [id, plain.id]) await operator(node, 'POST', `/listings/${one}/reject`, { reason: 'Only a test' })
  })

  test('catalogue rows show finish and price', { tags: 'slow' }, async () => {
    await visited.open(`/catalogue?ref=${item.ref}`)
    await page.getByRole('row', { name: /4\/102 Holo .* \$432\.37/ }).waitFor()
  })

  test('an import report groups reasons, names the file, and can be downloaded', { tags: 'slow' }, async () => {
    const rows = Array.from({ length: 60 }, (_none, i) => `nobody-${i},source_b,Near Mint,1.00,2026-11-20T00:00:00Z`)
    const text = [
      'item_ref,market,label,price,updated_at',
      ...rows,
      `"=cmd ""x""",source_b,Near Mint,1.00,2026-11-20T00:00:00Z`,
      `${item.ref},source_b,Near Mint,free,2026-11-20T00:00:00Z`,
    ]
    await visited.open('/imports')
    const file = { name: 'shop prices.csv', mimeType: 'text/csv', buffer: Buffer.from(text.join('\n')) }
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByLabel('Format of shop prices.csv').waitFor()
    await button('Import (1)').click()
    const started = await page.getByRole('link', { name: /^Import #/ }).getAttribute('href')
    await page.getByRole('row', { name: /shop prices\.csv .* Done 100% rejected/ }).waitFor()
    expect(
      await page
        .getByRole('row', { name: /shop prices\.csv/ })
        .locator('.status')
        .getAttribute('class'),
    ).toContain('wait')
    await visited.open(started!.replace('/console', ''))
    await page.getByRole('heading', { name: 'shop prices.csv' }).waitFor()
    await page.getByRole('row', { name: /^no item has the ref … 61 .*Line 2: no item has the ref nobody-0/ }).waitFor()
    const [download] = await Promise.all([page.waitForEvent('download'), button('Download as CSV (62)').click()])
    const lines = (await readFile(await download.path(), 'utf8')).split('\n')
    expect(lines.slice(0, 2)).toEqual(['file,line,rule,reason', 'shop prices.csv,2,no_ref,no item has the ref nobody-0'])
    expect([download.suggestedFilename(), lines.length]).toEqual([`import-${started!.split('/').at(-1)}-refusals.csv`, 64])
  })

  test('a list whose prices are off as a whole is refused by its check, and imported on request', { tags: 'slow' }, async () => {
    const items = await operator<Item[]>(node, 'GET', '/items?per_page=50')
    const list = (price: string) => {
      const rows = items.map(({ ref }) => `${ref},source_c,Damaged,${price},${node.clock.now().toISOString()}`)
      return ['item_ref,market,label,price,updated_at', ...rows].join('\n')
    }
    const choose = async (name: string, price: string) => {
      await visited.open('/imports')
      await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(list(price)) })
      await page.getByLabel(`Format of ${name}`).waitFor()
    }
    await choose('before.csv', '10.00')
    await button('Import (1)').click()
    await page.getByRole('row', { name: /before\.csv .* Done/ }).waitFor()
    await choose('dearer.csv', '12.00')
    await button('Check (1)').click()
    await page.getByText(/are off as a whole: the median of \d+ prices is 1\.2 times/).waitFor()
    expect(await button('Import (0)').isDisabled()).toBe(true)
    await page.getByLabel(/import it although its prices are off as a whole/).check()
    await button('Import (1)').click()
    await page.getByRole('row', { name: /dearer\.csv .* Done/ }).waitFor()
  })

  test('several files are checked together, each by name, without layout shifts', { tags: 'slow' }, async () => {
    await visited.open('/imports')
    const file = (name: string, ref: string) => {
      const text = `item_ref,market,label,price,updated_at\n${ref},source_b,Lightly Played,71.00,2026-11-21T00:00:00Z\n`
      return { name, mimeType: 'text/csv', buffer: Buffer.from(text) }
    }
    await page.locator('input[type=file]').setInputFiles([file('good.csv', item.ref), file('bad.csv', 'nobody')])
    const row = (name: string) => page.locator('.waiting > li', { hasText: name })
    const before = await layoutShift(page)
    await button('Check (2)').click()
    await row('bad.csv').getByRole('link', { name: 'Check report' }).waitFor()
    const numbers = async (name: string) => (await row(name).locator('.check-result dd').allInnerTexts()).map((text) => text.trim())
    // Published or held, depending on earlier prices.
    expect((await numbers('good.csv')).toSorted()).toEqual(['0', '0', '0', '0', '1'])
    expect((await numbers('good.csv')).at(-1)).toBe('0')
    await expect.poll(() => numbers('bad.csv')).toEqual(['0', '0', '0', '0', '1 100%'])
    expect((await layoutShift(page)) - before).toBeLessThanOrEqual(0.1)
    await row('bad.csv')
      .getByRole('button', { name: /^Remove/ })
      .click()
    await button('Import (1)').click()
    await row('good.csv')
      .getByRole('link', { name: /^Import #/ })
      .waitFor()
    await expect.poll(() => row('bad.csv').count()).toBe(0)
  })

  test('files chosen while the formats load wait for them, and cause no second request', { tags: 'slow' }, async () => {
    const formats = '**/operator/v1/import-formats'
    const gate = Promise.withResolvers<void>()
    let requests = 0
    await page.route(formats, async (route) => {
      requests += 1
      await gate.promise
      await route.continue()
    })
    try {
      const requested = page.waitForRequest(formats)
      const opened = visited.open('/imports')
      await requested
      const text = `item_ref,market,label,price,updated_at\n${item.ref},source_b,Lightly Played,71.00,2026-11-21T00:00:00Z\n`
      await page.locator('input[type=file]').setInputFiles({ name: 'early.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
      gate.resolve()
      await opened
      await expect.poll(() => page.getByLabel('Format of early.csv').inputValue()).not.toBe('')
      expect(requests).toBe(1)
    } finally {
      gate.resolve()
      await page.unroute(formats)
    }
  })

  test('the imports table keeps its columns while an import runs', { tags: 'slow' }, async () => {
    const edges = () =>
      page.evaluate<number[]>("[...document.querySelectorAll('main table thead th')].map((cell) => Math.round(cell.getBoundingClientRect().left))")
    await visited.open('/imports')
    const before = await edges()
    // The import waits for the market, which this transaction locks, and therefore stays in progress.
    await node.db.kysely.transaction().execute(async (tx) => {
      await lockMarkets(tx, [MARKETS.indexOf('source_c')])
      const csv = Buffer.from('TCGplayer Id,Condition,TCG Market Price\n999999999,Near Mint,1.00\n')
      const name = 'a-file-with-a-name-that-is-longer-than-most-others-of-2026-11-20.csv'
      await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer: csv })
      await button('Import (1)').click()
      await page.locator('main table').getByRole('progressbar').waitFor()
      await expect.poll(() => edges()).toEqual(before)
      expect(
        await page.evaluate("(() => { const box = document.querySelector('section.scroll'); return box.scrollWidth - box.clientWidth })()"),
      ).toBe(0)
    })
    await page.locator('main table').getByRole('progressbar').waitFor({ state: 'detached' })
    await expect.poll(() => edges()).toEqual(before)
  })

  test('an order recorded manually sells the listing', async () => {
    const listing = await listingOf('To be sold')
    await operator(node, 'POST', `/listings/${listing.id}/approve`, {})
    await visited.open('/orders')
    await button('Record order').click()
    await dialog().getByLabel('Order id').fill('4711')
    await dialog().getByLabel('Listing').fill('To be so')
    await dialog().getByRole('option', { name: 'To be sold' }).click()
    await dialog().getByRole('button', { name: 'Record' }).click()
    await page.getByRole('heading', { name: 'Order 4711' }).waitFor()
    await expect.poll(() => operator<Listing>(node, 'GET', `/listings/${listing.id}`)).toMatchObject({ status: 'sold', quantity: 0 })
    await visited.open(`/orders?listing_id=${listing.id}`)
    await page.getByRole('row', { name: /^4711 .* To be sold Test plus – 1 / }).waitFor()
    await visited.open(`/catalogue/items/${item.id}`)
    await page
      .locator('section', { has: page.getByRole('heading', { name: 'Last sales' }) })
      .getByRole('link', { name: '4711' })
      .waitFor()
  })

  test("a webhook is missing, then tested, shows its receiver's responses, and redelivers an event", async () => {
    await visited.open(`/accounts/${node.accounts.plus}?view=webhook`)
    await page.getByText('This account has not set up a webhook.').waitFor()
    await expect.poll(() => button('Test: sale').isDisabled()).toBe(true)
    const receiver = await openReceiver(status(500, 'out of cards'))
    const json = { url: receiver.url, on_sale: true }
    const saved = await send<{ secret: string }>(`${node.publicUrl}/api/v1/plus/webhook`, node.keys.plus, { method: 'PUT', json })
    await page.reload()
    await page.getByText(receiver.url).waitFor()
    expect(await page.content()).not.toContain(saved.body.data.secret)
    await button('Test: sale').click()
    const logs = async () => (await send<{ status_code: number }[]>(`${node.publicUrl}/api/v1/plus/webhook/logs`, node.keys.plus)).body.data
    await until('the attempt is logged', async () => (await logs()).some(({ status_code: code }) => code === 500))
    await page.getByLabel(/^Attempts of event \d+: 1$/).click()
    await page.getByText('out of cards').waitFor()
    await page.getByLabel('State').selectOption('delivered')
    await page.getByText('No matches for these filters.').waitFor()
    expect(new URL(page.url()).searchParams.get('state')).toBe('delivered')
    receiver.behave(status(401))
    await send(`${node.publicUrl}/api/v1/plus/webhook/check`, node.keys.plus, { json: {} })
    await visited.open(`/accounts/${node.accounts.plus}?view=webhook&state=cancelled&test=1`)
    await page.getByLabel(/^Attempts of event \d+: 8$/).click()
    await expect.poll(() => page.locator('.answers li').count()).toBe(8)
    await expect.poll(() => page.locator('table .status.bad').allInnerTexts()).toEqual([])
    await visited.open(`/accounts/${node.accounts.plus}`)
    await expect.poll(() => page.locator('.answers li').filter({ hasText: 'Check 401' }).count()).toBe(5)
    await expect.poll(() => page.locator('.answers .status.bad').count()).toBe(0)
    await receiver.close()
  })

  test('filters of the short lists are in the address', { tags: 'slow' }, async () => {
    await visited.open(`/accounts/${node.accounts.starter}?view=keys`)
    await page.getByLabel('State').selectOption('revoked')
    await page.getByRole('row', { name: /shop.*Expired/ }).waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /shop.*Revoked/ }).waitFor()
    expect(new URL(page.url()).searchParams.get('state')).toBe('revoked')
    await visited.open(`/accounts/${node.accounts.plus}?view=credits&search=campaign&from=2020-01-01`)
    await page.getByRole('row', { name: /campaign/ }).waitFor()
    await page.getByLabel('Reason').fill('no such reason')
    await page.getByText('No matches for these filters.').waitFor()
    await visited.open('/price-decisions?state=undone&decision=withdraw')
    expect([await page.getByLabel('State').inputValue(), await page.getByLabel('Decision').inputValue()]).toEqual(['undone', 'withdraw'])
  })

  test('an error in Turkish', { tags: 'slow' }, async () => {
    const turkish = await signedIn(browser, node, { locale: 'tr-TR' })
    await turkish.open('/listings?status=nonsense')
    await turkish.page
      .getByRole('alert')
      .getByText(/Durum şunlardan biri olmalı/)
      .waitFor()
    await turkish.open('/accounts/999999')
    await turkish.page.getByRole('alert').getByText('999999 numaralı hesap bulunamadı').waitFor()
    await turkish.close()
  })

  test('the audit log shows who made each change', async () => {
    await visited.open('/audit?action=account.create')
    await page
      .getByRole('row', { name: /operator:bootstrap account\.create/ })
      .first()
      .waitFor()
  })

  test('by keyboard alone from sign-in to an open account', { tags: 'slow' }, async () => {
    const alone = await visit(browser, node)
    await alone.open('')
    const { keyboard } = alone.page
    const focus = () => alone.page.evaluate<string>('document.activeElement.textContent.trim() || document.activeElement.name || ""')
    const tabTo = async (text: string) => {
      for (let i = 0; i < 40; i++) {
        await keyboard.press('Tab')
        if ((await focus()) === text) return
      }
      throw new Error(`Tab does not reach ${text}`)
    }
    await tabTo('credential')
    await keyboard.type('operator token of the tests')
    await keyboard.press('Enter')
    await alone.page.getByRole('heading', { name: 'Today' }).waitFor()
    await tabTo('Accounts')
    await keyboard.press('Enter')
    await alone.page.getByRole('heading', { name: 'Accounts' }).waitFor()
    await settled(alone.page)
    await tabTo('New account')
    await keyboard.press('Enter')
    await alone.page.getByRole('dialog').waitFor()
    await tabTo('name')
    await keyboard.type('Typed only')
    await keyboard.press('Enter')
    await alone.page.getByRole('heading', { name: 'Typed only' }).waitFor()
    expect(alone.troubles).toEqual([])
    await alone.close()
  })

  test('there were no page errors', () => {
    expect(visited.troubles).toEqual([])
  })
})

/** The only line of a chart: the heights in pixels of its level segments, and where it starts and ends, from 0 to 1 of the plot's width. */
function drawnLine(page: Page): Promise<{ heights: number[]; from: number; to: number }> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector('.chart canvas')
    const legend = document.querySelector('.chart-legend button[aria-pressed=true] path')
    if (!canvas || !legend) return { heights: [], from: 1, to: 0 }
    const [red, green, blue] = getComputedStyle(legend).stroke.match(/[\\d.]+/g).map(Number)
    const { width, height } = canvas
    const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
    const scale = width / canvas.clientWidth
    const over = document.querySelector('.chart .u-over')
    const left = over.offsetLeft * scale
    const columns = []
    for (let x = 0; x < width; x++) {
      const rows = []
      for (let y = 0; y < height; y++) {
        const at = (y * width + x) * 4
        if (data[at + 3] > 200 && Math.abs(data[at] - red) + Math.abs(data[at + 1] - green) + Math.abs(data[at + 2] - blue) < 12) rows.push(y)
      }
      if (rows.length > 0) columns.push({ x, rows })
    }
    if (columns.length === 0) return { heights: [], from: 1, to: 0 }
    const level = columns.filter(({ rows }) => rows.at(-1) - rows[0] <= 2 * scale).map(({ rows }) => rows[0])
    const heights = [...new Set(level)].filter((y) => level.filter((other) => other === y).length > columns.length / 50)
    const place = ({ x }) => (x - left) / (over.clientWidth * scale)
    return { heights, from: place(columns[0]), to: place(columns.at(-1)) }
  })()`)
}
