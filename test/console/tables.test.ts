// The lists of the console: sorted and exported as CSV by the operator API; pickers, chips, views, bulk decisions and Ctrl-K in a real browser.
import { parse } from 'csv-parse/sync'
import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSampleNode } from '../support/sample-node.ts'
import { seriousOf } from '../support/axe.ts'
import { OPERATOR_TOKEN, send, type TestNode, until } from '../support/node.ts'
import { openReceiver, status } from '../webhooks/receiver.ts'
import { announced, launch, NO_BROWSER, operator, settled, signedIn, type Visit, WHY } from './browser.ts'

interface Listing {
  id: number
  status: string
}

/** Thresholds of Core Web Vitals for a good page. */
const MAX_SHIFT = 0.1

let node: TestNode
let itemId: number
let otherItemId: number
let listings: Listing[]

const read = (path: string) => send<Record<string, unknown>[]>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN)
const statusOf = async ({ id }: Listing) => (await operator<Listing>(node, 'GET', `/listings/${id}`)).status

beforeAll(async () => {
  node = await startSampleNode({ worker: true })
  const [item, other] = await operator<{ id: number }[]>(node, 'GET', '/items?search=charizard')
  itemId = item!.id
  otherItemId = other!.id
  listings = []
  for (const [title, price] of [
    ['First for sale', 300.55],
    ['Second for sale', 20],
    ['Third for sale', 1_000],
  ] as const) {
    const body = { seller_id: node.accounts.plus, item_id: itemId, title, price, quantity: 3 }
    listings.push(await operator<Listing>(node, 'POST', '/listings', body))
  }
  for (const { id } of listings.slice(0, 2)) await operator(node, 'POST', `/listings/${id}/approve`, {})
  const lines = listings.slice(0, 2).map(({ id }) => ({ listing_id: id, quantity: 1 }))
  await operator(node, 'POST', '/orders', { order_id: 5, lines })
})

afterAll(() => node.close())

interface Parameter {
  in: string
  name: string
  schema: { enum?: string[] }
}

/** GETs of paged lists by path, with ids of existing records. */
async function lists(): Promise<{ path: string; sorts: string[] }[]> {
  const { paths } = (await (await fetch(`${node.operatorUrl}/operator/openapi.json`)).json()) as {
    paths: Record<
      string,
      { get?: { parameters?: Parameter[]; responses: Record<string, { content?: Record<string, { schema: { properties?: object } }> }> } }
    >
  }
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const answer = get?.responses['200']?.content?.['application/json']?.schema.properties
    if (!get || !answer || !('pagination' in answer)) return []
    const filled = path.replace('/operator/v1', '').replace(/\{\w+\}/g, () => String(path.includes('/items/') ? itemId : node.accounts.plus))
    return [
      {
        path: filled,
        sorts:
          (get.parameters?.some(({ name }) => name === 'sort_order') && get.parameters.find(({ name }) => name === 'sort_by')?.schema.enum) || [],
      },
    ]
  })
}

async function csv(path: string): Promise<{ status: number; type: string | null; text: string; rows: Record<string, string>[] }> {
  const response = await fetch(`${node.operatorUrl}/operator/v1${path}`, {
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, accept: 'text/csv' },
  })
  const text = await response.text()
  const isCsv = response.headers.get('content-type')?.startsWith('text/csv')
  return { status: response.status, type: response.headers.get('content-type'), text, rows: isCsv ? parse(text, { columns: true }) : [] }
}

describe('a list as CSV', () => {
  test('contains all rows of every paginated list, whatever the page', async () => {
    await operator(node, 'POST', '/accounts', { name: '=HYPERLINK("http://evil.example")', plan: 'plus' })
    const paged = await lists()
    expect(paged.length).toBeGreaterThan(15)
    for (const { path } of paged) {
      const json = await read(path)
      if (json.status === 404) continue
      const { status, type, rows } = await csv(`${path}?page=3&per_page=1`)
      expect([path, status, type]).toEqual([path, 200, 'text/csv; charset=utf-8'])
      // An order has a row for each of its lines.
      const count = path === '/orders' ? new Set(rows.map(({ order_id: id }) => id)).size : rows.length
      expect([path, count]).toEqual([path, json.body.pagination!.total])
    }
  })

  test('is filtered and sorted like the list, with exact amounts and no formulas', async () => {
    const { rows } = await csv(`/listings?item_id=${itemId}&sort_by=price`)
    expect(rows.map(({ price }) => price)).toEqual(['20', '300.55', '1000'])
    expect(rows.map(({ id }) => Number(id))).toEqual([listings[1]!.id, listings[0]!.id, listings[2]!.id])
    const accounts = await csv('/accounts?search=evil')
    expect(accounts.rows[0]!.name).toBe('\'=HYPERLINK("http://evil.example")')
  })

  test('of orders has a row for each line', async () => {
    const { rows } = await csv('/orders')
    expect(rows).toMatchObject([
      { order_id: '5', 'lines.line': '1', 'lines.unit_price': '300.55', 'lines.seller_payout': '270.5' },
      { order_id: '5', 'lines.line': '2', 'lines.unit_price': '20', 'lines.cancellation.reason': '' },
    ])
  })

  test('is a consistent snapshot, however long the download takes', { tags: 'slow' }, async () => {
    const many = 8_000
    const insert = (rows: number, action: string) =>
      sql`insert into audit_log (at, actor, action, subject_type, subject_id, after)
        select now(), 'operator:many', ${action}, 'many', n, jsonb_build_object('text', repeat('x', 3000)) from generate_series(1, ${rows}::int4) n`.execute(
        node.db.kysely,
      )
    await insert(many, 'many')
    // More than the buffers between the two hold: the service reads on as the client consumes the rest.
    const response = await fetch(`${node.operatorUrl}/operator/v1/audit?actor=operator:many`, {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, accept: 'text/csv', 'accept-encoding': 'identity' },
    })
    // New rows would shift all others of a list that starts with the newest.
    await insert(500, 'late')
    const rows: { subject_id: string; action: string }[] = parse(await response.text(), { columns: true })
    expect(rows.length).toBe(many)
    expect(new Set(rows.map(({ subject_id: id }) => id)).size).toBe(many)
  })

  test('leaves database connections for other requests, however many exports are not read', { tags: 'slow' }, async () => {
    const stop = new AbortController()
    const unread = Array.from({ length: 30 }, () =>
      fetch(`${node.operatorUrl}/operator/v1/audit?actor=operator:many`, {
        headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, accept: 'text/csv', 'accept-encoding': 'identity' },
        signal: stop.signal,
      }).catch(() => null),
    )
    await Promise.any(unread)
    expect((await read('/audit?per_page=1')).status).toBe(200)
    const late = csv('/orders')
    stop.abort()
    await Promise.all(unread)
    // Cancelled exports have released their slots.
    expect((await late).rows.length).toBe(2)
  })

  test('is rejected like the list', async () => {
    const { status, type, text } = await csv('/listings?status=nonsense')
    expect([status, type]).toEqual([422, 'application/json; charset=utf-8'])
    expect(text).toContain('status')
    expect((await csv('/accounts/999999/keys')).status).toBe(404)
  })
})

describe('a sorted list', () => {
  test('has the same rows in both directions, page by page', async () => {
    const sortable = (await lists()).filter(({ sorts }) => sorts.length > 0)
    expect(sortable.map(({ path }) => path).toSorted()).toEqual([
      '/accounts',
      '/audit',
      '/imports',
      '/items',
      '/listings',
      '/orders',
      '/webhook-events',
    ])
    for (const { path, sorts } of sortable) {
      for (const by of sorts) {
        const keys = async (direction: string) => {
          const found: string[] = []
          for (let page = 1, more = true; more && page < 6; page++) {
            const { body } = await read(
              `${path}?${path === '/listings' ? `item_id=${itemId}&` : ''}sort_by=${by}&sort_order=${direction}&per_page=3&page=${page}`,
            )
            found.push(...body.data.map((row) => JSON.stringify(row.order_id ?? row.id)))
            more = body.pagination!.has_more
          }
          return found
        }
        for (const direction of ['asc', 'desc']) {
          const found = await keys(direction)
          expect([path, by, direction, new Set(found).size]).toEqual([path, by, direction, found.length])
        }
      }
    }
  })

  test('sorts by value, and applies the filters', async () => {
    const names = async (query: string) => (await read(`/accounts?${query}`)).body.data.map(({ name }) => String(name).toLowerCase())
    const up = await names('sort_by=name')
    expect(up).toEqual(up.toSorted())
    await expect.poll(() => names('sort_by=name&sort_order=desc')).toEqual(up.toReversed())
    const items = (query: string) => read(`/items?per_page=100&${query}`)
    const found = (await items('query=charizard&sort_by=name&market=source_c')).body
    expect(found.data.length).toBeGreaterThan(0)
    expect(found.data.every(({ market }) => market === 'source_c')).toBe(true)
    expect(found.pagination!.total).toBe((await items('query=charizard&market=source_c')).body.pagination!.total)
    expect((await items('sort_by=rarity')).status).toBe(422)
    expect((await read('/listings?sort_by=price')).body.error!.details![0]!.message).toBe('can be price only with one of seller_id, item_id')
  })
})

describe.skipIf(NO_BROWSER)(`In the browser${WHY}`, () => {
  let browser: Browser
  let visited: Visit
  let page: Page

  beforeAll(async () => {
    browser = await launch()
    visited = await signedIn(browser, node, { reducedMotion: 'reduce' })
    page = visited.page
  })

  afterAll(async () => {
    expect(visited.troubles).toEqual([])
    await visited.close()
  })

  const rows = () => page.locator('main tbody:not(.awaited) tr')
  const parameter = (name: string) => new URL(page.url()).searchParams.get(name)

  test('a seller is selected by name with the keyboard, shown as a chip, and removed with Delete', { tags: 'slow' }, async () => {
    await visited.open('/listings')
    await page.getByLabel('Seller').fill('test pl')
    await page.getByRole('option', { name: 'Test plus' }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => parameter('seller_id')).toBe(String(node.accounts.plus))
    await expect.poll(() => page.getByLabel('Seller').inputValue()).toBe('Test plus')
    await page.getByLabel('State').selectOption('pending')
    const chip = page.getByRole('list', { name: 'Filters' }).getByRole('button', { name: 'Seller: Test plus' })
    await chip.waitFor()
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    await page.reload()
    await chip.focus()
    await page.keyboard.press('Delete')
    await expect.poll(() => parameter('seller_id')).toBeNull()
    expect(parameter('status')).toBe('pending')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toContain('State: Pending')
    // The page empties the field itself.
    await expect.poll(() => page.getByLabel('Seller').inputValue()).toBe('')
    // An id works like a name.
    await page.getByLabel('Seller').fill(String(node.accounts.plus))
    await page.getByRole('option', { name: 'Test plus' }).click()
    await page.getByRole('button', { name: 'Clear all' }).click()
    await expect.poll(() => page.url()).toMatch(/\/listings$/)
  })

  test('a column is sorted, others are hidden, the view is saved, reopened and exported', async () => {
    await visited.open(`/listings?item_id=${itemId}`)
    const prices = async () => (await rows().locator('td.number').allTextContents()).filter((text) => text.includes('₺'))
    await page.getByRole('button', { name: 'Price' }).click()
    await expect.poll(() => parameter('order')).toBe('-price')
    await settled(page)
    await expect.poll(() => prices()).toEqual(['₺1,000.00', '₺300.55', '₺20.00'])
    await expect.poll(() => page.getByRole('columnheader', { name: 'Price' }).getAttribute('aria-sort')).toBe('descending')
    const menu = page.locator('.menu')
    await page.getByRole('button', { name: 'View' }).click()
    await menu.getByRole('checkbox', { name: 'Stock' }).uncheck()
    await menu.getByLabel('View name').fill('Most expensive')
    await menu.getByRole('button', { name: 'Save view' }).click()
    await menu.getByRole('link', { name: 'Most expensive' }).waitFor()
    await settled(page)
    expect(await seriousOf(page)).toEqual([])
    const downloading = page.waitForEvent('download')
    await menu.getByRole('button', { name: 'Download as CSV' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe('listings.csv')
    const saved: { price: string }[] = parse(readFileSync(await download.path()), { columns: true, bom: true })
    expect(saved.map(({ price }) => price)).toEqual(['1000', '300.55', '20'])
    await visited.open('/listings')
    await expect.poll(() => page.getByRole('columnheader', { name: 'Stock' }).count()).toBe(0)
    await page.getByRole('button', { name: 'View' }).click()
    await menu.getByRole('link', { name: 'Most expensive' }).click()
    await expect.poll(() => parameter('order')).toBe('-price')
    await menu.getByRole('checkbox', { name: 'Stock' }).check()
  })

  test('several listings are approved at once, and the approval is undone', async () => {
    const listingsInBulk: Listing[] = []
    for (const title of ['Bulk one', 'Bulk two']) {
      listingsInBulk.push(
        await operator<Listing>(node, 'POST', '/listings', { seller_id: node.accounts.plus, item_id: otherItemId, title, price: 50 }),
      )
    }
    await visited.open('/listings?search=Bulk')
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'Approve (2)' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await announced(page, 'Approved: 2')
    await expect.poll(() => Promise.all(listingsInBulk.map(statusOf))).toEqual(['active', 'active'])
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
    await announced(page, 'Undone: 2')
    await expect.poll(() => Promise.all(listingsInBulk.map(statusOf))).toEqual(['pending', 'pending'])
    await settled(page)
    await page.getByLabel('Select Bulk one').check()
    await page.getByRole('button', { name: 'Reject (1)' }).click()
    await page.getByRole('dialog').getByLabel('Reason', { exact: true }).fill('Not this one')
    await page.getByRole('dialog').getByRole('button', { name: 'Reject' }).click()
    await announced(page, 'Rejected: 1')
    await expect.poll(() => Promise.all(listingsInBulk.map(statusOf))).toEqual(['rejected', 'pending'])
  })

  test('several accounts are suspended at once, and the suspension is undone', { tags: 'slow' }, async () => {
    const accountIds: number[] = []
    for (const name of ['Ring one', 'Ring two'])
      accountIds.push((await operator<{ id: number }>(node, 'POST', '/accounts', { name, plan: 'starter' })).id)
    const suspended = () =>
      Promise.all(accountIds.map(async (id) => (await operator<{ suspended: boolean }>(node, 'GET', `/accounts/${id}`)).suspended))
    await visited.open('/accounts?search=Ring')
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'Suspend (2)' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click()
    await announced(page, 'Suspended: 2')
    expect(await suspended()).toEqual([true, true])
    await page.getByRole('button', { name: 'Resume (2)' }).waitFor()
    await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
    await announced(page, 'Resumed: 2')
    expect(await suspended()).toEqual([false, false])
  })

  test('several keys are revoked at once, skipping one that was already revoked', { tags: 'slow' }, async () => {
    const path = `/accounts/${node.accounts.professional}/keys`
    const keys: { id: number; key: string }[] = []
    for (const label of ['Leaked 1', 'Leaked 2', 'Leaked 3']) keys.push(await operator(node, 'POST', path, { label }))
    await operator(node, 'DELETE', `/keys/${keys[2]!.id}`)
    await visited.open(`/accounts/${node.accounts.professional}?view=keys&search=Leaked`)
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'Revoke (2)' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await announced(page, 'Revoked: 2')
    const found = await operator<{ revoked_at: string | null }[]>(node, 'GET', `${path}?search=Leaked`)
    expect(found.map((key) => key.revoked_at !== null)).toEqual([true, true, true])
  })

  test('several events are redelivered at once', { tags: 'slow' }, async () => {
    const receiver = await openReceiver(status(200))
    await send(`${node.publicUrl}/api/v1/plus/webhook`, node.keys.plus, { method: 'PUT', json: { url: receiver.url, on_sale: true } })
    for (const event of ['sale', 'expire']) await operator(node, 'POST', `/accounts/${node.accounts.plus}/webhook/test`, { event })
    const delivered = () => operator<object[]>(node, 'GET', '/webhook-events?state=delivered')
    await until('both are delivered', async () => (await delivered()).length === 2)
    await visited.open('/webhooks?state=delivered')
    await page.getByLabel('Select all').check()
    await page.getByRole('button', { name: 'Send again (2)' }).click()
    await announced(page, 'Queued for redelivery: 2')
    await until('both arrive again', () => receiver.received.length >= 4)
    await receiver.close()
  })

  test('Ctrl-K finds pages, and records by name and id, with the keyboard alone', async () => {
    const find = async (text: string, option: string) => {
      await page.keyboard.press('Control+k')
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('combobox').fill(text)
      await dialog.getByRole('option', { name: option }).first().waitFor()
      await settled(page)
      expect(await seriousOf(page)).toEqual([])
      return dialog
    }
    await visited.open('')
    await find('audi', 'Audit log')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/audit$/)
    await find('test plus', 'Test plus Account')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`/accounts/${node.accounts.plus}$`))
    const dialog = await find('5', 'Order 5')
    await dialog.getByRole('option', { name: 'Order 5' }).click()
    await page.waitForURL(/\/orders\/5$/)
    await page.keyboard.press('Control+k')
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  test('a click copies an id', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await visited.open('/accounts?search=Test plus')
    await page.getByRole('button', { name: `Copy id ${node.accounts.plus}` }).click()
    await announced(page, `Copied id ${node.accounts.plus}`)
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(String(node.accounts.plus))
  })

  test('lists load without layout shifts, wide and narrow', { tags: 'slow' }, async () => {
    const moved: string[] = []
    for (const viewport of [
      { width: 1280, height: 900 },
      { width: 390, height: 800 },
    ]) {
      const narrow = await signedIn(browser, node, { viewport, reducedMotion: 'reduce' })
      await narrow.page.addInitScript(
        'window.shift = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value }).observe({ type: "layout-shift", buffered: true })',
      )
      // As slow as a distant service.
      await narrow.page.route('**/operator/v1/**', async (route) => {
        const response = await route.fetch()
        await route.fulfill({ response })
      })
      for (const path of ['/listings', '/listings?seller_id=1', '/orders', '/accounts', '/imports', '/audit', '/webhooks', '/catalogue']) {
        await narrow.open(path)
        const shift = await narrow.page.evaluate<number>('window.shift')
        if (shift > MAX_SHIFT) moved.push(`${path} by ${shift} at ${viewport.width} pixels`)
      }
      await narrow.page.unrouteAll({ behavior: 'wait' })
      await narrow.close()
    }
    expect(moved).toEqual([])
  })
})
