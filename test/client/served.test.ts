// The client and the price chart as the service serves them: modules that any page can import, cached by their entity tags.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode
beforeAll(async () => {
  node = await startTestNode({ listeners: 'public' })
})
afterAll(() => node.close())

const ask = (init: RequestInit = {}, path = '/client.js') => fetch(node.publicUrl! + path, init)

test.each(['/client.js', '/price-chart.js'])('%s needs no key, can be read by every origin, and is cached', async (path) => {
  const first = await ask({ headers: { origin: 'https://shop.example' } }, path)
  const { headers } = first
  expect([first.status, headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8'])
  expect([headers.get('access-control-allow-origin'), headers.get('cache-control')]).toEqual(['*', 'public, max-age=3600'])
  const again = await ask({ headers: { 'if-none-match': headers.get('etag')! } }, path)
  expect([again.status, await again.text()]).toEqual([304, ''])
  const head = await ask({ method: 'HEAD' }, path)
  expect([head.status, await head.text()]).toEqual([200, ''])
  expect((await ask({ method: 'POST' }, path)).status).toBe(405)
})

test('/client.js is the complete client in one module', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mintmark-served-'))
  const file = join(folder, 'client.mjs')
  writeFileSync(file, await (await ask()).text())
  const { Mintmark, verifyWebhook } = (await import(pathToFileURL(file).href)) as typeof import('../../client/src/index.ts')
  const client = new Mintmark({ apiKey: node.keys.starter, baseUrl: node.publicUrl! })
  expect(await client.get('/api/v1/items')).toMatchObject({ success: true, data: [] })
  expect(await verifyWebhook('{}', {}, 'secret')).toBe(null)
  rmSync(folder, { recursive: true })
})
