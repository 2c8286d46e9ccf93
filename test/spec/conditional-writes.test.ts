// If-Match is honoured or rejected on every write, never ignored: over REST, the operator API and GraphQL.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HOUR_MS } from '#core/duration.ts'
import type { StoredListing } from '#market/marketplace-types.ts'
import { startNode } from '#node/start.ts'
import { post } from '../graphql/client.ts'
import { type Change, makeCatalogue, operator, orderId, pending, plus, published } from '../market/kit.ts'
import { filled, makeOwner, makeThings, type Owner, sendRaw, startListing, stateOf, type Things } from '../reliability/authorisation-kit.ts'
import { GRAPHQL_ROWS, PUBLIC_ROWS } from '../reliability/authorisation-rows.ts'
import { OPERATOR_TOKEN, type Reply, silent, type TestNode } from '../support/node.ts'
import { rowsOf } from '../support/runs.ts'

/** Writes that honour `If-Match`, with what they need to succeed; all others reject it. */
const CONDITIONAL: Record<string, object | null> = {
  'PATCH /api/v1/plus/collections/:id/items/:itemId': { quantity: 3 },
  'DELETE /api/v1/plus/collections/:id/items/:itemId': null,
  'POST /api/v1/plus/collections/:id/items/:itemId/lots': { unit_cost: 1 },
  'POST /api/v1/plus/collections/:id/items/:itemId/disposals': { gross: 1 },
  'DELETE /api/v1/plus/collections/:id/items/:itemId/lots/:lotId': null,
  'DELETE /api/v1/plus/collections/:id/items/:itemId/disposals/:disposalId': null,
  'PATCH /api/v1/plus/listings/:id/price': { price: 150 },
  'PATCH /api/v1/plus/listings/:id': { title: 'Another title' },
  'POST /api/v1/plus/listings/:id/status': { action: 'pause' },
  'DELETE /api/v1/plus/listings/:id': null,
  'POST /api/v1/plus/make-highlight': { id: 'LISTING' },
  'PATCH /operator/v1/listings/:id': { title: 'Another title' },
  'POST /operator/v1/listings/:id/approve': {},
  'POST /operator/v1/listings/:id/reject': { reason: 'Blurred' },
  'POST /operator/v1/listings/:id/request-change': { note: 'Blurred' },
  'POST /operator/v1/listings/:id/undo-decision': {},
  'PATCH /operator/v1/settings/:name': { value: '9' },
  'POST /operator/v1/settings/:name/undo': {},
}
const STALE = ['if-match', '"as-it-was-yesterday"']

let node: TestNode
let writes: string[]
let item: number
let owner: Owner
/** records that only rejected requests refer to */
let untouched: Things

beforeAll(async () => {
  const started = await startListing()
  node = started.node
  writes = started.registered.filter((name) => /^\w+ \/(api|operator)\/v1\//.test(name) && !name.startsWith('GET ') && !PUBLIC_ROWS[name]?.test)
  item = (await makeCatalogue(node)).items.char!
  owner = await makeOwner(node, 'plus')
  untouched = await makeThings(node, owner, item)
})

afterAll(() => node.close())

const credentialOf = (path: string) => ['authorization', `Bearer ${path.startsWith('/operator') ? OPERATOR_TOKEN : owner.key}`]

function ask(name: string, headers: string[], body: object | null, things: Things) {
  const [method, path] = name.split(' ') as [string, string]
  const base = path.startsWith('/operator') ? node.operatorUrl! : node.publicUrl!
  const id = path.includes('/listings/') ? things.listing : things.collection
  const params: Record<string, number | undefined> = { ':id': id, ':itemId': things.record, ':lotId': things.lot, ':disposalId': things.disposal }
  const url = base + path.replace(':name', 'HIGHLIGHT_DAYS').replace(/:\w+/g, (name) => String(params[name] ?? 1))
  const text = body && JSON.stringify(body).replace('"LISTING"', String(things.listing))
  return sendRaw(url, method, [...credentialOf(path), ...headers], text ?? undefined)
}

/** Approve requires a pending listing, and undo one that has not changed since. */
async function thingsFor(name: string): Promise<Things> {
  if (name.endsWith('/undo')) await operator(node, 'PATCH', '/settings/HIGHLIGHT_DAYS', { value: '8' })
  if (name.endsWith('/approve')) return { ...untouched, listing: (await pending(node, item)).id }
  if (name.endsWith('/undo-decision')) return { ...untouched, listing: (await published(node, item)).id }
  return makeThings(node, owner, item, [name.includes('/collections/') ? 'collection' : 'listing'])
}

test('every write of both listeners honours If-Match, or rejects it without changes', async () => {
  const before = await stateOf(node)
  const refused: string[] = []
  for (const name of writes) {
    const { status, text } = await ask(name, STALE, CONDITIONAL[name] ?? (name.startsWith('DELETE') ? null : { surely_unknown: 1 }), untouched)
    const { error } = JSON.parse(text) as { error: { code: string; message: string; details?: { field: string }[] } }
    if (name in CONDITIONAL) expect([name, status, error.code]).toEqual([name, 412, 'PRECONDITION_FAILED'])
    else {
      expect([name, status, error.details]).toEqual([
        name,
        422,
        [{ field: 'If-Match', message: expect.any(String) as string, rule: 'not_supported', params: {} }],
      ])
      refused.push(name)
    }
  }
  expect(await stateOf(node)).toEqual(before)
  expect([...refused, ...Object.keys(CONDITIONAL)].sort()).toEqual([...writes].sort())
  expect(refused.length).toBeGreaterThan(25)
})

test.each(rowsOf(Object.entries(CONDITIONAL), 4))('%s succeeds if the state is the one that was read', async (name, body) => {
  const things = await thingsFor(name)
  const read = name.includes('/settings/')
    ? (await operator<{ name: string; etag: string }[]>(node, 'GET', '/settings')).body.data.find((one) => one.name === 'HIGHLIGHT_DAYS')!.etag
    : name.includes('/collections/')
      ? (await plus(node, 'GET', `/collections/${things.collection}/items/${things.record}`, undefined, { key: owner.key })).headers.get('etag')!
      : (await operator(node, 'GET', `/listings/${things.listing}`)).headers.get('etag')!
  const { status, text } = await ask(name, ['if-match', read], body, things)
  expect([status, text]).toEqual([/\/(lots|disposals)$/.test(name) ? 201 : 200, expect.stringContaining('"success":true')])
})

test.each(rowsOf(Object.entries(GRAPHQL_ROWS).filter(([name, { test: ofSandbox }]) => name.startsWith('mutation ') && !ofSandbox)))(
  '%s rejects If-Match, because a document may change many things',
  async (_name, { field }) => {
    const query = `mutation { ${filled(field, untouched)} }`
    const before = await stateOf(node)
    const reply = await post(node, JSON.stringify({ query }), { authorization: `Bearer ${owner.key}`, 'if-match': '"1-1"' })
    expect([reply.status, reply.errors]).toEqual([
      422,
      [
        expect.objectContaining({
          extensions: expect.objectContaining({ code: 'VALIDATION_ERROR', details: [expect.objectContaining({ field: 'If-Match' })] }),
        }),
      ],
    ])
    expect(await stateOf(node)).toEqual(before)
  },
)

describe('approval', () => {
  const read = async (id: number) => (await operator(node, 'GET', `/listings/${id}`)).headers.get('etag')!
  const decide = (id: number, decision: 'approve' | 'reject', etag: string) =>
    operator(node, 'POST', `/listings/${id}/${decision}`, decision === 'reject' ? { reason: 'Blurred' } : {}, { 'if-match': etag })

  test('a listing has the same tag in the header, in itself and in every list', async () => {
    const { id } = await pending(node, item)
    const one = await operator(node, 'GET', `/listings/${id}`)
    const tag = one.headers.get('etag')
    expect(tag).toMatch(/^"\d+-\d+"$/)
    const listed = async (path: string) =>
      (await operator<StoredListing[]>(node, 'GET', `${path}?per_page=100`)).body.data.find((entry) => entry.id === id)!.etag
    expect([one.body.data.etag, await listed('/listings'), await listed('/listings/waiting')]).toEqual([tag, tag, tag])
    const written = await operator(node, 'PATCH', `/listings/${id}`, { quantity: 2 }, { 'if-match': tag! })
    expect(written.headers.get('etag')).toBe(written.body.data.etag)
    expect(written.body.data.etag).not.toBe(tag)
    expect((await decide(id, 'approve', written.body.data.etag)).status).toBe(200)
  })

  const CHANGES: Record<string, (id: number) => Promise<Reply<unknown>>> = {
    'the owner edits it': (id) => plus<Change>(node, 'PATCH', `/listings/${id}`, { title: 'Nobody has seen this' }),
    'its price changes': (id) => plus<Change>(node, 'PATCH', `/listings/${id}/price`, { price: 7 }),
    'an operator corrects it': (id) => operator(node, 'PATCH', `/listings/${id}`, { description: 'corrected' }),
    'it is decided already': (id) => operator(node, 'POST', `/listings/${id}/reject`, { reason: 'First' }),
  }
  test.each(Object.entries(CHANGES))('is rejected when %s meanwhile', async (_what, change) => {
    const { id } = await pending(node, item)
    const seen = await read(id)
    expect((await change(id)).status).toBe(200)
    const before = await operator(node, 'GET', `/listings/${id}`)
    for (const decision of ['approve', 'reject'] as const) {
      const reply = await decide(id, decision, seen)
      expect([reply.status, reply.body.error!.code]).toEqual([412, 'PRECONDITION_FAILED'])
    }
    expect((await operator(node, 'GET', `/listings/${id}`)).body.data).toEqual(before.body.data)
    expect((await decide(id, 'approve', await read(id))).status).toBe(200)
  })

  test('taking a listing down is rejected if its stock has changed meanwhile', async () => {
    const { id } = await published(node, item, { quantity: 3 })
    const seen = await read(id)
    await operator(node, 'POST', '/orders', { order_id: orderId(), lines: [{ listing_id: id, quantity: 1 }] })
    expect((await decide(id, 'reject', seen)).status).toBe(412)
  })

  test('the tag of a listing stays valid if its period has ended meanwhile', { tags: 'slow' }, async () => {
    const { id } = await published(node, item, {}, new Date(node.clock.now().getTime() + HOUR_MS))
    // For a node one hour ahead the period is over; no worker ends it between the read and the write.
    const now = () => new Date(node.clock.now().getTime() + HOUR_MS)
    const later = await startNode({ config: node.config, db: node.db, log: silent, now, listeners: { public: false, operator: true }, worker: false })
    try {
      const on = { ...node, operatorUrl: later.operatorUrl }
      const { headers, body } = await operator(on, 'GET', `/listings/${id}`)
      expect(body.data.status).toBe('expired')
      const written = await operator(on, 'PATCH', `/listings/${id}`, { title: 'Finished' }, { 'if-match': headers.get('etag')! })
      expect(written.status).toBe(200)
    } finally {
      await later.close()
    }
  })
})
