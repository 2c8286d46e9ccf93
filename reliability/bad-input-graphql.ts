// Mostly invalid GraphQL requests: documents generated from the introspected schema, then mutated as a tree or as text.
import {
  type ArgumentNode,
  buildClientSchema,
  type FieldNode,
  getIntrospectionQuery,
  getNamedType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  type IntrospectionQuery,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  parse,
  print,
  type ValueNode,
  visit,
} from 'graphql'
import { oddHeaders, type BadRequest } from './bad-input-rest.ts'
import { sendGood, type Target } from './bad-input-target.ts'
import { badFieldQuery, type Chance, changedCursor, NASTY_TEXTS, nastyBody, nastyEncoded, nastyJson } from './bad-input-values.ts'

/** Reads the schema like any client. */
export async function readSchema({ publicUrl, keys }: Pick<Target, 'publicUrl' | 'keys'>): Promise<GraphQLSchema> {
  const data = await sendGood<IntrospectionQuery>(`${publicUrl}/graphql`, keys.enterprise, 'POST', { query: getIntrospectionQuery() })
  return buildClientSchema(data)
}

/** Texts that are not documents, and documents that must not be executed. */
const TEXTS: readonly string[] = [
  '',
  ' ',
  '{',
  '{}',
  '}',
  '{items',
  'query',
  'query {',
  '{ items { } }',
  '\0',
  '{ \ud800 }',
  '#',
  '"""',
  '{ item(id: "x) { id } }',
  'subscription { x }',
  '{ __typename @skip }',
  'query ($a: [[[[Int]]]]) { items { nodes { id } } }',
  'query A { __typename } query B { __typename }',
  '{ ...F } fragment F on Query { ...F }',
  'fragment F on Item { id }',
  '{ ...F } fragment F on Nothing { id }',
  'query ($x: Nothing) { __typename }',
  '{ __type(name: "__proto__") { name } }',
  '{ a: __typename a: item(id: 1) { id } }',
  '{ __proto__ constructor }',
  `{ ${'category(id: 1) { parent { '.repeat(60)} id ${'} }'.repeat(60)} }`,
  `{ ${Array.from({ length: 3_000 }, (_, i) => `a${i}: __typename`).join(' ')} }`,
  `{ ${'['.repeat(20_000)}`,
  `{ items(search: ${'['.repeat(2_000)}${']'.repeat(2_000)}) { nodes { id } } }`,
  `{ items(search: "${'x'.repeat(100_000)}") { nodes { id } } }`,
  `# ${'x'.repeat(140_000)}\n{ __typename }`,
  '{ categories(first: 500) { nodes { items(first: 100) { nodes { category { items(first: 100) { nodes { id } } } } } } } }',
  '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }',
  `query (${Array.from({ length: 500 }, (_, i) => `$v${i}: Int`).join(' ')}) { __typename }`,
  `{ __typename ${'@include(if: true) '.repeat(500)} }`,
]

const VALUES: readonly ValueNode[] = [
  ...NASTY_TEXTS.slice(0, 50).map((value): ValueNode => ({ kind: Kind.STRING, value })),
  ...['-1', '0', '2147483648', '99999999999999999999', '-0'].map((value): ValueNode => ({ kind: Kind.INT, value })),
  ...['1e999', '-1e-999', '1.5', '9007199254740993.5'].map((value): ValueNode => ({ kind: Kind.FLOAT, value })),
  { kind: Kind.NULL },
  { kind: Kind.BOOLEAN, value: true },
  { kind: Kind.ENUM, value: 'SERVICE' },
  { kind: Kind.ENUM, value: 'NOTHING' },
  { kind: Kind.LIST, values: [] },
  { kind: Kind.LIST, values: [{ kind: Kind.LIST, values: [{ kind: Kind.NULL }] }] },
  { kind: Kind.OBJECT, fields: [] },
  { kind: Kind.OBJECT, fields: [{ kind: Kind.OBJECT_FIELD, name: { kind: Kind.NAME, value: '__proto__' }, value: { kind: Kind.INT, value: '1' } }] },
  { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: 'v' } },
]

export function badGraphqlRequest(schema: GraphQLSchema, target: Target, chance: Chance): BadRequest {
  const mutates = chance.is(0.45)
  const root = mutates ? schema.getMutationType()! : schema.getQueryType()!
  const fields = Object.values(root.getFields())
  const chosen = Array.from({ length: 1 + chance.below(2) }, () => chance.next(root.name, fields))
  const grown = `${mutates ? 'mutation' : 'query'} { ${chosen.map((field, i) => `f${i}: ${grow(field, target, chance, 0)}`).join(' ')} }`
  const document = chance.is(0.2) ? chance.pick(TEXTS) : changedText(changedTree(grown, chance), chance)
  const byGet = chance.is(0.15)
  const path = chance.is(0.9) ? '/graphql' : '/graphql/v3'
  const key = chance.is(0.95) ? target.keys.enterprise : target.keys.starter
  return {
    group: mutates ? 'GraphQL mutations' : 'GraphQL queries',
    about: chosen.map(({ name }) => fieldName(root.name, name)),
    url: target.publicUrl,
    path: byGet
      ? `${path}?query=${chance.is(0.9) ? encodeURIComponent(document.toWellFormed()).slice(0, 12_000) : nastyEncoded(chance)}${chance.is(0.3) ? `&variables=${nastyEncoded(chance)}` : ''}`
      : path,
    method: byGet ? 'GET' : chance.is(0.97) ? 'POST' : chance.pick(['PUT', 'DELETE', 'OPTIONS', 'HEAD']),
    headers: [
      ['authorization', `Bearer ${key}`],
      ...(byGet ? [] : [['content-type', 'application/json'] as [string, string]]),
      ...oddHeaders(chance),
    ],
    body: byGet ? null : bodyOf(document, chance),
    fields: fields.flatMap((field) => [field.name, ...field.args.map(({ name }) => name)]),
  }
}

/** Name of a field in the coverage report. */
export function fieldName(root: string, field: string): string {
  return `${root}.${field}`
}

function bodyOf(query: string, chance: Chance): string | Buffer {
  if (chance.is(0.05)) return nastyBody(chance)
  if (chance.is(0.02)) return `[{"query":${JSON.stringify(query)}}]`
  const members = [`"query":${chance.is(0.03) ? nastyJson(chance) : JSON.stringify(query)}`]
  if (chance.is(0.3))
    members.push(`"variables":${chance.is(0.5) ? nastyJson(chance) : `{"v":${nastyJson(chance)},"__proto__":${nastyJson(chance)}}`}`)
  if (chance.is(0.1)) members.push(`"operationName":${nastyJson(chance)}`)
  if (chance.is(0.1)) members.push(`"extensions":${nastyJson(chance)}`)
  if (chance.is(0.03)) members.push(`"query":${nastyJson(chance)}`)
  return `{${members.join(',')}}`
}

/** A field with valid arguments and a random selection of its subfields. */
function grow(field: GraphQLField<unknown, unknown>, target: Target, chance: Chance, depth: number): string {
  const chosen = field.args.filter((argument) => isNonNullType(argument.type) || chance.is(0.3))
  const args = chosen.map((argument) => `${argument.name}: ${inputOf(argument, target, chance)}`).join(', ')
  const type = getNamedType(field.type)
  if (!isObjectType(type)) return field.name + (args && `(${args})`)
  const below = Object.values(type.getFields()).filter((inner) =>
    isObjectType(getNamedType(inner.type)) ? depth < 3 && chance.is(0.4) : chance.is(0.5),
  )
  const selected = below.map((inner) => grow(inner, target, chance, depth + 1))
  return `${field.name}${args && `(${args})`} { __typename ${selected.join(' ')} }`
}

function inputOf({ name, type }: Pick<GraphQLArgument, 'name' | 'type'>, target: Target, chance: Chance): string {
  const bare: GraphQLInputType = isNonNullType(type) ? type.ofType : type
  if (isListType(bare)) return chance.is(0.3) ? '[]' : `[${inputOf({ name, type: bare.ofType as GraphQLInputType }, target, chance)}]`
  if (isEnumType(bare)) return bare.getValues()[0]!.name
  if (isInputObjectType(bare)) {
    const fields = Object.values(bare.getFields()).filter((field) => isNonNullType(field.type) || chance.is(0.4))
    return `{ ${fields.map((field) => `${field.name}: ${inputOf(field, target, chance)}`).join(', ')} }`
  }
  const ids: Record<string, number[]> = {
    listingId: target.ids.listing,
    collectionId: target.ids.collection,
    itemId: [...target.ids.record, ...target.ids.item],
    id: target.ids.item,
    categoryId: target.ids.category,
    parentId: target.ids.category,
  }
  if (bare.name === 'ID') return `"${chance.pick(ids[name] ?? [1])}"`
  // In seconds: a longer wait would be reported as a hang.
  if (name === 'wait') return '1'
  if (bare.name === 'Int') return String(1 + chance.below(50))
  if (bare.name === 'Float') return `${1 + chance.below(500)}.5`
  if (bare.name === 'Boolean') return String(chance.is(0.5))
  const cursors = name === 'after' || name === 'until' ? [...target.cursors.changes, ...target.cursors.events] : []
  if (cursors.length > 0) return JSON.stringify(chance.is(0.5) ? chance.pick(cursors) : changedCursor(cursors, chance))
  if (name === 'query') return JSON.stringify(badFieldQuery(chance))
  return JSON.stringify(
    {
      action: chance.pick(['pause', 'publish']),
      url: 'https://receiver.invalid/x',
      purchaseDate: '2026-01-31',
      sortBy: 'name',
      sortOrder: 'desc',
      market: 'source_a',
      game: 'pokemon',
    }[name] ?? 'text',
  )
}

/** Mutates arguments, names and selections at some places of the document's tree. */
function changedTree(text: string, chance: Chance): string {
  const wrong = <T>(value: T, change: () => T) => (chance.is(0.12) ? change() : value)
  const changed = visit(parse(text), {
    Argument: (node): ArgumentNode =>
      wrong<ArgumentNode>({ ...node, value: wrong<ValueNode>(node.value, () => chance.pick(VALUES)) }, () => ({
        ...node,
        name: { kind: Kind.NAME, value: chance.pick(['id', 'nothing', '__proto__', 'first', 'input']) },
      })),
    ObjectField: (node) => wrong(node, () => ({ ...node, value: chance.pick(VALUES) })),
    Field: {
      leave: (node): FieldNode => {
        if (!chance.is(0.06)) return node
        const { selectionSet, ...bare } = node
        return chance.pick<() => FieldNode>([
          () => bare,
          () => ({ ...node, name: { kind: Kind.NAME, value: chance.pick(['nothing', '__proto__', 'constructor', 'toString', '__type', 'items']) } }),
          () => ({ ...node, arguments: [...(node.arguments ?? []), ...(node.arguments ?? [])] }),
          () => ({ ...node, arguments: [] }),
          () => ({
            ...node,
            selectionSet: { kind: Kind.SELECTION_SET, selections: selectionSet ? [...selectionSet.selections, ...selectionSet.selections] : [bare] },
          }),
          () => ({ ...node, alias: { kind: Kind.NAME, value: chance.pick(['f0', '__proto__', 'constructor', 'x'.repeat(5_000)]) } }),
          () => ({
            ...node,
            directives: [
              { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: chance.pick(['skip', 'include', 'nothing', 'deprecated']) }, arguments: [] },
            ],
          }),
        ])()
      },
    },
  })
  return print(changed)
}

/** Truncates the text, or inserts something invalid. */
function changedText(text: string, chance: Chance): string {
  if (!chance.is(0.1)) return text
  const at = chance.below(text.length)
  return chance.is(0.4)
    ? text.slice(0, at)
    : text.slice(0, at) + chance.pick([...NASTY_TEXTS, '{', '}', '(', '$', '@', '"', '...', '!']).slice(0, 1_000) + text.slice(at)
}
