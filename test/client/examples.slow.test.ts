// The examples as readers run them: in a project with the packed client, against the running service; pages in Chromium.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { launch, NO_BROWSER, WHY } from '../console/browser.ts'
import { inStatus, makeCatalogue, operator, orderId, plus, published } from '../market/kit.ts'
import { seriousAsShown } from '../support/axe.ts'
import { startTestNode, type TestNode, until } from '../support/node.ts'
import { installClient, type Project, ROOT } from './installed.ts'

const EXAMPLES = join(ROOT, 'examples')
let node: TestNode
let project: Project
let items: Record<string, number>
const at = (file: string) => join(project.directory, file)

beforeAll(async () => {
  node = await startTestNode({ env: { WEBHOOK_RETRY_DELAYS: '20ms,20ms' }, worker: true })
  items = (await makeCatalogue(node)).items
  project = await installClient()
  symlinkSync(join(ROOT, 'node_modules/express'), at('node_modules/express'))
  for (const example of readdirSync(EXAMPLES)) cpSync(join(EXAMPLES, example), at(example), { recursive: true })
})

afterAll(async () => {
  await node.close()
  project.remove()
})

test('each says how to run it', () => {
  expect(readdirSync(EXAMPLES).filter((example) => !existsSync(join(EXAMPLES, example, 'README.md')))).toEqual([])
})

test('examples name the packed package and the tested Express version', () => {
  const version = (path: string) => (JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as { version: string }).version
  const readmes = readdirSync(EXAMPLES).map((example) => readFileSync(join(EXAMPLES, example, 'README.md'), 'utf8'))
  const named = readmes.flatMap((text) => [...text.matchAll(/mintmark-client-([\d.]+\d)\.tgz/g)].map((match) => match[1]))
  expect(new Set(named)).toEqual(new Set([version('client/package.json')]))
  const { dependencies } = JSON.parse(readFileSync(join(EXAMPLES, 'webhook-receiver/package.json'), 'utf8')) as { dependencies: object }
  expect(dependencies).toEqual({ express: version('node_modules/express/package.json') })
})

describe('the webhook receiver', () => {
  let server: ChildProcess | undefined
  const output = { text: '' }
  const events = () => {
    const file = at('webhook-receiver/events.ndjson')
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  }

  async function start(secret: string): Promise<string> {
    output.text = ''
    const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: '0' }
    server = spawn(process.execPath, ['server.js'], { cwd: at('webhook-receiver'), env, stdio: ['ignore', 'pipe', 'inherit'] })
    server.stdout!.setEncoding('utf8').on('data', (text: string) => (output.text += text))
    await until('it listens', () => output.text.includes('\n') || server!.exitCode !== null)
    return /http:\S+/.exec(output.text)![0]
  }
  const stop = async () => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    server.kill()
    await once(server, 'exit')
  }
  afterEach(stop)

  test('stores each genuine notification once, and rejects the others', async () => {
    const configure = (url: string) => plus<{ secret: string }>(node, 'PUT', '/webhook', { url, on_sale: true, on_expire: true })
    const { secret } = (await configure('https://example.com')).body.data
    const url = await start(secret)
    expect((await configure(url)).status).toBe(200)
    const listing = await published(node, items.luffy!, { quantity: 2 })
    const answered = async () => (await plus<{ status_code: number }[]>(node, 'GET', '/webhook/logs')).body.data.map((log) => log.status_code)
    await operator(node, 'POST', `/accounts/${node.accounts.plus}/webhook/test`, { event: 'sale' })
    await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: listing.id, quantity: 1 }] })
    await until('both are answered', async () => (await answered()).length === 2)
    expect(await answered()).toEqual([204, 204])
    await until('it says what was sold', () => output.text.includes('Sold 1 × Monkey.D.Luffy\n'))
    const [written, ...others] = events()
    expect(others).toEqual([])
    const { id, ...event } = JSON.parse(written!) as { id: string; data: object }
    expect(event).toMatchObject({ event: 'sale', data: { listing_id: listing.id, quantity: 1, unit_price: 100 } })

    const signed = (body: string, key: string, at: number) => {
      const hmac = (text: string) => createHmac('sha256', key).update(text)
      return {
        'x-service-signature': hmac(body).digest('hex'),
        'webhook-id': id,
        'webhook-timestamp': String(at),
        'webhook-signature': `v1,${hmac(`${id}.${at}.${body}`).digest('base64')}`,
      }
    }
    const body = JSON.stringify(event)
    const now = Math.floor(Date.now() / 1_000)
    // A restart must not forget what was processed.
    await stop()
    const restarted = await start(secret)
    const post = async (headers: Record<string, string>, sent = body) =>
      (await fetch(restarted, { method: 'POST', body: sent, headers: { 'content-type': 'application/json', ...headers } })).status
    expect([
      await post(signed(body, secret, now)),
      await post(signed(body, 'another secret', now)),
      await post(signed(body, secret, now), `${body} `),
      await post(signed(body, secret, now - 3_600)),
      await post({}),
    ]).toEqual([204, 401, 401, 401, 401])
    expect(events()).toEqual([written])
  })
})

test('the listing sync changes only differences, and nothing the second time', async () => {
  const [same, cheaper, soldOut, back] = [
    await published(node, items.char!),
    await published(node, items.char!),
    await published(node, items.pika!),
    await inStatus(node, 'paused', items.pika!),
  ]
  const missing = await published(node, items.box!, { price: 70 })
  const stock = [
    { listing_id: same.id, price: 100, quantity: 1 },
    { listing_id: cheaper.id, price: 89.9, quantity: 1 },
    { listing_id: soldOut.id, price: 100, quantity: 0 },
    { listing_id: back.id, price: 100, quantity: 3 },
  ]
  const sync = (rows: object[]) => {
    writeFileSync(at('listing-sync/stock.json'), JSON.stringify(rows))
    const env = { ...process.env, MINTMARK_URL: node.publicUrl!, MINTMARK_KEY: node.keys.plus }
    return promisify(execFile)(process.execPath, ['sync.js', 'stock.json'], { cwd: at('listing-sync'), env })
  }
  expect((await sync(stock)).stdout).toContain('1 prices changed, 1 paused, 1 published, 0 failed')
  const own = (await plus<{ id: number; status: string; price: number }[]>(node, 'GET', '/my-listings?per_page=100')).body.data
  const found = [cheaper, soldOut, back, missing].map(({ id }) => own.find((listing) => listing.id === id))
  expect(found.map((listing) => [listing!.price, listing!.status])).toEqual([
    [89.9, 'active'],
    [100, 'paused'],
    [100, 'active'],
    [70, 'active'],
  ])
  expect((await sync(stock)).stdout).toBe('0 prices changed, 0 paused, 0 published, 0 failed\n')
  const refused = (await sync([{ listing_id: same.id, price: -1, quantity: 1 }]).catch((error: unknown) => error)) as {
    code: number
    stdout: string
    stderr: string
  }
  expect([refused.code, refused.stdout]).toEqual([1, '0 prices changed, 0 paused, 0 published, 1 failed\n'])
  expect(refused.stderr).toContain('PLUS_LISTING_ERROR: ')
})

describe.skipIf(NO_BROWSER)(`in a page of another origin${WHY}`, () => {
  let server: Server
  let browser: Browser
  let page: Page
  let html: string
  const troubles: string[] = []

  beforeAll(async () => {
    const script = readFileSync(at('node_modules/@mintmark/client/dist/browser.js'))
    server = createServer((request, response) => {
      const isScript = request.url === '/browser.js'
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html').end(isScript ? script : html)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    browser = await launch()
    page = await browser.newPage()
    page.setDefaultTimeout(120_000)
    page.on('pageerror', (error) => troubles.push(error.message))
  })

  afterAll(async () => {
    server.close()
  })

  const open = (text: string) => {
    html = text
    return page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  }

  test('the price widget shows prices', async () => {
    const widget = readFileSync(at('price-widget/index.html'), 'utf8')
    expect(widget.trim().split('\n').length).toBeLessThanOrEqual(30)
    expect(readFileSync(at('price-widget/README.md'), 'utf8')).toContain(`\`\`\`html\n${widget.trim()}\n\`\`\``)
    const shown = async (key: string, address = node.publicUrl!) => {
      await open(widget.replace('http://127.0.0.1:8080', address).replace('YOUR_API_KEY', key))
      const price = page.locator('card-price:not(:text("loading"))')
      await price.waitFor()
      return price.textContent()
    }
    expect(await shown(node.keys.professional)).toBe('$168.56')
    expect(await shown(node.keys.starter)).toBe('168.56')
    expect(await seriousAsShown(page)).toEqual([])
    expect(await shown('no key')).toContain('not available (')
    expect(troubles).toEqual([])
  })

  test('the price chart shows prices of a card and leaves the page as it is', async () => {
    const chart = readFileSync(at('price-widget/chart.html'), 'utf8')
    expect(readFileSync(at('price-widget/README.md'), 'utf8')).toContain(`\`\`\`html\n${chart.trim()}\n\`\`\``)
    await open(chart.replace('http://127.0.0.1:8080', node.publicUrl!).replace('YOUR_API_KEY', node.keys.plus))
    await page.getByRole('img', { name: /^Prices over time: Near Mint, in / }).waitFor()
    await page.locator('price-chart canvas').waitFor()
    await page.getByText(/^Data points as a table/).click()
    await page.getByRole('row', { name: /\$168\.56/ }).waitFor()
    expect(await seriousAsShown(page)).toEqual([])
    const strokes = await page.evaluate<string[]>(
      "Array.from(document.querySelector('price-chart').shadowRoot.querySelectorAll('.chart-legend path'), (path) => getComputedStyle(path).stroke)",
    )
    expect(strokes.filter((stroke) => !stroke.startsWith('rgb('))).toEqual([])
    // The page itself is not changed.
    expect(await page.evaluate('document.documentElement.outerHTML.match(/<html[^>]*>/)[0]')).toBe('<html lang="en">')
    await open(chart.replace('http://127.0.0.1:8080', node.publicUrl!).replace('YOUR_API_KEY', node.keys.starter))
    await page
      .getByRole('alert')
      .getByText(/^This needs the Professional plan/)
      .waitFor()
    expect(troubles).toEqual([])
  })

  test('the client reads, pages, writes and verifies', async () => {
    await open(`<!doctype html><title>Shop</title><script type="module">window.mintmark = await import('/browser.js')</script>`)
    await page.waitForFunction('window.mintmark')
    const body = JSON.stringify({ event: 'sale', sent_at: new Date().toISOString(), data: {} })
    const signature = createHmac('sha256', 'secret').update(body).digest('hex')
    const seen = await page.evaluate(
      async ([baseUrl, apiKey, text, signed]) => {
        const { Mintmark, verifyWebhook } = (globalThis as unknown as { mintmark: typeof import('../../client/src/index.ts') }).mintmark
        const client = new Mintmark({ baseUrl, apiKey })
        const names: string[] = []
        for await (const item of client.all('/api/v1/items', { params: { query: { per_page: 2 } } })) names.push(item.name)
        const refused = await client
          .patch('/api/v1/plus/listings/{id}/price', { params: { path: { id: 999_999 } }, body: { price: 5 } })
          .catch((error: unknown) => error as { code: string; requestId: string | null })
        const headers = { 'x-service-signature': signed }
        const events = [await verifyWebhook(text, headers, 'secret'), await verifyWebhook(`${text} `, headers, 'secret')]
        return { names, code: 'code' in refused && refused.code, traced: 'requestId' in refused && refused.requestId !== null, events }
      },
      [node.publicUrl!, node.keys.plus, body, signature] as const,
    )
    expect(seen).toMatchObject({ code: 'PLUS_LISTING_ERROR', traced: true, events: [{ event: 'sale' }, null] })
    expect(seen.names).toHaveLength(4)
    expect(troubles).toEqual([])
  })
})
