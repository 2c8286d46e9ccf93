// Reasons for errors: a rule and its parameters, from which texts are built in any language and naming style.
import { type Rule, RULES } from './problem-texts/rules.ts'
import { type Term, TERM_PARAMS } from './problem-texts/terms.ts'
import type { Words } from './problem-texts/words.ts'

export type Value = string | number | readonly string[] | readonly number[] | Reason | readonly Reason[]

export type Params = Readonly<Record<string, Value>>

type NameIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NameIn<Rest> : never

/** Splits a text into its parts in brackets and the text outside of them. */
type Always<Text extends string> = Text extends `${infer Head}[${string}]${infer Tail}` ? `${Head}${Always<Tail>}` : Text

type Sometimes<Text extends string> = Text extends `${string}[${infer Part}]${infer Tail}` ? `${Part}${Sometimes<Tail>}` : ''

type ValueOf<Name> = Name extends (typeof TERM_PARAMS)[number]
  ? Term
  : Name extends 'must' | 'each'
    ? Reason
    : Name extends 'options' | 'problems'
      ? readonly Reason[]
      : Name extends 'fields'
        ? readonly string[]
        : Name extends 'field'
          ? string
          : string | number | readonly string[] | readonly number[]

type RequiredName<R extends Rule> = NameIn<Always<(typeof RULES)[R]>>

type OptionalName<R extends Rule> = NameIn<Sometimes<(typeof RULES)[R]>>

type ParamsOf<R extends Rule> = { [Name in RequiredName<R>]: ValueOf<Name> } & { [Name in OptionalName<R>]?: ValueOf<Name> }

export type ReasonParams<R extends Rule> = [RequiredName<R>] extends [never]
  ? [OptionalName<R>] extends [never]
    ? []
    : [params?: ParamsOf<R>]
  : [params: ParamsOf<R>]

/** The reason for a rejection. */
export interface Reason {
  rule: Rule
  params: Params
}

/** An invalid field: its name as the caller wrote it, and the rule that it breaks. */
export interface Problem extends Reason {
  field: string
}

/** Builds a reason from its rule; the compiler requires the parameters that the rule's text has. */
export function reason<R extends Rule>(rule: R, ...[params]: ReasonParams<R>): Reason {
  return { rule, params: params ?? {} }
}

/** A problem of a field, built as `reason` does. */
export function problem<R extends Rule>(field: string, rule: R, ...[params]: ReasonParams<R>): Problem {
  return { field, rule, params: params ?? {} }
}

const ENGLISH: Words = { rules: RULES }

/** A reason in English; a problem begins with its field. */
export function textOf(of: Reason | Problem): string {
  return textIn(ENGLISH, of)
}

/** A reason with its English text, as responses state it. */
export function withMessage({ rule, params }: Reason): Reason & { message: string } {
  return { message: textOf({ rule, params }), rule, params }
}

/** Combines several problems of one value into one reason. */
export function combineProblems(problems: readonly Problem[]): Reason {
  return problems.length === 1 ? problems[0]! : reason('several', { problems })
}

/** A reason in a language; a problem begins with its field. */
export function textIn(words: Words, of: Reason | Problem): string {
  const text = fillTemplate(words.rules[of.rule], of.params, words)
  return 'field' in of ? `${of.field} ${text}` : text
}

/** Replaces the `{names}` of a text. Of `[a|b]`, the first alternative whose parameters are all given is used. */
export function fillTemplate(template: string, params: Params, words: Words = ENGLISH): string {
  let text = ''
  for (const parts of pieces(template)) {
    const part = parts.find(({ names }) => names.every((name) => params[name] !== undefined))
    part?.texts.forEach((before, i) => {
      text += i === 0 ? before : formatValue(words, part.names[i - 1]!, params[part.names[i - 1]!]!) + before
    })
  }
  return text
}

/** The texts between the parameters: one more than there are parameters. */
interface Part {
  texts: readonly string[]
  names: readonly string[]
}

const parsed = new Map<string, readonly (readonly Part[])[]>()

/** The pieces of a rule's text; of each piece, the first alternative whose parameters are all given is used. */
function pieces(template: string): readonly (readonly Part[])[] {
  let found = parsed.get(template)
  if (!found) {
    // Splitting by a pattern with a group leaves the group's matches at odd positions.
    found = template.split(/\[([^[\]]*)\]/).map((piece, i) => (i % 2 === 1 ? piece.split('|') : [piece]).map(partOf))
    parsed.set(template, found)
  }
  return found
}

function partOf(text: string): Part {
  const split = text.split(/\{(\w+)\}/)
  return { texts: split.filter((_, i) => i % 2 === 0), names: split.filter((_, i) => i % 2 === 1) }
}

function formatValue(words: Words, name: string, value: Value | undefined): string {
  if ((TERM_PARAMS as readonly string[]).includes(name)) return words.terms?.[value as Term] ?? (value as string)
  if (isList(value)) return value.map((one) => formatValue(words, name, one)).join(name === 'problems' ? '; ' : ', ')
  if (isReason(value)) return textIn(words, value)
  return typeof value === 'number' ? String(value).replace('.', words.decimal ?? '.') : String(value)
}

export interface FieldNaming {
  nameOf: (field: string) => string
  /** whether a field may appear in the list of allowed fields */
  isKnown?: (name: string) => boolean
}

/** The same reason with fields named in another style. */
export function renameFields<Of extends Reason>(of: Of, naming: FieldNaming): Of {
  const { nameOf, isKnown = () => true } = naming
  return mapValues(of, (name, value) => {
    if (name === 'field') return nameOf(value as string)
    return name === 'fields' ? (value as string[]).map(nameOf).filter(isKnown) : value
  })
}

/** The same reason with each value replaced by `change`, including the fields of problems and the values of nested reasons. */
export function mapValues<Of extends Reason>(of: Of, change: (name: string, value: Value) => Value): Of {
  const params: Record<string, Value> = {}
  for (const [name, value] of Object.entries(of.params)) {
    if (isReason(value)) params[name] = mapValues(value, change)
    else if (isList(value) && isReason(value[0])) params[name] = (value as readonly Reason[]).map((one) => mapValues(one, change))
    else if (value !== undefined) params[name] = change(name, value)
  }
  return { ...of, ...('field' in of && { field: change('field', of.field as string) }), params }
}

function isReason(value: Value | undefined): value is Reason {
  return typeof value === 'object' && 'rule' in value
}

function isList(value: Value | undefined): value is readonly string[] | readonly number[] | readonly Reason[] {
  return Array.isArray(value)
}
