// A browser on the console of a test node: signed in, collecting errors.
import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page, type Request, type Route } from 'playwright-core'
import { bringAxe, seriousOf } from '../support/axe.ts'
import { OPERATOR_TOKEN, send, type TestNode, until } from '../support/node.ts'
import { ALL_CASES } from '../support/runs.ts'

// The first one is Chromium without a graphical interface.
const CANDIDATES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const CHROMIUM = CANDIDATES.find((path) => existsSync(path))

/** Without a browser these tests are skipped, except in CI, where all tests must run. */
export const NO_BROWSER = CHROMIUM === undefined && !process.env.CI
export const WHY = NO_BROWSER ? ' (skipped: no Chromium is installed on this machine)' : ''

/**
 * Features that Playwright turns off, which the argument below replaces, and what every window would load for its address bar: half the cost of a
 * page.
 */
const NO_FEATURES = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxPopup',
]

const ARGS = [
  `--disable-features=${NO_FEATURES.join()}`,
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

let browser: Promise<Browser> | null = null

/** The browser of this worker: one for all its files, ended with the worker. */
export function launch(): Promise<Browser> {
  if (!CHROMIUM) throw new Error(`No browser is at ${CANDIDATES.join(', ')}`)
  return (browser ??= chromium.launch({ executablePath: CHROMIUM, args: ARGS }))
}

export interface Visit {
  page: Page
  /** script errors, violations of the content policy, requests to other hosts */
  troubles: string[]
  open: (path: string) => Promise<void>
  close: () => Promise<void>
}

/** A page of the console with empty storage; not signed in. */
export function visit(browser: Browser, node: TestNode, options: BrowserContextOptions = {}): Promise<Visit> {
  return visitPages(browser, `${node.operatorUrl}/console`, options)
}

/** The same for the pages at an address. */
export async function visitPages(browser: Browser, address: string, options: BrowserContextOptions = {}): Promise<Visit> {
  // Without motion, Chromium draws far fewer frames.
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    locale: 'en-GB',
    timezoneId: 'Europe/Istanbul',
    reducedMotion: 'reduce',
    ...options,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  const troubles: string[] = []
  page.on('pageerror', (error) => troubles.push(error.message))
  page.on('console', (message) => {
    if (/Content Security Policy|Uncaught/.test(message.text())) troubles.push(message.text())
  })
  await page.addInitScript(WATCH)
  const files = new Set<Request>()
  filesOf.set(page, files)
  page.on('requestfinished', (request) => files.delete(request))
  page.on('requestfailed', (request) => files.delete(request))
  // Files requested by the previous page are not awaited.
  page.on('domcontentloaded', () => files.clear())
  page.on('request', (request) => {
    if (FILES.includes(request.resourceType())) files.add(request)
    const { protocol, origin } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== new URL(address).origin) troubles.push(`a request to ${request.url()}`)
  })
  const open = async (path: string) => {
    await page.goto(`${address}${path}`)
    await settled(page)
  }
  return { page, troubles, open, close: () => context.close() }
}

/** Intercepts requests of a page that is already open: Chromium confirms that before the page sends its requests that way. */
export async function intercept(page: Page, requests: string | RegExp, handle: (route: Route) => Promise<void>): Promise<void> {
  await page.route(requests, handle)
  await page.route(`**${PROBE}`, (route) => route.fulfill({ body: 'intercepted' }))
  await until(
    'requests are intercepted',
    async () => (await page.evaluate(`fetch('${PROBE}').then((response) => response.text())`)) === 'intercepted',
  )
  await page.unroute(`**${PROBE}`)
}

const PROBE = '/intercepted'

/** Widths and languages in which every page is tested. */
export const LAYOUTS = [1280, 390].flatMap((width) =>
  ['en-GB', 'tr-TR'].map((locale) => ({
    name: `${width} pixels wide, ${locale}`,
    options: { viewport: { width, height: 900 }, locale, reducedMotion: 'reduce' as const },
  })),
)

/** Those of `npm test`: the narrowest with the longest words. `npm run test:all` has all of them. */
export function layouts(): typeof LAYOUTS {
  return ALL_CASES ? LAYOUTS : LAYOUTS.slice(-1)
}

/** Cumulative layout shift: the largest sum of shifts without user input within 5 s and without a pause of a second. */
export function layoutShift(page: Page): Promise<number> {
  return page.evaluate<number>(SHIFTS)
}

const SHIFTS = `new Promise((resolve) => {
  let [most, sum, first, last] = [0, 0, 0, 0]
  new PerformanceObserver((list) => list.getEntries().forEach(({ hadRecentInput, startTime, value }) => {
    if (hadRecentInput) return
    if (startTime - last > 1000 || startTime - first > 5000) [sum, first] = [0, startTime]
    sum += value
    last = startTime
    most = Math.max(most, sum)
  })).observe({ type: 'layout-shift', buffered: true })
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(most)))
})`
const MAX_SHIFT = 0.05

/** Opens pages one after another. @returns problems in light or dark mode, and what the browser logged to its console */
export async function walk({ page, open, troubles }: Visit, paths: readonly string[]): Promise<string[]> {
  const found: string[] = []
  let at = ''
  page.on('console', (message) => message.type() === 'error' && found.push(`${at}: ${message.text()}`))
  await bringAxe(page)
  for (const path of paths) {
    at = path
    await open(path)
    const wrong = (what: string) => found.push(`${path}: ${what}`)
    const shift = await layoutShift(page)
    if (shift > MAX_SHIFT) wrong(`shifts by ${shift}`)
    for (const what of await seriousOf(page)) wrong(what)
    const tooWide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    if (tooWide > 0) wrong(`is ${tooWide} pixels too wide`)
    const blank = await page.evaluate<number>(
      "document.documentElement.scrollHeight - Math.max(innerHeight, Math.ceil(document.querySelector('.frame').getBoundingClientRect().height))",
    )
    if (blank > 0) wrong(`ends with ${blank} pixels of nothing`)
    if ((await page.locator('h1').count()) !== 1) wrong('has not one heading')
    if ((await page.locator('.state.bad').count()) > 0) wrong('shows an error')
    if ((await page.locator('header nav a:not(:has(svg))').count()) > 0) wrong('has a place without an icon')
    const unfilled = /\{[a-z]+\}/i.exec(await page.locator('body').innerText())
    if (unfilled) wrong(`shows ${unfilled[0]}`)
    if (!(await page.title()).endsWith('· Mintmark')) wrong('has no title')
  }
  return [...found, ...troubles]
}

export async function signedIn(browser: Browser, node: TestNode, options: BrowserContextOptions = {}): Promise<Visit> {
  const visited = await visit(browser, node, options)
  await visited.open('')
  await signInWith(visited, OPERATOR_TOKEN)
  return visited
}

/** Signs in and waits for the first page. */
export async function signInWith({ page }: Visit, credential: string): Promise<void> {
  await page.locator('input[name=credential]').fill(credential)
  await page.keyboard.press('Enter')
  await page.locator('nav').first().waitFor()
  await settled(page)
}

/** Waits until the page and everything it requested have loaded; one response may lead to another request. */
export async function settled(page: Page): Promise<void> {
  const files = filesOf.get(page)!
  const stays = async () => files.size === 0 && (await page.evaluate<boolean>(STAYS)) && files.size === 0
  await until('the page and what it asked for', stays).catch(async (error: Error) => {
    const open = Array.from(files, (request) => request.url())
    throw new Error(`${page.url()}: ${error.message}; files: ${open.join()}; ${await page.evaluate<string>(UNSETTLED)}`)
  })
}

/** Waits for a toast. It counts even if it has already closed by itself, and only once. */
export async function announced(page: Page, text: string | RegExp): Promise<void> {
  await until(`the message ${text}`, async () => {
    const messages = await page.evaluate<string[]>('watched.announced')
    const at = messages.findIndex((message) => (typeof text === 'string' ? message === text : text.test(message)))
    if (at >= 0) await page.evaluate(`void watched.announced.splice(${at}, 1)`)
    return at >= 0
  })
}

/**
 * Runs before the scripts of each page. The page itself counts its requests, and the count disappears with it: a request whose end the browser
 * never reports cannot block a test. Toasts are recorded, because they close by themselves.
 */
const WATCH = `{
  const watched = (window.watched = { open: new Map(), announced: [] })
  let requests = 0
  const count = (url, answer) => {
    const id = (requests += 1)
    watched.open.set(id, url)
    const end = () => watched.open.delete(id)
    answer.then(end, end)
    return answer
  }
  const ask = window.fetch
  window.fetch = (...request) => count(String(request[0]?.url ?? request[0]), ask(...request))
  for (const part of ['arrayBuffer', 'blob', 'json', 'text']) {
    const read = Response.prototype[part]
    Response.prototype[part] = function () {
      return count(this.url, read.call(this))
    }
  }
  const { send } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.send = function (body) {
    send.call(this, body)
    count('an upload', new Promise((resolve) => this.addEventListener('loadend', resolve)))
  }
  new MutationObserver((changes) => {
    const added = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter((node) => node instanceof Element)
    const messages = added.flatMap((node) => [...(node.matches('.toast') ? [node] : []), ...node.querySelectorAll('.toast')])
    watched.announced.push(...messages.map((message) => message.firstChild.textContent))
  }).observe(document, { childList: true, subtree: true })
}`
/** What a page needs in addition to the responses that its scripts request. */
const FILES = ['script', 'stylesheet']
/** Files of a page that have not loaded yet. */
const filesOf = new WeakMap<Page, Set<Request>>()
/** Whether the awaited content is there, now and two frames later; a page that draws no frames is checked again after a second. */
const STAYS = `new Promise((resolve) => {
  const there = () => watched.open.size === 0 && document.querySelector('h1') !== null && document.querySelector('[aria-busy=true]') === null
  const now = there()
  const again = () => resolve(now && there())
  requestAnimationFrame(() => requestAnimationFrame(again))
  setTimeout(again, 1_000)
})`

/** Diagnostics: which awaited content the page has, and which elements are busy. */
const UNSETTLED = `document.querySelectorAll('h1').length + ' h1; no answer: ' + [...watched.open.values()].join(', ') + '; busy: ' +
  [...document.querySelectorAll('[aria-busy=true]')].map((element) => element.outerHTML.slice(0, 200)).join(', ')`

/** Calls the operator API as a shop or feed would. @throws Error with the response unless it is a success */
export async function operator<T>(node: TestNode, method: string, path: string, json?: unknown): Promise<T> {
  const { status, body } = await send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { method, json })
  if (!body.success) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body.error)}`)
  return body.data
}
