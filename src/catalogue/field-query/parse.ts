// Parses a field query such as `set:base1 (r>=rare or finish:holo) -label:"PSA 10"`, and formats queries in canonical form.
import { invalid } from '#core/errors.ts'

export const OPERATORS = [':', '=', '!=', '<', '<=', '>', '>='] as const
export type Operator = (typeof OPERATORS)[number]

/** A term of a query; with `field` null, words as in a search. */
export interface Term {
  field: string | null
  operator: Operator
  value: string
  /** start of the term, counted from 1 */
  at: number
}

export type Query = Term | { all: Query[] } | { any: Query[] } | { not: Query }

/** Maximum number of terms, because each one scans all items. */
const MAX_TERMS = 20
const DEEPEST = 20

const SPACE = /\s/u
/** A field and its operator, up to the value. */
const FIELD = /([\p{L}_][\p{L}\p{N}_.]*)(:|!=|<=|>=|=|<|>)/uy
/** An unquoted value or word ends at white space or a parenthesis. */
const BARE = /[^\s()"]+/uy
const QUOTED = /"((?:[^"\\]|\\.)*)"/suy

/** @throws VALIDATION_ERROR naming the position of the syntax error */
export function parseFieldQuery(text: string): Query {
  return new Parser(text).read()
}

class Parser {
  readonly #text: string
  #at = 0
  #terms = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): Query {
    const query = this.#any(0)
    if (this.#at < this.#text.length) throw this.#wrong('query_closed')
    return query
  }

  #any(depth: number): Query {
    if (depth > DEEPEST) throw this.#wrong('query_depth', { most: DEEPEST })
    const parts = [this.#all(depth)]
    while (this.#word('or')) parts.push(this.#all(depth))
    return parts.length === 1 ? parts[0]! : { any: parts }
  }

  #all(depth: number): Query {
    const parts: Query[] = []
    for (;;) {
      const mustFollow = parts.length > 0 && this.#word('and')
      this.#skipSpace()
      const isOver = this.#at === this.#text.length || this.#text[this.#at] === ')' || this.#isWord('or')
      if (isOver && (parts.length === 0 || mustFollow)) throw this.#wrong('query_term')
      if (isOver) return parts.length === 1 ? parts[0]! : { all: parts }
      parts.push(this.#negatable(depth))
    }
  }

  #negatable(depth: number): Query {
    // A double negation cancels out.
    let negated = false
    while (this.#text[this.#at] === '-') {
      negated = !negated
      this.#at += 1
    }
    const query = this.#text[this.#at] === '(' ? this.#group(depth) : this.#term()
    return negated ? { not: query } : query
  }

  #group(depth: number): Query {
    const opened = this.#at
    this.#at += 1
    const query = this.#any(depth + 1)
    if (this.#text[this.#at] !== ')') throw this.#wrong('query_open', {}, opened)
    this.#at += 1
    return query
  }

  #term(): Term {
    const at = this.#at + 1
    this.#terms += 1
    if (this.#terms > MAX_TERMS) throw this.#wrong('query_terms', { most: MAX_TERMS })
    const head = fieldAt(this.#text, this.#at)
    if (!head) return { field: null, operator: ':', value: this.#value(), at }
    this.#at = head.end
    return { field: head.field, operator: head.operator, value: this.#value(), at }
  }

  #value(): string {
    const opened = this.#at
    const quoted = this.#match(QUOTED)
    if (quoted) {
      if (quoted[1] === '') throw this.#wrong('query_value_missing')
      this.#at += quoted[0].length
      return quoted[1]!.replace(/\\(.)/gsu, '$1')
    }
    if (this.#text[opened] === '"') throw this.#wrong('query_quote')
    const [bare] = this.#match(BARE) ?? []
    if (bare === undefined) throw this.#wrong('query_value_missing')
    this.#at += bare.length
    return bare
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)
  }

  #skipSpace(): void {
    while (this.#at < this.#text.length && SPACE.test(this.#text[this.#at]!)) this.#at += 1
  }

  /** Consumes `and` or `or` if it is the next word. */
  #word(word: 'and' | 'or'): boolean {
    this.#skipSpace()
    if (!this.#isWord(word)) return false
    this.#at += word.length
    return true
  }

  #isWord(word: string): boolean {
    const after = this.#text[this.#at + word.length]
    return this.#text.slice(this.#at, this.#at + word.length).toLowerCase() === word && (after === undefined || /[\s()"]/u.test(after))
  }

  #wrong(
    rule: 'query_closed' | 'query_depth' | 'query_term' | 'query_terms' | 'query_open' | 'query_quote' | 'query_value_missing',
    params: { most?: number } = {},
    at = this.#at,
  ) {
    return invalid('query', rule, { at: at + 1, ...params } as never)
  }
}

/** The field and operator at a position, and where the value starts; null for anything else. */
export function fieldAt(text: string, at: number): { field: string; operator: Operator; end: number } | null {
  FIELD.lastIndex = at
  const [whole, field, operator] = FIELD.exec(text) ?? []
  return whole === undefined ? null : { field: field!.toLowerCase(), operator: operator as Operator, end: at + whole.length }
}

/** The canonical form of a query: full names of fields, values quoted only if needed. It parses to the same query. */
export function canonical(query: Query): string {
  if ('all' in query) return query.all.map((part) => ('any' in part ? `(${canonical(part)})` : canonical(part))).join(' ')
  if ('any' in query) return query.any.map(canonical).join(' or ')
  if ('not' in query) return `-${'field' in query.not ? canonical(query.not) : `(${canonical(query.not)})`}`
  const value = isPlain(query) ? query.value : `"${query.value.replace(/["\\]/gu, '\\$&')}"`
  return query.field === null ? value : query.field + query.operator + value
}

/** Whether a value can be written without quotes. */
function isPlain({ field, value }: Term): boolean {
  if (!/^[^\s()"\\]+$/u.test(value)) return false
  if (field !== null) return true
  return !value.startsWith('-') && !/^(?:and|or)$/iu.test(value) && fieldAt(value, 0) === null
}
