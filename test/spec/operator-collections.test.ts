// Collections in the operator API: created, listed, changed and deleted, with audit rows.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { collector, makeItems, operator } from '../collections/kit.ts'
import { OPERATOR_TOKEN, send, startTestNode, type TestNode } from '../support/node.ts'
import { rulesIn } from '../support/reasons.ts'

let node: TestNode
let ids: Record<string, number>

beforeAll(async () => {
  node = await startTestNode()
  ids = await makeItems(node, [{ ref: 'char', name: 'Charizard', code: '4/102' }])
})

afterAll(() => node.close())

interface Stored {
  id: number
  account_id: number
  name: string
  visibility: string
  items_count: number
}

test('collections are created, read, changed and deleted', async () => {
  const account = node.accounts.plus
  const created = await operator<Stored>(node, 'POST', '/collections', {
    account_id: account,
    name: ' Base ',
    description: 'x',
    visibility: 'public',
  })
  expect(created.status).toBe(201)
  expect(created.body.data).toEqual({
    id: expect.any(Number) as number,
    account_id: account,
    name: 'Base',
    description: 'x',
    visibility: 'public',
    items_count: 0,
    method: 'fifo',
    created_at: expect.stringMatching(/Z$/) as string,
    updated_at: expect.stringMatching(/Z$/) as string,
  })
  const { id } = created.body.data
  const changed = await operator<Stored>(node, 'PATCH', `/collections/${id}`, {
    name: 'Jungle',
    visibility: 'unlisted',
  })
  expect(changed.body.data).toMatchObject({ id, name: 'Jungle', description: 'x', visibility: 'unlisted' })
  const plus = collector(node, node.keys.plus)
  expect((await plus.add(id, { item_id: ids.char })).status).toBe(201)
  const listed = await operator<Stored[]>(node, 'GET', `/collections?account_id=${account}`)
  expect(listed.body.data).toEqual([{ ...changed.body.data, items_count: 1 }])
  expect(listed.body.pagination).toMatchObject({ total: 1, last_page: 1 })
  expect((await operator(node, 'GET', `/collections?account_id=${2 ** 40}`)).body.data).toEqual([])
  expect((await operator(node, 'DELETE', `/collections/${id}`)).body).toEqual({
    success: true,
    message: expect.any(String) as string,
  })
  expect((await plus.add(id, { item_id: ids.char })).body.error!.rule).toBe('not_found')
  expect((await operator(node, 'DELETE', `/collections/${id}`)).body.error!.code).toBe('NOT_FOUND')
  const audit = await operator<{ action: string; before: Stored | null; after: Stored | null }[]>(
    node,
    'GET',
    `/audit?subject_type=collection&subject_id=${id}`,
  )
  expect(audit.body.data.map((row) => row.action)).toEqual(['collection.delete', 'collection.change', 'collection.create'])
  expect(audit.body.data[1]).toMatchObject({ before: { name: 'Base' }, after: { name: 'Jungle' } })
})

test('invalid input is rejected by name', async () => {
  const account_id = node.accounts.plus
  const bad: [object, string][] = [
    [{ name: 'x' }, 'account_id'],
    [{ account_id: 999_999, name: 'x' }, 'account_id'],
    [{ account_id: 2 ** 40, name: 'x' }, 'account_id'],
    [{ account_id }, 'name'],
    [{ account_id, name: '  ' }, 'name'],
    [{ account_id, name: 'x', visibility: 'secret' }, 'visibility'],
    [{ account_id, name: 'x', colour: 'red' }, 'colour'],
  ]
  for (const [body, field] of bad) {
    const reply = await operator(node, 'POST', '/collections', body)
    expect([reply.status, reply.body.error!.code, reply.body.error!.details![0]!.field]).toEqual([422, 'VALIDATION_ERROR', field])
  }
  const { id } = (await operator<Stored>(node, 'POST', '/collections', { account_id, name: 'x' })).body.data
  expect((await operator(node, 'PATCH', `/collections/${id}`, {})).status).toBe(422)
  expect(rulesIn((await operator(node, 'PATCH', `/collections/${id}`, { account_id })).body.error)).toMatch(/^account_id unknown_field/)
  expect((await operator(node, 'PATCH', '/collections/999999', { name: 'x' })).status).toBe(404)
})

test('a repeated key creates one collection', async () => {
  const open = () =>
    send<Stored>(`${node.operatorUrl}/operator/v1/collections`, OPERATOR_TOKEN, {
      json: { account_id: node.accounts.enterprise, name: 'Once' },
      headers: { 'idempotency-key': 'open-once' },
    })
  expect((await open()).body.data.id).toBe((await open()).body.data.id)
})
