// Sharing by link: what anyone with the link sees, what nobody sees, and how the link ends.
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createKey } from '#accounts/keys/create-key.ts'
import { recordWorth } from '#collections/record-worth.ts'
import { call } from '#core/verb.ts'
import { send, startTwoNodes, type TestNode } from '../support/node.ts'
import { collector, makeCollection, makeItems, operator } from './kit.ts'
import { runs } from '../support/runs.ts'

interface Own {
  id: number
  name: string
  description: string
  visibility: string
  shared_url: string | null
}
interface Shared {
  name: string
  description: string
  items_count: number
  worth: { currencies: { currency: string; value: number }[]; without_value: number }
  sets: { name: string; owned: number; of: number; percent: number }[]
  items: { name: string; slug: string; label: string | null; quantity: number; picture: string | null; value: { amount: number } | null }[]
}

let here: TestNode
let there: TestNode
let close: () => Promise<void>
let ids: Record<string, number>
let plus: ReturnType<typeof collector>

beforeAll(async () => {
  ;({ here, there, close } = await startTwoNodes())
  ids = await makeItems(here, [
    { ref: 'char', name: 'Charizard', code: '4/102', prices: [['service', 'Near Mint', '100.10']] },
    { ref: 'mew', name: 'Mew & <b>Two</b>', code: '5/102', prices: [['source_a', 'Near Mint', '3.00']] },
    { ref: 'odd', name: 'Odd', code: '6/102' },
  ])
  plus = collector(here, here.keys.plus)
})

afterAll(() => close())

async function share(collectionId: number, visibility = 'unlisted'): Promise<string> {
  const { status, body } = await plus.ask<Own>('PATCH', `/${collectionId}`, { visibility })
  expect([status, body.error]).toEqual([200, undefined])
  return body.data.shared_url!
}

const tokenOf = (url: string) => url.split('/').at(-1)!
const json = (token: string, on = here, query = '') => send<Shared>(`${on.publicUrl}/api/v1/shared/${token}${query}`, null)
const page = (token: string, on = here, query = '', headers: Record<string, string> = {}) =>
  fetch(`${on.publicUrl}/shared/${token}${query}`, { headers })
const svg = (token: string, on = here, query = '') => fetch(`${on.publicUrl}/shared/${token}/worth.svg${query}`)
const statuses = async (token: string, on: TestNode) => [
  (await json(token, on)).status,
  (await page(token, on)).status,
  (await svg(token, on)).status,
]

test('a shared collection as JSON: items, worth and completion', async () => {
  const id = await makeCollection(here, here.accounts.plus, 'My cards')
  await plus.add(id, { item_id: ids.char, quantity: 2 })
  await plus.add(id, { item_id: ids.mew })
  await plus.add(id, { item_id: ids.odd })
  const url = await share(id)
  expect(url).toBe(`${here.publicUrl}/shared/${tokenOf(url)}`)
  expect(tokenOf(url)).toMatch(/^[\w-]{32}$/)
  const { status, body, headers } = await json(tokenOf(url))
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(body.data).toMatchObject({
    name: 'My cards',
    description: '',
    items_count: 3,
    worth: {
      currencies: [
        { currency: 'TRY', value: 200.2 },
        { currency: 'USD', value: 3 },
      ],
      without_value: 1,
    },
    sets: [{ name: 'Base Set', owned: 3, of: 3, percent: 100 }],
  })
  expect(body.data.items.map(({ name, quantity, value }) => [name, quantity, value?.amount ?? null])).toEqual([
    ['Odd', 1, null],
    ['Mew & <b>Two</b>', 1, 3],
    ['Charizard', 2, 200.2],
  ])
  const second = await json(tokenOf(url), there, '?per_page=2&page=2')
  expect(second.body.data.items.map(({ name }) => name)).toEqual(['Charizard'])
  expect(second.body.pagination).toMatchObject({ total: 3, last_page: 2, has_more: false })
})

test('the page and the picture, in English and Turkish, with texts escaped', async () => {
  const id = await makeCollection(here, here.accounts.plus, 'Cards "of" <script>alert(1)</script> & more')
  await plus.add(id, { item_id: ids.mew })
  await plus.ask('PATCH', `/${id}`, { description: '<img src=x onerror=alert(1)>' })
  await recordWorth({ ...here.ctx, catalogue: here.catalogue, currencies: here.config.sourceCurrencies })
  const token = tokenOf(await share(id))
  const shown = await page(token)
  const html = await shown.text()
  expect(shown.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(shown.headers.get('referrer-policy')).toBe('no-referrer')
  expect(html).toContain('<h1>Cards &quot;of&quot; &lt;script&gt;alert(1)&lt;/script&gt; &amp; more</h1>')
  expect(html).not.toContain('<script')
  expect(html).not.toContain('<img src=x')
  expect(html).toContain('Mew &amp; &lt;b&gt;Two&lt;/b&gt;')
  expect(html).toContain('Completion by set')
  const turkish = await (await page(token, here, '', { 'accept-language': 'tr-TR,tr;q=0.9,en;q=0.5' })).text()
  expect(turkish).toContain('<html lang="tr">')
  expect(turkish).toContain('Setlere göre tamamlanma')
  const picture = await svg(token, there, '?lang=tr')
  const drawn = await picture.text()
  expect(picture.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8')
  expect(drawn).not.toContain('<script')
  expect(drawn).toContain('&lt;script&gt;')
  expect(drawn).toContain('<path class="line"')
})

test('search engines may list a public collection only', async () => {
  const id = await makeCollection(here, here.accounts.plus)
  const token = tokenOf(await share(id))
  const indexed = async () => {
    const shown = await page(token)
    return [shown.headers.get('x-robots-tag'), (await shown.text()).includes('noindex')]
  }
  expect(await indexed()).toEqual(['noindex', true])
  expect(tokenOf(await share(id, 'public'))).toBe(token)
  expect(await indexed()).toEqual([null, false])
})

describe('the end of a link', () => {
  test('private revokes it at once on every node, and sharing again makes another one', async () => {
    const id = await makeCollection(here, here.accounts.plus)
    const first = tokenOf(await share(id))
    expect([await statuses(first, here), await statuses(first, there)]).toEqual([
      [200, 200, 200],
      [200, 200, 200],
    ])
    const { body } = await plus.ask<Own>('PATCH', `/${id}`, { visibility: 'private' })
    expect(body.data.shared_url).toBe(null)
    expect([await statuses(first, there), await statuses(first, here)]).toEqual([
      [404, 404, 404],
      [404, 404, 404],
    ])
    const second = tokenOf(await share(id))
    expect(second).not.toBe(first)
    expect([await statuses(first, there), await statuses(second, there)]).toEqual([
      [404, 404, 404],
      [200, 200, 200],
    ])
    expect((await plus.ask<Own>('GET', `/${id}`)).body.data.shared_url).toBe(`${here.publicUrl}/shared/${second}`)
  })

  test('also while the account is suspended', async () => {
    const id = await makeCollection(here, here.accounts.plus)
    const token = tokenOf(await share(id))
    const suspend = (suspended: boolean) => operator(here, 'PATCH', `/accounts/${here.accounts.plus}`, { suspended })
    expect((await suspend(true)).status).toBe(200)
    expect(await statuses(token, there)).toEqual([404, 404, 404])
    await suspend(false)
    expect(await statuses(token, there)).toEqual([200, 200, 200])
  })

  test('also if the operator makes it private or deletes it', async () => {
    const id = await makeCollection(here, here.accounts.plus)
    const first = tokenOf(await share(id))
    await operator(here, 'PATCH', `/collections/${id}`, { visibility: 'private' })
    expect(await statuses(first, there)).toEqual([404, 404, 404])
    const second = tokenOf(await share(id))
    await operator(here, 'DELETE', `/collections/${id}`)
    expect(await statuses(second, there)).toEqual([404, 404, 404])
  })

  test('unknown, revoked and malformed links get the same answer', async () => {
    const id = await makeCollection(here, here.accounts.plus)
    const revoked = tokenOf(await share(id))
    await plus.ask('PATCH', `/${id}`, { visibility: 'private' })
    const unknown = Buffer.alloc(24, 7).toString('base64url')
    const answers = await Promise.all(
      [revoked, unknown, 'x', `${revoked}x`, encodeURIComponent("' or 1=1 --"), '%00', String(id)].map(async (token) => {
        const { status, body, headers } = await json(token)
        return JSON.stringify([
          status,
          body,
          headers.get('cache-control'),
          (await page(token)).status,
          await (await page(token)).text(),
          (await svg(token)).status,
        ])
      }),
    )
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toContain('no-store')
  })
})

test('no cost, note, code, date or account leaks, not even that there are costs', async () => {
  const account = here.accounts.plus
  const before = await here.db.kysely.selectFrom('accounts').selectAll().where('id', '=', account).executeTakeFirstOrThrow()
  const marks = { note: 'MARKNOTE', card_uniq_id: 'MARKCODE', purchase_price: 77771.31, sale_price: 66661.41, purchase_date: '2011-03-09' }
  const id = await makeCollection(here, account, 'Open')
  const added = await plus.add(id, { item_id: ids.char, quantity: 3, ...marks })
  expect(added.status).toBe(201)
  // Costs in a currency in which nothing has a value must not appear as a worth either.
  await plus.add(id, { item_id: ids.odd, ...marks })
  await operator(here, 'PATCH', `/accounts/${account}`, { name: 'MARKOWNER' })
  await recordWorth({ ...here.ctx, catalogue: here.catalogue, currencies: here.config.sourceCurrencies })
  const token = tokenOf(await share(id, 'public'))
  const { body } = await json(token)
  const texts = [JSON.stringify(body), await (await page(token)).text(), await (await svg(token)).text()]
  const secrets = ['MARK', '77771', '77,771', '77.771', '66661', '66662', '233313', '233,313', '311085', '2011', before.name]
  for (const secret of secrets) for (const text of texts) expect(text.includes(secret) ? secret : null).toBe(null)
  // Every field that anyone sees, by name: a new field of a record, lot or account does not get out unnoticed.
  const shown = {
    '': ['success', 'data', 'pagination'],
    'data.': ['name', 'description', 'visibility', 'items_count', 'worth', 'sets', 'items'],
    'data.worth.': ['currencies', 'without_value'],
    'data.worth.currencies.': ['currency', 'value'],
    'data.sets.': ['name', 'slug', 'game', 'image', 'owned', 'of', 'percent'],
    'data.items.': ['name', 'slug', 'label', 'quantity', 'picture', 'value'],
    'data.items.value.': ['currency', 'price', 'amount'],
    'pagination.': ['current_page', 'per_page', 'total', 'last_page', 'has_more'],
  }
  const allowed = Object.entries(shown).flatMap(([path, fields]) => fields.map((field) => path + field))
  expect(fieldsOf(body)).toEqual(allowed.sort())
  await operator(here, 'PATCH', `/accounts/${account}`, { name: before.name })
  // In a collection with costs in lira and values in dollars only, nothing is in lira.
  const dollars = await makeCollection(here, account, 'Dollars')
  await plus.add(dollars, { item_id: ids.mew, ...marks })
  await recordWorth({ ...here.ctx, catalogue: here.catalogue, currencies: here.config.sourceCurrencies })
  const other = tokenOf(await share(dollars))
  for (const text of [JSON.stringify((await json(other)).body), await (await page(other)).text(), await (await svg(other)).text()]) {
    // The random token may contain these letters.
    expect(text.replaceAll(other, '')).not.toMatch(/\b(TRY|TL)\b|₺/)
  }
})

function fieldsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((entry) => fieldsOf(entry, path)))].sort()
  if (typeof value !== 'object' || value === null) return []
  const names = Object.entries(value).flatMap(([name, inner]) => [path + name, ...fieldsOf(inner, `${path}${name}.`)])
  return [...new Set(names)].sort()
}

describe('who may share', () => {
  test('not with a read-only key, a lower plan or for another account', async () => {
    const id = await makeCollection(here, here.accounts.plus)
    const { key } = await call(createKey, here.ctx, { account_id: here.accounts.plus, read_only: true })
    const patch = (with_: string) => collector(here, with_).ask('PATCH', `/${id}`, { visibility: 'public' })
    expect((await patch(key)).body.error?.code).toBe('READ_ONLY_KEY')
    expect((await patch(here.keys.professional)).body.error?.code).toBe('PLAN_UPGRADE_REQUIRED')
    expect((await patch(here.keys.enterprise)).body.error?.code).toBe('PLUS_COLLECTION_ERROR')
    expect((await collector(here, here.keys.enterprise).ask('GET', `/${id}`)).body.error?.code).toBe('PLUS_COLLECTION_ERROR')
    expect((await plus.ask<Own>('GET', `/${id}`)).body.data).toMatchObject({ visibility: 'private', shared_url: null })
  })

  test('a change that fails or is rehearsed shares nothing', async () => {
    const id = await makeCollection(here, here.accounts.plus)
    for (const body of [{}, { visibility: 'everyone' }, { name: '' }, { name: 'x', account_id: 1 }, { description: 5 }]) {
      expect([body, (await plus.ask('PATCH', `/${id}`, body)).status]).toEqual([body, 422])
    }
    expect((await plus.ask('PATCH', `/${id}?dry_run=1`, { visibility: 'public' })).status).toBe(200)
    expect((await plus.ask<Own>('GET', `/${id}`)).body.data).toMatchObject({ visibility: 'private', shared_url: null })
  })

  test('a name and a description are changed, also over GraphQL', async () => {
    const id = await makeCollection(here, here.accounts.plus)
    expect((await plus.ask<Own>('PATCH', `/${id}`, { name: ' Gems ', description: 'Old ones' })).body.data).toMatchObject({
      name: 'Gems',
      description: 'Old ones',
      shared_url: null,
    })
    const query = `mutation { updateCollection(collectionId: ${id}, input: { visibility: "unlisted" }) { name visibility sharedUrl } }`
    const { body } = await send<{ updateCollection: { sharedUrl: string } }>(`${here.publicUrl}/graphql`, here.keys.plus, { json: { query } })
    expect(await statuses(tokenOf(body.data.updateCollection.sharedUrl), there)).toEqual([200, 200, 200])
    const read = await send<{ collection: object }>(`${here.publicUrl}/graphql`, here.keys.plus, {
      json: { query: `{ collection(collectionId: ${id}) { name description sharedUrl } }` },
    })
    expect(read.body.data.collection).toEqual({ name: 'Gems', description: 'Old ones', sharedUrl: body.data.updateCollection.sharedUrl })
  })

  test('two nodes that share and revoke at once end with one state', async () => {
    const id = await makeCollection(here, here.accounts.plus)
    const other = collector(there, here.keys.plus)
    const changes = Array.from({ length: 12 }, (_, i) =>
      (i % 2 === 0 ? plus : other).ask<Own>('PATCH', `/${id}`, { visibility: i % 3 === 0 ? 'private' : 'unlisted' }),
    )
    const urls = (await Promise.all(changes)).map(({ body }) => body.data.shared_url)
    const { shared_url: last } = (await plus.ask<Own>('GET', `/${id}`)).body.data
    for (const url of new Set(urls)) {
      if (url === null) continue
      const token = tokenOf(url)
      expect(await statuses(token, here)).toEqual(last !== null && tokenOf(last) === token ? [200, 200, 200] : [404, 404, 404])
    }
  })
})

test('never fails on generated input', async () => {
  const id = await makeCollection(here, here.accounts.plus)
  const token = tokenOf(await share(id))
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(token, '..', '1e9', '-1', '9007199254740993', '\u202e'))
  await fc.assert(
    fc.asyncProperty(text, text, text, async (path, number, lang) => {
      here.clock.advance(60_000)
      const query = new URLSearchParams({ page: number, per_page: number, lang }).toString()
      for (const to of [
        `/api/v1/shared/${encodeURIComponent(path)}`,
        `/shared/${encodeURIComponent(path)}`,
        `/shared/${encodeURIComponent(path)}/worth.svg`,
      ]) {
        expect((await fetch(`${here.publicUrl}${to}?${query}`)).status).toBeLessThan(500)
      }
    }),
    { numRuns: runs(60) },
  )
})

test('one address may ask only so often, and other methods are refused', async () => {
  here.clock.stop()
  here.clock.advance(60_000)
  const token = tokenOf(await share(await makeCollection(here, here.accounts.plus)))
  const all: number[] = []
  for (let i = 0; i < 125; i += 1) all.push((await json(token)).status)
  expect(all.slice(0, 120)).toEqual(Array.from({ length: 120 }, () => 200))
  expect(all.slice(120)).toEqual(Array.from({ length: 5 }, () => 429))
  const limited = await json(token)
  expect([limited.body.error?.code, limited.headers.get('retry-after')]).toEqual(['RATE_LIMITED', '60'])
  here.clock.advance(60_000)
  expect((await json(token)).status).toBe(200)
  expect((await send(`${here.publicUrl}/api/v1/shared/${token}`, null, { method: 'DELETE' })).status).toBe(405)
  here.clock.go()
})
