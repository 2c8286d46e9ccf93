// The forms of a game's collector numbers, as lists of parts; each becomes a regular expression that runs in linear time.
import type { NumberFormData } from './schema.ts'

/** What a part of a number matches; a part with `?` may be missing. */
const CLASSES: Readonly<Record<string, string>> = { capitals: 'A-Z', lowercase: 'a-z', digits: '0-9' }
const OPTIONAL = '?'

export interface NumberForm {
  expression: RegExp
  /** numbers of this form are printed with the total of their set */
  total: boolean
}

/** A collector number, split as its game's forms say. */
interface SplitNumber {
  /** the set that the number itself states, such as `OP01`; null if it states none */
  set: string | null
  number: string
  /** numbers of this form are printed with the total of their set */
  total: boolean
}

/**
 * Compiles a form. Two parts of the same kind must have another part between them that is never missing: where one ends and the next begins
 * would be undefined, and the expression would not be linear.
 * @throws FormError
 */
export function compileForm({ set = [], separator = '', number, total = false }: NumberFormData): NumberForm {
  checkParts([...set, ...(separator === '' ? [] : [separator]), ...number])
  const source = `^${set.length > 0 ? `(?<set>${sourceOf(set)})` : ''}${RegExp.escape(separator)}(?<number>${sourceOf(number)})$`
  return { expression: new RegExp(source, 'u'), total }
}

export class FormError extends Error {}

/** The number in the first form that it has; null if it has none of them. */
export function splitNumber(forms: readonly NumberForm[], number: string): SplitNumber | null {
  for (const { expression, total } of forms) {
    const groups = expression.exec(number)?.groups
    if (groups) return { set: groups.set ?? null, number: groups.number!, total }
  }
  return null
}

function checkParts(parts: readonly string[]): void {
  const before = new Set<string>()
  for (const part of parts) {
    const kind = kindOf(part)
    if (before.has(kind)) throw new FormError(`has two parts "${kind}" without a required part between them`)
    if (!part.endsWith(OPTIONAL)) before.clear()
    before.add(kind)
  }
}

/** The class of the part, or its text if it is literal. */
function kindOf(part: string): string {
  const name = part.endsWith(OPTIONAL) ? part.slice(0, -1) : part
  if (name === '') throw new FormError('has an empty part')
  // A literal letter or digit could be read as part of the class next to it.
  if (!(name in CLASSES) && /[A-Za-z0-9]/.test(name))
    throw new FormError(`has the unknown part "${part}"; allowed: ${Object.keys(CLASSES).join(', ')}, symbols`)
  return name
}

function sourceOf(parts: readonly string[]): string {
  return parts
    .map((part) => {
      const optional = part.endsWith(OPTIONAL)
      const name = optional ? part.slice(0, -1) : part
      const characters = CLASSES[name]
      if (characters !== undefined) return `[${characters}]${optional ? '*' : '+'}`
      return optional ? `(?:${RegExp.escape(name)})?` : RegExp.escape(name)
    })
    .join('')
}
