// 5,000 generated bodies, most of them bad, to the endpoints that create listings: no 5xx, refusals name a field and create nothing.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomNumbers } from '#core/random.ts'
import { Chance, NASTY_TEXTS } from '../../reliability/bad-input-values.ts'
import { send, startTestNode, type TestNode } from '../support/node.ts'
import { makeCatalogue, operator } from './kit.ts'

const BODIES = 5_000
const SEED = Number(process.env.BAD_LISTINGS_SEED ?? 20261128)
const AT_ONCE = 8
const PARTS = 5
/** Bytes that may remain after each part: caches and the listings that were valid. A leak of 20 KB a request would be 20 MB. */
const MAX_GROWTH = 8 * 1024 * 1024

let node: TestNode
let items: Record<string, number>

beforeAll(async () => {
  node = await startTestNode()
  ;({ items } = await makeCatalogue(node))
  await operator(node, 'PATCH', `/accounts/${node.accounts.plus}`, { listing_intake: { quota: 1_000_000 } })
  await operator(node, 'POST', '/rates', [{ currency: 'EUR', day: '2026-01-01', rate: 40 }])
})

afterAll(() => node.close())

interface Body {
  path: string
  method?: string
  type: 'application/json' | 'text/csv'
  body: string
}

const WRONG_VALUES: readonly unknown[] = [null, true, -1, 0, 0.001, 1e21, 2 ** 31, 1.005, [], [1], {}, { a: 1 }, [null], '']

/** A valid listing with some fields replaced by bad values, removed or added. */
function badFields(chance: Chance, fields: Record<string, unknown>): Record<string, unknown> {
  const names = Object.keys(fields)
  const bad: Record<string, unknown> = { ...fields }
  for (let n = 1 + chance.below(3); n > 0; n -= 1) {
    const name = chance.is(0.1) ? chance.pick(['__proto__', 'id', 'seller_id', 'status', 'x'.repeat(300)]) : chance.pick(names)
    if (chance.is(0.1)) delete bad[name]
    else Object.defineProperty(bad, name, { value: badValue(chance), enumerable: true, configurable: true, writable: true })
  }
  return bad
}

const badValue = (chance: Chance) => (chance.is(0.5) ? nastyText(chance) : chance.pick(WRONG_VALUES))

/** Long ones are rare, because most are refused by their length alone. */
function nastyText(chance: Chance): string {
  const text = chance.pick(NASTY_TEXTS)
  return chance.is(0.1) ? text : text.slice(0, 2_000)
}

function listingBody(chance: Chance, n: number): Body {
  const item = chance.is(0.5) ? { item_id: items.char } : { card: { set: 'Base Set', number: '4/102' } }
  const offers = { offers_enabled: true, min_offer_price: 90 }
  const text = { title: 'Charizard', description: 'Fresh', sku: `S-${n}`, label: 'Near Mint', language: 'en' }
  const fields = {
    ...item,
    price: 100,
    quantity: 2,
    ...text,
    images: [{ url: 'https://a.example/1.png', order: 1 }],
    shipping_payer: 'seller',
    ...offers,
  }
  const bad = badFields(chance, fields)
  if ('card' in fields && chance.is(0.3)) bad.card = badFields(chance, { set: 'Base Set', number: '4/102', finish: 'Holo' })
  return { path: '/plus/listings', type: 'application/json', body: broken(chance, JSON.stringify(bad)) }
}

function rowsBody(chance: Chance, n: number): Body {
  const row = (i: number) => {
    const fields = { sku: `J-${n}-${i}`, item_id: items.char, name: 'Charizard', number: '4/102', set: 'Base Set', finish: 'holo', grade: 'PSA 10' }
    return badFields(chance, {
      ...fields,
      price: 100,
      quantity: 1,
      currency: 'EUR',
      tcgplayer_id: '12',
      cardmarket_id: '34',
      images: ['https://a.example/1.png'],
    })
  }
  const rows = Array.from({ length: 1 + chance.below(2) }, (_, i) => (chance.is(0.05) ? badValue(chance) : row(i)))
  const body = chance.is(0.05) ? { rows: badValue(chance) } : { rows, ...(chance.is(0.05) && { other: 1 }) }
  return { path: '/plus/listings/import', type: 'application/json', body: broken(chance, JSON.stringify(body)) }
}

const HEADERS = [
  'sku;item_id;name;number;set;finish;grade;quantity;price;currency;title;description;images;min_offer_price',
  'idArticle;idProduct;English Name;Exp. Name;Price;Language;Condition;Foil?;Signed?;Playset?;Comments;Amount',
  'blueprint_id;bundle;name_en;expansion_name;graded;price_cents;price_currency;quantity;condition',
  'TCGplayer Id;Product Line;Set Name;Product Name;Title;Number;Condition;Total Quantity;Add to Quantity;TCG Marketplace Price;Photo URL',
  'Kart adı;Set;No;Adet;Fiyat;Dil;Durum;Açıklama;Stok kodu',
].map((header) => header.split(';'))

function csvBody(chance: Chance): Body {
  const header = chance.pick(HEADERS).flatMap((name) => {
    if (chance.is(0.04)) return chance.is(0.5) ? [] : [name, chance.pick(chance.pick(HEADERS))]
    return [chance.is(0.03) ? nastyText(chance) : name]
  })
  const good = ['1', 'Charizard', '4/102', 'Base Set', 'Near Mint', '2', '9.50', 'EUR', 'en', '']
  const cell = () => (chance.is(0.3) ? nastyText(chance) : chance.pick(good))
  const row = () => Array.from({ length: header.length + (chance.is(0.05) ? 1 : 0) }, cell)
  const quoted = (text: string) => (chance.is(0.02) ? text : `"${text.replaceAll('"', '""')}"`)
  const lines = [header, ...Array.from({ length: 1 + chance.below(2) }, row)].map((cells) => cells.map(quoted).join(';'))
  return { path: '/plus/listings/import', type: 'text/csv', body: broken(chance, lines.join(chance.is(0.2) ? '\r\n' : '\n')) }
}

/** What is saved for columns, so that files are read by bad mappings, too. */
function columnsBody(chance: Chance): Body {
  const fields = ['price', 'name', 'quantity', 'condition', 'images', 'item_id', null, 'status', 5]
  const column = () => ({ column: chance.is(0.6) ? chance.pick(chance.pick(HEADERS)) : badValue(chance), field: chance.pick(fields) })
  const columns = Array.from({ length: chance.below(4) }, column)
  return {
    path: '/plus/listings/columns',
    method: 'PUT',
    type: 'application/json',
    body: JSON.stringify({ columns: chance.is(0.1) ? badValue(chance) : columns }),
  }
}

/** Now and then a text that is cut off, or of another format. */
function broken(chance: Chance, text: string): string {
  if (chance.is(0.97)) return text
  return chance.pick([text.slice(0, chance.below(text.length)), `${text}}`, '', '[]', 'null', '\ufeff\ufeff', `"${text}`])
}

function bodyOf(chance: Chance, n: number): Body {
  if (chance.is(0.02)) return columnsBody(chance)
  return [listingBody, rowsBody, csvBody][n % 3]!(chance, n)
}

interface Outcome {
  outcome: string
  refused: { field: string }[] | null
}

test(`${BODIES} bodies: no 5xx, every 422 names a field, and what is refused creates nothing`, { timeout: 300_000 }, async () => {
  const chance = new Chance(randomNumbers(SEED))
  const bodies = Array.from({ length: BODIES }, (_, n) => bodyOf(chance, n))
  const statuses = new Map<string, number>()
  const breaches: unknown[] = []
  const total = { created: 0, refusedRows: 0 }
  const one = async ({ path, method = 'POST', type, body }: Body) => {
    const reply = await send<Record<string, unknown>>(`${node.publicUrl}/api/v1${path}`, node.keys.plus, {
      method,
      body,
      headers: { 'content-type': type },
    })
    const { status, body: answer } = reply
    const kind = `${path} ${type} ${status}`
    statuses.set(kind, (statuses.get(kind) ?? 0) + 1)
    const { details = [], params } = (answer.error ?? {}) as { details?: { field: string }[]; params?: { field?: string } }
    // A conflict, such as an SKU that is in use, is one reason with the field in its parameters.
    const isNamed = status !== 422 || params?.field !== undefined || (details.length > 0 && details.every(({ field }) => field !== ''))
    if (status >= 500 || !isNamed) breaches.push({ status, path, body: body.slice(0, 500), error: answer.error })
    if (status === 201) total.created += 1
    if (status !== 200 || path !== '/plus/listings/import') return
    for (const { outcome, refused } of answer.data.rows as Outcome[]) {
      if (outcome === 'created') total.created += 1
      else if (outcome === 'refused') total.refusedRows += 1
      if (outcome === 'refused' && !refused?.every(({ field }) => field !== '')) breaches.push({ path, body: body.slice(0, 500), refused })
    }
  }
  const growths: number[] = []
  for (let at = 0; at < BODIES; at += BODIES / PARTS) {
    const before = heapUsed()
    const queue = bodies.slice(at, at + BODIES / PARTS).values()
    const worker = async () => {
      for (const body of queue) await one(body)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
    growths.push(heapUsed() - before)
  }
  expect(breaches).toEqual([])
  const { listings } = await node.db.kysely
    .selectFrom('listings')
    .select(({ fn }) => fn.countAll<string>().as('listings'))
    .executeTakeFirstOrThrow()
  expect(Number(listings)).toBe(total.created)
  // Mostly bad, and in every way: otherwise this test would prove nothing.
  const seen = [...statuses.keys()]
  expect(seen).toEqual(
    expect.arrayContaining(['/plus/listings application/json 201', '/plus/listings application/json 422', '/plus/listings application/json 400']),
  )
  expect(seen).toEqual(
    expect.arrayContaining([
      '/plus/listings/import text/csv 200',
      '/plus/listings/import text/csv 422',
      '/plus/listings/columns application/json 200',
    ]),
  )
  expect(statuses.get('/plus/listings application/json 422')! / (BODIES / 3)).toBeGreaterThan(0.7)
  expect(total.refusedRows).toBeGreaterThan(2_000)
  // A leak grows in every part; caches grow in some, and one may end while the process is busy with something else.
  expect(Math.min(...growths)).toBeLessThan(MAX_GROWTH)
})

/** Of the process, with the service in it, after a garbage collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}
