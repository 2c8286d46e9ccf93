// Estimates the cost of a query before it runs: the number of values in its response, from page sizes and typical list lengths.
import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql'
import type { FieldCost } from './building/builder.ts'
import { fragmentsOf } from './execution/collect.ts'

export interface QueryCost {
  /** values of the catalogue */
  requested: number
  /** values of introspection */
  introspection: number
  /** whether it is the same for all variables */
  fixed: boolean
}

/** Usual lengths of introspection lists. */
const INTROSPECTION_ENTRIES: Record<string, number> = {
  '__Schema.types': 25,
  '__Schema.directives': 5,
  '__Type.fields': 6,
  '__Type.enumValues': 2,
  '__Type.interfaces': 1,
  '__Type.possibleTypes': 1,
  '__Type.inputFields': 1,
  '__Field.args': 1,
  '__Directive.args': 1,
  '__Directive.locations': 4,
}

/** Cost of a selection set: once, and per entry of the page that it selects from. */
interface Cost {
  once: number
  perEntry: number
}

/**
 * Estimates an operation of a valid document.
 * @param variables as the caller sent them; an invalid `first` counts as the default, because it is rejected
 * later
 */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): QueryCost {
  const fragments = fragmentsOf(document)
  // The cost of a fragment does not depend on where it is spread, so it is computed once.
  const costs = new Map<string, Cost>()
  let introspection = 0
  let fixed = true

  const selectionCost = ({ selections }: SelectionSetNode, type: GraphQLNamedType | undefined): Cost => {
    const sum = { once: 0, perEntry: 0 }
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) addField(sum, selection, type)
      else if (selection.kind === Kind.INLINE_FRAGMENT) add(sum, selectionCost(selection.selectionSet, type))
      else add(sum, fragmentCost(selection.name.value))
    }
    return sum
  }

  const fragmentCost = (name: string): Cost => {
    let found = costs.get(name)
    if (!found) {
      const fragment = fragments.get(name)!
      found = selectionCost(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value))
      costs.set(name, found)
    }
    return found
  }

  const addField = (sum: Cost, node: FieldNode, type: GraphQLNamedType | undefined): void => {
    const field = fieldOf(type, node.name.value)
    if (!field || !node.selectionSet) {
      sum.once += 1 + (field ? entriesOf(type!, field) : 0)
      return
    }
    const below = selectionCost(node.selectionSet, getNamedType(field.type))
    const fieldCost = fieldCostOf(field)
    const page = fieldCost.first ? firstOf(node, fieldCost.first) : 0
    const entries = fieldCost.listed ? lengthOf(node, fieldCost.listed) : entriesOf(type!, field) || 1
    const value = (fieldCost.weight ?? 1) + entries * (below.once + page * below.perEntry)
    if (field === SchemaMetaFieldDef || field === TypeMetaFieldDef) introspection += value
    else if (field.name === 'nodes' || fieldCost.ofPage) sum.perEntry += value
    else sum.once += value
  }

  const firstOf = (node: FieldNode, bounds: NonNullable<FieldCost['first']>): number => {
    const value = argumentValue(node, bounds.argument ?? 'first')
    return typeof value === 'number' && value >= 1 && value <= bounds.max ? value : bounds.default
  }

  /** Entries of a list in an argument; a value that is not a list counts as a list of one. */
  const lengthOf = (node: FieldNode, name: string): number => {
    const value = argumentValue(node, name)
    return Array.isArray(value) ? value.length : 1
  }

  const argumentValue = (node: FieldNode, argument: string): unknown => {
    const value = node.arguments?.find(({ name }) => name.value === argument)?.value
    if (value?.kind === Kind.INT) return Number(value.value)
    if (value?.kind === Kind.LIST) return value.values
    if (value?.kind !== Kind.VARIABLE) return undefined
    fixed = false
    const sent = variables[value.name.value]
    if (sent !== undefined) return sent
    const declared = operation.variableDefinitions?.find(({ variable }) => variable.name.value === value.name.value)
    if (declared?.defaultValue?.kind === Kind.LIST) return declared.defaultValue.values
    return declared?.defaultValue?.kind === Kind.INT ? Number(declared.defaultValue.value) : undefined
  }

  const { once } = selectionCost(operation.selectionSet, schema.getRootType(operation.operation) ?? undefined)
  return { requested: once, introspection, fixed }
}

function add(sum: Cost, more: Cost): void {
  sum.once += more.once
  sum.perEntry += more.perEntry
}

function fieldOf(type: GraphQLNamedType | undefined, name: string): GraphQLField<unknown, unknown> | undefined {
  if (name === '__schema') return SchemaMetaFieldDef
  if (name === '__type') return TypeMetaFieldDef
  return isObjectType(type) ? type.getFields()[name] : undefined
}

function fieldCostOf(field: GraphQLField<unknown, unknown>): FieldCost {
  return (field.extensions as { cost?: FieldCost }).cost ?? {}
}

/** Entries of a list that a field is charged for; 0 if it is not a list. */
function entriesOf(type: GraphQLNamedType, field: GraphQLField<unknown, unknown>): number {
  return fieldCostOf(field).entries ?? INTROSPECTION_ENTRIES[`${type.name}.${field.name}`] ?? 0
}
