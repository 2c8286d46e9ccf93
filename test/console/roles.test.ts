// What the console offers to people with few roles, in a real browser: pages stay readable, and writes that would be rejected are hidden.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Role } from '#core/roles.ts'
import { codeOf, member, nextCode, PASSWORD } from '../accounts/people-kit.ts'
import { startSampleNode } from '../support/sample-node.ts'
import type { TestNode } from '../support/node.ts'
import { launch, NO_BROWSER, operator, settled, type Visit, visit, WHY } from './browser.ts'

describe.skipIf(NO_BROWSER)(`Roles in the console${WHY}`, () => {
  let node: TestNode
  let browser: Browser
  let pages: [path: string, writes: RegExp][]
  let listingId: number

  beforeAll(async () => {
    node = await startSampleNode({ listeners: 'operator' })
    browser = await launch()
    const item = (await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard'))[0]!
    const list = (title: string) =>
      operator<{ id: number }>(node, 'POST', '/listings', { seller_id: node.accounts.plus, item_id: item.id, title, price: 500 })
    const sold = await list('Sold')
    await operator(node, 'POST', `/listings/${sold.id}/approve`, {})
    await operator(node, 'POST', '/orders', { order_id: 77, lines: [{ listing_id: sold.id, quantity: 1 }] })
    listingId = (await list('Waiting')).id
    const [imported] = await operator<{ id: number }[]>(node, 'GET', '/imports')
    const account = `/accounts/${node.accounts.plus}`
    pages = [
      ['/approvals', /^(Approve|Reject|Request a change)/],
      ['/approval-rules', /^New rule/],
      ['/catalogue', /^(New item|New category|Edit)/],
      [`/catalogue/items/${item.id}`, /^(Edit|Merge|Set a price)/],
      ['/synonyms', /^New synonym/],
      ['/imports', /^(Check|Import) \(/],
      [`/imports/${imported!.id}`, /^Revert/],
      ['/rates', /^(New|Set)/],
      ['/dumps', /^Create/],
      ['/sources', /^Set aside/],
      ['/settings', /^Change Commission/],
      ['/listings', /^(New listing|Approve|Reject)/],
      [`/listings/${listingId}`, /^(Edit|Approve|Reject|Request a change)/],
      ['/orders', /^Record/],
      ['/orders/77', /^Cancel order/],
      ['/accounts', /^New account/],
      [account, /^(Edit|Suspend)/],
      [`${account}?view=keys`, /^(New key|Edit|Rotate|Revoke)/],
      [`${account}?view=credits`, /credits/],
      [`${account}?view=collections`, /^(New collection|Edit|Remove)/],
    ]
  })

  afterAll(() => node.close())

  async function signedInAs(role: Role): Promise<Visit> {
    const who = await member(node, `Has ${role}`, [role])
    nextCode(node)
    const visited = await visit(browser, node, { reducedMotion: 'reduce' })
    const { page } = visited
    await visited.open('')
    await page.locator('input[name=name]').fill(who.name)
    await page.locator('input[name=password]').fill(PASSWORD)
    await page.locator('input[name=code]').fill(codeOf(node, who.secret))
    await page.keyboard.press('Enter')
    await page.locator('nav').first().waitFor()
    await settled(page)
    return visited
  }
  /** Opens every page; on some of them, a write may be started. */
  async function expectWritesOn({ page, open }: Visit, isOffered: (path: string) => boolean): Promise<void> {
    for (const [path, writes] of pages) {
      await open(path)
      await expect.poll(() => page.locator('.state.bad').count(), { message: path }).toBe(0)
      const buttons = page.locator('main').getByRole('button', { name: writes, disabled: false })
      await expect.poll(async () => (await buttons.count()) > 0, { message: path }).toBe(isOffered(path))
    }
  }

  test('a read-only person can open every page and has no write actions, by mouse or keyboard', { tags: 'slow' }, async () => {
    const visited = await signedInAs('read_only')
    const { page, open, troubles } = visited
    await expectWritesOn(visited, () => false)
    await open('/imports')
    await expect.poll(() => page.locator('input[type=file]').count()).toBe(0)
    await open('/approvals')
    await page.getByRole('article', { name: 'Waiting' }).waitFor()
    await expect.poll(() => page.locator('main input[type=checkbox]').count()).toBe(0)
    for (const key of ['a', '1', 'r', 'c']) await page.keyboard.press(key)
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    await expect.poll(() => operator(node, 'GET', `/listings/${listingId}`)).toMatchObject({ status: 'pending' })
    expect(troubles).toEqual([])
    await visited.close()
  })

  test('an owner has all of them', { tags: 'slow' }, async () => {
    const visited = await signedInAs('owner')
    // A file must be chosen before it can be sent.
    await expectWritesOn(visited, (path) => path !== '/imports')
    await visited.open('/imports')
    await expect.poll(() => visited.page.locator('input[type=file]').count()).toBe(1)
    await visited.close()
  })

  test('support revokes a key and cancels orders, but does not approve', { tags: 'slow' }, async () => {
    await operator(node, 'POST', `/accounts/${node.accounts.plus}/keys`, { label: 'Leaked' })
    const visited = await signedInAs('support')
    const { page, open } = visited
    await expectWritesOn(visited, (path) => /^\/(accounts|orders\/)/.test(path))
    await open(`/accounts/${node.accounts.plus}?view=keys`)
    await page.getByRole('button', { name: 'Revoke: Leaked' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('row', { name: /Leaked.*Revoked/ }).waitFor()
    await visited.close()
  })
})
