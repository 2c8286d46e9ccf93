// Responses with a secret forbid caching: over REST, GraphQL, the operator API and at sign-in.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startNode } from '#node/start.ts'
import { OPERATOR_TOKEN, send, type Sending, silent, startTestNode, type TestNode } from '../support/node.ts'

let node: TestNode

beforeAll(async () => {
  node = await startTestNode({ worker: true })
})
afterAll(() => node.close())

const webhook = { url: 'https://shop.example/hook' }
const idempotent = (name: string) => ({ 'idempotency-key': name })

/** Whether caches may store the response, which must contain a secret. */
async function cachingOf(url: string, credential: string | null, secret: RegExp, sending: Sending = {}): Promise<string | null> {
  const { status, headers, body } = await send(url, credential, sending)
  expect([url, status]).toEqual([url, expect.toBeOneOf([200, 201])])
  expect(`${JSON.stringify(body)}${headers.get('set-cookie')}`).toMatch(secret)
  return headers.get('cache-control')
}

test('responses with secrets are not cacheable', async () => {
  const [key, secret] = [/mintmark_\w{49}/, /"secret":"\w{48}"/]
  const keysUrl = `${node.operatorUrl}/operator/v1/accounts/${node.accounts.plus}/keys`
  const create = { json: { label: 'x' }, headers: idempotent('create') }
  expect(await cachingOf(keysUrl, OPERATOR_TOKEN, key, create)).toBe('no-store')
  expect(await cachingOf(keysUrl, OPERATOR_TOKEN, key, create)).toBe('no-store')
  const { id } = await node.db.kysely.selectFrom('api_keys').select('id').where('label', '=', 'x').executeTakeFirstOrThrow()
  expect(await cachingOf(`${node.operatorUrl}/operator/v1/keys/${id}/rotate`, OPERATOR_TOKEN, key, { json: {} })).toBe('no-store')
  const rest = `${node.publicUrl}/api/v1/plus/webhook`
  expect(await cachingOf(rest, node.keys.plus, secret, { json: webhook, method: 'PUT' })).toBe('no-store')
  expect(await cachingOf(rest, node.keys.plus, secret)).toBe('no-store')
  const mutation = { json: { query: `mutation { configureWebhook(input: { url: "${webhook.url}" }) { secret } }` } }
  for (const path of ['/graphql', '/graphql/v3'])
    expect(await cachingOf(`${node.publicUrl}${path}`, node.keys.plus, secret, mutation)).toBe('no-store')
  const own = { 'x-console': '1', origin: node.operatorUrl! }
  expect(await cachingOf(`${node.operatorUrl}/console/session`, null, /mintses_/, { json: { token: OPERATOR_TOKEN }, headers: own })).toBe('no-store')
})

test('the page with the demo key is not cacheable', async () => {
  const listeners = { public: true, operator: false }
  const demo = await startNode({ config: node.config, db: node.db, log: silent, listeners, worker: false, demoKey: node.keys.professional })
  try {
    const page = await fetch(`${demo.publicUrl}/`)
    expect(await page.text()).toContain(node.keys.professional)
    expect(page.headers.get('cache-control')).toBe('no-store')
  } finally {
    await demo.close()
  }
})

test('responses that are the same for every key stay cacheable', async () => {
  const { headers } = await send(`${node.publicUrl}/api/v1/items`, node.keys.plus)
  expect(headers.get('cache-control')).toBeNull()
  expect(headers.get('etag')).toBeTruthy()
})
