// Validates documents: the errors of graphql-js, extended with the argument and the allowed names.
import {
  type ASTNode,
  type DocumentNode,
  getNamedType,
  type GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  specifiedRules,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { documentError } from './errors.ts'

const MAX_ERRORS = 10

/** The validation errors of a document; empty for a valid one. */
export function problemsOf(schema: GraphQLSchema, document: DocumentNode): GraphQLFormattedError[] {
  const errors = validate(schema, document, specifiedRules, { maxErrors: MAX_ERRORS })
  if (errors.length === 0) return []
  const hints = hintsFor(schema, document, errors)
  return errors.map((error) => {
    const formatted = documentError(error)
    const { before = '', after = '' } = hints.get(error.nodes?.[0]) ?? {}
    return { ...formatted, message: `${before}${formatted.message}${after}` }
  })
}

interface Hint {
  before?: string
  after?: string
}

/** Hints that the error messages of graphql-js lack, by the node that an error refers to. */
function hintsFor(schema: GraphQLSchema, document: DocumentNode, errors: readonly GraphQLError[]): Map<ASTNode | undefined, Hint> {
  const nodes = new Set(errors.map((error) => error.nodes?.[0]))
  const hints = new Map<ASTNode | undefined, Hint>()
  const types = new TypeInfo(schema)
  /** names of the argument and the input fields on the way to a value */
  const path: string[] = []
  const enter = (node: ASTNode) => {
    if (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD) path.push(node.name.value)
    if (nodes.has(node)) hints.set(node, hintFor(node, types, path))
  }
  const leave = (node: ASTNode) => {
    if (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD) path.pop()
  }
  visit(document, visitWithTypeInfo(types, { enter, leave }))
  return hints
}

function hintFor(node: ASTNode, types: TypeInfo, path: readonly string[]): Hint {
  if (node.kind === Kind.FIELD) {
    const parent = types.getParentType()
    if (types.getFieldDef() || !(isObjectType(parent) || isInterfaceType(parent))) return {}
    return { after: ` Its fields are ${Object.keys(parent.getFields()).join(', ')}.` }
  }
  if (node.kind === Kind.ARGUMENT) {
    const args = (types.getDirective() ?? types.getFieldDef())?.args
    if (types.getArgument() || !args) return {}
    return { after: args.length === 0 ? ' It takes none.' : ` Its arguments are ${args.map(({ name }) => name).join(', ')}.` }
  }
  if (path.length === 0) return {}
  const before = `${path.join('.')}: `
  const parent = getNamedType(types.getParentInputType())
  if (node.kind !== Kind.OBJECT_FIELD || !isInputObjectType(parent) || types.getInputType()) return { before }
  return { before, after: ` Its fields are ${Object.keys(parent.getFields()).join(', ')}.` }
}
