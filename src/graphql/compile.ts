// Compiles a query of a valid document into functions that write its answer as JSON text at once. It knows the straight
// way only: whatever fails is thrown, and graphql-js then answers in its place.
import {
  type DocumentNode,
  type FieldNode,
  getArgumentValues,
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
  type ValueNode,
  type VariableValues,
  visit,
} from 'graphql'
import { shapeFor } from '#catalogue/context.ts'
import { collectFields, type Conditions, type Fragments, fragmentsOf } from './collect.ts'
import type { QueryCtx } from './context.ts'
import type { ItemSource } from './item-source.ts'
import type { KeptTexts } from './kept-texts.ts'

interface Run {
  ctx: QueryCtx
  variables: VariableValues
  texts: KeptTexts
}

type Write = (value: unknown, run: Run) => string

/** Writes the `data` of an answer; throws when anything fails. */
export type CompiledQuery = (run: Run) => string

/** Fields of one compiled query; what is larger is seldom sent twice. */
const MOST_FIELDS = 1_000

/** Numbers that tell kept selections apart. */
let selections = 0

/** Names of the variables that decide about `@skip` and `@include` in a document. */
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
 * Compiles an operation under conditions that are decided.
 * @returns null for what graphql-js answers better: mutations, introspection and very large queries
 */
export function compileQuery(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  conditions: Conditions,
): CompiledQuery | null {
  const query = schema.getQueryType()
  if (operation.operation !== OperationTypeNode.QUERY || !query) return null
  const compiling: Compiling = { fragments: fragmentsOf(document), conditions, fields: 0 }
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
  fields: number
}

class NotCompiled extends Error {}

/** Something to write, and whether it depends on nothing but the value it is written from. */
interface Compiled {
  write: Write
  steady: boolean
}

type WithSelection = Pick<FieldNode, 'selectionSet'>

function compileObject(type: GraphQLObjectType, nodes: readonly WithSelection[], compiling: Compiling): Compiled {
  const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
  const fields: { name: string; write: Write }[] = []
  let steady = true
  for (const [name, fieldNodes] of collectFields(sets, compiling.fragments, compiling.conditions)) {
    const compiled = compileField(type, fieldNodes, compiling)
    steady &&= compiled.steady
    fields.push({ name: `${fields.length === 0 ? '{' : ','}${JSON.stringify(name)}:`, write: compiled.write })
  }
  if (fields.length === 0) return { write: () => '{}', steady }
  const write: Write = (value, run) => {
    let text = ''
    for (const field of fields) text += field.name + field.write(value, run)
    return `${text}}`
  }
  return { write: type.name === 'Item' && steady ? kept(write) : write, steady }
}

/** Writes an item once, and again when it has changed. */
function kept(write: Write): Write {
  // What Starter gets differs, so that it is kept apart.
  const starter = (selections += 1)
  const full = (selections += 1)
  return (value, run) => {
    const { row } = value as ItemSource
    const { viewer, catalogue } = run.ctx
    const selection = shapeFor(viewer) === 'full' ? full : starter
    const version = catalogue.items.version[row]!
    const known = run.texts.get(selection, row, version)
    if (known !== undefined) return known
    // The way over bytes joins the hundreds of parts into one, once instead of in every answer.
    const text = Buffer.from(write(value, run)).toString()
    run.texts.set(selection, row, version, text)
    return text
  }
}

function compileField(parent: GraphQLObjectType, nodes: readonly FieldNode[], compiling: Compiling): Compiled {
  compiling.fields += 1
  const node = nodes[0]!
  const name = node.name.value
  if (name === '__typename') return { write: constant(JSON.stringify(parent.name)), steady: true }
  const field = parent.getFields()[name]
  if (!field || compiling.fields > MOST_FIELDS) throw new NotCompiled()
  const { write, steady } = compileValue(field.type, nodes, compiling)
  const read = reader(field, node)
  return { write: (source, run) => write(read(source, run), run), steady: steady && field.args.length === 0 }
}

type Read = (source: unknown, run: Run) => unknown

/** Calls a field's resolver. Resolvers of this schema do not look at `info`. */
function reader(field: GraphQLField<unknown, unknown>, node: FieldNode): Read {
  const { resolve, name } = field
  if (!resolve) return (source) => (source as Record<string, unknown>)[name]
  const info = undefined as never
  if (field.args.length === 0) return (source, { ctx }) => resolve(source, {}, ctx, info)
  if (!node.arguments?.some(({ value }) => usesVariable(value))) {
    const args = getArgumentValues(field, node)
    return (source, { ctx }) => resolve(source, args, ctx, info)
  }
  return (source, { ctx, variables }) => resolve(source, getArgumentValues(field, node, variables), ctx, info)
}

function usesVariable(value: ValueNode): boolean {
  if (value.kind === Kind.VARIABLE) return true
  if (value.kind === Kind.LIST) return value.values.some(usesVariable)
  return value.kind === Kind.OBJECT && value.fields.some((field) => usesVariable(field.value))
}

function compileValue(type: GraphQLOutputType, nodes: readonly FieldNode[], compiling: Compiling): Compiled {
  if (isNonNullType(type)) {
    const { write, steady } = compileNullable(type.ofType, nodes, compiling)
    return { write: (value, run) => write(present(value), run), steady }
  }
  const { write, steady } = compileNullable(type, nodes, compiling)
  return { write: (value, run) => (value === null || value === undefined ? 'null' : write(value, run)), steady }
}

/** Null where none may be: graphql-js finds out how far it spreads. */
function present(value: unknown): unknown {
  if (value === null || value === undefined) throw new Error('null in a field that is never null')
  return value
}

function compileNullable(type: GraphQLOutputType, nodes: readonly FieldNode[], compiling: Compiling): Compiled {
  if (isListType(type)) {
    const { write, steady } = compileValue(type.ofType, nodes, compiling)
    return { write: (value, run) => writeList(value as unknown[], write, run), steady }
  }
  if (isObjectType(type)) return compileObject(type, nodes, compiling)
  if (!isLeafType(type)) throw new NotCompiled()
  const leaf: Write = (value) => {
    if (typeof value === 'string' && type.name === 'String') return JSON.stringify(value)
    return JSON.stringify(type.coerceOutputValue(value))
  }
  return { write: leaf, steady: true }
}

function writeList(values: readonly unknown[], write: Write, run: Run): string {
  if (!Array.isArray(values)) throw new Error('no list in a field that is one')
  let text = '['
  for (let i = 0; i < values.length; i += 1) text += i === 0 ? write(values[i], run) : `,${write(values[i], run)}`
  return `${text}]`
}

function constant(text: string): Write {
  return () => text
}
