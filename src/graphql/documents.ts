// Documents parsed and validated once, kept by their text: the same queries come again and again.
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  parse,
  specifiedRules,
  validate,
  type VariableValues,
} from 'graphql'
import { type CompiledQuery, compileQuery, conditionNames } from './compile.ts'
import { costOf, type QueryCost } from './cost.ts'
import { documentError, refused, RequestRefused } from './errors.ts'
import { LARGEST, MAX_DOCUMENT, type Size, sizeOf, tooLarge } from './limits.ts'

/** Characters of all documents that are kept; a parsed one takes some fifty times its text. */
const KEPT_CHARACTERS = 1_000_000
const MAX_ERRORS = 10
/** Compiled forms of one document: one for each operation and each outcome of its conditions. */
const MOST_FORMS = 16

export interface KnownDocument {
  document: DocumentNode
  size: Size
  /** what validation found, empty for a valid document */
  errors: readonly GraphQLFormattedError[]
  /** variables that decide about parts of the document */
  conditions: readonly string[]
  costs: Map<OperationDefinitionNode, QueryCost>
  forms: Map<string, CompiledQuery | null>
}

export class Documents {
  readonly #schema: GraphQLSchema
  readonly #kept = new Map<string, KnownDocument>()
  #characters = 0

  constructor(schema: GraphQLSchema) {
    this.#schema = schema
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
    const errors = validate(this.#schema, document, specifiedRules, { maxErrors: MAX_ERRORS }).map(documentError)
    const known = { document, size, errors, conditions: conditionNames(document), costs: new Map(), forms: new Map() }
    if (errors.length === 0) this.#keep(text, known)
    return known
  }

  /** What an operation of a valid document costs with these variables, as they were sent. */
  costOf({ document, costs }: KnownDocument, operation: OperationDefinitionNode, variables: Readonly<Record<string, unknown>>): QueryCost {
    const known = costs.get(operation)
    if (known) return known
    const cost = costOf(this.#schema, document, operation, variables)
    if (cost.fixed) costs.set(operation, cost)
    return cost
  }

  /** An operation of a valid document compiled for these variables, null where graphql-js is to execute it. */
  compiled({ document, conditions, forms }: KnownDocument, operation: OperationDefinitionNode, { coerced }: VariableValues): CompiledQuery | null {
    const form = [operation.name?.value, ...conditions.map((name) => coerced[name])].join(' ')
    const known = forms.get(form)
    if (known !== undefined) return known
    if (forms.size >= MOST_FORMS) return null
    const compiled = compileQuery(this.#schema, document, operation, coerced)
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
  if (text.length > MAX_DOCUMENT) throw refused(`The document has ${text.length} characters; at most ${MAX_DOCUMENT} are allowed`)
  try {
    return parse(text, { maxTokens: LARGEST.tokens })
  } catch (error) {
    if (error instanceof GraphQLError) throw new RequestRefused([documentError(error)])
    // The parser calls itself for what is inside of something.
    if (error instanceof RangeError) throw refused('The document is nested too deeply')
    throw error
  }
}
