// Checks the types built for the client and the console against the documents that the service serves.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openApiDocuments } from '../../bin/openapi-documents.ts'
import { startTestNode, type TestNode } from '../support/node.ts'

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

let node: TestNode

beforeAll(async () => {
  // The examples in the descriptions contain the address.
  node = await startTestNode({ env: { PUBLIC_URL: 'https://cards.example' } })
})

afterAll(() => node.close())

test('the documents that types are built from are those that the service serves', { tags: 'slow' }, async () => {
  const built = await openApiDocuments()
  expect(JSON.parse(JSON.stringify(built.api))).toEqual(await documentAt(`${node.publicUrl}/openapi.json`))
  const operator = JSON.stringify(built.operator).replaceAll('127.0.0.1:8081', '127.0.0.1:0')
  expect(JSON.parse(operator)).toEqual(await documentAt(`${node.operatorUrl}/operator/openapi.json`))
})

async function documentAt(url: string): Promise<unknown> {
  return (await fetch(url)).json()
}

test("the client's types have the same names as those of the service", () => {
  const types = readFileSync('client/src/api.ts', 'utf8')
  for (const name of NAMED) expect(types).toContain(`export type ${name} = components['schemas']['${name}'];`)
})

test("the console's types are those of the operator API, with the values of its enums", () => {
  const types = readFileSync('console/src/api-types.ts', 'utf8')
  for (const name of ['Account', 'ApiKey', 'StoredItem', 'StoredListing', 'Order', 'Import']) expect(types).toContain(`export type ${name} = `)
  expect(types).toContain('approveListing: {')
  expect(readFileSync('console/src/api-values.ts', 'utf8')).toContain('export const planValues: ')
})

// Every test run writes the file, and an installation without openapi-typescript builds the console from the stored one.
test.skipIf(!existsSync('.git'))('the stored values of enums are those of the operator API', { tags: 'slow' }, () => {
  expect(execFileSync('git', ['status', '--porcelain', '--', 'console/src/api-values.ts']).toString()).toBe('')
})
