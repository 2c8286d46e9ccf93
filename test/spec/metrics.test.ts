// Metrics on the operator's port: for operators only, in Prometheus' format, counting what was answered.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode()
})

afterAll(() => node.close())

const scrape = (token: string | null) =>
  fetch(`${node.operatorUrl}/metrics`, { headers: token === null ? {} : { authorization: `Bearer ${token}` } })

test('tells what was answered, what is in memory and what waits', async () => {
  await send(`${node.publicUrl}/api/v1/items`, node.keys.starter)
  await send(`${node.publicUrl}/api/v1/items/1`, node.keys.starter)
  await send(`${node.publicUrl}/api/v1/items/2`, node.keys.starter)
  const answer = await scrape(OPERATOR_TOKEN)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const text = await answer.text()
  const valid = /^(#.*|[a-z_0-9]+(\{[a-z_]+="[^"\n]*"(,[a-z_]+="[^"\n]*")*\})? (-?[\d.e+-]+|NaN|\+Inf))?$/i
  expect(text.split('\n').filter((line) => !valid.test(line))).toEqual([])
  expect(text).toContain('mintmark_http_request_seconds_count{method="GET",route="/api/v1/items",status="200"} 1')
  expect(text).toContain('mintmark_http_request_seconds_count{method="GET",route="/api/v1/items/:id",status="404"} 2')
  expect(text).toMatch(/^mintmark_items 0$/m)
  expect(text).toMatch(/^mintmark_change_feed_age_seconds [\d.]+$/m)
  expect(text).not.toContain(node.keys.starter)
})

test('refuses API keys and callers without a token', async () => {
  expect((await scrape(null)).status).toBe(401)
  expect((await scrape(node.keys.enterprise)).status).toBe(401)
})
