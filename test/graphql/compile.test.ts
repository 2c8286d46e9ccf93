// Compiled queries return exactly what graphql-js returns: random queries over every field, with fragments, conditions and
// variables, on both shapes of an item, repeated after changes.
import fc from 'fast-check'
import {
  execute,
  getNamedType,
  getOperationAST,
  getVariableValues,
  type GraphQLObjectType,
  isLeafType,
  isObjectType,
  parse,
  specifiedRules,
  validate,
} from 'graphql'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compileQuery } from '#graphql/execution/compile.ts'
import type { GraphqlCtx } from '#graphql/execution/context.ts'
import { ItemBytes } from '#graphql/execution/item-bytes.ts'
import { Output } from '#graphql/execution/output.ts'
import { graphqlSchema } from '#graphql/schema.ts'
import type { Plan } from '#core/plans.ts'
import { change } from '#db/changes/change.ts'
import { packPrices } from '#prices/records/price-payload.ts'
import type { TestNode } from '../support/node.ts'
import { runs } from '../support/runs.ts'
import { startSampleNode } from '../support/sample-node.ts'

const schema = graphqlSchema()
const itemBytes = new ItemBytes(2 ** 21)
const output = new Output()
let node: TestNode

beforeAll(async () => {
  node = await startSampleNode({ listeners: 'none' })
})

afterAll(() => node.close())

function ctxOf(plan: Plan): GraphqlCtx {
  const viewer = { kind: 'account' as const, accountId: node.accounts[plan], keyId: 0, plan }
  return { ...node.ctx, viewer, catalogue: node.catalogue, currencies: node.config.sourceCurrencies } as unknown as GraphqlCtx
}

/** Arguments as text; ids are those of the sample, and some that do not exist. */
const ARGUMENTS: Record<string, string[]> = {
  'Query.item': ['(id: 5)', '(id: "77")', '(id: $id)', '(id: 99999)'],
  'Query.category': ['(id: 1)', '(id: "3")', '(id: $id)'],
  'Query.items': [
    '',
    '(first: $first)',
    '(first: 3, sortBy: "price", sortOrder: "desc")',
    '(search: "charizard", first: 2)',
    '(after: $after, first: 2)',
    '(market: "SOURCE_A", categoryId: 3, first: 4)',
    '(game: "onepiece", first: 2)',
    '(sortBy: "hp")',
  ],
  'Query.categories': ['(first: 5)', '(parentId: null, first: 3)', '(parentId: 1)', '(first: 0)'],
  'Category.items': ['(first: 2)', '(first: $first)', '(first: 1, after: $after)'],
}
const DIRECTIVES = ['', '', '', ' @include(if: true)', ' @skip(if: true)', ' @include(if: $yes)', ' @skip(if: $no)', ' @skip(if: $yes)']

/** A query from a stream of choices: every field can appear, alone or within fragments, with an alias for each set of arguments. */
function queryFrom(choices: readonly number[]): string {
  let at = 0
  let budget = 40
  const pick = <T>(values: readonly T[]): T => values[choices[at++ % choices.length]! % values.length]!
  const field = (type: GraphQLObjectType, depth: number): string => {
    budget -= 1
    // Fields that are read from the database are never compiled.
    const fields = Object.values(type.getFields()).filter(({ extensions }) => !extensions.fromDatabase)
    const chosen = pick([...fields.filter(({ type: of }) => depth > 0 || isLeafType(getNamedType(of))), null])
    if (!chosen) return `__typename${pick(DIRECTIVES)}`
    const forms = ARGUMENTS[`${type.name}.${chosen.name}`] ?? ['']
    const args = pick(forms)
    const alias = pick(['', 'other_']) + (forms.indexOf(args) > 0 ? `${chosen.name}_${forms.indexOf(args)}` : '')
    const below = getNamedType(chosen.type)
    const name = alias === '' ? '' : `${alias === 'other_' ? `other_${chosen.name}` : alias}: `
    return `${name}${chosen.name}${args}${pick(DIRECTIVES)}${isObjectType(below) ? ` { ${selection(below, depth - 1)} }` : ''}`
  }
  const selection = (type: GraphQLObjectType, depth: number): string => {
    const parts: string[] = []
    for (let count = pick([1, 2, 3, 4]); parts.length === 0 || (count > 0 && budget > 0); count -= 1) {
      const how = pick(['plain', 'plain', `...${pick(DIRECTIVES)}`, `... on ${type.name}${pick(DIRECTIVES)}`])
      parts.push(how === 'plain' ? field(type, depth) : `${how} { ${field(type, depth)} ${field(type, depth)} }`)
    }
    return parts.join(' ')
  }
  const item = schema.getType('Item') as GraphQLObjectType
  const root = selection(schema.getQueryType()!, 4)
  budget = 15
  return `query ($id: ID!, $first: Int = 3, $after: String, $yes: Boolean!, $no: Boolean! = false) {
    ${root} spread: items(first: 2) { nodes { ...F ...G } } id: item(id: $id) { ...F }
    first: items(first: $first, after: $after) { nodes { id @include(if: $yes) name @skip(if: $no) } } }
    fragment F on Item { ${selection(item, 2)} ...G } fragment G on Item { id name }`
}

const variables = fc.record(
  { id: fc.constantFrom('1', 5, '77', 'x'), first: fc.constantFrom(1, 4, 0, null), after: fc.constant(null), yes: fc.boolean(), no: fc.boolean() },
  { requiredKeys: ['id', 'yes'] },
)

/** The result of both; a failing query throws, which leaves it to graphql-js. */
function compare(query: string, sent: Record<string, unknown>, ctx: GraphqlCtx): 'same' | 'left to graphql-js' {
  const document = parse(query)
  const operation = getOperationAST(document)!
  const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], sent)
  const expected = execute({ schema, document, contextValue: ctx, variableValues: sent })
  if (expected instanceof Promise) throw new Error('Resolvers of queries answer at once')
  const compiled = compileQuery(schema, document, operation, variableValues!.coerced, itemBytes)!
  itemBytes.follow(ctx.catalogue.generation)
  for (let time = 0; time < 2; time += 1) {
    output.begin()
    try {
      compiled({ ctx, variables: variableValues!.coerced, output })
    } catch {
      expect(expected.errors).toBeDefined()
      return 'left to graphql-js'
    }
    expect(expected.errors).toBeUndefined()
    expect(output.finish().toString()).toBe(JSON.stringify(expected.data))
  }
  return 'same'
}

describe.each(['starter', 'professional'] as const)('%s', (plan) => {
  test('random queries get the same bytes as from graphql-js', () => {
    let same = 0
    const random = fc.property(fc.array(fc.nat(1_000), { minLength: 40, maxLength: 80 }), variables, (choices, sent) => {
      const query = queryFrom(choices)
      expect(validate(schema, parse(query), specifiedRules)).toEqual([])
      if (compare(query, sent, ctxOf(plan)) === 'same') same += 1
    })
    fc.assert(random, { numRuns: runs(200) })
    // Far from all, because some queries are not compiled.
    expect(same).toBeGreaterThan(runs(200) / 10)
  })
})

test('cached texts follow changes of items, of prices in every market, of categories and of groups', async () => {
  const query = `query ($id: ID!) { item(id: $id) { id name category { name parent { name } } groups { name } prices { market label price } } }`
  const ctx = ctxOf('plus')
  const changes: [string, () => Promise<void>][] = [
    ['nothing', async () => {}],
    ['item', () => write('items', sql`update items set name = name || ' II' where id = 5 returning id`)],
    [
      'category',
      () => write('categories', sql`update categories set name = name || ' II' where id = (select category_id from items where id = 5) returning id`),
    ],
    [
      'parent',
      () =>
        write(
          'categories',
          sql`update categories set name = name || ' III' where id = (select c.parent_id from categories c join items i on c.id = i.category_id where i.id = 5) returning id`,
        ),
    ],
    ['group', () => write('groups', sql`update groups set name = name || ' II' where parent_id is null returning id`)],
    ['price', () => write('items', sql`update prices set price = price + 1 where item_id = 5 returning item_id as id`)],
    ['price of another market', () => repriceService(5)],
    ['item gone', () => write('items', sql`delete from items where id = 5 returning id`)],
  ]
  const answers = new Set<string>()
  for (const [what, run] of changes) {
    await run()
    expect(compare(query, { id: 5 }, ctx), what).toBe('same')
    const { data } = execute({ schema, document: parse(query), contextValue: ctx, variableValues: { id: 5 } }) as { data: object }
    answers.add(JSON.stringify(data))
  }
  expect(answers.size).toBe(changes.length)
})

async function write(kind: 'items' | 'categories' | 'groups', statement: ReturnType<typeof sql<{ id: number }>>): Promise<void> {
  await change(node.ctx, async (tx, note) => {
    const { rows } = await statement.execute(tx)
    note.changed(
      kind,
      rows.map((row) => row.id),
    )
  })
}

/** Changes a price of a market other than the item's own, as a price import does. */
async function repriceService(itemId: number): Promise<void> {
  await change(node.ctx, async (tx, note) => {
    const { rows } = await sql<{ label: number; minor: number }>`update prices set price = price + 1
      where item_id = ${itemId} and market = 0 returning label_id as label, (price * 100)::int as minor`.execute(tx)
    const updatedAtMs = Date.now()
    await note.changedPrices(packPrices(rows.map(({ label, minor }) => ({ itemId, market: 0, labelId: label, minor, updatedAtMs }))))
  })
}
