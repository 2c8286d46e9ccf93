// What anyone with the link of a shared collection must not see: every field that a request can set on an account, collection, record, lot,
// disposal, watch or certificate gets a mark of its own, and no answer without a key contains one.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recordWorth } from '#collections/record-worth.ts'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode } from '../support/node.ts'
import { resolved } from '../support/openapi.ts'
import { makeCollection, makeItems } from './kit.ts'

interface Schema {
  type?: string | string[]
  enum?: unknown[]
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
}
interface Document {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>
}

/** Values of fields that can have no mark of their own: ids, choices, numbers with a meaning. `undefined`: not sent. */
type Fixed = Record<string, unknown>

let node: TestNode
let documents: Record<'public' | 'operator', Document>
let ids: Record<string, number>
/** Where each mark was planted, by its text: letters, or digits. */
const marks = new Map<string, string>()
/** All planted fields, in order. */
const fields = new Set<string>()

beforeAll(async () => {
  node = await startTestNode()
  ids = await makeItems(node, [{ ref: 'char', name: 'Charizard', code: '4/102', prices: [['service', 'Near Mint', '100.10']] }])
  const documentAt = async (url: string) => resolved((await (await fetch(url)).json()) as Document)
  documents = {
    public: await documentAt(`${node.publicUrl}/openapi.json`),
    operator: await documentAt(`${node.operatorUrl}/operator/openapi.json`),
  }
})

afterAll(() => node.close())

function mark(field: string, text: string): string {
  marks.set(text, field)
  return text
}

/** A value of the schema with a mark in each field that has no fixed value. */
function planted(schema: Schema, field: string, fixed: Fixed): unknown {
  if (field in fixed) return fixed[field]
  const { anyOf, properties, items, enum: values, format, pattern, maximum, maxLength = 40 } = schema
  if (anyOf) return planted(anyOf.find(({ type }) => type !== 'null' && type !== 'array')!, field, fixed)
  if (properties) {
    const entries = Object.entries(properties).map(
      ([name, inner]) => [name, planted(inner, field === '' ? name : `${field}.${name}`, fixed)] as const,
    )
    return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
  }
  if (items) return [planted(items, field, fixed)]
  const n = fields.size
  fields.add(`${n} ${field}`)
  const type = [schema.type].flat().find((one) => one !== 'null')
  if (values || type === 'boolean') throw new Error(`${field} is a choice: give it a fixed value`)
  if (format === 'date') {
    const year = String(1971 + n)
    return `${mark(field, year)}-03-09`
  }
  if (type === 'string') {
    const text = `QZ${n}LEAK`
    if (pattern && !new RegExp(pattern, 'u').test(text)) throw new Error(`${field} takes no mark: give it a fixed value`)
    return mark(field, text.slice(0, maxLength))
  }
  if ((maximum ?? Infinity) < 100_000) {
    const small = 811.75 + n
    mark(field, String(small))
    return small
  }
  // Amounts are written with separators or rounded: their whole part is searched for, and the next number.
  const whole = 731_000 + 10 * n
  mark(field, String(whole))
  mark(`${field}, rounded`, String(whole + 1))
  return type === 'integer' ? whole : whole + 0.75
}

/** Sends a request whose body is planted. */
async function plant(on: 'public' | 'operator', method: string, template: string, path: string, fixed: Fixed): Promise<Record<string, unknown>> {
  const { schema } = documents[on].paths[template]![method.toLowerCase()]!.requestBody!.content['application/json']!
  const json = planted(schema, '', fixed)
  const [url, key] = on === 'public' ? [node.publicUrl, node.keys.plus] : [node.operatorUrl, OPERATOR_TOKEN]
  const { status, body } = await send<Record<string, unknown>>(url + path, key, { method, json })
  expect([method, path, json, status < 300, body.error]).toEqual([method, path, json, true, undefined])
  return body.data
}

const RECORDS = '/api/v1/plus/collections/{id}/items'
const account = () => node.accounts.plus

async function plantAll(): Promise<string> {
  await plant('operator', 'PATCH', '/operator/v1/accounts/{id}', `/operator/v1/accounts/${account()}`, {
    plan: 'plus',
    suspended: undefined,
  })
  // Name, description and visibility are what the owner shows.
  const id = await makeCollection(node, account(), 'Shown')
  const collection = `/api/v1/plus/collections/${id}`
  const shown = { name: 'Shown', description: 'Shown too', visibility: 'public', method: 'average' }
  const { shared_url: url } = await plant('public', 'PATCH', '/api/v1/plus/collections/{id}', collection, shown)
  const record = { item_id: ids.char, item_group_type_id: 4, quantity: 1, for_trade: 1, 'certificate.grader': 'PSA' }
  await plant('public', 'POST', RECORDS, `${collection}/items`, record)
  const several = { ...record, quantity: 9, for_trade: 7, certificate: undefined }
  const { id: recordId } = await plant('public', 'POST', RECORDS, `${collection}/items`, several)
  const lots = `${collection}/items/${String(recordId)}`
  const dated = { quantity: 2, currency: 'TRY' }
  await plant('public', 'POST', `${RECORDS}/{itemId}/lots`, `${lots}/lots`, { ...dated, source: 'traded' })
  await plant('public', 'POST', `${RECORDS}/{itemId}/disposals`, `${lots}/disposals`, dated)
  await plant('public', 'PATCH', `${RECORDS}/{itemId}`, lots, { ...several, quantity: undefined, for_trade: undefined })
  const noGoal = { collection_id: undefined, category_id: undefined, goal: undefined }
  const watched = { kind: 'offer_below', item_id: ids.char, label: undefined, language: 'de', currency: 'TRY', ...noGoal }
  const putWatches = documents.public.paths['/api/v1/plus/watches']!.put!.requestBody!.content['application/json']!.schema
  const watch = planted(putWatches, '', watched)
  expect((await send(`${node.publicUrl}/api/v1/plus/watches`, node.keys.plus, { method: 'PUT', json: watch })).body.error).toBe(undefined)
  const rows = [
    {
      grader: 'PSA',
      cert: mark('file: cert', '88880001'),
      grade: mark('file: grade', 'QZ98LEAK'),
      item_id: ids.char,
      qualifier: mark('file: qualifier', 'QZ99LEAK'),
    },
  ]
  const loaded = await send(`${node.operatorUrl}/operator/v1/certificates`, OPERATOR_TOKEN, { json: { rows } })
  expect(loaded.body.error).toBe(undefined)
  await recordWorth({ ...node.ctx, catalogue: node.catalogue, currencies: node.config.sourceCurrencies })
  return String(url)
}

/** Headers that may contain the digits of a mark by chance. */
const RANDOM_HEADERS = ['x-request-id', 'etag', 'date', 'content-length']
const UUID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g

/** Whether the text contains the mark; digits only as a whole number. */
function contains(text: string, found: string): boolean {
  for (let at = text.indexOf(found); at >= 0; at = text.indexOf(found, at + 1)) {
    if (/\D/.test(found) || !/\w/.test(`${text[at - 1] ?? ''}${text[at + found.length] ?? ''}`)) return true
  }
  return false
}

test('no answer without a key contains a mark, whatever the field, the form or the query', async () => {
  const before = await node.db.kysely.selectFrom('accounts').select('name').where('id', '=', account()).executeTakeFirstOrThrow()
  const token = (await plantAll()).split('/').at(-1)!
  expect(marks.size).toBeGreaterThan(30)
  // The marks are where an owner reads them.
  const { body } = await send<{ id: number }[]>(`${node.publicUrl}/api/v1/plus/collections?with_value=1`, node.keys.plus)
  const own = await send(`${node.publicUrl}/api/v1/plus/collections/${body.data[0]!.id}/items?with_value=1`, node.keys.plus)
  const ownText = JSON.stringify(own.body)
  for (const field of ['note', 'purchase_price', 'purchase_date', 'card_uniq_id', 'certificate.cert', 'certificate.grade'])
    expect([field, [...marks].some(([text, of]) => of === field && ownText.includes(text))]).toEqual([field, true])

  const queries = ['', '?page=1&per_page=1', '?page=2&per_page=1', '?page=99', '?page=x', '?per_page=0', '?lang=tr', '?lang=en', '?with_value=1']
  const more = [
    '?fields=note',
    '?include=lots,disposals,account,certificate',
    '?query=note%3Aleak',
    '?search=QZ',
    '?sort_by=purchase_price',
    '?%00=1',
  ]
  const headers: Record<string, string>[] = [{}, { 'accept-language': 'tr' }, { accept: 'text/csv' }, { prefer: 'handling=strict' }]
  const paths = [
    `/api/v1/shared/${token}`,
    `/shared/${token}`,
    `/shared/${token}/worth.svg`,
    `/shared/${token}/items`,
    `/api/v1/shared/${token}/lots`,
  ]
  const methods = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS']
  const statuses = new Map<string, Set<number>>()
  const leaks = new Set<string>()
  for (const path of paths) {
    for (const query of [...queries, ...more]) {
      for (const of of headers) {
        for (const method of query === '' ? methods : ['GET']) {
          // One address may ask only so often.
          node.clock.advance(1_000)
          const response = await fetch(`${node.publicUrl}${path}${query}`, { method, headers: of })
          const sent = [...response.headers].filter(([name]) => !RANDOM_HEADERS.includes(name))
          const text = `${sent.flat().join('\n')}\n${(await response.text()).replaceAll(token, '').replaceAll(UUID, '')}`
          statuses.set(path, (statuses.get(path) ?? new Set()).add(response.status))
          // Digits without separators of thousands.
          const plain = text.replace(/(?<=\d)[.,\u00a0\u202f](?=\d{3})/g, '')
          for (const [found, field] of marks) if (contains(text, found) || contains(plain, found)) leaks.add(`${field} in ${method} ${path}${query}`)
          if (text.includes(before.name)) leaks.add(`the account in ${path}`)
        }
      }
    }
  }
  expect([...leaks].map((leak) => leak.replace(token, 'TOKEN'))).toEqual([])
  expect(paths.slice(0, 3).map((path) => [...statuses.get(path)!].includes(200))).toEqual([true, true, true])
  expect([...statuses.values()].every((seen) => ![...seen].some((status) => status >= 500 || status === 429))).toBe(true)
})

test("the JSON has exactly the documented fields, without a key and with anyone's", async () => {
  const id = await makeCollection(node, account())
  await send(`${node.publicUrl}/api/v1/plus/collections/${id}/items`, node.keys.plus, { json: { item_id: ids.char, quantity: 2 } })
  const shared = await send<{ shared_url: string }>(`${node.publicUrl}/api/v1/plus/collections/${id}`, node.keys.plus, {
    method: 'PATCH',
    json: { visibility: 'unlisted' },
  })
  const path = `/api/v1/shared/${shared.body.data.shared_url.split('/').at(-1)!}`
  const { schema } = (
    documents.public.paths['/api/v1/shared/{token}']!.get as unknown as { responses: Record<string, { content: Record<string, { schema: Schema }> }> }
  ).responses[200]!.content['application/json']!
  const documented = fieldsOfSchema(schema).filter((field) => !field.startsWith('warnings'))
  for (const key of [null, node.keys.plus, node.keys.starter, 'nobody']) {
    const { status, body } = await send<object>(node.publicUrl + path, key)
    expect(status).toBe(200)
    expect(fieldsOfValue(body)).toEqual(documented)
  }
  const misspelt = await send<object>(`${node.publicUrl}${path}?pge=2`, null)
  expect((misspelt.body as unknown as { warnings: object }).warnings).toEqual([{ parameter: 'pge', did_you_mean: 'page' }])
  expect((await send(`${node.publicUrl}${path}?pge=2`, null, { headers: { prefer: 'handling=strict' } })).status).toBe(422)
})

function fieldsOfSchema({ properties, items, anyOf }: Schema, at = ''): string[] {
  if (anyOf) return anyOf.flatMap((one) => fieldsOfSchema(one, at)).sort()
  if (items) return fieldsOfSchema(items, at)
  return Object.entries(properties ?? {})
    .flatMap(([name, inner]) => [at + name, ...fieldsOfSchema(inner, `${at}${name}.`)])
    .sort()
}

function fieldsOfValue(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((one) => fieldsOfValue(one, at)))].sort()
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value)
    .flatMap(([name, inner]) => [at + name, ...fieldsOfValue(inner, `${at}${name}.`)])
    .sort()
}

test('a caller without end is limited by address, also with invalid tokens, and the limit of one address is not that of another', async () => {
  const limited = await startTestNode({ databaseUrl: node.databaseUrl, env: { TRUST_PROXY: '1' }, listeners: 'public' })
  try {
    limited.clock.stop()
    const ask = (path: string, address: string) =>
      fetch(`${limited.publicUrl}${path}`, { headers: { 'x-forwarded-for': address } }).then(async (response) => {
        await response.arrayBuffer()
        return response.status
      })
    const unknown = Buffer.alloc(24, 7).toString('base64url')
    const paths = [`/api/v1/shared/${unknown}`, '/api/v1/shared/x', `/shared/${unknown}`, '/shared/x/worth.svg']
    const all: number[] = []
    for (let i = 0; i < 400; i += 1) all.push(await ask(paths[i % paths.length]!, '192.0.2.1'))
    expect(all.filter((status) => status === 404)).toHaveLength(120)
    expect(all.slice(120).every((status) => status === 429)).toBe(true)
    expect(await ask(paths[0]!, '192.0.2.2')).toBe(404)
    // Addresses of one IPv6 network count as one.
    for (let i = 0; i < 120; i += 1) await ask(paths[1]!, `2001:db8::${(i + 1).toString(16)}`)
    expect(await ask(paths[1]!, '2001:db8::ffff')).toBe(429)
    expect(await ask(paths[1]!, '2001:db8:0:1::1')).toBe(404)
  } finally {
    await limited.close()
  }
})
