// The storefront as a program, on a node with the sample catalogue, with a real checkout: from a search to the hand-over, with and without scripts.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount } from '#accounts/create-account.ts'
import { createKey } from '#accounts/keys/create-key.ts'
import { call } from '#core/verb.ts'
import { launch, NO_BROWSER, operator, WHY } from '../console/browser.ts'
import { seriousAsShown } from '../support/axe.ts'
import { send, type TestNode, until } from '../support/node.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { installClient, type Project, ROOT } from './installed.ts'

const HOSTILE = '<script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">\'"'
const EXAMPLE = join(ROOT, 'examples/storefront')

let node: TestNode
let project: Project
let key: string
let cardId: number
let shop: Program
/** The shop's own checkout: what it received, and how it responds. */
let checkout: Server
let respondsWith: { status: number; location: string }
const received: { authorization: string | undefined; body: unknown }[] = []

interface Program {
  url: string
  /** standard error */
  log: () => string
  stop: () => Promise<void>
}

async function startShop(env: Record<string, string> = {}): Promise<Program> {
  const settings = { MINTMARK_URL: node.publicUrl!, MINTMARK_KEY: key, SELLERS: 'Ada Cards, Bora Kart', PORT: '0' }
  const program: ChildProcess = spawn(process.execPath, ['server.ts'], {
    cwd: join(project.directory, 'storefront'),
    env: { ...process.env, ...settings, CHECKOUT_URL: `${addressOf(checkout)}/orders`, CHECKOUT_TOKEN: 'token of the shop', ...env },
  })
  const output = { out: '', error: '' }
  program.stdout!.setEncoding('utf8').on('data', (text: string) => (output.out += text))
  program.stderr!.setEncoding('utf8').on('data', (text: string) => (output.error += text))
  await until('the storefront listens', () => output.out.includes('\n') || program.exitCode !== null)
  const url = /http:\S+/.exec(output.out)?.[0]
  if (url === undefined) throw new Error(output.error)
  const stop = async () => {
    program.kill()
    await once(program, 'exit')
  }
  return { url, log: () => output.error, stop }
}

const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** A published listing of the card. */
async function offer(seller: string, fields: object): Promise<number> {
  const account = await call(createAccount, node.ctx, { name: seller, plan: 'plus' })
  const body = { seller_id: account.id, item_id: cardId, ...fields }
  const { id } = await operator<{ id: number }>(node, 'POST', '/listings', body)
  await operator(node, 'POST', `/listings/${id}/approve`, {})
  return id
}

const offers = {} as Record<'cheap' | 'many' | 'hostile', number>

beforeAll(async () => {
  node = await startSampleNode()
  const account = await call(createAccount, node.ctx, { name: 'Storefront', plan: 'plus' })
  key = (await call(createKey, node.ctx, { account_id: account.id, read_only: true })).key
  const { body } = await send<{ id: number }[]>(`${node.publicUrl}/api/v1/items/search?q=charizard+4%2F102`, key)
  cardId = body.data[0]!.id
  offers.many = await offer('Ada Cards', { title: 'Charizard, near mint', price: 1250.5, quantity: 3 })
  offers.cheap = await offer('Bora Kart', { title: 'Charizard, played', price: 800, quantity: 1 })
  offers.hostile = await offer('Cem', { title: HOSTILE, price: 2000, quantity: 1 })
  checkout = createServer(async (request, response) => {
    if (request.method === 'GET') return void response.setHeader('content-type', 'text/html').end('<h1>Payment</h1>')
    received.push({ authorization: request.headers.authorization, body: await json(request) })
    response.writeHead(respondsWith.status, { location: respondsWith.location }).end()
  })
  checkout.listen(0, '127.0.0.1')
  await once(checkout, 'listening')
  project = await installClient()
  cpSync(EXAMPLE, join(project.directory, 'storefront'), { recursive: true })
  shop = await startShop()
})

afterAll(async () => {
  await shop.stop()
  checkout.close()
  await node.close()
  project.remove()
})

const get = (path: string, init: RequestInit = {}) => fetch(shop.url + path, { redirect: 'manual', ...init })
const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  get(path, { method: 'POST', body: new URLSearchParams(form), headers })

test('it has at most 800 lines', () => {
  const files = readdirSync(EXAMPLE).filter((name) => /\.(ts|css|js)$/.test(name))
  const lines = files.map((name) => readFileSync(join(EXAMPLE, name), 'utf8').trimEnd().split('\n').length)
  expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(800)
})

describe.skipIf(NO_BROWSER)(`in a browser${WHY}`, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })

  async function visit(options: BrowserContextOptions = {}): Promise<{ page: Page; troubles: string[]; close: () => Promise<void> }> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(120_000)
    const troubles: string[] = []
    page.on('pageerror', (error) => troubles.push(error.message))
    page.on('console', (message) => message.type() === 'error' && troubles.push(message.text()))
    page.on('response', async (response) => {
      if (response.url().startsWith(shop.url) && (await response.text().catch(() => '')).includes(key)) troubles.push('a response with the key')
    })
    return { page, troubles, close: () => context.close() }
  }

  test('without scripts: from a search to the payment', async () => {
    const { page, close } = await visit({ javaScriptEnabled: false })
    await page.goto(shop.url)
    await page.getByRole('searchbox', { name: 'Name, set or number' }).fill('charizard 4/102')
    await page.getByRole('button', { name: 'Search' }).click()
    const first = page.locator('#results li').first()
    await first.getByText('Near Mint').waitFor()
    expect(await first.locator('dd').first().textContent()).toMatch(/^\$[\d,.]+/)
    expect(await first.getByRole('presentation').getAttribute('src')).toContain('/sample/pictures/')
    await first.getByRole('link', { name: 'Charizard' }).click()

    await page.getByRole('heading', { level: 1, name: 'Charizard' }).waitFor()
    expect(await page.getByRole('region', { name: 'Offers' }).locator('tbody tr').allInnerTexts()).toEqual([
      expect.stringMatching(/Charizard, played\tNot stated\tTRY\s800\.00\t1\tBora Kart/),
      expect.stringMatching(/Charizard, near mint\tNot stated\tTRY\s1,250\.50\t3\tAda Cards/),
      expect.stringContaining(`${HOSTILE}\tNot stated`),
    ])
    const prices = page.getByRole('region', { name: 'Prices' })
    expect(await prices.getByRole('columnheader').allInnerTexts()).toEqual(['Condition', 'service', 'source_a', 'source_b', 'source_c'])
    expect(await prices.getByRole('row', { name: 'PSA 10' }).locator('td').first().innerText()).toMatch(/^TRY/)
    await page.getByLabel('Condition').selectOption('PSA 10')
    await page.getByLabel('Range').selectOption('All')
    await page.getByRole('button', { name: 'Show' }).click()
    await page.getByRole('img', { name: /^Price chart, PSA 10, .*lowest \$.*highest \$/ }).waitFor()
    await page.getByText('Data of the chart as a table').click()
    expect(await page.getByRole('region', { name: 'Data of the chart' }).locator('tbody tr').count()).toBeGreaterThan(0)

    await page.getByRole('link', { name: 'Ada Cards' }).click()
    await page.getByRole('heading', { name: 'Offers of Ada Cards' }).waitFor()
    expect(await page.locator('tbody tr').count()).toBe(1)
    await page.getByRole('button', { name: 'Add to basket: Charizard, near mint' }).click()
    await page.getByLabel('Quantity of Charizard, near mint').fill('2')
    await page.keyboard.press('Enter')
    await page.getByText('Total: TRY 2,501.00').waitFor()

    // The seller raises the price before the buyer checks out.
    await operator(node, 'PATCH', `/listings/${offers.many}`, { price: 1300 })
    await page.getByRole('button', { name: 'Check out' }).click()
    await page.getByText('The price of Charizard, near mint changed from TRY 1,250.50 to TRY 1,300.00.').waitFor()
    expect(received).toEqual([])
    respondsWith = { status: 303, location: '/pay/1' }
    await page.getByRole('button', { name: 'Check out' }).click()
    await page.getByRole('heading', { name: 'Payment' }).waitFor()
    expect(page.url()).toBe(`${addressOf(checkout)}/pay/1`)
    const line = { listing_id: offers.many, item_id: cardId, title: 'Charizard, near mint', quantity: 2, unit_price: 1300 }
    expect(received.splice(0)).toEqual([{ authorization: 'Bearer token of the shop', body: { lines: [line], total: 2600, currency: 'TRY' } }])

    await page.goto(`${shop.url}/basket`)
    await page.getByLabel('Quantity of Charizard, near mint').waitFor()
    await page.goto(`${shop.url}/thanks`)
    await page.getByRole('link', { name: 'Basket' }).click()
    await page.getByText('The basket is empty.').waitFor()
    await close()
  })

  test('with scripts: results while typing, in the same page', async () => {
    const { page, troubles, close } = await visit()
    await page.goto(shop.url)
    await page.evaluate('window.samePage = true')
    const field = page.getByRole('searchbox', { name: 'Name, set or number' })
    await field.pressSequentially('c')
    await page.getByText('Enter at least two characters.').waitFor()
    await field.pressSequentially('harizard 4/102')
    await page.getByRole('status').filter({ hasText: 'for “charizard 4/102”' }).waitFor()
    expect(page.url()).toBe(`${shop.url}/?q=charizard+4%2F102`)
    await field.fill(HOSTILE)
    await page.getByRole('status').filter({ hasText: HOSTILE }).waitFor()
    await page.reload()
    await page.getByRole('status').filter({ hasText: HOSTILE }).waitFor()
    await field.fill('charizard 4/102')
    await page.locator('#results a').first().click()
    await page.getByRole('button', { name: 'Add to basket: Charizard, played' }).click()
    await page.getByRole('button', { name: 'Remove Charizard, played' }).click()
    await page.getByText('The basket is empty.').waitFor()
    expect([troubles, await page.evaluate('window.hacked')]).toEqual([[], undefined])
    await close()
  })

  test.each([1280, 390])('pages are accessible and fit at %i pixels, light and dark', async (width) => {
    const { page, troubles, close } = await visit({ viewport: { width, height: 800 } })
    await page.goto(`${shop.url}/cards/${cardId}`)
    await page.getByRole('button', { name: 'Add to basket: Charizard, near mint' }).click()
    const card = `/cards/${cardId}?range=all`
    for (const path of [
      '/?q=charizard&page=2',
      '/',
      '/?q=charizard',
      '/?q=x',
      card,
      '/sellers',
      '/sellers?name=Ada+Cards',
      '/basket',
      '/cards/999999',
      '/thanks',
      '/basket',
    ]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await page.goto(shop.url + path)
        if (path === card) await page.getByText('Data of the chart as a table').click()
        const tooWide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
        expect([path, await seriousAsShown(page), tooWide]).toEqual([path, [], 0])
      }
    }
    expect(troubles.filter((text) => !text.includes('404'))).toEqual([])
    await close()
  })
})

test.each([
  ['/nowhere', 404],
  ['/cards/0', 404],
  ['/cards/999999999', 404],
  ['/cards/1%00', 404],
  ['/cards/99999999999999999999', 404],
  ['/cards/1?range=2y', 400],
  ['/cards/1?label=no+such+label', 400],
  ['/sellers?name=Ada&page=0', 400],
  ['/sellers?name=Ada&page=1e9', 400],
  [`/?q=${'x'.repeat(201)}`, 400],
  [`/results?q=${'x'.repeat(201)}`, 400],
  ['/?q=a%00b', 400],
  ['//', 400],
])('%s is answered with %i and a page', async (path, status) => {
  const response = await get(path)
  expect([response.status, response.headers.get('cache-control')]).toEqual([status, 'no-store'])
  expect(await response.text()).toMatch(/^<!doctype html>.*<h1>/s)
})

test('unusual forms, cookies and methods change nothing', async () => {
  for (const listing of ['0', '-1', '1 or 1=1', '999999999', '99999999999999999999', ''])
    expect((await post('/basket', { listing })).status).toBe(404)
  expect((await post('/basket', { listing: String(offers.cheap) }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect((await post('/basket', { listing: 'x'.repeat(100_000) })).status).toBe(413)
  expect((await get('/basket', { method: 'PUT' })).status).toBe(405)
  const { many } = offers
  const changed = await post('/basket', { [`quantity-${many}`]: '1e9' }, { cookie: `a=b; basket=${many}x2~130000.<b>x1~1.0x1~1.${many}x999~1; c` })
  expect(changed.headers.get('set-cookie')).toMatch(new RegExp(`^basket=${many}x2~130000; .*HttpOnly; SameSite=Lax$`))
  const behindTls = await post('/basket', { listing: String(offers.cheap) }, { 'x-forwarded-proto': 'https' })
  expect(behindTls.headers.get('set-cookie')).toMatch(/; Secure$/)
  // More than the stock and a listing that is not for sale: the basket says so, and goes on with what is left.
  const { cheap } = offers
  const short = await post('/checkout', {}, { cookie: `basket=${cheap}x5~80000.999999999x1~100` })
  expect([short.status, short.headers.get('set-cookie')]).toEqual([409, expect.stringContaining(`basket=${cheap}x1~80000; `)])
  const text = await short.text()
  expect(text).toContain('Only 1 of Charizard, played left.')
  expect(text).toContain('Listing 999999999 is no longer for sale and was removed.')
  expect(received).toEqual([])
})

test('results have pages; shared pages may be cached, those of a buyer not; scripts, frames and other hosts are not allowed', async () => {
  const page = await get('/')
  expect(page.headers.get('cache-control')).toBe('public, max-age=60')
  expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'sha256-\S+'; style-src 'sha256-\S+'; /)
  const etag = page.headers.get('etag')!
  expect((await get('/', { headers: { 'if-none-match': etag } })).status).toBe(304)
  expect((await get('/basket')).headers.get('cache-control')).toBe('no-store')
  expect(await (await get('/?q=charizard')).text()).toContain('<a href="/?q=charizard&amp;page=2">Next</a>')
  const head = await get('/', { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('if the checkout fails or responds with another host, the buyer sees an error and keeps the basket', async () => {
  const cookie = `basket=${offers.cheap}x1~80000`
  for (const [status, location] of [
    [500, ''],
    [303, 'https://elsewhere.example/pay'],
    [200, '/pay/1'],
  ] as const) {
    respondsWith = { status, location }
    const response = await post('/checkout', {}, { cookie })
    expect([response.status, response.headers.get('set-cookie')]).toEqual([502, null])
    expect(await response.text()).toContain('Checkout not available')
  }
  expect(received.splice(0)).toHaveLength(3)
})

test('if the service cannot be reached or refuses the key, pages say that the shop is not available', async () => {
  const down = await startShop({ MINTMARK_URL: 'http://127.0.0.1:9' })
  const refused = await startShop({ MINTMARK_KEY: 'no key' })
  for (const { url } of [down, refused]) {
    for (const path of ['/', `/cards/${cardId}`, '/results?q=charizard']) {
      const response = await fetch(url + path)
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '60'])
      expect(await response.text()).toContain('<h1>Shop not available</h1>')
    }
  }
  expect(refused.log()).toContain('UNAUTHENTICATED')
  await down.stop()
  await refused.stop()
})
