// The reference shows what the service does: every example is sent to a demo again, in order, and gets the documented
// response; every error that an operation names has an example. RECORD_EXAMPLES=1 records the responses again.
import { createHmac } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { buildSchema, parse, validate } from 'graphql'
import { Compile } from 'typebox/compile'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Example, EXAMPLES, sentBody } from '#http/openapi/examples.ts'
import { apiDescription, TAGS } from '#rest/description.ts'
import { type DemoNode, startDemoNode } from '../support/demo.ts'
import { resolved } from '../support/openapi.ts'

interface Media {
  schema?: object
  example?: unknown
  examples?: Record<string, { value: { error: { code: string } } }>
}

interface Document {
  paths: Record<
    string,
    Record<
      string,
      {
        'x-error-codes': string[]
        description?: string
        requestBody?: { content: Record<string, Media> }
        responses: Record<string, { content?: Record<string, Media> }>
      }
    >
  >
  webhooks?: object
}

const DOCUMENTS = ['/openapi.json', '/operator/openapi.json'] as const
const RECORDS = process.env.RECORD_EXAMPLES === '1'
let node: DemoNode

beforeAll(async () => {
  node = await startDemoNode()
})

afterAll(() => node?.close())

const urlOf = (address: string) => (address.startsWith('/operator') ? node.operatorUrl! : node.publicUrl!) + address
const document = async (path: string) => resolved((await (await fetch(urlOf(path))).json()) as Document)

/** Placeholders for keys, tokens and webhook secrets in responses. */
const SECRET = /\b(?:mintmark|mintop|mintses|mintlink)_[0-9A-Za-z]{49}\b|"secret":"/

interface Answered {
  status: number
  answer: unknown
  exposed: boolean
}

async function ask(example: Example, more: Record<string, string>): Promise<Answered> {
  const { request, text, headers, as } = example
  const [method = '', address = ''] = request.split(' ')
  const credential = as === 'starter' ? node.access.keys.starter : address.startsWith('/operator') ? node.access.operatorToken : node.access.keys.plus
  const sent = sentBody(example)
  const type = text !== undefined && address.includes('/import') ? 'application/octet-stream' : 'application/json'
  const response = await fetch(urlOf(address), {
    method,
    headers: {
      ...(as !== 'nobody' && { authorization: `Bearer ${credential}` }),
      ...(sent !== undefined && { 'content-type': type }),
      ...headers,
      ...more,
    },
    ...(sent !== undefined && { body: sent }),
  })
  const answered = await response.text()
  const exposed = SECRET.test(answered) && response.headers.get('cache-control') !== 'no-store'
  return { status: response.status, exposed, answer: response.headers.get('content-type')?.includes('json') ? JSON.parse(answered) : answered }
}

/** Repeats the request until the data that the example needs is there. */
async function answerOf(example: Example, more: Record<string, string>): Promise<Answered> {
  const ends = Date.now() + 120_000
  if (example.request.includes('/usage')) await node.runTask('api-key-uses')
  for (;;) {
    const found = await ask(example, more)
    const data = (found.answer as { data?: unknown[] }).data
    const there = example.until === 'data' ? (data?.length ?? 0) > 0 : example.until === undefined || found.status === example.status
    if (there || Date.now() > ends) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const MASKED: Record<string, string> = {
  key: `mintmark_${'x'.repeat(49)}`,
  token: `mintop_${'x'.repeat(49)}`,
  link_path: `/console/join#link=mintlink_${'x'.repeat(49)}&name=Bar%C4%B1%C5%9F`,
  secret: 'q3JxZr8sVt0YbKcW5nLhTgDfPaRmUe7iXo1Bv9yCzN2wHkSj',
  // A folder on this machine.
  place: '/var/lib/mintmark/dumps',
}

/** The value with lists cut to two entries, and with secrets, folders and the port of this run replaced. */
function shortened(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return (name === 'details' ? value : value.slice(0, 2)).map((one) => shortened(one))
  // The first lines of a file.
  if (typeof value === 'string' && name === '') return value.split('\n').slice(0, 4).join('\n')
  if (typeof value === 'string') return MASKED[name] ?? value.replace(node.publicUrl!, 'http://127.0.0.1:8080')
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner, key)]))
}

/** Differences of two responses in anything but their values; null matches anything, because it stands for a value that may be null. */
function differences(documented: unknown, answered: unknown, at = ''): string[] {
  if (documented === null || answered === null) return []
  if (Array.isArray(documented) && Array.isArray(answered)) {
    return documented.length > 0 && answered.length > 0 ? differences(documented[0], answered[0], `${at}[0]`) : []
  }
  if (typeof documented !== typeof answered) return [`${at} is a ${typeof answered}`]
  if (typeof documented !== 'object') return []
  const keys = [...new Set([...Object.keys(documented), ...Object.keys(answered as object)])]
  return keys.flatMap((key) => {
    if (!(key in documented)) return [`${at}.${key} is not documented`]
    if (!(key in (answered as object))) return [`${at}.${key} is not answered`]
    return differences((documented as Record<string, unknown>)[key], (answered as Record<string, unknown>)[key], `${at}.${key}`)
  })
}

/** Whether the example is a write of the operator API that succeeds. A backtest is a read with a body. */
function isOperatorWrite({ request, status }: Example): boolean {
  const [method, address = ''] = request.split(' ')
  return address.startsWith('/operator') && method !== 'GET' && !address.endsWith('/backtest') && status < 300
}

/** Sends a write again with its key, and another one with the same key. @returns what is wrong */
async function repeated(example: Example, first: Answered, key: string): Promise<string[]> {
  const id = `repeat-of-${key}`
  const more = { 'idempotency-key': key, 'x-request-id': id }
  const again = await ask(example, more)
  const other = await ask({ ...example, request: `${example.request}${example.request.includes('?') ? '&' : '?'}surely=other` }, more)
  const audited = await node.db.kysely.selectFrom('audit_log').select('action').where('request_id', '=', id).execute()
  const { error } = other.answer as { error?: { code: string } }
  return [
    ...(isDeepStrictEqual([again.status, again.answer], [first.status, first.answer]) ? [] : [`repeated answers ${JSON.stringify(again)}`]),
    ...(error?.code === 'IDEMPOTENCY_CONFLICT' ? [] : [`another request with its key answers ${JSON.stringify(other)}`]),
    ...audited.map(({ action }) => `repeated leaves an audit row of ${action}`),
  ]
}

test('every example gets its documented response; writes of operators are repeated without effect', { tags: 'slow', timeout: 600_000 }, async () => {
  const found: string[] = []
  let repeatedWrites = 0
  const recorded: Example[] = []
  for (const [i, example] of EXAMPLES.entries()) {
    if (example.unsent) {
      recorded.push(example)
      continue
    }
    const isRepeated = isOperatorWrite(example)
    const key = example.headers?.['idempotency-key'] ?? `example-${i}`
    const answered = await answerOf(example, isRepeated ? { 'idempotency-key': key } : {})
    const { status, answer, exposed } = answered
    recorded.push({ ...example, status, answer: status < 400 ? shortened(answer) : answer })
    const told = `${example.request} (${example.status})`
    if (exposed) found.push(`${told} holds a secret and may be stored by caches`)
    if (status !== example.status) found.push(`${told} answers ${status} ${JSON.stringify(answer)}`)
    else if (status < 400) found.push(...differences(example.answer, answer).map((what) => `${told}: ${what}`))
    else if (JSON.stringify(answer) !== JSON.stringify(example.answer)) found.push(`${told} says ${JSON.stringify(answer)}`)
    if (!isRepeated || status !== example.status) continue
    repeatedWrites += 1
    found.push(...(await repeated(example, answered, key)).map((what) => `${told}: ${what}`))
  }
  expect(repeatedWrites).toBeGreaterThan(50)
  if (RECORDS) writeFileSync('src/http/openapi/examples.json', `[\n${recorded.map((one) => `  ${JSON.stringify(one)}`).join(',\n')}\n]\n`)
  expect(found).toEqual([])
})

describe.each(DOCUMENTS)('%s', (path) => {
  /** Codes whose examples do not depend on the operation. */
  const SHARED = [
    'UNAUTHENTICATED',
    'RATE_LIMITED',
    'INVALID_JSON',
    'IDEMPOTENCY_CONFLICT',
    'PRECONDITION_FAILED',
    'PAYLOAD_TOO_LARGE',
    'UNSUPPORTED_MEDIA_TYPE',
    'PLAN_UPGRADE_REQUIRED',
    'READ_ONLY_KEY',
    // For operators it names roles, whatever the operation.
    ...(path.startsWith('/operator') ? ['FORBIDDEN'] : []),
  ]

  test('has a request and a response for every operation, and each of its errors', async () => {
    const { paths } = await document(path)
    const missing: string[] = []
    for (const [template, operations] of Object.entries(paths)) {
      for (const [method, { 'x-error-codes': codes, description = '', requestBody, responses }] of Object.entries(operations)) {
        const name = `${method} ${template}`
        const shown: string[] = []
        if (!description.includes('curl ')) missing.push(`${name}: curl`)
        const successes = Object.entries(responses).filter(([status, { content }]) => Number(status) < 400 && content)
        const isShown = successes.some(([, { content = {} }]) => Object.values(content).some(({ example }) => example !== undefined))
        if (successes.length > 0 && !isShown) missing.push(`${name}: answer`)
        for (const [status, { content = {} }] of Object.entries(responses)) {
          for (const { schema, example, examples = {} } of Object.values(content)) {
            if (Number(status) < 400) {
              if (example !== undefined && schema)
                for (const error of Compile(schema).Errors(example)) missing.push(`${name}: ${error.instancePath} ${error.message}`)
              continue
            }
            shown.push(...Object.keys(examples))
            for (const { value } of Object.values(examples))
              expect([name, value.error.code, Compile(schema!).Check(value)]).toEqual([name, value.error.code, true])
          }
        }
        missing.push(...codes.filter((code) => !shown.includes(code)).map((code) => `${name}: ${code}`))
        for (const { schema, example } of Object.values(requestBody?.content ?? {})) {
          if (example !== undefined && typeof example !== 'string' && schema) expect([name, Compile(schema).Check(example)]).toEqual([name, true])
        }
      }
    }
    expect(missing).toEqual([])
  })

  test('errors specific to an operation are documented there', async () => {
    const { paths } = await document(path)
    const borrowed: string[] = []
    const requests = EXAMPLES.map(({ request, answer }) => ({
      request: request.split('?')[0]!,
      code: (answer as { error?: { code: string } }).error?.code,
    }))
    for (const [template, operations] of Object.entries(paths)) {
      for (const [method, { responses }] of Object.entries(operations)) {
        const pattern = new RegExp(`^${method.toUpperCase()} ${template.replace(/\{\w+\}/g, '[^/]+')}$`)
        const own = requests.filter(({ request }) => pattern.test(request)).map(({ code }) => code)
        const named = Object.values(responses).flatMap(({ content }) => Object.keys(content?.['application/json']?.examples ?? {}))
        borrowed.push(...named.filter((code) => !SHARED.includes(code) && !own.includes(code)).map((code) => `${method} ${template}: ${code}`))
      }
    }
    expect(borrowed).toEqual([])
  })
})

test('times under /plus are local times with their offset', () => {
  const utc: string[] = []
  const walk = (value: unknown, at: string): void => {
    if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) utc.push(`${at}: ${value}`)
    if (typeof value === 'object' && value !== null) for (const [key, inner] of Object.entries(value)) walk(inner, `${at}.${key}`)
  }
  const own = EXAMPLES.filter(({ request, status }) => request.includes(' /api/v1/plus/') && status < 300)
  expect(own.length).toBeGreaterThan(50)
  for (const { request, answer } of own) walk((answer as { data?: unknown }).data, request)
  expect(utc).toEqual([])
})

test('uploads are files, not JSON', async () => {
  const { paths } = await document('/operator/openapi.json')
  for (const path of ['/operator/v1/imports/{id_or_format}', '/operator/v1/collections/{id}/import/{format}']) {
    expect(Object.keys(paths[path]!.post!.requestBody!.content)).toEqual(['application/octet-stream'])
  }
})

test('both pages exist, and webhook requests are documented', async () => {
  for (const url of [node.publicUrl!, node.operatorUrl!]) expect((await fetch(`${url}/docs`)).status).toBe(200)
  expect(Object.keys((await document('/openapi.json')).webhooks!)).toEqual(['sale', 'expire'])
})

test('its GraphQL matches the schema', () => {
  const description = apiDescription('http://127.0.0.1:8080')
  const schema = buildSchema(readFileSync('docs/schema.graphql', 'utf8'))
  const inCurl = [...description.matchAll(/-d '(\{.*\})'/g)].map((match) => (JSON.parse(match[1]!) as { query: string }).query)
  const blocks = [...description.matchAll(/```graphql\n([^`]+)```/g)].map((match) => match[1]!)
  expect(inCurl.length + blocks.length).toBe(2)
  for (const text of [...inCurl, ...blocks]) expect([text, validate(schema, parse(text))]).toEqual([text, []])
})

test('its verification code accepts signed notifications, and nothing else', async () => {
  const code = /```ts\n([^`]+)```/.exec(TAGS.find(({ name }) => name === 'Webhook')!.description)![1]!
  const file = join(node.dataDir, 'verification.ts')
  writeFileSync(file, code)
  const { isGenuine } = (await import(file)) as { isGenuine: (raw: Buffer, signature: string, secret: string) => boolean }
  const raw = Buffer.from('{"event":"sale"}')
  const signature = createHmac('sha256', 'secret').update(raw).digest('hex')
  expect([isGenuine(raw, signature, 'secret'), isGenuine(raw, signature, 'other'), isGenuine(raw, '', 'secret')]).toEqual([true, false, false])
})
