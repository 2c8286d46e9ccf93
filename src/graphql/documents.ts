// Documents parsed and validated once, kept by their text: the same queries come again and again.
import { type DocumentNode, GraphQLError, type GraphQLFormattedError, type GraphQLSchema, parse, specifiedRules, validate } from 'graphql'
import { documentError, refused, RequestRefused } from './errors.ts'
import { LARGEST, MAX_DOCUMENT, type Size, sizeOf, tooLarge } from './limits.ts'

/** Characters of all documents that are kept; a parsed one takes some fifty times its text. */
const KEPT_CHARACTERS = 1_000_000
const MAX_ERRORS = 10

export interface KnownDocument {
  document: DocumentNode
  size: Size
  /** what validation found, empty for a valid document */
  errors: readonly GraphQLFormattedError[]
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
    const known = { document, size, errors }
    if (errors.length === 0) this.#keep(text, known)
    return known
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
    throw error
  }
}
