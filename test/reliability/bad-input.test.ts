// Short form of the bad-input check: a few thousand invalid requests, generated from one seed, to a test node.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOperatorToken } from '#accounts/keys/operator-tokens.ts'
import { call } from '#core/verb.ts'
import { attackKeepAlive } from '../../reliability/bad-input-keep-alive.ts'
import { attack } from '../../reliability/bad-input-run.ts'
import { prepareTarget, type Target } from '../../reliability/bad-input-target.ts'
import { makeCatalogue } from '../market/kit.ts'
import { send, type TestNode } from '../support/node.ts'
import { sendRaw, startListing } from './authorisation-kit.ts'
import { GRAPHQL_PATHS, MCP_PATHS } from './authorisation-rows.ts'
import { ALL_CASES, casesOf } from '../support/runs.ts'

let node: TestNode
let target: Target
let operatorToken: string
let registered: string[]

beforeAll(async () => {
  ;({ node, registered } = await startListing())
  await makeCatalogue(node)
  // Not the bootstrap token, because it is rejected for an address that sends wrong ones.
  operatorToken = (await call(createOperatorToken, node.ctx, { label: 'bad input' })).token
  target = await prepareTarget({ publicUrl: node.publicUrl!, operatorUrl: node.operatorUrl!, operatorToken, db: node.db })
})

afterAll(() => node.close())

const REQUESTS = Number(process.env.BAD_INPUT_REQUESTS ?? (ALL_CASES ? 4_000 : 1_200))
const SEED = Number(process.env.BAD_INPUT_SEED ?? 20261121)

test(`${REQUESTS} invalid requests: no 5xx, all in the envelope, and rejected ones change nothing`, { tags: 'slow', timeout: 300_000 }, async () => {
  const { breaches, statuses, requestsByName, refusals, named, refused } = await attack(target, { requests: REQUESTS, seed: SEED })
  expect(breaches).toEqual([])
  expect([...requestsByName].filter(([, times]) => times === 0)).toEqual([])
  const withoutNames = (route: string) => route.replace(/:\w+|\{\w+\}|\*/g, '{}')
  const REST = '{rest}'
  const covers = (name: string, route: string) =>
    name.endsWith(REST) ? route.startsWith(name.slice(0, -REST.length)) : withoutNames(name) === withoutNames(route)
  const others = registered.filter((route) => ![...GRAPHQL_PATHS, ...MCP_PATHS, ...requestsByName.keys()].some((name) => covers(name, route)))
  expect(others, 'a path outside of the documents needs a line in reliability/bad-input-open.ts').toEqual([])
  // Mostly invalid, and in every part: otherwise this test would prove nothing.
  const seen = new Set([...statuses.values()].flatMap((row) => [...row.keys()]))
  expect([...seen]).toEqual(expect.arrayContaining([200, 400, 401, 403, 404, 405, 413, 415, 422]))
  expect(statuses.size).toBeGreaterThan(15)
  expect(named / refusals).toBeGreaterThan(0.95)
  expect(refused).toBeGreaterThan(150)
})

test('compressed bodies of unsupported types, each followed by a request on the same connection: every request gets a response', {
  tags: 'slow',
}, async () => {
  const { sent, breaches } = await attackKeepAlive(target, casesOf)
  expect(sent).toBeGreaterThan(ALL_CASES ? 300 : 140)
  expect(breaches).toEqual([])
})

describe('regressions: former 5xx, and responses without the envelope', () => {
  const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
  const graphql = (body: string) => send(`${node.publicUrl}/graphql`, target.keys.enterprise, { body })
  const operate = (path: string, body?: string) => send(`${node.operatorUrl}/operator/v1${path}`, operatorToken, body === undefined ? {} : { body })

  test('bodies nested thousands of levels deep', async () => {
    for (const levels of [65, 5_000, 50_000]) {
      const replies = [
        await graphql(`{"query":"{ __typename }","variables":${nested(levels)}}`),
        await operate('/accounts', nested(levels)),
        await send(`${node.operatorUrl}/operator/v1/accounts`, operatorToken, {
          body: nested(levels),
          headers: { 'idempotency-key': `nested ${levels}` },
        }),
      ]
      expect(replies.map(({ status }) => status)).toEqual(levels > 20_000 ? [413, 400, 400] : [400, 400, 400])
    }
    expect((await operate('/accounts', nested(60))).body.error).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: expect.arrayContaining([expect.objectContaining({ field: 'a' })]) as unknown,
    })
  })

  test('documents nested thousands of levels deep', async () => {
    for (const levels of [500, 900, 16_000]) {
      const { status } = await graphql(JSON.stringify({ query: `{ items(search: ${'['.repeat(levels)}${']'.repeat(levels)}) { nodes { id } } }` }))
      // JSON responses to well-formed requests have status 200, whatever happened to the document.
      expect([levels, status]).toEqual([levels, 200])
    }
  })

  test('an unknown expectation', async () => {
    const headers = ['authorization', `Bearer ${target.keys.starter}`, 'expect', 'nonsense']
    expect(await sendRaw(`${node.publicUrl}/api/v1/items`, 'GET', headers)).toMatchObject({
      status: 200,
      headers: { 'x-request-id': expect.any(String) as string },
    })
  })

  test('filters by ids out of range', { tags: 'slow' }, async () => {
    const beyond = ['-9223372036854775809', '9223372036854775808', '9'.repeat(30), '2147483648', '-1', '0']
    const lists = [
      '/orders?seller_id',
      '/orders?item_id',
      '/orders?listing_id',
      '/sales?item_id',
      '/listings?seller_id',
      '/listings?item_id',
      '/webhook-events?account_id',
      '/items?category_id',
      '/collections?account_id',
    ]
    for (const id of beyond) {
      for (const list of lists) expect([list, id, await operate(`${list}=${id}`)]).toEqual([list, id, expect.objectContaining({ status: 200 })])
      for (const list of ['/recent-sales?item_id', '/orders?listing_id', '/orders?order_id']) {
        expect((await send(`${node.publicUrl}/api/v1/plus${list}=${id}`, target.keys.plus)).status).toBe(200)
      }
    }
  })

  test('numbers beyond the range of a column', async () => {
    const cursor = (...parts: unknown[]) => Buffer.from(JSON.stringify([1, ...parts])).toString('base64url')
    const read = (path: string) => send(`${node.publicUrl}/api/v1${path}`, target.keys.enterprise)
    const statusOf = async (reply: ReturnType<typeof read>) => (await reply).status
    const beyond = '9'.repeat(19)
    expect(await statusOf(read(`/changes?after=${cursor('1', `1:1:@${beyond}`)}`))).toBe(422)
    expect(await statusOf(read(`/changes?after=${cursor('1', '1:1:', '1:1:', beyond, 1, 1)}`))).toBe(422)
    expect(await statusOf(read('/plus/statement?page=9007199254740991'))).toBe(200)
    const created = await operate('/approval-rules', JSON.stringify({ name: 'beyond', conditions: { seller_sales: { min: 1 } } }))
    const { id } = created.body.data as { id: number }
    expect(await operate(`/approval-rules/${id}/reopen`, '{"version":2147483648}')).toMatchObject({ status: 200, body: { data: { reopened: 0 } } })
  })

  test('NUL and lone surrogates in searches and in quoted texts', async () => {
    expect((await operate(`/items/${target.ids.item[0]}/price-history?label=a%00b`)).status).toBe(422)
    expect((await operate('/shared-ids?source=a%00b')).body.error).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: 'source must not contain NUL or unpaired surrogates',
    })
    const reply = await operate(
      '/prices',
      '[{"\\ud800":1},{"\\u0000":1},{"item_ref":"\\ud800","market":"source_a","label":"Near Mint\\u0000","price":1}]',
    )
    expect([reply.status, (reply.body.data as { rejected: number }).rejected]).toEqual([200, 3])
  })
})
