// Collection records over GraphQL: the same writes as over REST with the same outcome, null distinguished from absent.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CollectionRecord, collector, makeCollection, makeItems } from '../collections/kit.ts'
import { ask, type GraphqlReply, post } from '../graphql/client.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { rulesIn } from '../support/reasons.ts'

let node: TestNode
let ids: Record<string, number>
let plus: ReturnType<typeof collector>
let overRest: number
let overGraphql: number
let foreign: number

beforeAll(async () => {
  node = await startTestNode()
  ids = await makeItems(node, [
    { ref: 'char', name: 'Charizard', code: '4/102' },
    { ref: 'slab', name: 'Slab', groups: ['graded'] },
  ])
  plus = collector(node, node.keys.plus)
  overRest = await makeCollection(node, node.accounts.plus, 'REST')
  overGraphql = await makeCollection(node, node.accounts.plus, 'GraphQL')
  foreign = await makeCollection(node, node.accounts.enterprise, 'Theirs')
})

afterAll(() => node.close())

const WHOLE = 'success message id itemId itemName groupLabel quantity purchasePrice salePrice purchaseDate cardUniqId note'
const ADD = `mutation ($c: ID!, $input: CollectionItemInput!) { done: addCollectionItem(collectionId: $c, input: $input) { ${WHOLE} } }`
const UPDATE = `mutation ($c: ID!, $r: ID!, $input: CollectionItemInput!) { done: updateCollectionItem(collectionId: $c, itemId: $r, input: $input) { ${WHOLE} } }`
const REMOVE = 'mutation ($c: ID!, $r: ID!) { done: removeCollectionItem(collectionId: $c, itemId: $r) { success message } }'

interface Done {
  done: { success: boolean; message: string; id: string } & Record<string, unknown>
}

const mutate = (query: string, variables: object) => ask<Done>(node, query, { plan: 'plus', variables: variables as never })

/** Fields by their REST names, with their GraphQL names. */
function inCamelCase(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name.replace(/_(.)/g, (_all, letter: string) => letter.toUpperCase()), value]),
  )
}

/** A record without the fields that differ between two collections. */
function content({ id: _id, ...rest }: CollectionRecord): object {
  return rest
}

describe('same results as over REST', () => {
  test('adding, changing and removing', async () => {
    const records = [
      { item_id: ids.char },
      {
        item_id: ids.slab,
        quantity: 3,
        purchase_price: 12.34,
        sale_price: 0.5,
        purchase_date: '2026-02-28',
        card_uniq_id: 'PSA 1',
        note: 'ş',
      },
      { item_id: ids.char, purchase_price: null, note: null, item_group_type_id: null },
    ]
    const changes = [
      { quantity: 2 },
      { purchase_price: null, note: null, purchase_date: null, card_uniq_id: null, sale_price: null },
      { note: 'x', sale_price: 99.5 },
    ]
    for (const [i, record] of records.entries()) {
      const rest = await plus.add(overRest, record)
      const graphql = await mutate(ADD, { c: overGraphql, input: inCamelCase(record) })
      expect(graphql.errors).toBeUndefined()
      expect(graphql.data.done).toMatchObject({
        success: true,
        message: rest.body.message,
        itemName: rest.body.data.item_name,
        groupLabel: rest.body.data.group_label,
      })
      const changed = await plus.change(overRest, rest.body.data.id, changes[i])
      const also = await mutate(UPDATE, {
        c: String(overGraphql),
        r: graphql.data.done.id,
        input: inCamelCase(changes[i]!),
      })
      expect(also.data.done).toMatchObject({
        ...inCamelCase(changed.body.data),
        id: graphql.data.done.id,
        message: changed.body.message,
      })
      expect((await plus.list(overGraphql)).map(content)).toEqual((await plus.list(overRest)).map(content))
    }
    const [restRecord] = await plus.list(overRest)
    const [graphqlRecord] = await plus.list(overGraphql)
    const removed = await plus.remove(overRest, restRecord!.id)
    const also = await mutate(REMOVE, { c: overGraphql, r: graphqlRecord!.id })
    expect(also.data.done).toEqual({ success: true, message: removed.body.message })
    expect((await plus.list(overGraphql)).map(content)).toEqual((await plus.list(overRest)).map(content))
  })

  test('errors', async () => {
    const { id } = (await plus.add(overRest, { item_id: ids.char })).body.data
    const attempts: [
      rest: Promise<{ body: { error?: { code: string; rule?: string; details?: { field: string; rule: string }[] } } }>,
      graphql: Promise<GraphqlReply<Done>>,
    ][] = [
      [plus.add(999_999, { item_id: ids.char }), mutate(ADD, { c: 999_999, input: { itemId: ids.char } })],
      [plus.add(foreign, { item_id: ids.char }), mutate(ADD, { c: foreign, input: { itemId: ids.char } })],
      [plus.add(overRest, { item_id: 999_999 }), mutate(ADD, { c: overRest, input: { itemId: 999_999 } })],
      [plus.remove(overRest, 2 ** 31 - 1), mutate(REMOVE, { c: overRest, r: 2 ** 31 - 1 })],
      [plus.change(overGraphql, id, { note: '' }), mutate(UPDATE, { c: overGraphql, r: id, input: { note: '' } })],
      [plus.change(overRest, id, {}), mutate(UPDATE, { c: overRest, r: id, input: {} })],
      [plus.change(overRest, id, { quantity: null }), mutate(UPDATE, { c: overRest, r: id, input: { quantity: null } })],
      [plus.change(overRest, id, { purchase_price: 1.005 }), mutate(UPDATE, { c: overRest, r: id, input: { purchasePrice: 1.005 } })],
      [plus.change(overRest, id, { item_id: ids.slab }), mutate(UPDATE, { c: overRest, r: id, input: { itemId: ids.slab } })],
      [plus.add(overRest, {}), mutate(ADD, { c: overRest, input: {} })],
    ]
    for (const [rest, graphql] of attempts) {
      const { error } = (await rest).body
      const { data, errors } = await graphql
      expect(data).toEqual({ done: null })
      expect(errors).toHaveLength(1)
      expect(errors![0]!.extensions).toMatchObject({ code: error!.code, status: 422 })
      const { extensions } = errors![0]!
      const inGraphqlNames = (field: string) => field.replace(/_(.)/g, (_all, letter: string) => letter.toUpperCase()).replace(/^body$/, 'input')
      expect(extensions.rule).toBe(error!.rule)
      expect(extensions.details?.map(({ field, rule }) => [field, rule])).toEqual(
        error!.details?.map(({ field, rule }) => [inGraphqlNames(field), rule]),
      )
    }
    const rules = async (input: object, r: unknown) => rulesIn((await mutate(UPDATE, { c: overRest, r, input })).errors![0]!.extensions)
    const possible = 'unknown_field quantity,forTrade,purchasePrice,salePrice,purchaseDate,cardUniqId,note,certificate'
    expect(await rules({ itemId: ids.slab, itemGroupTypeId: 1 }, id)).toBe(`itemId ${possible}; itemGroupTypeId ${possible}`)
    expect(await rules({ quantity: 1 }, 'abc')).toBe('itemId integer')
    expect((await mutate(ADD, { c: 'abc', input: { itemId: ids.char } })).errors![0]!.extensions).toMatchObject({
      details: [{ field: 'collectionId', rule: 'integer' }],
    })
  })
})

test('an idempotency key applies to each mutation of a document', async () => {
  const query = `mutation { one: addCollectionItem(collectionId: ${overGraphql}, input: { itemId: ${ids.char}, note: "1" }) { id note }
    two: addCollectionItem(collectionId: ${overGraphql}, input: { itemId: ${ids.char}, note: "2" }) { id note } }`
  const headers = { authorization: `Bearer ${node.keys.plus}`, 'idempotency-key': 'twice' }
  const before = await plus.count(overGraphql)
  const first = await post(node, JSON.stringify({ query }), headers)
  const second = await post(node, JSON.stringify({ query }), headers)
  expect(first.data).toMatchObject({ one: { note: '1' }, two: { note: '2' } })
  expect(second.data).toEqual(first.data)
  expect(await plus.count(overGraphql)).toBe(before + 2)
})

test('smaller plans are rejected as a whole', async () => {
  for (const plan of ['starter', 'professional'] as const) {
    const reply = await ask(node, ADD, { plan, variables: { c: overGraphql, input: { itemId: ids.char } } as never })
    expect([reply.status, reply.errors![0]!.extensions.code]).toEqual([403, 'PLAN_UPGRADE_REQUIRED'])
  }
})
