// Test keys and live keys over the whole authorisation table: a sandbox never shows or changes live data, and no live key works in one.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newKey } from '#accounts/credentials/key-format.ts'
import { makeCatalogue } from '../market/kit.ts'
import { send, type TestNode } from '../support/node.ts'
import { rowsOf } from '../support/runs.ts'
import { filled, makeOwner, makeThings, type Owner, sendRaw, startListing, stateOf, type Things, withIds } from './authorisation-kit.ts'
import { GRAPHQL_ROWS, PUBLIC_ROWS } from './authorisation-rows.ts'

let node: TestNode
/** the owner of the sandboxes, and another account: a sandbox may show nothing of either */
let owner: Owner
let stranger: Owner
let things: Things
/** kind of credential → its headers */
let keys: Record<string, string[]>

/** Operations that only live keys may call. */
const LIVE_ONLY = [
  'POST /api/v1/sandbox',
  'GET /api/v1/sandbox/:id',
  'DELETE /api/v1/sandbox/:id',
  'mutation createSandbox',
  'mutation deleteSandbox',
]
/** Kinds of credentials that belong to a sandbox; all others belong to nobody. */
const ALIVE = ['of a sandbox', "of another account's sandbox", 'with another case and more spaces']

beforeAll(async () => {
  ;({ node } = await startListing())
  const itemId = (await makeCatalogue(node)).items.char!
  owner = await makeOwner(node, 'enterprise')
  stranger = await makeOwner(node, 'plus')
  things = await makeThings(node, stranger, itemId)
  const create = async (key: string) => (await send<{ id: number; key: string }>(`${node.publicUrl}/api/v1/sandbox`, key, { json: {} })).body.data
  const deleted = await create(owner.key)
  await send(`${node.publicUrl}/api/v1/sandbox/${deleted.id}`, owner.key, { method: 'DELETE' })
  const { key } = await create(owner.key)
  const bearer = (value: string) => ['authorization', `Bearer ${value}`]
  keys = {
    'of a sandbox': bearer(key),
    "of another account's sandbox": bearer((await create(stranger.key)).key),
    'with another case and more spaces': ['authorization', `bEARER   ${key}`],
    'of a deleted sandbox': bearer(deleted.key),
    unknown: bearer(newKey('test')),
    malformed: bearer(`${key}x`),
    'cut off': bearer(key.slice(0, -1)),
    'without a scheme': ['authorization', key],
    'with another scheme': ['authorization', `Basic ${key}`],
    'in another header': ['x-api-key', key, 'proxy-authorization', `Bearer ${key}`],
    'before a live key': [...bearer(key), ...bearer(owner.key)],
    'after a live key': [...bearer(owner.key), ...bearer(key)],
  }
}, 120_000)
afterAll(() => node.close())

const ROWS = [
  ...Object.entries(PUBLIC_ROWS).map(([name, { body, query, upload }]) => {
    const [method, path] = name.split(' ') as [string, string]
    return { name, method, path, query, body: () => upload ?? (body && filled(JSON.stringify(body), things)) }
  }),
  ...Object.entries(GRAPHQL_ROWS).map(([name, { field }]) => ({
    name,
    method: 'POST',
    path: '/graphql',
    query: undefined,
    body: () => JSON.stringify({ query: `${name.split(' ', 1)[0]!} { ${filled(field, things)} }` }),
  })),
]

/** Everything but the sandboxes themselves, which a sandbox may change. */
async function liveState(): Promise<Record<string, string>> {
  const { sandboxes: _own, ...state } = await stateOf(node)
  return state
}

test('no cell of the table crosses the border', { timeout: 600_000 }, async () => {
  const before = await liveState()
  const wrong: string[] = []
  let cells = 0
  for (const { name, method, path, query, body } of rowsOf(ROWS)) {
    for (const [kind, headers] of Object.entries(keys)) {
      const url = `${node.publicUrl}${withIds(path, things)}${query ? `?${query}` : ''}`
      const { status, text } = await sendRaw(url, method, headers, body())
      const problem = (what: string) => wrong.push(`${name}, key ${kind}: ${what} (${status} ${text.slice(0, 300)})`)
      cells += 1
      if (status >= 500) problem('failed')
      if (text.includes(owner.secretWord) || text.includes(stranger.secretWord)) problem('shows live data')
      if (!ALIVE.includes(kind)) {
        if (status !== 401 || !text.includes('"UNAUTHENTICATED"')) problem('is not refused')
      } else {
        if (/^\s*\{/.test(text) && !text.includes('"livemode":false')) problem('is not marked')
        if (LIVE_ONLY.includes(name) && !text.includes('"KEY_MODE_MISMATCH"')) problem('is not refused')
        if (!LIVE_ONLY.includes(name) && text.includes('"KEY_MODE_MISMATCH"')) problem('is refused')
      }
    }
  }
  expect(wrong).toEqual([])
  expect(cells).toBe(rowsOf(ROWS).length * Object.keys(keys).length)
  console.log(`${cells} cells`)
  expect(await liveState()).toEqual(before)
})

test('a sandbox has no key but its own', async () => {
  const { rows } = await node.db.pool.query<{ datname: string }>(
    "select datname from pg_database where datname like 'mintmark_sandbox_%' and datname not like '%template%'",
  )
  expect(rows.length).toBeGreaterThanOrEqual(2)
  for (const live of [owner.key, stranger.key]) {
    for (const path of ['advance', 'reset', 'sell', 'refund', 'decide', 'prices']) {
      const { status, body } = await send(`${node.publicUrl}/api/v1/sandbox/${path}`, live, { json: {} })
      expect([path, status, body.error?.code]).toEqual([path, 401, 'KEY_MODE_MISMATCH'])
    }
  }
})
