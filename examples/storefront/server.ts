// A shop on the Mintmark API, rendered on the server: MINTMARK_KEY=... npm start
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { MintmarkError } from '@mintmark/client'
import { addLine, type BasketLine, basketCookie, changeLines, readBasket } from './basket.ts'
import { handOver } from './checkout.ts'
import { html, type Html } from './html.ts'
import { basketPage, cardPage, homePage, isRange, latestOffers, layout, MAX_QUERY, messagePage, results, sellersPage } from './pages.ts'
import { kurusOf } from './money.ts'
import { openShop } from './shop.ts'

const { MINTMARK_URL = 'http://127.0.0.1:8080', MINTMARK_KEY, CHECKOUT_URL, CHECKOUT_TOKEN, HOST = '127.0.0.1', PORT = '3000' } = process.env
if (!MINTMARK_KEY) throw new Error('Set MINTMARK_KEY to a read-only key of a Plus account')
const listOf = (text = '') => text.split(',').flatMap((part) => part.trim() || [])
const sellers = listOf(process.env.SELLERS)
const pictures = listOf(process.env.PICTURE_ORIGINS ?? new URL(MINTMARK_URL).origin)
const checkout = CHECKOUT_URL ? new URL(CHECKOUT_URL) : null
const shop = openShop(MINTMARK_URL, MINTMARK_KEY, sellers)

/** Parts of every page: requests of their own would delay the first view by a round trip. */
const [STYLE, SCRIPT] = ['style.css', 'search.js'].map((name) => readFileSync(new URL(name, import.meta.url), 'utf8')) as [string, string]
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
const POLICY =
  `default-src 'none'; script-src ${hashOf(SCRIPT)}; style-src ${hashOf(STYLE)}; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; ` +
  `img-src data: ${pictures.join(' ')}; form-action 'self' ${checkout?.origin ?? ''}`
const HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  link: pictures.map((origin) => `<${origin}>; rel=preconnect`).join(', '),
}
/** Pages that are the same for all buyers. */
const SHARED = { 'cache-control': 'public, max-age=60' }
const CACHE_MS = 30_000
const MAX_CACHED = 500
const MAX_BODY_BYTES = 10_000

type Headers = Record<string, string>
interface Page {
  status: number
  body: Buffer
  headers: Headers
}

function pageOf({ markup }: Html, status: number, headers: Headers): Page {
  return { status, body: Buffer.from(markup), headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', ...headers } }
}
const shown = (title: string, content: Html, status = 200, headers: Headers = {}) => pageOf(layout(title, content, STYLE, SCRIPT), status, headers)
const message = (status: number, title: string, text: string, headers: Headers = {}) => shown(title, messagePage(title, text), status, headers)
const goTo = (location: string, headers: Headers = {}) => message(303, 'Moved', 'Continue to the next page.', { location, ...headers })
const notFound = () => message(404, 'Page not found', 'This page does not exist, or no longer exists.')

async function getPage(path: string, query: URLSearchParams): Promise<Page> {
  const q = (query.get('q') ?? '').trim()
  const name = (query.get('name') ?? '').trim()
  if (Math.max(q.length, name.length) > MAX_QUERY) return message(400, 'Text too long', `Enter at most ${MAX_QUERY} characters.`)
  const page = Number(query.get('page') ?? 1)
  if (!Number.isInteger(page) || page < 1 || page > 1_000) return message(400, 'Invalid page', 'The page must be a number from 1 to 1000.')
  if (path === '/' || path === '/results') {
    const found = results(q, q.length < 2 ? null : await shop.search(q, page))
    if (path === '/results') return pageOf(found, 200, SHARED)
    const latest = q === '' && latestOffers((await shop.listings({ sort_by: 'latest', per_page: 12 })).data)
    return shown(q === '' ? 'Find a card' : `Search: ${q}`, homePage(q, html`${found}${latest}`), 200, SHARED)
  }
  if (path === '/sellers') {
    const found = name === '' ? null : await shop.listings({ seller_name: name, sort_by: 'price_low', per_page: 50, page })
    return shown(name === '' ? 'Sellers' : `Offers of ${name}`, sellersPage(name, sellers, found), 200, SHARED)
  }
  const id = /^\/cards\/([1-9]\d{0,8})$/.exec(path)?.[1]
  const range = query.get('range') ?? '3m'
  if (id === undefined) return notFound()
  if (!isRange(range)) return message(400, 'Invalid range', 'Choose one of the ranges of the page.')
  const card = await shop.card(Number(id), query.get('label') || undefined, range)
  return card ? shown(card.item.name, cardPage(card, range), 200, SHARED) : notFound()
}

const cache = new Map<string, { until: number; page: Promise<Page> }>()

/** Pages that succeeded are kept for a moment, so that many buyers do not use up the requests of the key. */
function cached(url: URL): Promise<Page> {
  const key = url.pathname + url.search
  const entry = cache.get(key)
  if (entry && entry.until > Date.now()) return entry.page
  const page = getPage(url.pathname, url.searchParams)
  cache.delete(key)
  if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value!)
  cache.set(key, { until: Date.now() + CACHE_MS, page })
  const forget = () => cache.get(key)?.page === page && cache.delete(key)
  page.then(({ status }) => status !== 200 && forget(), forget)
  return page
}

async function showBasket(request: IncomingMessage, lines: readonly BasketLine[]): Promise<Page> {
  const checked = await shop.check(lines)
  const status = request.method === 'POST' ? 409 : 200
  const left = checked.filter(({ listing }) => listing)
  return shown('Basket', basketPage(checked, checkout !== null), status, { 'set-cookie': basketCookie(left, isSecure(request)) })
}

const isSecure = ({ headers }: IncomingMessage) => headers['x-forwarded-proto'] === 'https'

async function post(request: IncomingMessage, path: string, form: URLSearchParams): Promise<Page> {
  const lines = readBasket(request.headers.cookie)
  const keep = (changed: readonly BasketLine[]) => goTo('/basket', { 'set-cookie': basketCookie(changed, isSecure(request)) })
  if (path === '/basket') {
    const listingId = form.get('listing')
    if (listingId === null) return keep(changeLines(lines, form))
    const listing = /^[1-9]\d{0,8}$/.test(listingId) ? await shop.listing(Number(listingId)) : null
    if (!listing) return message(404, 'Not for sale', 'This offer is no longer for sale.')
    const added = addLine(lines, { listingId: listing.id, quantity: 1, kurus: kurusOf(listing.price) }, listing.quantity ?? 1)
    return added ? keep(added) : message(400, 'Basket is full', 'Check out, or remove a line, before you add another offer.')
  }
  if (path !== '/checkout' || !checkout) return notFound()
  const checked = await shop.check(lines)
  if (checked.length === 0) return goTo('/basket')
  if (checked.some(({ changes }) => changes.length > 0)) return showBasket(request, lines)
  try {
    return goTo((await handOver(checkout, CHECKOUT_TOKEN, checked)).href)
  } catch (error) {
    console.error('Failed to hand over to the checkout', error)
    return message(502, 'Checkout not available', 'Your basket is unchanged. Try again in a few minutes.')
  }
}

async function answer(request: IncomingMessage): Promise<Page> {
  const url = URL.parse(request.url ?? '/', 'http://shop')
  if (!url) return message(400, 'Invalid address', 'Check the address of the page.')
  if (request.method === 'POST') {
    // A page of another site must not fill baskets.
    if (request.headers['sec-fetch-site'] === 'cross-site') return message(403, 'Not allowed', 'Use the forms of this shop.')
    const form = await bodyOf(request)
    return form ? post(request, url.pathname, form) : message(413, 'Form too large', 'Remove some lines of the basket.')
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') return message(405, 'Not allowed', 'Use GET or POST.', { allow: 'GET, HEAD, POST' })
  if (url.pathname === '/basket') return showBasket(request, readBasket(request.headers.cookie))
  if (url.pathname === '/thanks') {
    return message(200, 'Thank you for your order', 'The basket is empty again.', { 'set-cookie': basketCookie([], isSecure(request)) })
  }
  return cached(url)
}

async function bodyOf(request: IncomingMessage): Promise<URLSearchParams | null> {
  let text = ''
  // The rest of a body that is too large is read as well: otherwise the connection would close before the response.
  for await (const part of request.setEncoding('utf8')) if (text.length <= MAX_BODY_BYTES) text += part as string
  return text.length <= MAX_BODY_BYTES ? new URLSearchParams(text) : null
}

function failure(error: unknown): Page {
  if (error instanceof MintmarkError && error.code === 'VALIDATION_ERROR') {
    return message(400, 'Invalid input', error.details[0]?.message ?? error.message)
  }
  console.error('Failed to read from the service', error)
  return message(503, 'Shop not available', 'The shop cannot be reached at the moment. Try again in a minute.', { 'retry-after': '60' })
}

function respond(request: IncomingMessage, response: ServerResponse, { status, body, headers }: Page): void {
  const etag = `W/"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const all = { ...HEADERS, ...headers, vary: 'accept-encoding', ...(status === 200 && { etag }) }
  if (status === 200 && request.headers['if-none-match'] === etag) return void response.writeHead(304, all).end()
  const zipped = /\bgzip\b/.test(String(request.headers['accept-encoding']))
  const bytes = zipped ? gzipSync(body) : body
  response.writeHead(status, { ...all, 'content-length': bytes.length, ...(zipped && { 'content-encoding': 'gzip' }) })
  response.end(request.method === 'HEAD' ? undefined : bytes)
}

const server = createServer((request, response) => {
  void answer(request)
    .catch(failure)
    .then((page) => respond(request, response, page))
})
server.listen(Number(PORT), HOST, () => console.log(`Listening on http://${HOST}:${(server.address() as AddressInfo).port}`))
