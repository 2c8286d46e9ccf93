// Takes the screenshots in docs/images of a new demo: every page, light and dark, wide and narrow.
// node console/screenshots.ts [part of a file name]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32, deflateSync } from 'node:zlib'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { freePorts } from '../reliability/service.ts'

const IMAGES = fileURLToPath(new URL('../docs/images', import.meta.url))
const PROGRAM = fileURLToPath(new URL('../bin/mintmark', import.meta.url))
const SIZES = { wide: { width: 1280, height: 860 }, narrow: { width: 390, height: 844 } } as const
const SCHEMES = ['light', 'dark'] as const
const START_MS = 120_000

/** A running demo, with its addresses and credentials. */
interface Demo {
  publicUrl: string
  operatorUrl: string
  token: string
  sellerKey: string
}

/** Address of each page by the name of its screenshots; pages about a record show the first one that the API lists. */
function pagesOf({ publicUrl, operatorUrl, token, sellerKey }: Demo): Record<string, () => string | Promise<string>> {
  const desk = (path: string) => `${publicUrl}/desk${path}`
  const inConsole = (path: string) => `${operatorUrl}/console${path}`
  const first = async (url: string, credential: string, field = 'id') => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${credential}` } })
    const { data } = (await response.json()) as { data?: Record<string, number>[] }
    const found = data?.[0]?.[field]
    if (found === undefined) throw new Error(`${url} has nothing to show`)
    return found
  }
  const record = (path: string, field?: string) => first(`${operatorUrl}/operator/v1${path}`, token, field)
  const own = (path: string) => first(`${publicUrl}/api/v1/plus${path}`, sellerKey)
  const seller = () => record('/accounts?plan=plus&per_page=1')
  return {
    home: () => `${publicUrl}/`,
    reference: () => `${publicUrl}/docs/reference/listings#updateListingPrice`,
    graphiql: () => `${publicUrl}/graphql`,
    'console-sign-in': () => inConsole(''),
    'console-today': () => inConsole(''),
    'console-approvals': () => inConsole('/approvals'),
    'console-catalogue': () => inConsole('/catalogue?search=charizard'),
    'console-item': async () => inConsole(`/catalogue/items/${await record('/items?search=charizard&per_page=1')}`),
    'console-imports': () => inConsole('/imports'),
    'console-import': async () => inConsole(`/imports/${await record('/imports?status=done&search=json&per_page=1')}`),
    'console-price-review': () => inConsole('/price-reviews'),
    'console-matches': () => inConsole('/matches'),
    'console-listings': () => inConsole('/listings'),
    'console-listing': async () => inConsole(`/listings/${await record(`/listings/waiting?seller_id=${await seller()}&per_page=1`)}`),
    'console-orders': () => inConsole('/orders'),
    'console-order': async () => inConsole(`/orders/${await record('/orders?per_page=1', 'order_id')}`),
    'console-accounts': () => inConsole('/accounts'),
    'console-account': async () => inConsole(`/accounts/${await seller()}`),
    'console-account-credits': async () => inConsole(`/accounts/${await seller()}?view=credits`),
    'console-account-collections': async () => inConsole(`/accounts/${await seller()}?view=collections`),
    'console-account-webhook': async () => inConsole(`/accounts/${await seller()}?view=webhook`),
    'console-webhooks': () => inConsole('/webhooks'),
    'console-audit': () => inConsole('/audit'),
    'desk-today': () => desk('/today'),
    'desk-listings': () => desk(''),
    'desk-price-job': async () => desk(`/price-jobs/${await own('/price-jobs?per_page=1')}`),
    'desk-repricing-rule': async () => desk(`/repricing/${await own('/repricing-rules')}`),
    'desk-renewal': () => desk('/renewal?days=30'),
    'desk-statement': () => desk('/statement'),
    'desk-collection': async () => desk(`/collections/${await own('/collections')}`),
    'desk-completion': async () => {
      const id = await own('/collections')
      const set = await first(`${publicUrl}/api/v1/categories?search=base%20set`, sellerKey)
      return desk(`/collections/${id}?view=completion&goal=base&category_id=${set}`)
    },
    'desk-watches': async () => {
      const charizard = await first(`${publicUrl}/api/v1/items/search?q=4/102`, sellerKey)
      const watches = [
        { kind: 'price_below', item_id: charizard, label: 'PSA 10', amount: 2500, currency: 'USD' },
        { kind: 'price_above', item_id: charizard, label: 'Near Mint', amount: 20000, currency: 'TRY' },
        { kind: 'offer_below', item_id: charizard, amount: 15000 },
      ]
      const headers = { authorization: `Bearer ${sellerKey}`, 'content-type': 'application/json' }
      await fetch(`${publicUrl}/api/v1/plus/watches`, { method: 'PUT', headers, body: JSON.stringify(watches) })
      return desk('/watches')
    },
    'desk-collection-gain': async () => desk(`/collections/${await own('/collections')}?view=worth`),
  }
}

/** Starts a demo in a directory, and calls `use` with it. */
async function withDemo(use: (demo: Demo) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'mintmark-pictures-'))
  const [port, operatorPort] = await freePorts(2)
  const env = { ...process.env, DATA_DIR: directory, PORT: String(port), OPERATOR_PORT: String(operatorPort), TIME_ZONE: 'Europe/Istanbul' }
  const service = spawn(PROGRAM, ['serve'], { env, stdio: 'ignore' })
  const ended = once(service, 'exit')
  try {
    const publicUrl = `http://127.0.0.1:${port}`
    const ready = () =>
      fetch(`${publicUrl}/health/ready`)
        .then(({ ok }) => ok)
        .catch(() => false)
    for (const until = Date.now() + START_MS; !(await ready()); await new Promise((resolve) => setTimeout(resolve, 100))) {
      if (service.exitCode !== null || Date.now() > until) throw new Error('The demo did not start')
    }
    const { keys, operatorToken } = JSON.parse(readFileSync(join(directory, 'demo-access.json'), 'utf8')) as {
      keys: { plus: string }
      operatorToken: string
    }
    await use({ publicUrl, operatorUrl: `http://127.0.0.1:${operatorPort}`, token: operatorToken, sellerKey: keys.plus })
  } finally {
    service.kill('SIGINT')
    await ended
    rmSync(directory, { recursive: true, force: true })
  }
}

async function open(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(url)
  // GraphiQL keeps a request open.
  await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => {})
  // waitForFunction would evaluate its code in the page, which the pages' security policy forbids.
  while ((await page.locator('[aria-busy=true]').count()) > 0) await page.waitForTimeout(50)
  return page
}

async function signIn(context: BrowserContext, { publicUrl, operatorUrl, token, sellerKey }: Demo): Promise<void> {
  for (const [url, credential] of [
    [`${operatorUrl}/console`, token],
    [`${publicUrl}/desk`, sellerKey],
  ] as const) {
    const page = await open(context, url)
    await page.locator('input[name=credential]').fill(credential)
    await page.keyboard.press('Enter')
    await page.locator('nav').first().waitFor()
    await page.close()
  }
}

interface Picture {
  page: string
  size: keyof typeof SIZES
  colorScheme: (typeof SCHEMES)[number]
  file: string
}

/** The pictures whose file name contains the text. */
function picturesOf(pages: readonly string[], part: string): Picture[] {
  const all = Object.keys(SIZES).flatMap((size) =>
    SCHEMES.flatMap((colorScheme) =>
      pages.map((page): Picture => {
        const file = [page, ...(size === 'narrow' ? [size] : []), `${colorScheme}.png`].join('-')
        return { page, size: size as Picture['size'], colorScheme, file }
      }),
    ),
  )
  return all.filter(({ file }) => file.includes(part))
}

async function capture(browser: Browser, demo: Demo, pictures: readonly Picture[]): Promise<void> {
  const pages = pagesOf(demo)
  const addresses = new Map<string, string>()
  for (const { page } of pictures) if (!addresses.has(page)) addresses.set(page, await pages[page]!())
  const views = Map.groupBy(pictures, ({ size, colorScheme }) => `${size} ${colorScheme}`)
  for (const view of views.values()) {
    const { size, colorScheme } = view[0]!
    const context = await browser.newContext({ viewport: SIZES[size], colorScheme, locale: 'en-GB', timezoneId: 'Europe/Istanbul' })
    // Its page is shown to those who are not signed in.
    const ordered = view.toSorted((a, b) => Number(b.page === 'console-sign-in') - Number(a.page === 'console-sign-in'))
    let isSignedIn = false
    for (const { page: name, file } of ordered) {
      if (!isSignedIn && name !== 'console-sign-in') {
        await signIn(context, demo)
        isSignedIn = true
      }
      const page = await open(context, addresses.get(name)!)
      await write(join(IMAGES, file), page)
      await page.close()
    }
    await context.close()
  }
}

/** Takes the screenshot of a page and reduces its size: a palette of the most frequent colours, the others mapped to the nearest. */
async function write(file: string, page: Page): Promise<void> {
  const shot = await page.screenshot({ animations: 'disabled' })
  const blank = await page.context().newPage()
  const drawn = `(async () => {
    const image = await createImageBitmap(await (await fetch('data:image/png;base64,${shot.toString('base64')}')).blob())
    const canvas = new OffscreenCanvas(image.width, image.height)
    const to = canvas.getContext('2d')
    to.drawImage(image, 0, 0)
    const bytes = to.getImageData(0, 0, image.width, image.height).data
    let text = ''
    for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768))
    return { width: image.width, height: image.height, pixels: btoa(text) }
  })()`
  const { width, height, pixels } = await blank.evaluate<{ width: number; height: number; pixels: string }>(drawn)
  await blank.close()
  const png = paletted(width, height, Buffer.from(pixels, 'base64'))
  writeFileSync(file, png)
  console.log(file, png.length)
}

const COLOURS = 64

function paletted(width: number, height: number, rgba: Buffer): Buffer {
  const counts = new Map<number, number>()
  for (let at = 0; at < rgba.length; at += 4) {
    const colour = rgba.readUIntBE(at, 3)
    counts.set(colour, (counts.get(colour) ?? 0) + 1)
  }
  const palette = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, COLOURS)
    .map(([colour]) => colour)
  const nearest = new Map<number, number>()
  for (const colour of counts.keys()) nearest.set(colour, indexOfNearest(palette, colour))
  const rows = Buffer.alloc(height * (width + 1))
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = nearest.get(rgba.readUIntBE((y * width + x) * 4, 3))!
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const colours = Buffer.alloc(palette.length * 3)
  for (const [i, colour] of palette.entries()) colours.writeUIntBE(colour, i * 3, 3)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function indexOfNearest(palette: number[], colour: number): number {
  const distance = (other: number) => [16, 8, 0].reduce((sum, bits) => sum + (((colour >> bits) & 255) - ((other >> bits) & 255)) ** 2, 0)
  return palette.reduce((best, other, index) => (distance(other) < distance(palette[best]!) ? index : best), 0)
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  const whole = Buffer.alloc(data.length + 12)
  whole.writeUInt32BE(data.length, 0)
  named.copy(whole, 4)
  whole.writeUInt32BE(crc32(named), data.length + 8)
  return whole
}

const [part = ''] = process.argv.slice(2)
const names = Object.keys(pagesOf({ publicUrl: '', operatorUrl: '', token: '', sellerKey: '' }))
const pictures = picturesOf(names, part)
if (pictures.length === 0) {
  console.error(`No picture has ${part} in its file name; the pages are ${names.join(', ')}`)
  process.exit(1)
}
mkdirSync(IMAGES, { recursive: true })
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
try {
  await withDemo((demo) => capture(browser, demo, pictures))
} finally {
  await browser.close()
}
