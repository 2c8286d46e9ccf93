// Checks the types of the client and of the console against the documents that the service serves. RECORD_TYPES=1 writes them again.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestNode, type TestNode } from '../support/node.ts'

const CLIENT_TYPES = 'client/src/api.ts'
const CONSOLE_TYPES = 'console/src/api-types.ts'
const NAMED = [
  'Item',
  'Price',
  'Category',
  'Group',
  'Listing',
  'ListingWriteResult',
  'RecentSale',
  'Collection',
  'CollectionRecord',
  'Webhook',
  'WebhookLog',
  'Pagination',
  'Error',
]

const directory = mkdtempSync(join(tmpdir(), 'mintmark-types-'))
let node: TestNode

beforeAll(async () => {
  // The examples in the comments contain the address.
  node = await startTestNode({ env: { PUBLIC_URL: 'https://cards.example' } })
})

afterAll(async () => {
  await node.close()
  rmSync(directory, { recursive: true, force: true })
})

async function documentAt(url: string): Promise<string> {
  return (await fetch(url)).text()
}

function typesOf(document: string, ...options: string[]): string {
  const [source, types] = [join(directory, 'openapi.json'), join(directory, 'api.ts')]
  writeFileSync(source, document)
  execFileSync('npm', ['run', '--silent', 'types', '-w', 'client', '--', source, '--output', types, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  return readFileSync(types, 'utf8')
}

function expectRecorded(types: string, path: string): void {
  if (process.env.RECORD_TYPES === '1') writeFileSync(path, types)
  expect(types).toBe(readFileSync(path, 'utf8'))
}

test("the client's types have the same names as those of the service", async () => {
  const types = typesOf(await documentAt(`${node.publicUrl}/openapi.json`))
  expectRecorded(types, CLIENT_TYPES)
  for (const name of NAMED) expect(types).toContain(`export type ${name} = components['schemas']['${name}'];`)
})

test("the console's types are those of the operator API, with the values of its enums", async () => {
  const document = await documentAt(`${node.operatorUrl}/operator/openapi.json`)
  const types = typesOf(withoutExamples(document), '--enum-values')
  expectRecorded(types, CONSOLE_TYPES)
  for (const name of ['Account', 'ApiKey', 'StoredItem', 'StoredListing', 'Order', 'Import']) expect(types).toContain(`export type ${name} = `)
  expect(types).toContain('approveListing: {')
})

/** The console needs neither examples nor errors by status; without them its types are half as long. */
function withoutExamples(document: string): string {
  return JSON.stringify(
    JSON.parse(document, (key, value: unknown) => (key === 'example' || key === 'examples' || /^[45]\d\d$/.test(key) ? undefined : value)),
  )
}
