// What cached responses keep in memory: their bytes, and nothing else of the requests that they were built for.
import { IncomingMessage } from 'node:http'
import { queryObjects } from 'node:v8'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from '../graphql/client.ts'
import { startSampleNode } from '../support/sample-node.ts'
import { send, type TestNode } from '../support/node.ts'

const REQUESTS = 100
/** The first response is not cached, the second one as a function, the third one as bytes. */
const TIMES = 3

let node: TestNode

beforeAll(async () => {
  node = await startSampleNode()
})

afterAll(() => node.close())

/** Counts after a full garbage collection. */
function requestsInMemory(): number {
  return queryObjects(IncomingMessage, { format: 'count' })
}

function bufferBytes(): number {
  requestsInMemory()
  return process.memoryUsage().arrayBuffers
}

async function repeat(request: (n: number) => Promise<{ status: number }>): Promise<void> {
  for (let time = 0; time < TIMES; time += 1) for (let n = 0; n < REQUESTS; n += 1) expect((await request(n)).status).toBe(200)
}

test('the requests are collected', async () => {
  const { data, errors } = await ask<{ items: { nodes: object[] } }>(node, '{ items(first: 2) { nodes { id } } }')
  expect([errors, data.items.nodes.length]).toEqual([undefined, 2])
  await repeat((n) => ask(node, `{ items(first: ${n + 1}) { nodes { id } } }`))
  expect(requestsInMemory()).toBeLessThan(REQUESTS / 10)
})

test('small responses do not keep the blocks that they were part of', async () => {
  const page = (perPage: number, number: number) => send(`${node.publicUrl}/api/v1/items?per_page=${perPage}&page=${number}`, node.keys.plus)
  let other = 0
  // Each shares its block with a longer response that is not cached.
  const both = async (n: number) => {
    other += 1
    await page(11 + (other % 20), 1 + (other % 10))
    return page(1, n + 1)
  }
  await both(0)
  const before = bufferBytes()
  await repeat(both)
  expect(bufferBytes() - before).toBeLessThan(REQUESTS * 16 * 1024)
})
