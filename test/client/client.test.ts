// The TypeScript client against the running service: paging, retries, idempotency, webhook verification.
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Mintmark, MintmarkError, verifyWebhook } from '../../client/src/index.ts'
import { importFiles, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
let client: Mintmark

beforeAll(async () => {
  node = await startTestNode()
  const files = ['pokemon', 'onepiece'].map((name) => ({ name, text: readFileSync(`sample/${name}.ndjson`) }))
  await importFiles(node, 'mintmark-ndjson', files)
  client = new Mintmark({ apiKey: node.keys.plus, baseUrl: node.publicUrl! })
})

afterAll(() => node.close())

test('reads, searches and walks through all pages', async () => {
  const { data } = await client.get('/api/v1/items/search', { query: { q: 'charizard 4/102' } })
  expect(data[0]?.name).toBe('Charizard')
  const item = await client.get('/api/v1/items/{id}', { path: { id: data[0]!.id } })
  expect(item.data.code).toBe('4/102')
  const names: string[] = []
  for await (const each of client.all('/api/v1/items', { query: { game: 'onepiece' } })) names.push(each.name)
  const { pagination } = await client.get('/api/v1/items', { query: { game: 'onepiece' } })
  expect(names).toHaveLength(pagination.total)
  expect(names.length).toBeGreaterThan(100)
})

test('an error tells its code, the wrong fields and the request', async () => {
  const error = await client.get('/api/v1/items', { query: { per_page: 101 } }).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(MintmarkError)
  expect(error).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', details: [{ field: 'per_page' }] })
  expect((error as MintmarkError).requestId).toMatch(/\S/)
})

test('waits as told and tries again, with one idempotency key', async () => {
  const sent: (string | null)[] = []
  let refusals = 2
  const flaky: typeof fetch = (url, init) => {
    sent.push(new Headers(init?.headers).get('idempotency-key'))
    if (refusals === 0) return fetch(url, init)
    refusals -= 1
    return Promise.resolve(
      new Response('{"success":false,"error":{"code":"UNAVAILABLE","message":"later"}}', { status: 503, headers: { 'retry-after': '0.01' } }),
    )
  }
  const patient = new Mintmark({ apiKey: node.keys.plus, baseUrl: node.publicUrl!, fetch: flaky })
  await expect(patient.post('/api/v1/plus/make-highlight', { query: { id: 999_999 } })).rejects.toMatchObject({ code: 'PLUS_LISTING_ERROR' })
  expect(sent).toHaveLength(3)
  expect(new Set(sent).size).toBe(1)
  expect(sent[0]).toMatch(/^[0-9a-f-]{36}$/)
  refusals = 9
  await expect(patient.get('/api/v1/items')).rejects.toMatchObject({ status: 503, code: 'UNAVAILABLE' })
})

test('webhooks are verified over their raw body', async () => {
  const body = '{"event":"sale","sent_at":"2026-11-21T12:00:00+03:00","data":{}}'
  const signature = createHmac('sha256', 'secret').update(body).digest('hex')
  expect(await verifyWebhook(body, signature, 'secret')).toMatchObject({ event: 'sale' })
  expect(await verifyWebhook(`${body} `, signature, 'secret')).toBeNull()
  expect(await verifyWebhook(body, signature, 'other')).toBeNull()
  expect(await verifyWebhook(body, signature.toUpperCase(), 'secret')).toBeNull()
  expect(await verifyWebhook(body, null, 'secret')).toBeNull()
})
