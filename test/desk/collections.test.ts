// A collection at the desk in a real browser: cards added by keyboard alone and as by a scanner, failures, reloads, changes and removals with undo.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { call } from '#core/verb.ts'
import { announced, intercept, launch, layouts, NO_BROWSER, operator, settled, type Visit, WHY } from '../console/browser.ts'
import { seriousOf } from '../support/axe.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { send, type TestNode } from '../support/node.ts'
import { signedInToDesk } from './browser.ts'

interface CollectionRecord {
  id: number
  item_id: number
  item_name: string
  group_label: string | null
  quantity: number
  purchase_price: number | null
  note: string | null
}

describe.skipIf(NO_BROWSER)(`A collection at the desk${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page
  let collection: number

  beforeAll(async () => {
    node = await startSampleNode()
    browser = await launch()
    visited = await signedInToDesk(browser, node, node.keys.plus)
    page = visited.page
  })

  afterAll(() => node.close())

  const newCollection = async (name: string) => {
    ;({ id: collection } = await operator<{ id: number }>(node, 'POST', '/collections', { account_id: node.accounts.plus, name }))
    await visited.open(`/collections/${collection}`)
  }
  const api = () => `${node.publicUrl}/api/v1/plus/collections/${collection}/items`
  /** Oldest first. */
  const records = async () => (await send<CollectionRecord[]>(api(), node.keys.plus)).body.data.reverse()
  const search = () => page.getByRole('combobox', { name: 'Card', exact: true })
  const quantity = () => page.getByRole('spinbutton', { name: 'Quantity' })
  const entry = (name: string) => page.getByRole('list', { name: 'Added cards' }).getByRole('listitem').filter({ hasText: name })
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const focused = (what: string) => expect.poll(() => page.evaluate<string>('document.activeElement.name || document.activeElement.role')).toBe(what)
  const direct = () => page.getByRole('checkbox', { name: /^Add a card as soon as/ })
  const rowOf = (name: string) => page.getByRole('region', { name: 'Records', exact: true }).getByRole('row').filter({ hasText: name })
  const firstCard = async (text: string) =>
    (await send<{ id: number; name: string }[]>(`${node.publicUrl}/api/v1/items/search?q=${text}`, node.keys.plus)).body.data[0]!

  test('ten cards by keyboard alone, each with one key for condition, printing and quantity', async () => {
    await newCollection('By keyboard')
    await page.getByText('No records yet.').waitFor()
    await search().focus()
    for (let number = 1; number <= 10; number += 1) {
      await page.keyboard.type(`${number}/102`)
      await page.keyboard.press('Enter')
      await focused('quantity')
      if (number === 1) await page.keyboard.press('n')
      if (number === 4) {
        await page.keyboard.press('Space')
        await page.keyboard.press('l')
        await page.keyboard.type('3')
      }
      await page.keyboard.press('Enter')
      await focused('combobox')
    }
    await expect.poll(async () => (await records()).length).toBe(10)
    const added = await records()
    expect(added.map((record) => record.group_label)).toEqual([...Array(3).fill('Near Mint'), ...Array(7).fill('Lightly Played')])
    expect(added.map((record) => record.quantity)).toEqual([1, 1, 1, 3, 1, 1, 1, 1, 1, 1])
    const best = await firstCard('4/102')
    expect(added[3]!.item_name).toBe(best.name)
    // The table shows them without a reload.
    await rowOf(added[9]!.item_name).first().waitFor()
    await page.getByText('10 in total').waitFor()
  })

  test('the space key chooses the next printing of the card', { tags: 'slow' }, async () => {
    await newCollection('Printings')
    await search().fill('4/102')
    await page.keyboard.press('Enter')
    await focused('quantity')
    const printing = page.getByRole('combobox', { name: 'Printing' })
    const chosen = () => printing.locator('option:checked').textContent()
    const first = await chosen()
    const count = await printing.locator('option').count()
    expect(count).toBeGreaterThan(1)
    await page.keyboard.press('Space')
    expect(await chosen()).not.toBe(first)
    for (let n = 1; n < count; n += 1) await page.keyboard.press('Space')
    expect(await chosen()).toBe(first)
    await page.keyboard.press('Escape')
    await focused('combobox')
    await page.getByText('Choose a card above').waitFor()
  })

  test('as by a scanner: each text is a line at once, and one that no card matches stays until it is corrected', { tags: 'slow' }, async () => {
    await newCollection('Scanned')
    await direct().check()
    await search().focus()
    // Nothing waits for the cards to be found.
    for (const text of ['4/102', 'no such card', '2/102']) {
      await page.keyboard.type(text)
      await page.keyboard.press('Enter')
    }
    await expect.poll(async () => (await records()).length).toBe(2)
    await entry('no such card').getByText('No card matches.').waitFor()
    await page.reload()
    await settled(page)
    await expect.poll(() => direct().isChecked()).toBe(true)
    await expect.poll(() => page.getByRole('list', { name: 'Added cards' }).getByRole('listitem').count()).toBe(1)
    await button('Discard: no such card').click()
    await expect.poll(() => entry('no such card').count()).toBe(0)
    await direct().uncheck()
  })

  test('a failed line stays with its reason, also after a reload, and is added once when it is tried again', { tags: 'slow' }, async () => {
    await newCollection('Failures')
    const addition = new RegExp(`/collections/${collection}/items$`)
    // The first request is answered, but its response is lost.
    await intercept(page, addition, async (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      await route.fetch()
      await route.abort()
    })
    await search().fill('4/102')
    await page.keyboard.press('Enter')
    await focused('quantity')
    await page.keyboard.press('Enter')
    await entry('Charizard').getByText('Cannot reach the service').waitFor()
    // The next card is not blocked.
    await focused('combobox')
    await page.keyboard.type('15/102')
    await page.keyboard.press('Enter')
    await focused('quantity')
    await page.keyboard.type('2')
    await page.unroute(addition)
    await page.reload()
    await settled(page)
    await page.locator('.entry-card').getByText('15/102').waitFor()
    expect(await quantity().inputValue()).toBe('2')
    await button('Try again: Charizard').click()
    await entry('Charizard').getByText('added').waitFor()
    expect(await records()).toHaveLength(1)
  })

  test('a line that the service refuses can be corrected', { tags: 'slow' }, async () => {
    await newCollection('Refused')
    await search().fill('4/102')
    await page.keyboard.press('Enter')
    await focused('quantity')
    const refusal = JSON.stringify({ success: false, error: { code: 'VALIDATION_ERROR', message: 'Not today' } })
    await intercept(page, api(), (route) => route.fulfill({ status: 422, contentType: 'application/json', body: refusal }))
    await page.keyboard.press('Enter')
    await entry('Charizard').getByText('Not today').waitFor()
    await page.unroute(api())
    await button('Edit: Charizard').click()
    await quantity().fill('5')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await records()).map((record) => record.quantity)).toEqual([5])
  })

  test('an added line is undone', { tags: 'slow' }, async () => {
    await newCollection('Undone')
    await search().fill('2/102')
    await page.keyboard.press('Enter')
    await focused('quantity')
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await records()).length).toBe(1)
    await button('Undo: Blastoise').click()
    await expect.poll(async () => (await records()).length).toBe(0)
  })

  test('records are searched, sorted, changed with an undo, and removed unless undone', async () => {
    await newCollection('Changed')
    const cards = [await firstCard('4/102'), await firstCard('15/102')]
    for (const [index, { id }] of cards.entries()) {
      await send(api(), node.keys.plus, { json: { item_id: id, quantity: index + 1, purchase_price: 10, note: index === 0 ? 'signed' : null } })
    }
    await visited.open(`/collections/${collection}`)
    const [first, second] = cards.map(({ name }) => name)
    const names = () => page.getByRole('region', { name: 'Records', exact: true }).getByRole('rowheader').allInnerTexts()
    await page.getByRole('button', { name: /^Item/ }).click()
    await expect.poll(async () => (await names()).map((text) => text.trim().split('\n')[0]!.startsWith(first!))).toEqual([true, false])
    await page.getByRole('searchbox', { name: 'Name, number, code or note' }).fill('signed')
    await expect.poll(async () => (await names()).length).toBe(1)

    await button(`Edit: ${first}`).click()
    const dialog = page.getByRole('dialog', { name: `Edit ${first}` })
    await dialog.getByLabel('Quantity').fill('9')
    await dialog.getByLabel('Price paid each').fill('12.5')
    await dialog.getByLabel('Note').fill('signed twice')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await announced(page, `${first} saved`)
    expect((await records())[0]).toMatchObject({ quantity: 9, purchase_price: 12.5, note: 'signed twice' })
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
    await announced(page, `${first} restored`)
    expect((await records())[0]).toMatchObject({ quantity: 1, purchase_price: 10, note: 'signed' })

    await button(`Remove: ${first}`).click()
    await page.getByText('will be removed').waitFor()
    await button('Undo').click()
    await expect.poll(() => page.getByText('will be removed').count()).toBe(0)
    await visited.open(`/collections/${collection}`)
    expect(await records()).toHaveLength(2)

    await button(`Remove: ${second}`).click()
    await page.getByText('will be removed').waitFor()
    // Leaving the desk carries it out.
    await page.goto('about:blank')
    await expect.poll(async () => (await records()).map((record) => record.item_name)).toEqual([first])
  })

  test('a change of a record that has changed meanwhile is refused', { tags: 'slow' }, async () => {
    await newCollection('Raced')
    const { id, name } = await firstCard('4/102')
    await send(api(), node.keys.plus, { json: { item_id: id } })
    await visited.open(`/collections/${collection}`)
    await button(`Edit: ${name}`).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Quantity').fill('9')
    const [record] = await records()
    await send(`${api()}/${record!.id}`, node.keys.plus, { method: 'PATCH', json: { quantity: 4 } })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').waitFor()
    expect((await records())[0]!.quantity).toBe(4)
  })

  test('worth by currency, and the records that gained and lost most', async () => {
    await newCollection('Worth')
    const cards = [await firstCard('4/102'), await firstCard('15/102'), await firstCard('2/102')]
    for (const { id } of cards) await send(api(), node.keys.plus, { json: { item_id: id } })
    const { body } = await send<(CollectionRecord & { value: { price: number } })[]>(`${api()}?with_value=1`, node.keys.plus)
    const [first, second] = body.data.reverse()
    const cost = (record: CollectionRecord, price: number) =>
      send(`${api()}/${record.id}`, node.keys.plus, { method: 'PATCH', json: { purchase_price: Math.round(price * 100) / 100 } })
    await cost(first!, first!.value.price + 50)
    await cost(second!, second!.value.price - 50)
    await visited.open(`/collections/${collection}`)
    const tiles = page.getByRole('region', { name: 'Worth', exact: true })
    await tiles.getByText('without cost: 1').waitFor()
    await tiles.getByText('Gain ₺0.00').waitFor()
    await page.getByRole('link', { name: 'Gain', exact: true }).click()
    await page
      .getByRole('region', { name: 'Highest gains' })
      .getByRole('row', { name: new RegExp(`${cards[1]!.name}.*₺50\\.00`) })
      .waitFor()
    await page
      .getByRole('region', { name: 'Highest losses' })
      .getByRole('row', { name: new RegExp(`${cards[0]!.name}.*-₺50\\.00`) })
      .waitFor()
  })

  test('a page of records is requested, not all of them; a read-only key has no controls', { tags: 'slow' }, async () => {
    await newCollection('Many')
    const { id, name } = await firstCard('4/102')
    for (let n = 0; n < 30; n += 1) await send(api(), node.keys.plus, { json: { item_id: id } })
    const sizes: number[] = []
    page.on('response', (response) => {
      const isList = response.url().startsWith(`${api()}?`)
      if (isList) void response.json().then(({ data }) => sizes.push(data.length))
    })
    await visited.open(`/collections/${collection}`)
    await expect.poll(() => sizes).toEqual([25])
    await page.getByRole('link', { name: 'Next' }).click()
    await expect.poll(() => sizes).toEqual([25, 5])

    const { key } = await call(createKey, node.ctx, { account_id: node.accounts.plus, read_only: true })
    const reader = await signedInToDesk(browser, node, key)
    await reader.open(`/collections/${collection}`)
    await reader.page
      .getByRole('row', { name: new RegExp(name) })
      .first()
      .waitFor()
    for (const control of [/^Edit/, /^Remove:/, 'Add']) expect(await reader.page.getByRole('button', { name: control }).count()).toBe(0)
    expect(await reader.page.getByRole('combobox', { name: 'Card' }).count()).toBe(0)
    await reader.close()
  })

  test.each(layouts())(
    'with lines, a card and a dialog, there are no accessibility problems and everything fits: $name',
    { tags: 'slow' },
    async ({ options }) => {
      await newCollection(`Layout ${options.viewport.width} ${options.locale}`)
      const { id } = await firstCard('4/102')
      await send(api(), node.keys.plus, { json: { item_id: id, purchase_price: 3 } })
      const visit = await signedInToDesk(browser, node, node.keys.plus, options)
      await visit.open(`/collections/${collection}`)
      await intercept(visit.page, api(), (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()))
      const combobox = visit.page.locator('.card-search input')
      await combobox.fill('15/102')
      await visit.page.locator('.card-search [role=option]').first().waitFor()
      const problems = [await seriousOf(visit.page)]
      await visit.page.keyboard.press('Enter')
      await visit.page.locator('.entry-card strong').waitFor()
      await visit.page.keyboard.press('Enter')
      await visit.page.locator('.entries .failed').waitFor()
      await visit.page.locator('tbody button.danger').first().click()
      await visit.page.locator('.bulk-notices .notice button').waitFor()
      await settled(visit.page)
      problems.push(await seriousOf(visit.page))
      const tooWide = () => visit.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      expect(await tooWide()).toBeLessThanOrEqual(0)
      await visit.page.locator('.bulk-notices .notice button').click()
      await visit.page.locator('tbody button:not(.danger)').first().click()
      await visit.page.getByRole('dialog').waitFor()
      problems.push(await seriousOf(visit.page))
      expect([problems, visit.troubles]).toEqual([[[], [], []], []])
      await visit.close()
    },
  )
})
