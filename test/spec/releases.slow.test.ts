// Compatibility: docs/releases contains the API documents of each release, and the current ones may add to the
// last release's but not break them. RECORD_RELEASE=1 writes those of the version in package.json.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { buildSchema, findBreakingChanges } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestNode } from '../support/node.ts'

const RELEASES = 'docs/releases'
const DOCUMENTS = ['public.openapi.json', 'operator.openapi.json'] as const
const SCHEMA = 'schema.graphql'
const REDOCLY = fileURLToPath(import.meta.resolve('@redocly/cli/package.json')).replace('package.json', 'bin/cli.js')

const versionIn = (file: string) => (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
const VERSION = versionIn('package.json')
const byNumber = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true })
const RECORDS = process.env.RECORD_RELEASE === '1'
if (RECORDS) mkdirSync(join(RELEASES, VERSION), { recursive: true })
/** Newest first. */
const releases = readdirSync(RELEASES).sort(byNumber).reverse()
/** Releases that the current OpenAPI documents are compared with; when a release is being recorded, also the one before it. */
const compared = releases.slice(0, 2)
const headings = [...readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## (\S+) \(\d{4}-\d\d-\d\d\)$/gm)].map(([, version]) => version!)

const directory = mkdtempSync(join(tmpdir(), 'mintmark-releases-'))
const current = new Map<string, string>()

beforeAll(async () => {
  const node = await startTestNode({ worker: true, env: { PUBLIC_URL: 'https://cards.example' } })
  const urls = [`${node.publicUrl}/openapi.json`, `${node.operatorUrl}/operator/openapi.json`]
  for (const [i, name] of DOCUMENTS.entries()) current.set(name, withoutExamples(await (await fetch(urls[i]!)).text()))
  await node.close()
  current.set(SCHEMA, readFileSync('docs/schema.graphql', 'utf8'))
  for (const folder of RECORDS ? [directory, join(RELEASES, VERSION)] : [directory])
    for (const [name, text] of current) writeFileSync(join(folder, name), text)
})

afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Examples are not part of the contract, and are half of a document. */
function withoutExamples(document: string): string {
  const value: unknown = JSON.parse(document, (key, each: unknown) => (key === 'example' || key === 'examples' ? undefined : each))
  return `${JSON.stringify(value, null, 1)}\n`
}

/**
 * Keys that may not see a webhook's secret get null since 0.3.0: the contract names the field, and showing the secret was a fault.
 * The reference of 0.2.0 gave a wrong content type for files of dumps. A new kind of event in the feed is like a new value of an enumeration.
 */
const ACCEPTED = [
  /~1plus~1webhook\/\S+\/properties\/secret: Type of `secret` widened/,
  /~1plus~1events\/get\/responses\/200\/\S+\/anyOf\/\d+: `anyOf` subschema of `AccountEvent` was added/,
  /~1dumps~1\{name\}\/get\/responses\/200\/content\/text~1csv: Media type/,
  // Contents of listings have one more field, the certificate.
  /~1approval-rules\/get\/responses\/200\/\S+: `maxItems` of `changed_fields` changed/,
  /^Field Webhook.secret changed type from String! to String\.$/,
]
const isAccepted = (change: string) => ACCEPTED.some((pattern) => pattern.test(change))

/** Changes between two OpenAPI documents that break a client. New values of an enum do not: clients ignore unknown values. */
async function breakingChanges(from: string, to: string): Promise<string[]> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const args = [REDOCLY, 'diff', from, to, '--format=json', '--skip-rule=enum-values-added']
  const { stdout } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 2 ** 28 }).catch((error: { stdout: string }) => error)
  const { changes } = JSON.parse(stdout) as { changes: { path: string; impact: string; verdicts: { impact: string; message: string }[] }[] }
  const breaking = changes.flatMap(({ path, verdicts }) =>
    verdicts.filter(({ impact }) => impact === 'major').map(({ message }) => `${path}: ${message}`),
  )
  return breaking.filter((change) => !isAccepted(change))
}

test('this version is a release with its documents and its changelog entry', () => {
  expect(versionIn('client/package.json')).toBe(VERSION)
  expect(releases[0]).toBe(VERSION)
  // Documents of older releases are not kept: nothing is compared with them.
  expect(headings.slice(0, releases.length)).toEqual(releases)
})

test.each(compared.flatMap((version) => DOCUMENTS.map((name) => ({ name, version }))))(
  '$name breaks no client of $version',
  async ({ name, version }) => {
    expect(await breakingChanges(join(RELEASES, version, name), join(directory, name))).toEqual([])
  },
)

test.each(releases)('the GraphQL schema breaks no client of %s', (version) => {
  const before = buildSchema(readFileSync(join(RELEASES, version, SCHEMA), 'utf8'))
  const changes = findBreakingChanges(before, buildSchema(current.get(SCHEMA)!)).map(({ description }) => description)
  expect(changes.filter((change) => !isAccepted(change))).toEqual([])
})

describe('The comparison of OpenAPI documents', () => {
  interface Operation {
    parameters: { name: string; in?: string; required?: boolean; schema: { type?: string; maximum?: number } }[]
    responses: Record<string, unknown>
  }
  interface Schema {
    type: string | string[]
    enum: string[]
    required: string[]
    properties: Record<string, Partial<Schema>>
  }
  interface Document {
    paths: Record<string, Record<string, Operation>>
    webhooks: Record<string, unknown>
    components: { schemas: Record<string, Schema> }
  }

  /** The breaking changes found after a change of the current public document. */
  async function foundAfter(change: (document: Document) => void): Promise<string[]> {
    const document = JSON.parse(current.get('public.openapi.json')!) as Document
    change(document)
    const changed = join(directory, 'changed.json')
    writeFileSync(changed, JSON.stringify(document))
    return breakingChanges(join(directory, 'public.openapi.json'), changed)
  }

  test('finds breaking changes', async () => {
    const found = await foundAfter(({ paths, webhooks, components: { schemas } }) => {
      delete paths['/api/v1/items/lookup']
      delete webhooks.sale
      const { parameters, responses } = paths['/api/v1/items']!.get!
      parameters.splice(
        parameters.findIndex(({ name }) => name === 'search'),
        1,
      )
      parameters.push({ name: 'region', in: 'query', required: true, schema: { type: 'string' } })
      parameters.find(({ name }) => name === 'per_page')!.schema.maximum = 10
      delete responses[200]
      delete schemas.Price!.properties.label
      schemas.Price!.properties.price!.type = 'string'
      schemas.Category!.properties.name!.type = ['string', 'null']
      schemas.ListingStatus!.enum.pop()
      schemas.ConfigureWebhookInput!.required.push('region')
      schemas.ConfigureWebhookInput!.properties.region = { type: 'string' }
    })
    for (const message of [
      'Path `/api/v1/items/lookup` was removed.',
      'Webhook `sale` was removed.',
      '`search` query parameter was removed.',
      'Required `region` query parameter was added.',
      "Upper bound changed from '<= 100' to '<= 10'.",
      'Response `200` was removed.',
      'Property `label` of `Price` was removed.',
      "Type of `price` widened from 'number' to 'string'.",
      "Type of `name` widened from 'string' to 'string | null'.",
      "Enum of `status` lost values: 'sold'.",
      'Properties of `ConfigureWebhookInput` became required: `region`.',
    ])
      expect(found).toContainEqual(expect.stringContaining(message))
  })

  test('accepts compatible changes', async () => {
    const found = await foundAfter(({ paths, components: { schemas } }) => {
      paths['/api/v1/regions'] = paths['/api/v1/markets']!
      paths['/api/v1/items']!.get!.parameters.unshift({ name: 'region', in: 'query', schema: { type: 'string' } })
      schemas.Price!.properties.region = { type: 'string' }
      schemas.Price!.required.push('region')
      schemas.ListingStatus!.enum.push('archived')
      schemas.ConfigureWebhookInput!.properties.region = { type: 'string' }
    })
    expect(found).toEqual([])
  })
})
