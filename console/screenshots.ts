// Takes the screenshots in docs/images of a running service: every page, light and dark, wide and narrow.
// node console/screenshots.ts http://127.0.0.1:8080 http://127.0.0.1:8081 <OPERATOR_TOKEN> <API_KEY of a seller> [part of a name]
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32, deflateSync } from 'node:zlib'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

const IMAGES = fileURLToPath(new URL('../docs/images', import.meta.url))
const SIZES = { wide: { width: 1280, height: 860 }, narrow: { width: 390, height: 844 } } as const
const [publicUrl = '', operatorUrl = '', token = '', sellerKey = '', wanted = ''] = process.argv.slice(2)
/** Sign-in pages with their credentials. */
const SIGN_INS = [
  [`${operatorUrl}/console`, token],
  [`${publicUrl}/desk`, sellerKey],
] as const

/** Pages by the name of their screenshot; pages about a record show the first one that the API lists. */
async function pagesOf(): Promise<[name: string, url: string][]> {
  const [item] = (await Promise.all((await list<{ id: number }>('/items?search=box&per_page=25')).map(withPoints))).sort(
    (a, b) => b.points - a.points,
  )
  const [listing] = await list<{ id: number }>('/listings/waiting?seller_id=3&per_page=1')
  const [order] = await list<{ order_id: number }>('/orders?per_page=1')
  const [batch] = await list<{ id: number }>('/imports?status=done&search=json&per_page=1')
  const [seller] = await list<{ id: number }>('/accounts?plan=plus&per_page=1')
  const [job] = await ofSeller<{ id: number }>('/plus/price-jobs?per_page=1')
  const [rule] = await ofSeller<{ id: number }>('/plus/repricing-rules')
  const [collection] = await ofSeller<{ id: number }>('/plus/collections')
  const desk = (path: string) => `${publicUrl}/desk${path}`
  const console = (path: string) => `${operatorUrl}/console${path}`
  return [
    ['home', `${publicUrl}/`],
    ['reference', `${publicUrl}/docs`],
    ['graphiql', `${publicUrl}/graphql`],
    ['console-today', console('')],
    ['console-approvals', console('/approvals')],
    ['console-catalogue', console('/catalogue?search=charizard')],
    ['console-item', console(`/catalogue/items/${item?.id}`)],
    ['console-imports', console('/imports')],
    ['console-import', console(`/imports/${batch?.id}`)],
    ['console-price-review', console('/price-reviews')],
    ['console-matches', console('/matches')],
    ['console-listings', console('/listings')],
    ['console-listing', console(`/listings/${listing?.id}`)],
    ['console-orders', console('/orders')],
    ['console-order', console(`/orders/${order?.order_id}`)],
    ['console-accounts', console('/accounts')],
    ['console-account', console(`/accounts/${seller?.id}`)],
    ['console-account-credits', console(`/accounts/${seller?.id}?view=credits`)],
    ['console-account-collections', console(`/accounts/${seller?.id}?view=collections`)],
    ['console-account-webhook', console(`/accounts/${seller?.id}?view=webhook`)],
    ['console-webhooks', console('/webhooks')],
    ['console-audit', console('/audit')],
    ['desk-listings', desk('')],
    ['desk-price-job', desk(`/price-jobs/${job?.id}`)],
    ['desk-repricing-rule', desk(`/repricing/${rule?.id}`)],
    ['desk-renewal', desk('/renewal?days=30')],
    ['desk-statement', desk('/statement')],
    ['desk-collection', desk(`/collections/${collection?.id}`)],
  ]
}

/** An item and the number of points in its history; the longest history is chosen. */
async function withPoints({ id }: { id: number }): Promise<{ id: number; points: number }> {
  return { id, points: (await list(`/items/${id}/price-history`)).length }
}

function list<T>(path: string): Promise<T[]> {
  return read(`${operatorUrl}/operator/v1${path}`, token)
}

function ofSeller<T>(path: string): Promise<T[]> {
  return read(`${publicUrl}/api/v1${path}`, sellerKey)
}

async function read<T>(url: string, credential: string): Promise<T[]> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${credential}` } })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { data: T[] }).data
}

async function open(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(url, { waitUntil: 'networkidle' })
  // waitForFunction would evaluate its code in the page, which the pages' security policy forbids.
  while ((await page.locator('[aria-busy=true]').count()) > 0) await page.waitForTimeout(50)
  return page
}

async function signIn(context: BrowserContext): Promise<void> {
  for (const [url, credential] of SIGN_INS) {
    const page = await open(context, url)
    await page.locator('input[name=credential]').fill(credential)
    await page.keyboard.press('Enter')
    await page.locator('nav').first().waitFor()
    await page.close()
  }
}

async function capture(browser: Browser, pages: [string, string][]): Promise<void> {
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ viewport, colorScheme, locale: 'en-GB', timezoneId: 'Europe/Istanbul' })
      const fileOf = (name: string) => join(IMAGES, [name, ...(size === 'narrow' ? [size] : []), `${colorScheme}.png`].join('-'))
      if ('console-sign-in'.includes(wanted)) await write(fileOf('console-sign-in'), await open(context, `${operatorUrl}/console`))
      await signIn(context)
      for (const [name, url] of pages.filter(([called]) => called.includes(wanted))) {
        const page = await open(context, url)
        await write(fileOf(name), page)
        await page.close()
      }
      await context.close()
    }
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

if (!sellerKey)
  throw new Error('Usage: node console/screenshots.ts <public address> <operator address> <operator token> <API key of a seller> [part of a name]')
mkdirSync(IMAGES, { recursive: true })
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
try {
  await capture(browser, await pagesOf())
} finally {
  await browser.close()
}
