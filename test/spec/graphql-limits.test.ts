// Limits of GraphQL over HTTP: hostile documents are rejected at once, costs are reported, and what clients need is allowed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PLANS } from '#core/plans.ts'
import { ask, type GraphqlReply } from '../graphql/client.ts'
import { startSampleNode } from '../support/sample-node.ts'
import type { TestNode } from '../support/node.ts'
import { ALL_CASES } from '../support/runs.ts'

let node: TestNode

beforeAll(async () => {
  node = await startSampleNode({ listeners: 'public' })
})

afterAll(() => node.close())

const times = (count: number, part: (i: number) => string) => Array.from({ length: count }, (_, i) => part(i)).join(' ')
const nested = (levels: number, open: (i: number) => string, inside: string) => `${times(levels, open)} ${inside} ${'}'.repeat(levels)}`

/** Documents that would take very long to execute; each must be rejected first. */
const HOSTILE: [string, string][] = [
  ['10,000 aliases', `{ item(id: 1) { ${times(10_000, (i) => `a${i}:id`)} } }`],
  ['aliases within the tokens', `{ ${times(600, (i) => `a${i}: __typename`)} }`],
  ['200 levels', `{ category(id: 1) { ${nested(200, () => 'parent {', 'id')} } }`],
  [
    '200 levels in fragments',
    `{ category(id: 1) { ...F0 } } ${times(100, (i) => `fragment F${i} on Category { parent { ...F${i + 1} } }`)} fragment F100 on Category { id }`,
  ],
  ['a fragment cycle', '{ category(id: 1) { ...A } } fragment A on Category { parent { ...B } } fragment B on Category { parent { ...A } }'],
  [
    'exponential fragments',
    `{ category(id: 1) { ...F0 } } ${times(60, (i) => `fragment F${i} on Category { a: parent { ...F${i + 1} } b: parent { ...F${i + 1} } }`)} fragment F60 on Category { id }`,
  ],
  [
    'exponential fragments of a few levels',
    `{ category(id: 1) { ...F0 } } ${times(14, (i) => `fragment F${i} on Category { a: parent { ...F${i + 1} } b: parent { ...F${i + 1} } }`)} fragment F14 on Category { id }`,
  ],
  [
    'fragments that spread each other widely',
    `{ category(id: 1) { ...F0 } } ${times(30, (i) => `fragment F${i} on Category { ${times(20, (j) => `...F${Math.min(30, i + 1 + (j % (30 - i)))}`)} }`)} fragment F30 on Category { a: id b: name c: slug d: image e: id f: id g: id h: id i: id j: id k: id l: id m: id n: id o: id p: id q: id r: id s: id t: id u: id v: id w: id x: id y: id z: id A: id B: id C: id D: id E: id }`,
  ],
  ['a directive flood', `{ __typename ${times(5_000, () => '@include(if: true)')} }`],
  ['a flood of unknown directives', `{ __typename ${times(900, (i) => `@d${i}`)} }`],
  ['the same field many times, nested', `{ ${times(60, () => `category(id: 1) { ${times(10, () => 'parent { id }')} }`)} nothing }`],
  ['the same field as deep as allowed', `{ ${times(28, () => `category(id: 1) { ${nested(13, () => 'parent {', 'id')} }`)} nothing }`],
  ['a large list in a variable default', `query ($x: [Int!] = [${'1,'.repeat(9_000)}]) { __typename }`],
  ['nested lists', `{ item(id: ${'['.repeat(900)}${']'.repeat(900)}) { id } }`],
  ['many operations', times(400, (i) => `query Q${i} { __typename }`)],
  ['many variables', `query (${times(500, (i) => `$v${i}: Int`)}) { __typename }`],
  ['a long text', `{ items(search: "${'x'.repeat(60_000)}") { nodes { id } } }`],
  ['a long comment', `{ item(id: 1) { id } } # ${'x'.repeat(100_000)}`],
  ['lists of lists', '{ categories(first: 500) { nodes { items(first: 100) { nodes { name prices { price } } } } } }'],
  ['trees of children', `{ categories(first: 500) { nodes { ${nested(6, () => 'children {', 'id')} } } }`],
  ['introspection in circles', `{ __schema { types { ${nested(5, () => 'fields { type {', 'name')} ${'}'.repeat(5)} } } }`],
  [
    'introspection many times',
    `{ ${times(25, (i) => `a${i}: __schema { types { fields { name args { name type { name ofType { name } } } } } }`)} }`,
  ],
]

// The first plan has the lowest limits, the last one the highest.
describe.each(ALL_CASES ? PLANS : PLANS.slice(-1))('%s', (plan) => {
  test.each(HOSTILE)('%s is rejected at once', async (_name, query) => {
    const before = process.cpuUsage()
    const reply = await ask(node, query, { plan, accept: 'application/graphql-response+json' })
    const { user: workedUs } = process.cpuUsage(before)
    expect(reply.status).toBe(400)
    expect(reply.data).toBeUndefined()
    expect(reply.errors!.length).toBeLessThanOrEqual(11)
    expect(reply.errors![0]!.extensions).toMatchObject({ code: 'BAD_REQUEST', status: 400 })
    // Usually milliseconds, more on a busy machine; exponential work would take minutes.
    expect(workedUs).toBeLessThan(30_000_000)
  })
})

describe('the cost of a query', () => {
  const costOf = async (query: string, variables?: Record<string, unknown>): Promise<number> => {
    const reply: GraphqlReply<unknown> = await ask(node, query, { plan: 'enterprise', ...(variables && { variables }) })
    expect(reply.errors).toBeUndefined()
    const { requested, limit, left } = reply.extensions!.cost
    expect(left).toBe(limit - requested)
    return requested
  }

  test('is returned, and grows with the page size', async () => {
    const query = (first: string) => `query ($n: Int = 7) { items(first: ${first}) { nodes { id name } } other: items(first: $n) { nodes { id } } }`
    const base = await costOf(query('1'))
    expect((await costOf(query('11'))) - base).toBe(10 * 3)
    expect((await costOf(query('1'), { n: 17 })) - base).toBe(10 * 2)
    expect(await costOf('{ items { nodes { id } } }')).toBe(await costOf('{ items(first: 20) { nodes { id } } }'))
    expect(await costOf('{ items(first: null) { nodes { id } } }')).toBe(await costOf('{ items(first: 20) { nodes { id } } }'))
  })

  test('is the same through fragments', async () => {
    const plain = await costOf('{ items(first: 10) { nodes { id prices { price } } pageInfo { endCursor } } }')
    const spread = `{ ...Q } fragment Q on Query { items(first: 10) { ...P pageInfo { endCursor } } }
      fragment P on ItemConnection { ... on ItemConnection { nodes { ...I } } } fragment I on Item { id prices { price } }`
    expect(await costOf(spread)).toBe(plain)
  })

  test('a query that costs more than the plan allows is rejected with its cost and the limit', async () => {
    const query = '{ items(first: 100) { nodes { id name prices { market label price currency updatedAt } attributes { name value } } } }'
    const starter = await ask(node, query, { plan: 'starter' })
    expect(starter.errors![0]!.extensions).toMatchObject({
      rule: 'query_cost',
      params: { cost: expect.any(Number) as number, max: expect.any(Number) as number },
    })
    expect(starter.extensions!.cost.left).toBe(0)
    expect(starter.extensions!.cost.requested).toBeGreaterThan(starter.extensions!.cost.limit)
    expect((await ask(node, query, { plan: 'professional' })).errors).toBeUndefined()
  })

  test('of introspection is zero', async () => {
    expect(await costOf('{ __schema { types { name fields { name } } } }')).toBe(0)
  })
})

test('a page of 20 items with all fields is allowed on every plan', async () => {
  const query = `{ items { nodes { id name code slug genre game category { id name slug parent { id name } } images { url order }
    prices { market label price currency updatedAt } groups { id name slug } attributes { name value } rarity illustrator hp
    types dexIds stage evolveFrom suffix level } pageInfo { hasNextPage endCursor } } }`
  for (const plan of PLANS) expect((await ask(node, query, { plan })).errors).toBeUndefined()
})
