// Completion, cards and watches at the desk in a real browser: sets, goals with gaps, watches from a gap and by typing, errors, read-only keys.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { call } from '#core/verb.ts'
import { announced, launch, LAYOUTS, NO_BROWSER, operator, settled, type Visit, WHY } from '../console/browser.ts'
import { seriousOf } from '../support/axe.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { send, type TestNode } from '../support/node.ts'
import { signedInToDesk } from './browser.ts'

interface Completion {
  owned: number
  of: number
  missing: { item_id: number; name: string; image: string | null; price: object | null }[]
  cards: { item_id: number; name: string; image: string | null; copies: number }[] | null
  duplicates: { copies: number }
}
interface WatchRow {
  kind: string
  item_id: number
  item_name: string
  label: string | null
  amount: number
  currency: string
}

describe.skipIf(NO_BROWSER)(`Completion and watches at the desk${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page
  let collection: number
  let baseSet: { id: number; name: string }

  beforeAll(async () => {
    node = await startSampleNode()
    browser = await launch()
    visited = await signedInToDesk(browser, node, node.keys.plus)
    page = visited.page
    ;({ id: collection } = await operator<{ id: number }>(node, 'POST', '/collections', { account_id: node.accounts.plus, name: 'Binder' }))
    await visited.open(`/collections/${collection}?view=completion`)
    await page.getByText('No sets yet.').waitFor()
    for (const [text, quantity] of [
      ['4/102', 3],
      ['2/102', 1],
    ] as const) {
      const [card] = await api<{ id: number; category: { id: number; name: string } }[]>(`/items/search?q=${text}`)
      baseSet = card!.category
      await api(`/plus/collections/${collection}/items`, { item_id: card!.id, quantity })
    }
  })

  afterAll(() => node.close())

  const api = async <T>(path: string, json?: object) => (await send<T>(`${node.publicUrl}/api/v1${path}`, node.keys.plus, json && { json })).body.data
  const completion = (query: string) => api<Completion>(`/plus/collections/${collection}/completion?category_id=${baseSet.id}&${query}`)
  const watches = () => api<WatchRow[]>('/plus/watches')
  const cards = () => page.getByRole('list', { name: 'Cards of the goal' }).getByRole('listitem')
  const open = async (query: string) => {
    await visited.open(`/collections/${collection}?view=completion&${query}`)
    return cards()
  }

  test('all sets come first, with their percent; one opens its goal', async () => {
    await visited.open(`/collections/${collection}?view=completion`)
    const { owned, of } = await completion('')
    const row = page.getByRole('row').filter({ hasText: baseSet.name })
    await row.getByText(`${owned} of ${of}`).waitFor()
    await row.getByRole('link', { name: baseSet.name }).click()
    await expect.poll(() => cards().count()).toBe(Math.min(of, 60))
    expect(await page.getByRole('combobox', { name: 'Set' }).inputValue()).toBe(baseSet.name)
  })

  test('owned cards and gaps are shown in order, with pictures, prices and states; the rule changes what counts', async () => {
    const { owned, of, cards: inOrder, missing, duplicates } = await completion('with_owned=1&goal=base')
    const shown = await open(`category_id=${baseSet.id}&goal=base`)
    await expect.poll(() => shown.count()).toBe(of)
    expect((await shown.getByRole('link').allTextContents()).map((name) => name.trim())).toEqual(inOrder!.map(({ name }) => name))
    expect(await page.locator('.goal-cards .missing').count()).toBe(of - owned)
    const tiles = page.getByRole('region', { name: 'Goal' })
    await tiles.getByText(`${owned} of ${of}`).waitFor()
    await tiles.getByText(`on sale: 0 of ${of - owned} missing`).waitFor()
    expect(duplicates.copies).toBe(2)
    await page
      .getByRole('region', { name: 'Duplicates' })
      .getByRole('row', { name: /Charizard.*2/ })
      .waitFor()
    expect(await shown.filter({ hasText: 'Charizard' }).getByText('Owned: 3').count()).toBe(1)
    const priced = missing.findIndex(({ price }) => price !== null)
    expect(priced).toBeGreaterThanOrEqual(0)
    await page.locator('.goal-cards .missing .status').first().waitFor()
    // Both lists have the same pictures, and some exist.
    expect(inOrder!.some(({ image }) => image !== null)).toBe(true)

    await page.getByRole('combobox', { name: 'Show' }).selectOption('missing')
    await expect.poll(() => shown.count()).toBe(of - owned)
  })

  test('a set is found by typing, and a field query by itself; a wrong query is refused by field', { tags: 'slow' }, async () => {
    await visited.open(`/collections/${collection}?view=completion`)
    const set = page.getByRole('combobox', { name: 'Set' })
    await set.fill('BASE SÉT')
    await page
      .getByRole('option', { name: new RegExp(`^${baseSet.name} `) })
      .first()
      .waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => cards().count()).toBeGreaterThan(0)

    await visited.open(`/collections/${collection}?view=completion`)
    const query = page.getByRole('searchbox', { name: /^Field query/ })
    await query.fill('name:charizard')
    await expect.poll(async () => (await cards().allTextContents()).every((text) => text.includes('Charizard'))).toBe(true)
    await expect.poll(() => cards().count()).toBeGreaterThan(0)
    await query.fill('colour:blue')
    await page.getByRole('alert').getByText('Search', { exact: true }).waitFor()
    await query.fill('name:charizard name:blastoise')
    await page.getByText('No card belongs to this goal.').waitFor()
  })

  test('from a gap to a watch by keyboard, and to the page of the card', async () => {
    const shown = await open(`category_id=${baseSet.id}&goal=base&cards=missing`)
    const { missing } = await completion('goal=base')
    const [first] = missing
    await shown
      .first()
      .getByRole('button', { name: `Watch: ${first!.name}` })
      .focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: `Watch ${first!.name}` })
    await dialog.getByLabel('Amount').fill('12.34')
    await page.keyboard.press('Enter')
    await announced(page, `Watch of ${first!.name} saved`)
    await expect.poll(watches).toMatchObject([{ kind: 'offer_below', item_id: first!.item_id, label: null, amount: 12.34, currency: 'TRY' }])

    await shown.first().getByRole('link', { name: first!.name }).click()
    await page.getByRole('heading', { level: 1, name: first!.name }).waitFor()
    await page.getByRole('region', { name: 'Your watches' }).getByText('₺12.34').waitFor()
    await page.getByText('No listings of this card.').waitFor()
  })

  test('a set is watched by one button, and listed with a link back; removed, and restored by an undo', { tags: 'slow' }, async () => {
    await send(`${node.publicUrl}/api/v1/plus/watches`, node.keys.plus, { method: 'DELETE' })
    await open(`category_id=${baseSet.id}&goal=official`)
    const button = page.getByRole('button', { name: 'Tell me when this set is no longer complete' })
    await button.focus()
    await page.keyboard.press('Enter')
    await announced(page, `Watch of ${baseSet.name} in Binder saved`)
    const goal = { kind: 'goal_reopened', collection_id: collection, category_id: baseSet.id, goal: 'official', language: 'any' }
    await expect.poll(watches).toMatchObject([goal])
    await page.getByText('You will be notified when this set is no longer complete.').waitFor()
    expect(await button.count()).toBe(0)

    await open(`category_id=${baseSet.id}&goal=base`)
    await button.waitFor()
    await visited.open('/watches')
    const row = page.getByRole('row').filter({ hasText: `${baseSet.name} in Binder` })
    await row.getByText('Set no longer complete').waitFor()
    await row.getByText('Official').waitFor()
    expect(await row.getByRole('button', { name: /^Edit/ }).count()).toBe(0)
    await row.getByRole('button', { name: /^Remove/ }).click()
    await expect.poll(watches).toEqual([])
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
    await expect.poll(watches).toMatchObject([goal])
    await row.getByRole('link').click()
    await page.getByText('You will be notified when this set is no longer complete.').waitFor()
  })

  test('a watch is added by typing a card, changed, removed, and restored by an undo', { tags: 'slow' }, async () => {
    await send(`${node.publicUrl}/api/v1/plus/watches`, node.keys.plus, { method: 'DELETE' })
    await visited.open('/watches')
    await page.getByText('No watches yet.').waitFor()
    await page.getByText('GET /plus/events').waitFor()
    const amount = page.getByLabel('Amount')
    await amount.fill('5')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Choose a card above').waitFor()
    await page.keyboard.type('4/102')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate<string>('document.activeElement.name')).toBe('amount')
    await page.getByLabel('Watch for').last().waitFor()
    const form = page.getByRole('region', { name: 'Add a watch' })
    await form.getByLabel('Watch for').selectOption('price_above')
    await form.getByLabel('Condition or grade').selectOption('PSA 10')
    await form.getByLabel('Currency').selectOption('USD')
    await amount.fill('2500')
    await page.keyboard.press('Enter')
    await announced(page, /^Watch of Charizard/)
    const [added] = await watches()
    expect(added).toMatchObject({ kind: 'price_above', label: 'PSA 10', amount: 2500, currency: 'USD' })
    const row = page.getByRole('row').filter({ hasText: added!.item_name })
    await row.getByText('never').waitFor()

    await row.getByRole('button', { name: /^Edit/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Amount').fill('2400')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await row.getByText('US$2,400.00').or(row.getByText('$2,400.00')).waitFor()

    await row.getByRole('button', { name: /^Remove/ }).click()
    await expect.poll(watches).toEqual([])
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click()
    await expect.poll(watches).toMatchObject([{ kind: 'price_above', label: 'PSA 10', amount: 2400, currency: 'USD' }])
  })

  test('what the service refuses is said by field', { tags: 'slow' }, async () => {
    await visited.open('/watches')
    await page.getByRole('combobox', { name: 'Card', exact: true }).fill('4/102')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate<string>('document.activeElement.name')).toBe('amount')
    await page.evaluate("void (document.querySelector('main form').noValidate = true)")
    await page.getByLabel('Amount').fill('-3')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Amount', { exact: true }).waitFor()
  })

  test('a read-only key sees completion and watches without controls', { tags: 'slow' }, async () => {
    const { key } = await call(createKey, node.ctx, { account_id: node.accounts.plus, read_only: true })
    const reader = await signedInToDesk(browser, node, key)
    await reader.open(`/collections/${collection}?view=completion&category_id=${baseSet.id}`)
    await reader.page.getByRole('list', { name: 'Cards of the goal' }).waitFor()
    expect(await reader.page.getByRole('button', { name: /^(Watch|Tell me)/ }).count()).toBe(0)
    await reader.open('/watches')
    expect(await reader.page.getByRole('button', { name: /^(Save watch|Edit|Remove)/ }).count()).toBe(0)
    await reader.close()
  })

  test.each(LAYOUTS)(
    'with an open dialog and suggestions, there are no accessibility problems and everything fits: $name',
    { tags: 'slow' },
    async ({ options }) => {
      const visit = await signedInToDesk(browser, node, node.keys.plus, options)
      const { page: narrow } = visit
      const tooWide = () => narrow.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      await visit.open(`/collections/${collection}?view=completion&category_id=${baseSet.id}&query=name:char`)
      await narrow.locator('.goal-cards button').first().click()
      await narrow.getByRole('dialog').waitFor()
      await settled(narrow)
      const problems = [await seriousOf(narrow)]
      await narrow.keyboard.press('Escape')
      await narrow.locator('.picker input').first().fill('base')
      await narrow.locator('.picker [role=option]').first().waitFor()
      problems.push(await seriousOf(narrow))
      expect([problems, visit.troubles, await tooWide()]).toEqual([[[], []], [], 0])
      await visit.close()
    },
  )
})
