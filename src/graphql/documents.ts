// Parses and validates each document once and caches it by its text: clients send the same queries repeatedly.
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql'
import { Cache } from '#core/cache.ts'
import { type Plan, planAllows, PLANS } from '#core/plans.ts'
import { type CompiledQuery, compileQuery, conditionNames } from './execution/compile.ts'
import { costOf, type QueryCost } from './cost.ts'
import { documentError, requestError, RequestError } from './execution/errors.ts'
import type { ItemBytes } from './execution/item-bytes.ts'
import { LARGEST_LIMITS, MAX_DOCUMENT, type Size, sizeOf, tooLarge } from './execution/limits.ts'
import { problemsOf } from './execution/validation.ts'
import { type Values, variablesReader } from './execution/variables.ts'
import { reason } from '#core/problems.ts'

/** Maximum characters of all cached documents; a parsed one takes about fifty times its text. */
const CACHED_CHARACTERS = 1_000_000
/** Compiled forms of one operation: one for each combination of its conditions. */
const MAX_FORMS = 16

export interface ParsedDocument {
  size: Size
  /** validation errors; empty for a valid document */
  errors: readonly GraphQLFormattedError[]
  document: DocumentNode
  /** whether any of its fields is read from the database */
  readsDatabase: boolean
  /** whether changes of prices that it has not read leave its responses as they are */
  followed: boolean
  /** the largest plan that any of its fields requires */
  needs: Plan
  /** its operations in their order */
  operations: readonly ParsedOperation[]
}

/** An operation of a document, with its cost and compiled forms, which are computed when needed. */
export interface ParsedOperation {
  node: OperationDefinitionNode
  /** reads its variables from the request; null if they are rejected */
  variables: (sent: Values) => Values | null
  /** null before it is computed, and if it depends on variables */
  cost: QueryCost | null
  /** variables that include or exclude parts of the document */
  conditions: readonly string[]
  forms: Map<string, CompiledQuery | null>
}

export class Documents {
  readonly #schema: GraphQLSchema
  readonly #itemBytes: ItemBytes | null
  readonly #cache = new Cache<string, ParsedDocument>({ limit: CACHED_CHARACTERS, weigh: (_document, text) => text.length })

  /** @param itemBytes cache of items for compiled queries */
  constructor(schema: GraphQLSchema, itemBytes: ItemBytes | null) {
    this.#schema = schema
    this.#itemBytes = itemBytes
  }

  /**
   * Parses a document; only valid ones are cached.
   * @throws RequestError for documents that cannot be parsed or are larger than any plan allows
   */
  read(text: string): ParsedDocument {
    const cached = this.#cache.get(text)
    if (cached) return cached
    const document = parsed(text)
    const size = sizeOf(document)
    const problem = tooLarge(size, LARGEST_LIMITS)
    if (problem) throw requestError(problem)
    const errors = problemsOf(this.#schema, document)
    const conditions = conditionNames(document)
    const operations = document.definitions.flatMap((node): ParsedOperation[] => {
      if (node.kind !== Kind.OPERATION_DEFINITION) return []
      return [{ node, variables: variablesReader(this.#schema, node), cost: null, conditions, forms: new Map() }]
    })
    const required = errors.length === 0 ? requirementsOf(this.#schema, document) : NO_REQUIREMENTS
    const read = { size, errors, document, ...required, operations }
    if (errors.length === 0) this.#cache.set(text, read)
    return read
  }

  /** The cost of an operation of a valid document with these variables. */
  costOf({ document }: ParsedDocument, operation: ParsedOperation, variables: Values): QueryCost {
    if (operation.cost) return operation.cost
    const cost = costOf(this.#schema, document, operation.node, variables)
    if (cost.fixed) operation.cost = cost
    return cost
  }

  /** An operation of a valid document compiled for these variables; null if graphql-js must execute it. */
  compiled({ document }: ParsedDocument, { node, conditions, forms }: ParsedOperation, variables: Values): CompiledQuery | null {
    const form = conditions.map((name) => variables[name]).join(' ')
    const before = forms.get(form)
    if (before !== undefined) return before
    if (forms.size >= MAX_FORMS) return null
    const compiled = compileQuery(this.#schema, document, node, variables, this.#itemBytes)
    forms.set(form, compiled)
    return compiled
  }
}

type Requirements = Pick<ParsedDocument, 'readsDatabase' | 'followed' | 'needs'>

const NO_REQUIREMENTS = { readsDatabase: false, followed: true, needs: PLANS[0] }

/** Properties of the fields of a document. */
function requirementsOf(schema: GraphQLSchema, document: DocumentNode): Requirements {
  const types = new TypeInfo(schema)
  const root = schema.getQueryType()
  const required: Requirements = { ...NO_REQUIREMENTS }
  const Field = () => {
    const { fromDatabase, followed, needs } = (types.getFieldDef()?.extensions ?? {}) as { fromDatabase?: boolean; followed?: boolean; needs?: Plan }
    if (!followed && types.getParentType() === root) required.followed = false
    if (fromDatabase) required.readsDatabase = true
    if (needs && !planAllows(required.needs, needs)) required.needs = needs
  }
  visit(document, visitWithTypeInfo(types, { Field }))
  return required
}

function parsed(text: string): DocumentNode {
  if (text.length > MAX_DOCUMENT)
    throw requestError(reason('at_most', { part: 'document', units: 'characters', max: MAX_DOCUMENT, count: text.length }))
  try {
    return parse(text, { maxTokens: LARGEST_LIMITS.tokens })
  } catch (error) {
    if (error instanceof GraphQLError) throw new RequestError([documentError(error)])
    // The parser is recursive: deep nesting would exhaust the stack.
    if (error instanceof RangeError) throw requestError(reason('at_most', { part: 'document', units: 'levels', max: LARGEST_LIMITS.depth }))
    throw error
  }
}
