// The OpenAPI documents as tools read them: named schemas, operation ids of the verbs, and no findings of linters.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import spectral from '@stoplight/spectral-core'
import rulesets from '@stoplight/spectral-rulesets'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestNode, type TestNode } from '../support/node.ts'
import { resolved } from '../support/openapi.ts'

interface Schema {
  $ref?: string
  type?: string
  enum?: unknown[]
  items?: Schema
  properties?: Record<string, Schema>
}

interface Operation {
  operationId: string
  tags: string[]
  security: object[]
  parameters?: { name: string; in: string; schema: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { description: string; content?: Record<string, { schema?: Schema }> }>
}

interface Document {
  info: { license: object }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  components: { schemas: Record<string, Schema> }
  paths: Record<string, Record<string, Operation>>
}

const REDOCLY = fileURLToPath(import.meta.resolve('@redocly/cli/package.json')).replace('package.json', 'bin/cli.js')

const directory = mkdtempSync(join(tmpdir(), 'mintmark-openapi-'))
let node: TestNode

beforeAll(async () => {
  node = await startTestNode()
  const urls = { '/openapi.json': node.publicUrl!, '/operator/openapi.json': node.operatorUrl! }
  for (const [path, url] of Object.entries(urls)) documents.set(path, (await (await fetch(url + path)).json()) as Document)
})

afterAll(async () => {
  await node.close()
  rmSync(directory, { recursive: true, force: true })
})

const DOCUMENTS = [
  {
    path: '/openapi.json',
    schemas: [
      'Item',
      'Price',
      'Category',
      'Group',
      'Listing',
      'OwnListing',
      'ListingWriteResult',
      'RecentSale',
      'Collection',
      'CollectionRecord',
      'Webhook',
      'WebhookLog',
      'SaleEvent',
      'ExpireEvent',
      'Pagination',
      'Error',
    ],
  },
  {
    path: '/operator/openapi.json',
    schemas: [
      'Account',
      'ApiKey',
      'StoredCategory',
      'StoredItem',
      'StoredListing',
      'Order',
      'StoredSale',
      'Import',
      'HeldPrice',
      'Rate',
      'StoredCollection',
      'AccountWebhook',
      'WebhookEvent',
      'AuditRow',
      'Stats',
      'Pagination',
      'Error',
    ],
  },
] as const

/** The documents by path, read before the linters, which block this process and the service in it. */
const documents = new Map<string, Document>()
const read = (path: string) => structuredClone(documents.get(path)!)
const operationsOf = ({ paths }: Document) => Object.values(paths).flatMap((path) => Object.values(path))

test("each public operation documents its family's error code, and that of its plan", () => {
  const { paths } = read('/openapi.json')
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { responses }] of Object.entries(operations)) {
      const writesListing = method !== 'get' && /\/plus\/(images|listings|parked-listings|make-highlight)/.test(path)
      // The daily worth uses the same verb as the operator API.
      const ofCollections = path.includes('/plus/collections') && !/\/(worth-history|export)$/.test(path)
      const family = ofCollections ? 'PLUS_COLLECTION_ERROR' : writesListing ? 'PLUS_LISTING_ERROR' : 'VALIDATION_ERROR'
      // These operations have no input that could be invalid.
      const withoutInput =
        method === 'get' &&
        /\/(webhook|vacation|repricing-rules|sandbox|me|groups|markets|dumps|listings\/export|(listings|collections)\/columns)$/.test(path)
      const refusal = withoutInput ? undefined : family
      // Starter may use lists, but not every field in their queries.
      const upgrade = /\/plus\/|\/sandbox|\/items(\/search)?$|price-(?:history|chart)|explain|\/changes|\/dumps/.test(path)
        ? 'PLAN_UPGRADE_REQUIRED'
        : undefined
      const reads = method === 'get' || path.endsWith('/items/lookup')
      const restricted =
        method === 'post' && /\/(images$|list$|listings(\/import)?$|parked-listings|webhook\/rotate-secret)/.test(path) ? ' or FORBIDDEN' : ''
      const forbidden = reads ? upgrade : `${upgrade} or READ_ONLY_KEY${restricted}`
      expect([method, path, responses[422]?.description, responses[403]?.description]).toEqual([method, path, refusal, forbidden])
    }
  }
})

describe.each(DOCUMENTS)('$path', ({ path, schemas }) => {
  test('names its schemas, and responses refer to them', () => {
    const document = read(path)
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining([...schemas]))
    for (const { operationId, responses } of operationsOf(document)) {
      for (const [status, { content = {} }] of Object.entries(responses)) {
        const schema = content['application/json']?.schema
        if (Number(status) >= 400) expect([operationId, schema]).toEqual([operationId, { $ref: '#/components/schemas/Error' }])
        const { data } = schema?.properties ?? {}
        if (data) expect([operationId, JSON.stringify(data)]).toEqual([operationId, expect.stringContaining('#/components/schemas/')])
      }
    }
  })

  test('has servers, a licence and tag descriptions', () => {
    const document = read(path)
    expect(document.servers).toEqual([{ url: '/' }])
    expect(document.info.license).toEqual({ name: 'Apache License 2.0', identifier: 'Apache-2.0' })
    const described = document.tags.filter(({ description }) => /\S/.test(description)).map(({ name }) => name)
    expect(described).toEqual(expect.arrayContaining(operationsOf(document).flatMap(({ tags }) => tags)))
  })

  test('has a unique operation id and an error response for each operation', () => {
    const operations = operationsOf(read(path))
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length)
    const open = operations.filter(({ security }) => security.length === 0)
    expect(open.map(({ operationId }) => operationId)).toEqual(path === '/openapi.json' ? ['readSharedCollection'] : [])
    for (const { operationId, responses, security } of operations) {
      const expected = security.length === 0 ? ['404', '429'] : ['401']
      expect([operationId, Object.keys(responses)]).toEqual([operationId, expect.arrayContaining(expected)])
    }
  })

  test('has an enum for every market, and a type for every enum', () => {
    const markets: unknown[] = []
    const untyped: unknown[] = []
    JSON.stringify(resolved(read(path)), (_name, value: Schema & { in?: string; name?: string; schema?: Schema }) => {
      if (value?.in === 'query' && value.name === 'market') markets.push(value.schema)
      // The cost to finish a set at market prices is an object.
      if (value?.properties?.market && value.properties.market.type !== 'object') markets.push(value.properties.market)
      if (value?.enum && !value.type) untyped.push(value)
      return value
    })
    expect(markets.length).toBeGreaterThan(2)
    for (const schema of markets) expect(JSON.stringify(schema)).toContain('"source_a","source_b","source_c"]')
    expect(untyped).toEqual([])
  })

  test('names request bodies and value lists, each defined once', () => {
    const document = read(path)
    for (const { operationId, requestBody } of operationsOf(document)) {
      const name = `${operationId[0]!.toUpperCase()}${operationId.slice(1)}Input`
      const schema = requestBody?.content['application/json']?.schema
      if (schema) expect([operationId, schema]).toEqual([operationId, { $ref: `#/components/schemas/${name}` }])
    }
    const { components } = document
    for (const name of ['MarketCode', 'Genre', 'ListingStatus', 'ShippingPayer', 'PriceState', 'CollectionVisibility', 'EventKind', 'ErrorCode']) {
      expect([name, components.schemas[name]]).toEqual([name, { type: 'string', enum: expect.any(Array) as unknown[] }])
      const stated = JSON.stringify(document).split(`"enum":${JSON.stringify(components.schemas[name]!.enum)}`).length - 1
      expect([name, stated]).toEqual([name, 1])
    }
  })

  test('documents the headers that change the effect of a request', () => {
    for (const operations of Object.values(read(path).paths)) {
      for (const [method, { operationId, parameters = [], responses }] of Object.entries(operations)) {
        const headers = parameters.filter((one) => one.in === 'header').map(({ name }) => name)
        const keyed = responses[409]?.description.includes('IDEMPOTENCY_CONFLICT')
        expect([operationId, headers]).toEqual([
          operationId,
          [...(method === 'get' ? ['Prefer'] : []), ...(keyed ? ['Idempotency-Key'] : []), ...(responses[412] ? ['If-Match'] : [])],
        ])
        if (method === 'put' || method === 'patch' || method === 'delete') expect([operationId, keyed]).toEqual([operationId, true])
      }
    }
  })

  test('passes Redocly', { tags: 'slow' }, async () => {
    const file = join(directory, 'redocly.json')
    writeFileSync(file, JSON.stringify(read(path)))
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
    const args = [REDOCLY, 'lint', file, '--extends=recommended', '--format=json']
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: directory, env, maxBuffer: 2 ** 26 }).catch(
      (error: { stdout: string }) => error,
    )
    const { totals, problems } = JSON.parse(stdout) as { totals: object; problems: { ruleId: string; message: string }[] }
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
    expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 0 })
  })

  test('passes Spectral', { tags: 'slow' }, async () => {
    const linter = new spectral.Spectral()
    linter.setRuleset({ extends: [[rulesets.oas as never, 'recommended']] })
    const problems = await linter.run(JSON.parse(JSON.stringify(read(path))) as Record<string, unknown>)
    expect(problems.map(({ code, message, path: at }) => `${code}: ${message} at ${at.join('.')}`)).toEqual([])
  })
})

test('operation ids equal the names of the verbs', () => {
  const ids = operationsOf(read('/openapi.json')).map(({ operationId }) => operationId)
  expect(ids).toEqual(
    expect.arrayContaining([
      'listItems',
      'searchItems',
      'getItem',
      'searchListings',
      'updateListingPrice',
      'setListingStatus',
      'addCollectionItem',
      'configureWebhook',
    ]),
  )
})

test('documents lists as they are sent, and choices as enums', () => {
  const { paths } = resolved(read('/openapi.json'))
  const named = (path: string, method: string) =>
    Object.fromEntries((paths[path]![method]!.parameters ?? []).map(({ name, schema }) => [name, schema]))
  const listings = named('/api/v1/plus/listings', 'get')
  for (const name of ['game[]', 'language[]', 'grade_filters[]']) expect(listings[name]?.type).toBe('array')
  expect(listings.game).toBeUndefined()
  expect(listings.sort_by?.enum).toContain('price_low')
  expect(listings.type?.enum).toEqual(['single', 'card', 'sealed', 'bundle'])
  expect(named('/api/v1/plus/listings/{id}/status', 'post').action).toMatchObject({ type: 'string', enum: ['pause', 'publish'] })
})
