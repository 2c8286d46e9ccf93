// Documents parsed and validated once, kept by their text: the same queries come again and again.
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  parse,
} from 'graphql'
import { type CompiledQuery, compileQuery, conditionNames } from './compile.ts'
import { costOf, type QueryCost } from './cost.ts'
import { documentError, refused, RequestRefused } from './errors.ts'
import type { KeptBytes } from './kept-bytes.ts'
import { LARGEST, MAX_DOCUMENT, type Size, sizeOf, tooLarge } from './limits.ts'
import { problemsOf } from './validation.ts'
import { type Values, variablesReader } from './variables.ts'
import { reason } from '#core/problems.ts'

/** Characters of all documents that are kept; a parsed one takes some fifty times its text. */
const KEPT_CHARACTERS = 1_000_000
/** Compiled forms of one operation: one for each outcome of its conditions. */
const MOST_FORMS = 16

export interface KnownDocument {
  size: Size
  /** what validation found, empty for a valid document */
  errors: readonly GraphQLFormattedError[]
  document: DocumentNode
  /** its operations in their order */
  operations: readonly KnownOperation[]
}

/** An operation of a document, and what has been found out about it. */
export interface KnownOperation {
  node: OperationDefinitionNode
  /** reads its variables from what was sent, null where they are refused */
  variables: (sent: Values) => Values | null
  /** null before it is asked for, and where it depends on variables */
  cost: QueryCost | null
  /** variables that decide about parts of the document */
  conditions: readonly string[]
  forms: Map<string, CompiledQuery | null>
}

export class Documents {
  readonly #schema: GraphQLSchema
  readonly #keptItems: KeptBytes | null
  readonly #kept = new Map<string, KnownDocument>()
  #characters = 0

  /** @param keptItems where compiled queries keep items */
  constructor(schema: GraphQLSchema, keptItems: KeptBytes | null) {
    this.#schema = schema
    this.#keptItems = keptItems
  }

  /**
   * Reads a document; only valid ones are kept.
   * @throws RequestRefused for what cannot be parsed or is larger than any plan allows
   */
  read(text: string): KnownDocument {
    const kept = this.#kept.get(text)
    if (kept) return kept
    const document = parsed(text)
    const size = sizeOf(document)
    const problem = tooLarge(size, LARGEST)
    if (problem) throw refused(problem)
    const errors = problemsOf(this.#schema, document)
    const conditions = conditionNames(document)
    const operations = document.definitions.flatMap((node): KnownOperation[] => {
      if (node.kind !== Kind.OPERATION_DEFINITION) return []
      return [{ node, variables: variablesReader(this.#schema, node), cost: null, conditions, forms: new Map() }]
    })
    const known = { size, errors, document, operations }
    if (errors.length === 0) this.#keep(text, known)
    return known
  }

  /** What an operation of a valid document costs with these variables, as they were sent. */
  costOf({ document }: KnownDocument, operation: KnownOperation, variables: Values): QueryCost {
    if (operation.cost) return operation.cost
    const cost = costOf(this.#schema, document, operation.node, variables)
    if (cost.fixed) operation.cost = cost
    return cost
  }

  /** An operation of a valid document compiled for these variables, null where graphql-js is to execute it. */
  compiled({ document }: KnownDocument, { node, conditions, forms }: KnownOperation, variables: Values): CompiledQuery | null {
    const form = conditions.map((name) => variables[name]).join(' ')
    const known = forms.get(form)
    if (known !== undefined) return known
    if (forms.size >= MOST_FORMS) return null
    const compiled = compileQuery(this.#schema, document, node, variables, this.#keptItems)
    forms.set(form, compiled)
    return compiled
  }

  #keep(text: string, known: KnownDocument): void {
    this.#kept.set(text, known)
    this.#characters += text.length
    for (const oldest of this.#kept.keys()) {
      if (this.#characters <= KEPT_CHARACTERS) break
      this.#kept.delete(oldest)
      this.#characters -= oldest.length
    }
  }
}

function parsed(text: string): DocumentNode {
  if (text.length > MAX_DOCUMENT) throw refused(reason('document_size', { count: text.length, max: MAX_DOCUMENT }))
  try {
    return parse(text, { maxTokens: LARGEST.tokens })
  } catch (error) {
    if (error instanceof GraphQLError) throw new RequestRefused([documentError(error)])
    // The parser calls itself for what is inside of something.
    if (error instanceof RangeError) throw refused(reason('document_nesting'))
    throw error
  }
}
