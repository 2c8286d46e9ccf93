// The client follows feeds by cursor: to their end, as entries arrive, across failures, and until it is aborted.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Mintmark, MintmarkError } from '../../client/src/index.ts'
import { OPERATOR_TOKEN, passOnAllPrices, send, startTestNode, type TestNode, until } from '../support/node.ts'
import { sell } from '../webhooks/receiver.ts'

let node: TestNode
let client: Mintmark
let category: number

beforeAll(async () => {
  node = await startTestNode()
  await passOnAllPrices(node)
  client = clientOf(node.keys.plus)
  category = (await operator<{ id: number }>('/categories', { name: 'Set', game: 'pokemon', market: 'source_c' })).id
})
afterAll(() => node.close())

function clientOf(apiKey: string, fetch?: (request: Request) => Promise<Response>): Mintmark {
  return new Mintmark({ apiKey, baseUrl: node.publicUrl!, ...(fetch && { fetch }) })
}

async function operator<T>(path: string, json: object): Promise<T> {
  const { status, body } = await send<T>(`${node.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { json })
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body.data
}

let items = 0
async function item(): Promise<number> {
  items += 1
  return (await operator<{ id: number }>('/items', { name: `Card ${items}`, ref: `card:${items}`, market: 'source_c', category_id: category })).id
}

const waiting = (count: number) => until(`${count} wait`, () => node.polls.waiting === count)

/** All entries up to the end of the feed. */
async function changesAfter(after?: string) {
  const seen: { id: number; cursor: string }[] = []
  const query = { wait: 0, limit: 2, kinds: 'item', ...(after !== undefined && { after }) }
  for await (const change of client.follow('/api/v1/changes', { params: { query } })) seen.push(change)
  return seen
}

test('reads a feed over all pages to its end, and continues from the cursor of any entry', async () => {
  const ids = [await item(), await item(), await item(), await item(), await item()]
  const changes = await changesAfter()
  expect(changes.map(({ id }) => id)).toEqual(ids)
  expect((await changesAfter(changes[1]!.cursor)).map(({ id }) => id)).toEqual(ids.slice(2))
  expect(await changesAfter(changes.at(-1)!.cursor)).toEqual([])
})

test('yields each change as it arrives, until stopped', async () => {
  const after = (await changesAfter()).at(-1)!.cursor
  const stop = new AbortController()
  const seen: unknown[] = []
  const following = (async () => {
    const query = { after, with_data: true }
    for await (const { kind, id, data } of client.follow('/api/v1/changes', { params: { query }, signal: stop.signal })) seen.push([kind, id, data])
  })()
  const ids: number[] = []
  for (let n = 1; n <= 3; n += 1) {
    await waiting(1)
    ids.push(await item())
    await until('it has come', () => seen.length === n)
  }
  expect(seen).toEqual(ids.map((id) => ['item', id, expect.objectContaining({ id, prices: [] })]))
  await waiting(1)
  stop.abort()
  await following
  await waiting(0)
  for await (const change of client.follow('/api/v1/changes', { signal: stop.signal })) expect(change).toBe('nothing after it was stopped')
})

test("yields the account's events", async () => {
  const events: [string, number | undefined][] = []
  const following = (async () => {
    for await (const { event, data } of client.follow('/api/v1/plus/events')) {
      events.push([event, 'order_id' in data ? data.order_id : undefined])
      if (events.length === 3) return
    }
  })()
  await waiting(1)
  await sell(node, node.accounts.plus, 2, 7)
  await until('both have come', () => events.length === 2)
  await waiting(1)
  await sell(node, node.accounts.plus, 1, 8)
  await following
  expect(events).toEqual([
    ['sale', 7],
    ['sale', 7],
    ['sale', 8],
  ])
})

test('continues while the service is unreachable, beyond the retries of a call', async () => {
  const after = (await changesAfter()).at(-1)!.cursor
  const id = await item()
  let failures = 0
  const flaky = (request: Request) => {
    failures += 1
    if (failures === 1) return Promise.reject(new TypeError('fetch failed'))
    if (failures <= 6) return Promise.resolve(new Response('{}', { status: 503, headers: { 'retry-after': '0.01' } }))
    return globalThis.fetch(request)
  }
  const follow = clientOf(node.keys.plus, flaky).follow('/api/v1/changes', { params: { query: { after, kinds: 'item' } } })
  const { value } = await follow.next()
  expect([value?.id, failures]).toEqual([id, 7])
  await follow.return()
})

test('an expired cursor is an error that points to the dump, as is a key without permission', async () => {
  const elsewhere = Buffer.from(JSON.stringify([1, '1', '800:800:'])).toString('base64url')
  const expired = await client
    .follow('/api/v1/changes', { params: { query: { after: elsewhere } } })
    .next()
    .catch((error: unknown) => error)
  expect(expired).toBeInstanceOf(MintmarkError)
  expect(expired).toMatchObject({ status: 410, code: 'CURSOR_EXPIRED', message: expect.stringContaining('start from a dump') as string })
  const starter = clientOf(node.keys.starter).follow('/api/v1/changes')
  await expect(starter.next()).rejects.toMatchObject({ status: 403, code: 'PLAN_UPGRADE_REQUIRED' })
})
