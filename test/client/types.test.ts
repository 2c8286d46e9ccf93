// Holds the client's types to the document that the service serves. RECORD_TYPES=1 writes them anew.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestNode, type TestNode } from '../support/node.ts'

const TYPES = 'client/src/api.ts'
const NAMED = ['Item', 'Price', 'Category', 'Group', 'Listing', 'ListingWriteResult', 'RecentSale', 'Collection', 'CollectionRecord', 'Webhook', 'WebhookLog', 'Pagination', 'Error']

const directory = mkdtempSync(join(tmpdir(), 'mintmark-types-'))
let node: TestNode

beforeAll(async () => {
  // The address stands in the examples of the comments.
  node = await startTestNode({ env: { PUBLIC_URL: 'https://cards.example' } })
})

afterAll(async () => {
  await node.close()
  rmSync(directory, { recursive: true, force: true })
})

async function typesOf(url: string): Promise<string> {
  const [document, types] = [join(directory, 'openapi.json'), join(directory, 'api.ts')]
  writeFileSync(document, await (await fetch(url)).text())
  execFileSync('npm', ['run', '--silent', 'types', '-w', 'client', '--', document, '--output', types], { stdio: ['ignore', 'ignore', 'pipe'] })
  return readFileSync(types, 'utf8')
}

test('the types of the client are those of the service, by name', async () => {
  const types = await typesOf(`${node.publicUrl}/openapi.json`)
  if (process.env.RECORD_TYPES === '1') writeFileSync(TYPES, types)
  expect(types).toBe(readFileSync(TYPES, 'utf8'))
  for (const name of NAMED) expect(types).toContain(`export type ${name} = components['schemas']['${name}'];`)
})

test('types can be generated from the operator API, too', async () => {
  const types = await typesOf(`${node.operatorUrl}/operator/openapi.json`)
  for (const name of ['Account', 'ApiKey', 'StoredItem', 'StoredListing', 'Order', 'Import']) expect(types).toContain(`export type ${name} = `)
  expect(types).toContain('approveListing: {')
})
