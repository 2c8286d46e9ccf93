// Completions at the end of a field query: field names with an operator, or values of a field.
import { fold } from '#index/fold.ts'
import { type FieldTables, FIELDS, NAMES } from './fields.ts'
import { canonical, fieldAt, type Operator } from './parse.ts'

export interface Completions {
  /** start of the term being typed, counted from 0; an option replaces the text from there on */
  from: number
  /** terms, or names of fields with an operator, to be followed by a value */
  options: string[]
}

const MAX_OPTIONS = 12
/** The operators that are suggested, in this order. */
const OFFERED: readonly Operator[] = [':', '<=', '>=']
const AFTER_BACKSLASH = 2
/** Sorts `PSA 9` before `PSA 10`. */
const IN_ORDER = new Intl.Collator('en', { numeric: true })

/** @param text the query up to the cursor */
export function completionsOf(text: string, catalogued: FieldTables): Completions {
  const from = startOfTerm(text)
  const typed = text.slice(from)
  const head = fieldAt(typed, 0)
  const options = head ? termsOf(head, unquoted(typed.slice(head.end)), catalogued) : fieldsOf(typed.toLowerCase())
  return { from, options: options.filter((option) => option !== typed).slice(0, MAX_OPTIONS) }
}

function startOfTerm(text: string): number {
  let from = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at += isQuoted && text[at] === '\\' ? AFTER_BACKSLASH : 1) {
    if (text[at] === '"') isQuoted = !isQuoted
    else if (!isQuoted && /[\s()]/u.test(text[at]!)) from = at + 1
  }
  while (text[from] === '-') from += 1
  return from
}

/** A value without quotes and escapes, even if its closing quote is missing. */
function unquoted(value: string): string {
  return value.startsWith('"') ? value.replace(/^"|(?<!\\)"$/gu, '').replace(/\\(.)/gsu, '$1') : value
}

/** Fields whose name or alias starts with the text. */
function fieldsOf(start: string): string[] {
  const names = new Set([...NAMES].flatMap(([word, name]) => (word.startsWith(start) ? name : [])))
  const ordered = Object.keys(FIELDS).filter((name) => names.has(name))
  return OFFERED.flatMap((operator) => ordered.flatMap((name) => (FIELDS[name]!.operators.includes(operator) ? name + operator : [])))
}

/** Values of the field that contain the text; those that start with it come first. */
function termsOf({ field, operator }: { field: string; operator: Operator }, start: string, catalogued: FieldTables): string[] {
  const name = NAMES.get(field)
  const queryField = name === undefined ? undefined : FIELDS[name]!
  if (!queryField?.values || !queryField.operators.includes(operator)) return []
  const folded = fold(start)
  const found = [...new Set(queryField.values(catalogued, operator))]
    .map((value) => ({ value, at: fold(value).indexOf(folded) }))
    .filter(({ at }) => at >= 0)
  found.sort((a, b) => Math.min(a.at, 1) - Math.min(b.at, 1) || IN_ORDER.compare(a.value, b.value))
  return found.slice(0, MAX_OPTIONS + 1).map(({ value }) => canonical({ field: name!, operator, value, at: 1 }))
}
