// `node bench/console/tasks.ts [part of a name]`: six daily tasks of an operator, performed in the console with a real browser as an experienced
// person would; prints pages, clicks, keys, and minutes according to a keystroke-level model.
import { chromium, type Page } from 'playwright-core'
import { startDatabaseServer } from '../database.ts'
import { freePort, startServer } from '../processes.ts'
import { minutesOf, Person } from './person.ts'

const TOKEN = 'operator token of the bench'
const LISTINGS = 50
const SELLERS = 10
const HELD_EACH = 250
const PRODUCTS = ['Sealed Booster Box', 'Sealed Trainer Box']
const ROWS = 60
const DAY_MS = 86_400_000
const BROWSERS = { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] }

const server = await startDatabaseServer()
const database = await server.create('tasks')
const port = await freePort()
const node = await startServer('src/main.ts', ['serve'], {
  DATABASE_URL: database.url,
  DATA_DIR: server.dir,
  PORT: '0',
  OPERATOR_PORT: String(port),
  OPERATOR_TOKEN: TOKEN,
  RATE_LIMITS: 'off',
  DUMP_HOUR: 'off',
  LOG_LEVEL: 'warn',
})
const home = `http://127.0.0.1:${port}/console`
const browser = await chromium.launch(BROWSERS)
try {
  await fill()
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: 'en-GB' })).newPage()
  const person = new Person(page)
  await page.goto(home)
  await page.locator('input[name=credential]').fill(TOKEN)
  await page.keyboard.press('Enter')
  await page.locator('nav').first().waitFor()
  console.log('| Task | Pages | Clicks | Keys | Decisions | Waited s | Minutes |\n| --- | --: | --: | --: | --: | --: | --: |')
  for (const [name, task] of Object.entries(tasksOn(page))) {
    if (!name.includes(process.argv[2] ?? '')) continue
    const effort = await person.play(home, task)
    const { pages, clicks, keys, thoughts, waitedMs } = effort
    console.log(`| ${name} | ${[pages, clicks, keys, thoughts, (waitedMs / 1000).toFixed(1), minutesOf(effort).toFixed(1)].join(' | ')} |`)
  }
} finally {
  await browser.close()
  await node.stop()
  await database.close()
  await server.close()
}

/** The tasks as an experienced person performs them. */
function tasksOn(page: Page): Record<string, (person: Person) => Promise<void>> {
  const dialog = page.getByRole('dialog')
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  /** By Ctrl-K and the start of a name. */
  const find = async (person: Person, text: string, found = text) => {
    await person.press('Control+k')
    await person.type(text)
    await person.see(dialog.getByRole('option', { name: new RegExp(found) }))
    await person.press('Enter')
  }
  return {
    [`approve ${LISTINGS} listings`]: async (person) => {
      await find(person, 'appr', 'Approvals')
      for (let n = 1; n <= LISTINGS; n++) {
        await person.see(page.getByRole('article', { name: `For sale ${n}`, exact: true }).locator('.card-beside'))
        // Condition, price relative to the reference, pictures and the seller's history are next to each other.
        person.think()
        await person.press('a')
      }
      await person.see(page.getByText('No pending listings.'))
    },
    [`settle ${HELD_EACH * 2} held prices of two products`]: async (person) => {
      await find(person, 'price rev', 'Price review')
      for (const product of PRODUCTS) {
        await person.see(page.getByRole('article', { name: product, exact: true }))
        person.think()
        await person.press('d')
      }
      await person.see(page.getByText('No prices under review.'))
    },
    'import a price list of unknown columns': async (person) => {
      await find(person, 'imp', 'Imports')
      await person.hand(page.locator('input[type=file]'), { name: 'shop.csv', mimeType: 'text/csv', buffer: priceList() })
      await person.click(page.getByLabel('Label', { exact: true }))
      await person.type('=Near Mint')
      await person.click(page.getByLabel('Currency'))
      await person.type('eur')
      await person.choose(page.getByLabel('Decimal separator'), ',')
      await person.choose(page.locator('select[name=market]'), 'source_b')
      await person.click(page.getByRole('button', { name: /^Check/ }))
      await person.see(page.locator('button[value=import].main'))
      person.think()
      await person.click(page.locator('button[value=import]'))
      await person.click(page.getByRole('link', { name: /^Import #/ }))
      await person.see(page.locator('.facts').getByText('Done'))
    },
    'find and fix a wrong card': async (person) => {
      await find(person, 'Charizrd')
      await person.click(button('Edit'))
      await person.click(dialog.getByLabel('Name'))
      await person.press('Control+a')
      await person.type('Charizard')
      await person.press('Enter')
      await person.see(page.getByRole('heading', { name: /^Charizard/ }))
    },
    'refund an order, known by what was sold': async (person) => {
      await find(person, 'mar', 'Market')
      await person.click(page.locator('main').getByRole('link', { name: 'Orders' }))
      await pickListing(person, page, 'Sold 7')
      await person.click(page.locator('tbody').getByRole('link', { name: '1007', exact: true }))
      await person.click(button('Cancel order'))
      await person.type('Damaged')
      await person.press('Enter')
      await person.see(page.getByText('Damaged').first())
    },
    'revoke a key': async (person) => {
      await find(person, 'Seller 4')
      await person.click(page.getByRole('link', { name: 'Keys', exact: true }))
      await person.click(page.getByRole('button', { name: 'Revoke: Feed 3' }))
      await person.click(dialog.getByRole('button', { name: 'Revoke' }))
      await person.see(page.getByRole('row', { name: /Feed 3.*Revoked/ }))
    },
  }
}

/** Filters orders by a listing, found by its title. */
async function pickListing(person: Person, page: Page, title: string): Promise<void> {
  await person.click(page.locator('main').getByLabel('Listing', { exact: true }))
  await person.type(title)
  await person.see(page.getByRole('option', { name: new RegExp(title) }))
  await person.press('ArrowDown')
  await person.press('Enter')
}

/** A shop's list with columns that no format has. */
function priceList(): Buffer {
  const rows = Array.from({ length: ROWS }, (_, n) => `Card ${n + 1};Base Set;${n + 1}/102;"${n + 10},50";en`)
  return Buffer.from(['title;expansion;nr;amount;lang', ...rows].join('\n'))
}

async function post<T = { id: number }>(path: string, json: unknown): Promise<T> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const response = await fetch(`http://127.0.0.1:${port}/operator/v1${path}`, { method: 'POST', headers, body: JSON.stringify(json) })
  const { success, data, error } = (await response.json()) as { success: boolean; data: T; error: unknown }
  if (!success) throw new Error(`POST ${path}: ${JSON.stringify(error)}`)
  return data
}

/** Creates the data for the tasks. */
async function fill(): Promise<void> {
  const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()
  const rates = { USD: 40, EUR: 50 }
  await post(
    '/rates',
    Object.entries(rates).map(([currency, rate]) => ({ day: ago(400).slice(0, 10), currency, rate })),
  )
  const set = await post('/categories', { name: 'Base Set', game: 'pokemon', market: 'source_c' })
  const card = (name: string, code: string | null = null) =>
    post('/items', { name, ref: `bench:${name}`, code, market: 'source_c', category_id: set.id })
  const price = (id: number, value: number, days: number) => ({
    item_id: id,
    market: 'source_c',
    label: 'Near Mint',
    price: value,
    updated_at: ago(days),
  })
  await card('Charizrd', '4/102')
  const cards: number[] = []
  for (let n = 1; n <= ROWS; n++) cards.push((await card(`Card ${n}`, `${n}/102`)).id)
  await post(
    '/prices',
    cards.map((id, n) => price(id, 10 + n, 1)),
  )
  for (const [n, product] of PRODUCTS.entries()) {
    const { id } = await card(product)
    await post('/prices', [price(id, 100, 300)])
    // The largest deviation is listed first.
    const days = Array.from({ length: HELD_EACH }, (_, day) => HELD_EACH - day)
    await post(
      '/prices',
      days.map((day) => price(id, 10_000 / (n + 1) + day, day)),
    )
  }
  const sellers: number[] = []
  for (let n = 1; n <= SELLERS; n++) sellers.push((await post('/accounts', { name: `Seller ${n}`, plan: 'plus' })).id)
  for (let n = 1; n <= 5; n++) await post(`/accounts/${sellers[3]}/keys`, { label: `Feed ${n}` })
  const listing = (title: string, n: number) =>
    post('/listings', { seller_id: sellers[n % SELLERS], item_id: cards[n], title, price: 500 + n, language: 'en' })
  for (let n = 1; n <= 20; n++) {
    const { id } = await listing(`Sold ${n}`, n)
    await post(`/listings/${id}/approve`, {})
    await post('/orders', { order_id: 1000 + n, lines: [{ listing_id: id, quantity: 1 }] })
  }
  for (let n = 1; n <= LISTINGS; n++) await listing(`For sale ${n}`, n)
}
