// The collection endpoints over HTTP: every response and every error, bad input, conditions and repeated requests.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collector, makeCollection, makeItems } from '../collections/kit.ts'
import { type Reply, startTestNode, type TestNode } from '../support/node.ts'
import { rulesIn } from '../support/reasons.ts'

let node: TestNode
let ids: Record<string, number>
let plus: ReturnType<typeof collector>
let collection: number
let foreign: number

beforeAll(async () => {
  node = await startTestNode()
  ids = await makeItems(node, [
    { ref: 'char', name: 'Charizard', code: '4/102' },
    { ref: 'booster', name: 'Booster Box', groups: [] },
    { ref: 'slab', name: 'Slab', groups: ['graded'] },
  ])
  plus = collector(node, node.keys.plus)
  collection = await makeCollection(node, node.accounts.plus)
  foreign = await makeCollection(node, node.accounts.enterprise, 'Theirs')
})

afterAll(() => node.close())

function refused(reply: Reply, rule: RegExp): void {
  expect(reply.body).toMatchObject({ success: false, error: { code: 'PLUS_COLLECTION_ERROR' } })
  expect(reply.status).toBe(422)
  expect(rulesIn(reply.body.error)).toMatch(rule)
}

async function grade(name: string): Promise<number> {
  const row = await node.db.kysely
    .selectFrom('groups')
    .select('id')
    .where('name', '=', name)
    .where('parent_id', 'is not', null)
    .executeTakeFirstOrThrow()
  return row.id
}

describe('adding', () => {
  test('returns 201 with defaults', async () => {
    const reply = await plus.add(collection, { item_id: ids.char })
    expect(reply.status).toBe(201)
    expect(reply.body).toEqual({
      success: true,
      message: expect.any(String) as string,
      data: {
        id: expect.any(Number) as number,
        item_id: ids.char,
        item_name: 'Charizard',
        group_label: 'Ungraded',
        quantity: 1,
      },
    })
    const [record] = await plus.list(collection)
    expect(record).toEqual({
      id: reply.body.data.id,
      item_id: ids.char,
      item_name: 'Charizard',
      item_slug: expect.stringContaining('charizard') as string,
      group_label: 'Ungraded',
      quantity: 1,
      purchase_price: null,
      sale_price: null,
      purchase_date: null,
      card_uniq_id: null,
      note: null,
      for_trade: 0,
      certificate: null,
    })
  })

  test('uses Ungraded, otherwise the first allowed type, or none', async () => {
    expect((await plus.add(collection, { item_id: ids.slab })).body.data.group_label).toBe('PSA 10')
    expect((await plus.add(collection, { item_id: ids.booster })).body.data.group_label).toBeNull()
    const psa9 = await grade('PSA 9')
    expect((await plus.add(collection, { item_id: ids.char, item_group_type_id: psa9 })).body.data.group_label).toBe('PSA 9')
  })

  test('stores every field, and rounds the sale price in responses only', async () => {
    const record = {
      item_id: ids.char,
      quantity: 100_000,
      purchase_price: 1234.56,
      sale_price: 19.5,
      purchase_date: '2024-02-29',
      card_uniq_id: '👨‍👩‍👧'.repeat(100),
      note: `${'ş'.repeat(998)}\n"`,
    }
    const { id } = (await plus.add(collection, record)).body.data
    const [stored] = await plus.list(collection)
    expect(stored).toMatchObject({ ...record, id, sale_price: 20 })
    const row = await node.db.kysely.selectFrom('collection_items').select('sale_price').where('id', '=', id).executeTakeFirstOrThrow()
    expect(row.sale_price).toBe('19.50')
  })

  test('returns the correct error for each case', async () => {
    refused(await plus.add(999_999, { item_id: ids.char }), /^not_found collection 999999$/)
    refused(await plus.add(2 ** 40, { item_id: ids.char }), /^not_found collection/)
    refused(await plus.add(foreign, { item_id: ids.char }), /^not_owner collection/)
    refused(await plus.add(foreign, { item_id: 999_999 }), /^not_owner collection/)
    refused(await plus.add(collection, { item_id: 999_999 }), /^not_found item 999999$/)
    refused(await plus.add(collection, { item_id: 2 ** 40 }), /^not_found item 1099511627776$/)
    refused(
      await plus.add(collection, { item_id: ids.slab, item_group_type_id: await grade('Near Mint') }),
      /grade_of_item 4 \(Near Mint\) \d+ \(PSA 10\)/,
    )
    refused(await plus.add(collection, { item_id: ids.booster, item_group_type_id: await grade('PSA 10') }), /grade_of_item \d+ \(PSA 10\) ?$/)
    refused(await plus.add(collection, { item_id: ids.char, item_group_type_id: 1 }), /not_a_grade 1 Ungraded/)
    refused(await plus.add(collection, { item_id: ids.char, item_group_type_id: 2 ** 40 }), /^not_found grade 1099511627776$/)
  })

  test('rejects invalid values by name', async () => {
    const bad: [object, string][] = [
      ...[0, 100_001, 1.5, '3', null, -1, true].map((quantity): [object, string] => [{ quantity }, 'quantity']),
      ...[-0.01, 1.005, 1e300, 10_000_000_000, '5', []].flatMap((amount): [object, string][] => [
        [{ purchase_price: amount }, 'purchase_price'],
        [{ sale_price: amount }, 'sale_price'],
      ]),
      ...['2026-02-30', '30.02.2026', '2026-02-28T10:00:00Z', '0000-01-01', '', 5].map((date): [object, string] => [
        { purchase_date: date },
        'purchase_date',
      ]),
      [{ card_uniq_id: 'x'.repeat(101) }, 'card_uniq_id'],
      [{ card_uniq_id: 'a\nb' }, 'card_uniq_id'],
      [{ note: 'x'.repeat(1_001) }, 'note'],
      [{ note: 'nul \u0000' }, 'note'],
      [{ note: `a${'\u0301'.repeat(20_000)}` }, 'note'],
      [{ item_group_type_id: 'PSA 10' }, 'item_group_type_id'],
      [{ colour: 'red' }, 'colour'],
      [{ id: 5 }, 'id'],
    ]
    for (const [fields, field] of bad) {
      const reply = await plus.add(collection, { item_id: ids.char, ...fields })
      refused(reply, new RegExp(field))
      expect(
        reply.body.error!.details!.map((problem) => problem.field),
        JSON.stringify(fields),
      ).toEqual([field])
    }
    refused(await plus.add(collection, {}), /^item_id required/)
    refused(await plus.ask('POST', '/x/items', { item_id: ids.char }), /^id integer$/)
    expect((await plus.ask('POST', `/${collection}/items`, [])).body.error!.code).toBe('INVALID_JSON')
  })

  test('a repeated key adds one record', async () => {
    const headers = { 'idempotency-key': 'add-1' }
    const before = await plus.count(collection)
    const first = await plus.add(collection, { item_id: ids.char }, headers)
    const second = await plus.add(collection, { item_id: ids.char }, headers)
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('etag')).toBe(first.headers.get('etag'))
    expect(await plus.count(collection)).toBe(before + 1)
    expect((await plus.add(collection, { item_id: ids.slab }, headers)).body.error!.code).toBe('IDEMPOTENCY_CONFLICT')
  })

  test('fifty concurrent requests add fifty records, even if others are rejected', async () => {
    const before = await plus.count(collection)
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, i) => plus.add(i % 2 ? collection : foreign, { item_id: ids.char, note: String(i) })),
    )
    const added = replies.filter((reply) => reply.status === 201)
    expect(added).toHaveLength(50)
    expect(new Set(added.map((reply) => reply.body.data.id)).size).toBe(50)
    expect(await plus.count(collection)).toBe(before + 50)
    expect(await plus.list(collection)).toHaveLength(before + 50)
  })
})

describe('changing', () => {
  const full = {
    quantity: 2,
    purchase_price: 10.5,
    sale_price: 20,
    purchase_date: '2026-01-31',
    card_uniq_id: 'A1',
    note: 'x',
  }

  async function added(): Promise<number> {
    return (await plus.add(collection, { item_id: ids.char, ...full })).body.data.id
  }
  const stored = async (id: number) => (await plus.list(collection)).find((record) => record.id === id)!

  test('changes only the fields sent', async () => {
    const id = await added()
    const reply = await plus.change(collection, id, { quantity: 3, sale_price: 7.49 })
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({
      success: true,
      message: expect.any(String) as string,
      data: { id, quantity: 3, sale_price: 7 },
    })
    expect(await stored(id)).toMatchObject({ ...full, quantity: 3, sale_price: 7 })
  })

  test('null clears every field except the quantity', async () => {
    const id = await added()
    const cleared = { purchase_price: null, sale_price: null, purchase_date: null, card_uniq_id: null, note: null }
    expect((await plus.change(collection, id, cleared)).body.data).toEqual({ id, ...cleared })
    expect(await stored(id)).toMatchObject({ ...cleared, quantity: 2 })
    refused(await plus.change(collection, id, { quantity: null }), /quantity/)
  })

  test('rejects empty bodies, unknown fields and immutable fields', async () => {
    const id = await added()
    refused(await plus.change(collection, id, {}), /^body at_least_one quantity,for_trade,purchase_price/)
    refused(await plus.ask('PATCH', `/${collection}/items/${id}`), /^body at_least_one/)
    refused(await plus.change(collection, id, { colour: 1 }), /^colour unknown_field/)
    refused(await plus.change(collection, id, { item_id: ids.slab }), /^item_id unknown_field/)
    refused(await plus.change(collection, id, { item_group_type_id: 3 }), /^item_group_type_id unknown_field/)
    refused(await plus.change(collection, id, { quantity: 0 }), /quantity/)
    refused(await plus.change(collection, id, { purchase_price: 0.001 }), /number 2/)
    expect(await stored(id)).toMatchObject(full)
  })

  test('returns the correct error for each case', async () => {
    const id = await added()
    const other = await makeCollection(node, node.accounts.plus, 'Other')
    const theirs = (await collector(node, node.keys.enterprise).add(foreign, { item_id: ids.char })).body.data.id
    for (const attempt of [
      (c: number, r: number | string) => plus.change(c, r, { note: 'mine' }),
      (c: number, r: number | string) => plus.remove(c, r),
      (c: number, r: number | string) => plus.ask('GET', `/${c}/items/${r}`),
    ]) {
      refused(await attempt(999_999, id), /^not_found collection/)
      refused(await attempt(foreign, theirs), /^not_owner collection/)
      refused(await attempt(collection, 2 ** 31 - 1), /^(not_found collection record|record_not_found)/)
      refused(await attempt(collection, 2 ** 40), /^(not_found collection record|record_not_found)/)
      refused(await attempt(other, id), new RegExp(`^record_not_found \\d+ ${other} ${collection}`))
      refused(await attempt(collection, theirs), /^(not_found collection record|record_not_found)/)
      refused(await attempt(collection, 'abc'), /^itemId integer$/)
    }
    expect(await stored(id)).toMatchObject(full)
  })

  test('If-Match changes or removes only the current version', async () => {
    const id = await added()
    const read = await plus.ask('GET', `/${collection}/items/${id}`)
    const tag = read.headers.get('etag')!
    expect(read.body.data).toEqual(await stored(id))
    const changed = await plus.change(collection, id, { note: 'one' }, { 'if-match': tag })
    expect(changed.status).toBe(200)
    expect(changed.headers.get('etag')).not.toBe(tag)
    const late = await plus.change(collection, id, { note: 'two' }, { 'if-match': tag })
    expect([late.status, late.body.error!.code]).toEqual([412, 'PRECONDITION_FAILED'])
    expect((await plus.remove(collection, id, { 'if-match': tag })).status).toBe(412)
    expect((await stored(id)).note).toBe('one')
    expect((await plus.remove(collection, id, { 'if-match': `"x", W/${changed.headers.get('etag')}` })).status).toBe(200)
  })

  test('of two concurrent changes with one tag, one succeeds', async () => {
    const id = await added()
    const tag = (await plus.ask('GET', `/${collection}/items/${id}`)).headers.get('etag')!
    const replies = await Promise.all(['a', 'b', 'c'].map((note) => plus.change(collection, id, { note }, { 'if-match': tag })))
    expect(replies.map((reply) => reply.status).toSorted((a, b) => a - b)).toEqual([200, 412, 412])
  })
})

test('a record is removed once, and the count follows', async () => {
  const { id } = (await plus.add(collection, { item_id: ids.char })).body.data
  const before = await plus.count(collection)
  expect((await plus.remove(collection, id)).body).toEqual({ success: true, message: expect.any(String) as string })
  expect(await plus.count(collection)).toBe(before - 1)
  refused(await plus.remove(collection, id), /^(not_found collection record|record_not_found)/)
  expect(await plus.count(collection)).toBe(before - 1)
})

describe('listing', () => {
  test("lists only the caller's collections, with counts", async () => {
    const { status, body } = await plus.ask<{ id: number; name: string }[]>('GET', '')
    expect(status).toBe(200)
    expect(body.data[0]).toEqual({
      id: collection,
      name: 'Mine',
      description: '',
      visibility: 'private',
      items_count: await plus.count(collection),
      method: 'fifo',
    })
    expect(body.data.every((entry) => entry.name !== 'Theirs')).toBe(true)
    expect(body).not.toHaveProperty('pagination')
  })

  test('lists records newest first; long lists completely', async () => {
    const long = await makeCollection(node, node.accounts.plus, 'Long')
    await node.db.kysely
      .insertInto('collection_items')
      .values(
        Array.from({ length: 2_500 }, (_, i) => ({
          collection_id: long,
          item_id: ids.char!,
          grade_id: null,
          quantity: i + 1,
          purchase_price: null,
          sale_price: null,
          purchase_date: null,
          card_uniq_id: null,
          note: null,
          import_key: null,
          created_at: node.clock.now(),
          updated_at: node.clock.now(),
        })),
      )
      .execute()
    const records = await plus.list(long)
    expect(records.map((record) => record.quantity)).toEqual(Array.from({ length: 2_500 }, (_, i) => 2_500 - i))
    const reply = await plus.ask('GET', `/${long}/items`)
    expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect((await plus.ask('GET', `/${foreign}/items`)).status).toBe(422)
  })

  test('rejects missing, foreign and invalid ids', async () => {
    refused(await plus.ask('GET', '/999999/items'), /^not_found collection/)
    refused(await plus.ask('GET', `/${foreign}/items`), /^not_owner collection/)
    refused(await plus.ask('GET', '/abc/items'), /^id integer$/)
    refused(await plus.ask('GET', `/${collection}/items?with_value=maybe`), /^with_value one_of 1,0$/)
  })
})

test('smaller plans and missing keys are rejected first', async () => {
  for (const key of [node.keys.starter, node.keys.professional]) {
    const caller = collector(node, key)
    for (const reply of [
      await caller.ask('GET', ''),
      await caller.ask('GET', `/${collection}/items`),
      await caller.add(collection, {}),
      await caller.change(collection, 1, {}),
      await caller.remove(collection, 1),
      await caller.ask('GET', '/abc/items/x'),
    ]) {
      expect([reply.status, reply.body.error!.code]).toEqual([403, 'PLAN_UPGRADE_REQUIRED'])
    }
  }
  const nobody = await collector(node, 'mintmark_wrong').ask('GET', '')
  expect(nobody.status).toBe(401)
  const put = await plus.ask('PUT', `/${collection}/items`)
  expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST, HEAD'])
})

test('every write creates an audit row', async () => {
  const full = { quantity: 3, purchase_price: 12.5, sale_price: 19.5, purchase_date: '2026-01-31', card_uniq_id: 'PSA 7' }
  const { data: added } = (await plus.add(collection, { item_id: ids.char, ...full })).body
  const { id } = added
  await plus.change(collection, id, { note: 'audited' })
  await plus.remove(collection, id)
  const rows = await node.db.kysely
    .selectFrom('audit_log')
    .select(['actor', 'action', 'before', 'after'])
    .where('subject_type', '=', 'collection_item')
    .where('subject_id', '=', String(id))
    .orderBy('id')
    .execute()
  expect(rows.map((row) => row.action)).toEqual(['collection_item.add', 'collection_item.change', 'collection_item.remove'])
  expect(rows.every((row) => row.actor === `account:${node.accounts.plus}`)).toBe(true)
  expect(rows[0]).toMatchObject({ before: null, after: added })
  expect(rows[1]).toMatchObject({ before: { note: null }, after: { note: 'audited' } })
})
