// The change feed of the catalogue over HTTP: order, cursors, waiting, deleted records, and cursors that are no longer valid.
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { trimChangeLog } from '#db/changes/change-feed.ts'
import { importText, OPERATOR_TOKEN, passOnAllPrices, type Reply, send, startTestNode, startTwoNodes, type TestNode, until } from '../support/node.ts'

interface Change {
  cursor: string
  kind: string
  id: number
  item_id: number | null
  market: string | null
  label: string | null
  at: string
  data?: unknown
}
type Changes = Reply<Change[]> & { body: { next: string; more: boolean } }

let node: TestNode
let category: number

beforeAll(async () => {
  node = await startTestNode({ env: { PRICE_HOLD_FACTOR: '1000' } })
  await passOnAllPrices(node)
  category = (await operator<{ id: number }>('/categories', { name: 'Set', game: 'pokemon', market: 'source_c' })).id
})
afterAll(() => node.close())

async function operator<T>(path: string, json?: object, method = 'POST', on = node): Promise<T> {
  const { status, body } = await send<T>(`${on.operatorUrl}/operator/v1${path}`, OPERATOR_TOKEN, { json, method })
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  return body.data
}

function changes(query: string, key = node.keys.professional, on = node): Promise<Changes> {
  return send<Change[]>(`${on.publicUrl}/api/v1/changes?${query}`, key) as Promise<Changes>
}

async function end(on = node): Promise<string> {
  let cursor = ''
  for (;;) {
    const { body } = await changes(`limit=1000${cursor && `&after=${cursor}`}`, on.keys.professional, on)
    cursor = body.next
    if (body.data.length === 0) return cursor
  }
}

let items = 0
async function item(): Promise<number> {
  items += 1
  return (await operator<{ id: number }>('/items', { name: `Card ${items}`, ref: `card:${items}`, market: 'source_c', category_id: category })).id
}

function price(id: number, amount: number, label = 'Near Mint'): Promise<unknown> {
  return operator('/prices', [{ item_id: id, market: 'source_c', label, price: amount, updated_at: new Date().toISOString() }])
}

/** Trims entries older than a week; transactions of other tests on the server can keep rows back for a moment. */
async function trimmed(): Promise<void> {
  await sql`update change_log set at = at - interval '8 days'`.execute(node.db.kysely)
  await until('the log is trimmed', async () => {
    await trimChangeLog(node.db, node.clock.now())
    const { rows } = await sql`select from change_log where at < now() - interval '8 days'`.execute(node.db.kysely)
    return rows.length === 0
  })
}

const shown = ({ kind, id, item_id, market, label }: Change) => [kind, id, item_id, market, label]

describe('changes', () => {
  test('are returned in commit order, with current data on request', async () => {
    const after = await end()
    const id = await item()
    await price(id, 12.5)
    await operator(`/items/${id}`, { name: 'Renamed' }, 'PATCH')
    const { status, body } = await changes(`after=${after}&with_data=1`)
    expect(status).toBe(200)
    expect(body.data.map(shown)).toEqual([
      ['item', id, id, null, null],
      ['price', id, id, 'source_c', 'Near Mint'],
    ])
    expect(body.data[0]!.data).toMatchObject({ id, name: 'Renamed', ref: `card:${items}`, category_id: category, prices: [{ price: 12.5 }] })
    expect(body.data[1]!.data).toMatchObject({ item_id: id, market: 'source_c', label: 'Near Mint', price: 12.5, currency: 'USD' })
    expect(Date.parse(body.data[0]!.at)).toBeGreaterThan(Date.now() - 1_200_000)
    expect((await changes(`after=${body.next}`)).body.data).toEqual([])
    expect((await changes(`after=${after}`)).body.data[0]).not.toHaveProperty('data')
  })

  test('continue after any change, in pages of any size', async () => {
    const after = await end()
    const ids = [await item(), await item(), await item()]
    await operator(
      '/prices',
      ids.flatMap((id) =>
        ['Near Mint', 'PSA 10'].map((label) => ({ item_id: id, market: 'source_c', label, price: 5, updated_at: '2026-11-01T00:00:00Z' })),
      ),
    )
    const whole = (await changes(`after=${after}`)).body.data.map(shown)
    expect(whole).toHaveLength(9)
    for (const limit of [1, 2, 4]) {
      const pages: unknown[] = []
      let cursor = after
      for (;;) {
        const { body } = await changes(`after=${cursor}&limit=${limit}`)
        if (body.data.length === 0) break
        expect(body.data.length).toBeLessThanOrEqual(limit)
        pages.push(...body.data.map(shown))
        cursor = body.next
      }
      expect(pages).toEqual(whole)
    }
    const { body } = await changes(`after=${after}`)
    for (const [i, { cursor }] of body.data.entries()) {
      expect((await changes(`after=${cursor}`)).body.data.map(shown)).toEqual(whole.slice(i + 1))
    }
  })

  test('can be filtered by kind', async () => {
    const after = await end()
    const id = await item()
    await price(id, 3)
    await operator('/categories', { name: 'Another', game: 'pokemon', market: 'source_c' })
    const kinds = async (requested: string) => (await changes(`after=${after}&kinds=${requested}`)).body.data.map(({ kind }) => kind)
    expect(await kinds('price')).toEqual(['price'])
    expect(await kinds('category,item')).toEqual(['item', 'category'])
    expect(await kinds('merge,delete')).toEqual([])
  })

  test('name the remaining item of a merge, and deleted objects', async () => {
    const [into, twin] = [await item(), await item()]
    await price(twin, 4)
    const after = await end()
    const { batch_id } = await operator<{ batch_id: number }>(`/items/${twin}/merge`, { into })
    const merged = (await changes(`after=${after}&with_data=1`)).body
    expect(merged.data.map(shown)).toContainEqual(['merge', twin, into, null, null])
    expect(merged.data.find(({ kind, id }) => kind === 'item' && id === into)!.data).toMatchObject({ prices: [{ price: 4 }] })
    await operator(`/batches/${batch_id}/revert`, {})
    const undone = (await changes(`after=${merged.next}&kinds=item,merge`)).body.data.map(shown)
    expect(undone).toContainEqual(['item', twin, twin, null, null])

    const line = { type: 'item', market: 'source_c', ref: 'gone:1', name: 'Short-lived', code: null, genre: 'single', game: 'pokemon' }
    const more = { category: 'gone', images: [], attributes: [], groups: [], details: {}, foreign_ids: [] }
    const set = { type: 'category', market: 'source_c', ref: 'gone', name: 'Short-lived set', game: 'pokemon', parent: null, image: null }
    const report = await importText(node, 'mintmark-ndjson', [set, { ...line, ...more }].map((one) => JSON.stringify(one)).join('\n'))
    const imported = (await changes(`after=${merged.next}`)).body
    const gone = imported.data.find(({ kind, id }) => kind === 'item' && id > twin)!
    await operator(`/imports/${report.id}/revert`, {})
    const deleted = (await changes(`after=${imported.next}`)).body.data.map(shown)
    expect(deleted).toContainEqual(['delete', gone.id, gone.id, null, null])
  })

  test('reach readers on another node, with the same cursors', async () => {
    const { here, there, close } = await startTwoNodes()
    try {
      const after = await end(here)
      const { id } = await operator<{ id: number }>('/categories', { name: 'There', game: 'pokemon', market: 'source_c' }, 'POST', there)
      const { body } = await changes(`after=${after}`, here.keys.plus, here)
      expect(body.data.map(shown)).toEqual([['category', id, null, null, null]])
      expect((await changes(`after=${body.data[0]!.cursor}`, here.keys.plus, there)).body.data).toEqual([])
    } finally {
      await close()
    }
  })

  test('include transactions that commit late', async () => {
    const late = await node.db.pool.connect()
    await late.query('begin')
    await late.query(`insert into change_log (kind, ids) values ('categories', array[${category}])`)
    const id = await item()
    const first = (await changes(`after=${await end()}`)).body
    expect(first.data).toEqual([])
    await late.query('commit')
    late.release()
    expect((await changes(`after=${first.next}`)).body.data.map(shown)).toEqual([['category', category, null, null, null]])
    expect(id).toBeGreaterThan(0)
  })
})

/** Counts the statements that run meanwhile and contain the text. */
async function statementsWith(text: string, run: () => Promise<unknown>): Promise<number> {
  const spy = vi.spyOn(pg.Client.prototype, 'query')
  try {
    await run()
    const texts = (spy.mock.calls as unknown as [string | { text?: string }][]).map(([first]) =>
      typeof first === 'string' ? first : (first.text ?? ''),
    )
    return texts.filter((each) => each.includes(text)).length
  } finally {
    spy.mockRestore()
  }
}

describe('a rare kind', () => {
  test('costs one statement per request, however many other changes are between, and ends with the same entries', { tags: 'slow' }, async () => {
    const after = await end()
    const id = await item()
    // Item changes, none of which is a deletion until the last.
    await sql`insert into change_log (kind, ids) select 'items', array[${id}::int, ${id}::int, ${id}::int, ${id}::int, ${id}::int] from generate_series(1, 2_500)`.execute(
      node.db.kysely,
    )
    await sql`insert into change_log (kind, ids) values ('items', array[2000000000, 2000000001])`.execute(node.db.kysely)
    await sql`insert into change_log (kind, ids) values ('categories', array[${category}::int])`.execute(node.db.kysely)
    const pages: Changes['body'][] = []
    const requests = await statementsWith('examined_to', async () => {
      for (let cursor = after; ; cursor = pages.at(-1)!.next) {
        pages.push((await changes(`after=${cursor}&kinds=delete&limit=1`)).body)
        if (!pages.at(-1)!.more) break
      }
    })
    // A request that ends a range without a change also begins the next one.
    expect(requests).toBeLessThanOrEqual(pages.length + 1)
    // 12,500 entries, at most 10,000 of them a request, then one deletion each.
    expect(pages.length).toBeLessThanOrEqual(5)
    expect(pages.flatMap(({ data }) => data.map((change) => change.id))).toEqual([2_000_000_000, 2_000_000_001])
    expect(pages[0]!.data).toEqual([])
    const categories = (await changes(`after=${after}&kinds=category&limit=1`)).body
    expect(categories.data.map(shown)).toEqual([['category', category, null, null, null]])
    // Waiting returns at once what has been examined.
    expect((await changes(`after=${after}&kinds=delete&wait=30&limit=1`)).body).toMatchObject({ data: [], more: true })
  })

  test('rows that are not of the catalogue are not examined', async () => {
    const after = await end()
    await sql`insert into change_log (kind, ids) select 'accounts', array[0] from generate_series(1, 100)`.execute(node.db.kysely)
    const id = await item()
    const { data } = (await changes(`after=${after}&limit=1`)).body
    expect(data.map(shown)).toEqual([['item', id, id, null, null]])
  })
})

describe('waiting', () => {
  test('clients that a change wakes share one statement, and each gets it once', { tags: 'slow' }, async () => {
    const first = await end()
    const waiting: Promise<Changes>[] = []
    // Their positions differ: each has begun at another moment.
    for (let i = 0; i < 20; i += 1) {
      waiting.push(changes(`after=${i % 2 ? first : await end()}&wait=30&with_data=1${i % 4 === 0 ? '&kinds=item' : ''}`))
      await until('it waits', () => node.polls.waiting === i + 1)
      await sql`insert into change_log (kind, ids) values ('operators', array[1])`.execute(node.db.kysely)
    }
    let id = 0
    const reads = await statementsWith('examined_to', async () => {
      id = await item()
      await Promise.all(waiting)
    })
    // One for those that ask for all kinds, one for those that ask for items.
    expect(reads).toBe(2)
    for (const answer of waiting) {
      const { data, next } = (await answer).body
      expect(data).toMatchObject([{ kind: 'item', id, data: { id, name: `Card ${items}` } }])
      expect((await changes(`after=${next}`)).body.data).toEqual([])
      expect((await changes(`after=${data[0]!.cursor}`)).body.data).toEqual([])
    }
  })

  test('an abandoned request reads no more', async () => {
    const abort = new AbortController()
    const url = `${node.publicUrl}/api/v1/changes?after=${await end()}&wait=30`
    const gone = fetch(url, { headers: { authorization: `Bearer ${node.keys.professional}` }, signal: abort.signal }).catch(() => null)
    await until('it waits', () => node.polls.waiting === 1)
    abort.abort()
    await gone
    await until('it is forgotten', () => node.polls.waiting === 0)
    expect(await statementsWith('examined_to', () => item())).toBe(0)
  })

  test('ends with the first change', async () => {
    const after = await end()
    const waiting = changes(`after=${after}&wait=30`)
    const id = await item()
    expect((await waiting).body.data.map(shown)).toEqual([['item', id, id, null, null]])
  })

  test('ends empty when the time is over or the node stops', { tags: 'slow' }, async () => {
    const after = await end()
    const { body } = await changes(`after=${after}&wait=1`)
    expect(body).toMatchObject({ data: [] })
    const other = await startTestNode({ databaseUrl: node.databaseUrl })
    const waiting = changes(`after=${body.next}&wait=30`, other.keys.professional, other)
    await until('it waits', () => other.polls.waiting === 1)
    await other.drain()
    expect((await waiting).body.data).toEqual([])
    await other.close()
  })

  test('ends empty when its key is revoked', async () => {
    const { id: account_id } = await operator<{ id: number }>('/accounts', { name: 'Follower', plan: 'professional' })
    const { id, key } = await operator<{ id: number; key: string }>(`/accounts/${account_id}/keys`, {})
    const waiting = changes(`after=${await end()}&wait=30`, key)
    await until('it waits', () => node.polls.waiting === 1)
    await operator(`/keys/${id}`, undefined, 'DELETE')
    await item()
    expect((await waiting).body.data).toEqual([])
  })
})

describe('rejects', () => {
  test('below Professional', async () => {
    expect((await changes('', node.keys.starter)).status).toBe(403)
  })

  test.each([
    ['after=x', 'after'],
    ['after=WzEsIjEiXQ', 'after'],
    ['wait=31', 'wait'],
    ['wait=-1', 'wait'],
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['kinds=item,listing', 'kinds'],
    ['kinds=item;price', 'kinds'],
    ['with_data=maybe', 'with_data'],
  ])('%s', async (query, field) => {
    const { status, body } = await changes(query)
    expect(status).toBe(422)
    expect(body.error!.details!.map((problem) => problem.field)).toEqual([field])
  })

  test('made-up positions, never with an internal error', async () => {
    const madeUp = [
      [1, '1', '5:3:'],
      [1, '1', '1:9:4,4'],
      [1, '1', '1:9:4,10'],
      [1, '1', '1:999999999999999999999:'],
      [1, '1', '1:9:', '1:9:', '1', 1],
      [1, '1', '1:9:', '1:9:', '1', -1, 0],
      [1, '1', '1:9:', '1:9:', '1', 1, 2 ** 40],
      [2, '1', '1:9:'],
      { after: 1 },
      null,
    ]
    for (const parts of madeUp) {
      const { status } = await changes(`after=${Buffer.from(JSON.stringify(parts)).toString('base64url')}`)
      expect(status, JSON.stringify(parts)).toBe(422)
    }
    const { rows } = await sql<{ cluster: string }>`select system_identifier::text as cluster from pg_control_system()`.execute(node.db.kysely)
    for (const parts of [
      ['900000000:900000001:'],
      ['1:900000000000000000:'],
      ['1:9:', '1:900000000:', '900000000', 1, 5],
      ['1:9:', '1:900000000:', '1', 1, 60_000_000],
    ]) {
      const cursor = Buffer.from(JSON.stringify([1, rows[0]!.cluster, ...parts])).toString('base64url')
      expect([200, 410]).toContain((await changes(`after=${cursor}`)).status)
    }
  })

  test('with 410 a cursor of another database, or one that is too old', async () => {
    const other = Buffer.from(JSON.stringify([1, '12345', '800:800:'])).toString('base64url')
    expect((await changes(`after=${other}`)).body.error!.code).toBe('CURSOR_EXPIRED')

    const after = await end()
    await item()
    await item()
    await trimmed()
    const { status, body } = await changes(`after=${after}`)
    expect([status, body.error!.code]).toEqual([410, 'CURSOR_EXPIRED'])
    expect((await changes('')).status).toBe(200)
    const id = await item()
    expect((await changes('')).body.data.map(shown)).toEqual([['item', id, id, null, null]])
  })

  test('does not reject after a day, because changes are kept for a week', async () => {
    const after = await end()
    const id = await item()
    await sql`update change_log set at = at - interval '6 days'`.execute(node.db.kysely)
    await trimChangeLog(node.db, node.clock.now())
    expect((await changes(`after=${after}`)).body.data.map(shown)).toEqual([['item', id, id, null, null]])
  })
})
