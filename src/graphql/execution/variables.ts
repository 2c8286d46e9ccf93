// Reads variables and arguments with functions compiled once per document; anything unusual is left to graphql-js.
import {
  type FieldNode,
  getArgumentValues,
  getVariableValues,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLSchema,
  isNonNullType,
  isRequiredArgument,
  Kind,
  type OperationDefinitionNode,
  type TypeNode,
} from 'graphql'

/** Values by the names of variables or arguments, converted to their types; values that were not sent and have no default are absent. */
export type Values = Readonly<Record<string, unknown>>

/** A plain value of a scalar, as the scalar parses it; undefined for all others. */
const PLAIN: Record<string, (value: unknown) => unknown> = {
  String: (value) => (typeof value === 'string' ? value : undefined),
  ID: (value) => (typeof value === 'string' ? value : Number.isSafeInteger(value) ? String(value) : undefined),
  Boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  Int: (value) => (Number.isInteger(value) && Math.abs(value as number) < 2 ** 31 ? value : undefined),
}

/** Compiles a reader of an operation's variables; the reader returns null if they are rejected. */
export function variablesReader(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode): (sent: Values) => Values | null {
  const declared = variableDefinitions.map(({ variable, type, defaultValue }) => {
    const optional = type.kind !== Kind.NON_NULL_TYPE && defaultValue === undefined
    return { name: variable.name.value, nullable: type.kind !== Kind.NON_NULL_TYPE, optional, plain: plainOf(type) }
  })
  return (sent) => {
    const values = Object.create(null) as Record<string, unknown>
    for (const { name, nullable, optional, plain } of declared) {
      const value = sent[name]
      if (value === undefined && optional) continue
      const read = value === null && nullable ? null : plain?.(value)
      if (read === undefined) return getVariableValues(schema, variableDefinitions, sent).variableValues?.coerced ?? null
      values[name] = read
    }
    return values
  }
}

function plainOf(type: TypeNode): ((value: unknown) => unknown) | undefined {
  if (type.kind === Kind.NON_NULL_TYPE) return plainOf(type.type)
  return type.kind === Kind.NAMED_TYPE ? PLAIN[type.name.value] : undefined
}

/**
 * Compiles a reader of a field's arguments in a valid document; it throws where graphql-js finds an error.
 * @returns null for variables inside lists and objects
 */
export function argumentsReader(field: GraphQLField<unknown, unknown>, node: FieldNode): ((variables: Values) => Values) | null {
  const nodes = node.arguments ?? []
  if (nodes.some(({ value }) => value.kind === Kind.LIST || value.kind === Kind.OBJECT)) return null
  const given = field.args.flatMap((argument) => {
    const value = nodes.find(({ name }) => name.value === argument.name)?.value
    if (value?.kind !== Kind.VARIABLE) return []
    const { name } = argument
    return { argument, name, variable: value.name.value, required: isRequiredArgument(argument), nonNull: isNonNullType(argument.type) }
  })
  const isGiven = (argument: GraphQLArgument) => given.some((one) => one.argument === argument)
  const fixed = getArgumentValues(
    fieldWith(
      field,
      field.args.filter((argument) => !isGiven(argument)),
    ),
    node,
  )
  if (given.length === 0) return () => fixed
  const optional = given.filter(({ required }) => !required).map(({ argument }) => argument)
  const defaults = { ...fixed, ...getArgumentValues(fieldWith(field, optional), { ...node, arguments: [] }) }
  return (variables) => {
    const values: Record<string, unknown> = { ...defaults }
    for (const { name, variable, required, nonNull } of given) {
      const value = variables[variable]
      if (value !== undefined) values[name] = value
      else if (required) throw new Error(`${name} is missing`)
      if (value === null && nonNull) throw new Error(`${name} must not be null`)
    }
    return values
  }
}

/** The field with only these arguments. */
function fieldWith(field: GraphQLField<unknown, unknown>, args: GraphQLArgument[]): GraphQLField<unknown, unknown> {
  return Object.create(field, { args: { value: args } }) as GraphQLField<unknown, unknown>
}
