// Approvals in a real browser: data for a decision visible at once, single-key decisions, undo after a reload, and fifty in a row.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSampleNode } from '../support/sample-node.ts'
import { seriousOf } from '../support/axe.ts'
import { type TestNode, until } from '../support/node.ts'
import { announced, launch, NO_BROWSER, operator, settled, signedIn, type Visit, WHY } from './browser.ts'

interface Listing {
  id: number
  title: string
  status: string
  rejection_reason: string | null
}

const NOT_SHARP = 'The images are missing or too blurred to judge the condition'

describe.skipIf(NO_BROWSER)(`Approvals in the console${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let visited: Visit
  let page: Page
  let itemId: number

  beforeAll(async () => {
    node = await startSampleNode({ worker: true, listeners: 'operator' })
    browser = await launch()
    itemId = (await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard'))[0]!.id
    await operator(node, 'POST', '/rates', [
      { currency: 'USD', day: '2026-01-01', rate: 40 },
      { currency: 'EUR', day: '2026-01-01', rate: 50 },
    ])
    visited = await signedIn(browser, node, { reducedMotion: 'reduce' })
    page = visited.page
  })

  afterAll(() => node.close())

  const listingOf = (title: string, fields: object = {}) =>
    operator<Listing>(node, 'POST', '/listings', { seller_id: node.accounts.plus, item_id: itemId, title, price: 500, ...fields })
  const stored = (id: number) => operator<Listing>(node, 'GET', `/listings/${id}`)
  const article = (name: string) => page.getByRole('article', { name, exact: true })
  const done = (text: string) => announced(page, text)

  test("condition, language, stock, reference prices with rates and the seller's history are visible without a click", async () => {
    const groups = await operator<{ types: { id: number; label: string }[] }[]>(node, 'GET', '/groups')
    const mint = groups.flatMap((group) => group.types).find(({ label }) => label === 'Near Mint')!
    const { id } = await listingOf('At a glance', { grade_id: mint.id, language: 'ja', quantity: 3, price: 50_000 })
    const { references, price_ratio: ratio } = await operator<{ references: { market: string }[]; price_ratio: number }>(
      node,
      'GET',
      `/listings/${id}/review`,
    )
    expect(references.length).toBeGreaterThan(0)
    await visited.open('/approvals')
    const shown = article('At a glance')
    await shown.locator('.facts').getByText('Near Mint').waitFor()
    const facts = (await shown.locator('.facts').innerText()).replaceAll('\n', ' ')
    expect(facts).toContain('Condition or grade Near Mint Card language Japanese Stock 3')
    expect(facts).toContain('Seller history 0 sales, 0 approved, 0 rejected, account 0 days old')
    expect(facts).toContain(`${ratio} ×`)
    await shown.getByRole('heading', { name: 'Prices of Near Mint' }).waitFor()
    await shown.getByText('rate 40 of 1 Jan 2026').first().waitFor()
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    await operator(node, 'POST', `/listings/${id}/reject`, { reason: 'Only a test' })
  })

  test('a digit key rejects with a frequent reason, and U undoes it, also after a reload', async () => {
    const [one, two] = [await listingOf('Rejected by a digit'), await listingOf('Comes next')]
    await visited.open('/approvals')
    await article('Rejected by a digit').waitFor()
    await page.keyboard.press('2')
    await article('Comes next').waitFor()
    await done('Rejected: 1')
    await expect.poll(() => stored(one.id)).toMatchObject({ status: 'rejected', rejection_reason: NOT_SHARP })
    await page.reload()
    await settled(page)
    await page.getByText('Rejected: Rejected by a digit').waitFor()
    await page.keyboard.press('u')
    await done('Undone: Rejected by a digit')
    await article('Rejected by a digit').waitFor()
    await expect.poll(() => stored(one.id)).toMatchObject({ status: 'pending', rejection_reason: null })
    for (const { id } of [one, two]) await operator(node, 'POST', `/listings/${id}/approve`, {})
  })

  test('C requests a change with a note, starting from a frequent reason', async () => {
    const { id } = await listingOf('Needs a change')
    await visited.open('/approvals')
    await page.keyboard.press('c')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Common reasons').selectOption({ index: 2 })
    await expect.poll(() => dialog.getByLabel('What to change').inputValue()).toBe(NOT_SHARP)
    expect(await seriousOf(page)).toEqual([])
    await dialog.getByLabel('What to change').fill('Show the back, please')
    await dialog.getByRole('button', { name: 'Request a change' }).click()
    await done('Change requested: 1')
    await expect.poll(() => stored(id)).toMatchObject({ status: 'rejected', rejection_reason: 'Show the back, please' })
    await visited.open(`/listings/${id}`)
    await page.getByText('Show the back, please').waitFor()
  })

  test('U undoes the decision about several listings as a whole, also after a reload, and then the one before', { tags: 'slow' }, async () => {
    const single = await listingOf('Decided alone')
    const several = [await listingOf('Together 1'), await listingOf('Together 2'), await listingOf('Together 3')]
    const states = () => Promise.all([single, ...several].map(async ({ id }) => (await stored(id)).status))
    await visited.open('/approvals')
    await article('Decided alone').waitFor()
    await page.keyboard.press('1')
    await done('Rejected: 1')
    await article('Together 1').waitFor()
    await settled(page)
    await page.getByLabel('Select all').check()
    await page.keyboard.press('a')
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await done('Approved: 3')
    await page.getByText('No pending listings.').waitFor()
    await page.reload()
    await settled(page)
    await page.getByText('Approved: 3').waitFor()
    await page.keyboard.press('u')
    await done('Undone: 3')
    await expect.poll(states).toEqual(['rejected', 'pending', 'pending', 'pending'])
    await page.getByText('Rejected: Decided alone').waitFor()
    await settled(page)
    await page.keyboard.press('u')
    await done('Undone: Decided alone')
    await expect.poll(states).toEqual(['pending', 'pending', 'pending', 'pending'])
    for (const { id } of [single, ...several]) await operator(node, 'POST', `/listings/${id}/approve`, {})
  })

  test('many listings are decided with one key each, in order', { tags: 'slow' }, async () => {
    // As many as the rule of the next test needs for its backtest.
    const listings: Listing[] = []
    for (let n = 1; n <= 50; n++) listings.push(await listingOf(`One of many ${n}`))
    await visited.open('/approvals')
    for (const [n, { title }] of listings.entries()) {
      await article(title).waitFor()
      await page.keyboard.press(n % 5 === 4 ? '4' : 'a')
    }
    await until('all are decided', async () => (await operator<Listing[]>(node, 'GET', '/listings/waiting')).length === 0)
    await page.getByText('No pending listings.').waitFor()
    const statuses = await Promise.all(listings.map(async ({ id }) => (await stored(id)).status))
    expect(statuses).toEqual(listings.map((_, n) => (n % 5 === 4 ? 'rejected' : 'active')))
  })

  test('a rule is created, rejected before its backtest passes, backtested, switched on, and its approvals reopened', { tags: 'slow' }, async () => {
    const main = page.locator('main')
    const dialog = page.getByRole('dialog')
    await visited.open('/approval-rules')
    await page.getByRole('button', { name: 'New rule' }).click()
    await dialog.getByLabel('Name').fill('Usual prices')
    const ratio = dialog.getByRole('group', { name: 'Price ÷ reference price' })
    await ratio.getByLabel('At least').fill('2')
    await ratio.getByLabel('At most').fill('1')
    await dialog.getByLabel('Maximum percentage').fill('0')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('alert').getByText('must not be above').waitFor()
    await ratio.getByLabel('At least').fill('')
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Usual prices' }).waitFor()
    await main.getByText('Price ÷ reference price: at most 1').waitFor()
    await page.getByRole('button', { name: 'Switch on' }).click()
    await main.getByRole('alert').getByText('it would approve 57 listings (at least 20), and people rejected 11 of them').waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await main.getByText('Not passed').waitFor()
    await main.getByText('Rejected or sent back by people:').waitFor()
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    await page.getByRole('button', { name: 'Edit' }).click()
    await dialog.getByLabel('Maximum percentage').fill('50')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Switch on' }).click()
    await page.getByRole('button', { name: 'Switch off' }).waitFor()
    const { id } = await listingOf('Approved by the rule')
    await until('the rule approves', async () => (await stored(id)).status === 'active')
    await page.reload()
    await settled(page)
    await page.getByRole('row', { name: /^Approved by the rule .* On approve Approved rule:/ }).waitFor()
    await page.getByRole('button', { name: 'Reopen approvals' }).click()
    await dialog.getByRole('button', { name: 'Reopen (1)' }).click()
    await done('Reopened: 1; skipped: 0')
    await expect.poll(() => stored(id)).toMatchObject({ status: 'pending' })
    await visited.open('/approvals')
    await article('Approved by the rule').waitFor()
  })

  test('there were no page errors', () => {
    expect(visited.troubles).toEqual([])
  })

  test('the listing that offers the same copy, and who offered and sold it before, stand beside a listing with a certificate', {
    tags: 'slow',
  }, async () => {
    // Only the listing of this test is left in the queue.
    for (const { id } of await operator<{ id: number }[]>(node, 'GET', '/listings/waiting')) {
      await operator(node, 'POST', `/listings/${id}/reject`, { reason: 'not needed' })
    }
    const certificate = { grader: 'PSA', cert: '44556677', grade: '10' }
    const rival = (await operator<{ id: number }>(node, 'POST', '/accounts', { name: 'Rival', plan: 'plus' })).id
    const sold = await listingOf('Sold before', { seller_id: rival, certificate, price: 700 })
    await operator(node, 'POST', `/listings/${sold.id}/approve`, {})
    await operator(node, 'POST', '/orders', { order_id: 77_001, lines: [{ listing_id: sold.id, quantity: 1 }] })
    const first = await listingOf('The first one', { seller_id: rival, certificate, price: 800 })
    await operator(node, 'POST', `/listings/${first.id}/approve`, {})
    const second = await listingOf('The same copy', { certificate })
    await visited.open('/approvals')
    const shown = article('The same copy')
    await shown.getByText('The same copy is on sale from Rival for').waitFor()
    await shown.getByRole('link', { name: 'The first one' }).waitFor()
    await shown.getByText('PSA 10 44556677').waitFor()
    const history = await shown.locator('.certificate li').allInnerTexts()
    expect(history.map((line) => /Sold|Listed/.exec(line)?.[0]).sort()).toEqual(['Listed', 'Listed', 'Sold'])
    expect(await page.getByText('Copy already on sale').count()).toBe(1)
    expect(await seriousOf(page)).toEqual([])
    await operator(node, 'POST', `/listings/${second.id}/reject`, { reason: 'not this one' })
  })
})
