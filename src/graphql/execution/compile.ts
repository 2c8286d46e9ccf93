// Compiles a query of a valid document into functions that write its response as JSON directly. It covers only the success path: on any
// failure it throws, and graphql-js executes the query instead.
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  visit,
} from 'graphql'
import { shapeFor } from '#catalogue/context.ts'
import { collectFields, type Conditions, type Fragments, fragmentsOf } from './collect.ts'
import type { QueryCtx } from './context.ts'
import type { ItemSource } from './item-source.ts'
import type { ItemBytes } from './item-bytes.ts'
import type { Output } from './output.ts'
import { argumentsReader, type Values } from './variables.ts'

interface Run {
  ctx: QueryCtx
  variables: Values
  output: Output
}

type Write = (value: unknown, run: Run) => void

/** Writes the `data` of a response; throws if anything fails. */
export type CompiledQuery = (run: Run) => void

/** Maximum fields of a compiled query; larger ones are rarely sent twice. */
const MAX_FIELDS = 1_000

/** Names of the variables that `@skip` and `@include` in a document use. */
export function conditionNames(document: DocumentNode): string[] {
  const names = new Set<string>()
  visit(document, {
    Directive: ({ arguments: args }) => {
      for (const { value } of args ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value)
    },
  })
  return [...names]
}

/**
 * Compiles an operation for given values of its conditions.
 * @param itemBytes cache for items below a selection without arguments
 * @returns null for operations that must run in graphql-js: mutations, introspection and very large queries
 */
export function compileQuery(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  conditions: Conditions,
  itemBytes: ItemBytes | null,
): CompiledQuery | null {
  const query = schema.getQueryType()
  if (operation.operation !== OperationTypeNode.QUERY || !query) return null
  const compiling: Compiling = { fragments: fragmentsOf(document), conditions, itemBytes, fields: 0 }
  try {
    const { write } = compileObject(query, [operation], compiling)
    return (run) => write(undefined, run)
  } catch (error) {
    if (error instanceof NotCompiled) return null
    throw error
  }
}

interface Compiling {
  fragments: Fragments
  conditions: Conditions
  itemBytes: ItemBytes | null
  fields: number
}

class NotCompiled extends Error {}

/** A part to write, and the text of its selection if it depends only on the value it is written from. */
interface Compiled {
  write: Write
  cacheKey: string | null
}

type WithSelection = Pick<FieldNode, 'selectionSet'>

function compileObject(type: GraphQLObjectType, nodes: readonly WithSelection[], compiling: Compiling): Compiled {
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  const fields: { name: string; write: Write }[] = []
  let cacheKey: string | null = '{'
  for (const [name, fieldNodes] of collectFields(sets, compiling.fragments, compiling.conditions)) {
    const field = compileField(type, fieldNodes, compiling)
    cacheKey = cacheKey === null || field.cacheKey === null ? null : `${cacheKey} ${name}:${field.cacheKey}`
    fields.push({ name: `${fields.length === 0 ? '{' : ','}${JSON.stringify(name)}:`, write: field.write })
  }
  if (cacheKey !== null) cacheKey += '}'
  if (fields.length === 0) return { write: constant('{}'), cacheKey }
  const write: Write = (value, run) => {
    const { output } = run
    for (const field of fields) {
      output.text += field.name
      field.write(value, run)
    }
    output.text += '}'
  }
  return {
    write: type.name === 'Item' && cacheKey !== null && compiling.itemBytes ? cachedWriter(write, cacheKey, compiling.itemBytes) : write,
    cacheKey,
  }
}

/** Serialises an item once, and again when it has changed. */
function cachedWriter(write: Write, selection: string, itemBytes: ItemBytes): Write {
  // Starter gets other fields, so its bytes are cached separately.
  const numbers = { starter: itemBytes.numberOf(`starter ${selection}`), full: itemBytes.numberOf(`full ${selection}`) }
  return (value, run) => {
    const { row } = value as ItemSource
    const { ctx, output } = run
    const number = numbers[shapeFor(ctx.viewer)]
    const version = ctx.catalogue.items.version[row]!
    if (itemBytes.copy(number, row, version, output)) return
    const before = output.size()
    write(value, run)
    itemBytes.put(number, row, version, output.since(before))
  }
}

function compileField(parent: GraphQLObjectType, nodes: readonly FieldNode[], compiling: Compiling): Compiled {
  compiling.fields += 1
  const node = nodes[0]!
  const name = node.name.value
  if (name === '__typename') return { write: constant(JSON.stringify(parent.name)), cacheKey: name }
  const field = parent.getFields()[name]
  if (!field || compiling.fields > MAX_FIELDS) throw new NotCompiled()
  const { write, cacheKey } = compileValue(field.type, nodes, compiling)
  const read = reader(field, node)
  return {
    write: (source, run) => write(read(source, run), run),
    cacheKey: cacheKey === null || field.args.length > 0 || field.extensions.ofOthers ? null : name + cacheKey,
  }
}

type Read = (source: unknown, run: Run) => unknown

/** Calls a field's resolver. Resolvers of this schema do not use `info`. */
function reader(field: GraphQLField<unknown, unknown>, node: FieldNode): Read {
  const { resolve, name } = field
  if (!resolve) return (source) => (source as Record<string, unknown>)[name]
  const info = undefined as never
  const argumentsOf = argumentsReader(field, node)
  if (!argumentsOf) throw new NotCompiled()
  return (source, { ctx, variables }) => resolve(source, argumentsOf(variables), ctx, info)
}

function compileValue(type: GraphQLOutputType, nodes: readonly FieldNode[], compiling: Compiling): Compiled {
  if (isNonNullType(type)) {
    const { write, cacheKey } = compileNullable(type.ofType, nodes, compiling)
    return { write: (value, run) => write(present(value), run), cacheKey }
  }
  const { write, cacheKey } = compileNullable(type, nodes, compiling)
  const nullable: Write = (value, run) => {
    if (value === null || value === undefined) run.output.text += 'null'
    else write(value, run)
  }
  return { write: nullable, cacheKey }
}

/** Null if the field is not nullable: graphql-js determines how far the null propagates. */
function present(value: unknown): unknown {
  if (value === null || value === undefined) throw new Error('null in a field that is never null')
  return value
}

function compileNullable(type: GraphQLOutputType, nodes: readonly FieldNode[], compiling: Compiling): Compiled {
  if (isListType(type)) {
    const { write, cacheKey } = compileValue(type.ofType, nodes, compiling)
    return { write: (value, run) => writeList(value as unknown[], write, run), cacheKey }
  }
  if (isObjectType(type)) return compileObject(type, nodes, compiling)
  if (!isLeafType(type)) throw new NotCompiled()
  const { name } = type
  const leaf: Write = (value, { output }) => {
    if (typeof value === 'string' && name === 'String') output.text += JSON.stringify(value)
    else if (name === 'Float' && Number.isFinite(value)) output.text += String(value)
    else output.text += JSON.stringify(type.coerceOutputValue(value))
  }
  return { write: leaf, cacheKey: '' }
}

function writeList(values: readonly unknown[], write: Write, run: Run): void {
  if (!Array.isArray(values)) throw new Error('no list in a field that is one')
  const { output } = run
  output.text += '['
  for (let i = 0; i < values.length; i += 1) {
    if (i > 0) output.text += ','
    write(values[i], run)
  }
  output.text += ']'
}

function constant(text: string): Write {
  return (_value, { output }) => {
    output.text += text
  }
}
