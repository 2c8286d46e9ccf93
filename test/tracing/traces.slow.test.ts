// A trace from the caller's request through verb, statements and change log to the receiver of a webhook, by a real OpenTelemetry SDK.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endAll, freshDataDir, printedKeys, serve, type Service, stop } from '../program/service.ts'
import { until } from '../support/node.ts'
import { openReceiver } from '../webhooks/receiver.ts'

const SDK = fileURLToPath(new URL('write-spans.mjs', import.meta.url))
const OWN_SPAN = 'b7ad6b7169203331'

interface WrittenSpan {
  name: string
  traceId: string
  spanId: string
  parent: string | null
  attributes: Record<string, unknown>
  status: number
}

let service: Service
let dataDir: string
let keys: Record<string, string>

beforeAll(async () => {
  dataDir = freshDataDir()
  service = await serve({ DATA_DIR: dataDir, NODE_OPTIONS: `--import ${SDK}`, SPANS: spansFile() })
  keys = printedKeys(service.greeting)
})

afterAll(endAll)

const spansFile = () => join(dirname(dataDir), 'spans')

function spansOf(traceId: string): WrittenSpan[] {
  if (!existsSync(spansFile())) return []
  const lines = readFileSync(spansFile(), 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as WrittenSpan).filter((span) => span.traceId === traceId)
}

async function send(method: string, url: string, credential: string, traceId: string, body?: object) {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${credential}`,
      traceparent: `00-${traceId}-${OWN_SPAN}-01`,
      ...(body && { 'content-type': 'application/json' }),
    },
    body: body && JSON.stringify(body),
  })
  return { status: response.status, requestId: response.headers.get('x-request-id'), body: (await response.json()) as { data: never } }
}

test('a sale is one trace: request, verb, statements, applied changes, and the attempt that the receiver gets as parent', async () => {
  const receiver = await openReceiver()
  const [api, operator] = [`${service.publicUrl}/api/v1`, `${service.operatorUrl}/operator/v1`]
  const plus = keys['Plus key']!
  await send('PUT', `${api}/plus/webhook`, plus, 'a'.repeat(32), { url: receiver.url, on_sale: true })
  const own = await send('GET', `${api}/plus/my-listings?status=active`, plus, 'b'.repeat(32))
  const [{ id }] = own.body.data as [{ id: number }]

  const traceId = 'c'.repeat(32)
  const order = { order_id: 987_654, lines: [{ listing_id: id, quantity: 1 }] }
  const sold = await send('POST', `${operator}/orders`, keys['Operator token']!, traceId, order)
  expect(sold.status).toBe(201)
  await until('the webhook has arrived', () => receiver.received.length > 0)
  await until('its span has ended', () => spansOf(traceId).some(({ name }) => name === 'webhook attempt'))

  const spans = spansOf(traceId)
  const one = (name: string) => spans.find((span) => span.name === name)!
  const request = one('POST /operator/v1/orders')
  expect(request).toMatchObject({
    parent: OWN_SPAN,
    attributes: { 'http.route': '/operator/v1/orders', 'http.response.status_code': 201, 'mintmark.request_id': sold.requestId },
  })
  const verb = one('recordOrder')
  expect(verb.parent).toBe(request.spanId)
  const statements = spans.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql')
  expect(statements.map(({ name }) => name)).toContain('with')
  expect(statements.some(({ parent }) => parent === verb.spanId)).toBe(true)
  // The statements in a trace have placeholders, no values.
  expect(JSON.stringify(statements)).not.toContain('987654')
  expect(one('apply changes')).toBeDefined()
  expect(receiver.received[0]!.headers.traceparent).toBe(`00-${traceId}-${one('webhook attempt').spanId}-01`)
  await receiver.close()
})

test('frequent reads, refusals and errors have spans named after their routes, without query strings', async () => {
  const api = `${service.publicUrl}/api/v1`
  const traceId = 'd'.repeat(32)
  await send('GET', `${api}/items?search=charizard-secret`, keys['Plus key']!, traceId)
  await send('GET', `${api}/items/999999999`, keys['Plus key']!, traceId)
  await send('GET', `${api}/items/x`, 'mintmark_wrong', traceId)
  await until('three spans have ended', () => spansOf(traceId).filter(({ parent }) => parent === OWN_SPAN).length === 3)
  const requests = spansOf(traceId).filter(({ parent }) => parent === OWN_SPAN)
  expect(requests.map(({ name, attributes }) => [name, attributes['http.response.status_code']])).toEqual([
    ['GET /api/v1/items', 200],
    ['GET /api/v1/items/:id', 404],
    ['GET /api/v1/items/:id', 401],
  ])
  expect(JSON.stringify(spansOf(traceId))).not.toContain('secret')
})

test("PostgreSQL's activity names the trace of a statement", async () => {
  const traceId = 'e'.repeat(32)
  await send('GET', `${service.publicUrl}/api/v1/plus/collections`, keys['Plus key']!, traceId)
  const { url } = JSON.parse(readFileSync(join(dataDir, 'postgres-connection.json'), 'utf8')) as { url: string }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(
    `select query from pg_stat_activity where query like '%traceparent=''00-${'e'.repeat(32)}-%' and pid <> pg_backend_pid()`,
  )
  await client.end()
  expect(rows.length).toBeGreaterThan(0)
})

test('malformed trace headers are ignored', async () => {
  for (const traceparent of ['00', 'x'.repeat(5_000), `00-${'0'.repeat(32)}-${OWN_SPAN}-01`, "00-' or 1=1--*/-x-01"]) {
    const response = await fetch(`${service.publicUrl}/api/v1/items/1`, { headers: { authorization: `Bearer ${keys['Plus key']!}`, traceparent } })
    expect(response.status).toBe(200)
  }
  await stop(service)
})
