// The language of messages: English, or Turkish for callers that prefer it (`Accept-Language`).
import Negotiator from 'negotiator'
import { MESSAGES } from '#core/problem-texts/messages.ts'
import { type Problem, type Reason, textIn } from '#core/problems.ts'
import { TURKISH } from '#core/problem-texts/turkish.ts'

/** Languages of messages, the default first. */
export const LANGUAGES = ['en', 'tr'] as const
export type Language = (typeof LANGUAGES)[number]

/** The language that a caller prefers; English unless it prefers Turkish. @param header `Accept-Language` */
export function languageOf(header: string | undefined): Language {
  if (header === undefined) return LANGUAGES[0]
  return (new Negotiator({ headers: { 'accept-language': header } }).languages([...LANGUAGES])[0] as Language | undefined) ?? LANGUAGES[0]
}

/** The language that `lang` of a page's query names; undefined if it names none. */
export function languageInQuery(query: unknown): Language | undefined {
  return LANGUAGES.find((language) => language === (query as { lang?: unknown }).lang)
}

/** Headers of a response whose messages are in the language. */
export function languageHeaders(language: Language): readonly string[] {
  return language === 'en' ? [] : ['content-language', language, 'vary', 'accept-language']
}

/** A JSON value with all its messages in the language: those with a rule are built from it, the others found in the table. */
export function inLanguage<Value>(value: Value, language: Language): Value {
  return language === 'en' ? value : (translated(value) as Value)
}

/** As `inLanguage`, for JSON that is already written. */
export function bytesInLanguage(json: Buffer, language: Language): Buffer {
  return language === 'en' ? json : Buffer.from(JSON.stringify(inLanguage(JSON.parse(json.toString()), language)))
}

/** Returns the same value if it has no message. */
function translated(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const list = value.map(translated)
    return list.some((one, i) => one !== value[i]) ? list : value
  }
  // Dates and other objects that write their own JSON.
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null) return value
  let changed = false
  const copy: Record<string, unknown> = {}
  for (const [name, before] of Object.entries(value)) {
    const after = name === 'message' ? textOf(before, value) : translated(before)
    changed ||= after !== before
    copy[name] = after
  }
  return changed ? copy : value
}

interface Explained {
  rule?: unknown
  params?: unknown
  details?: unknown
  /** where GraphQL has them */
  extensions?: Explained
}

/** @param owner the object that has the message */
function textOf(message: unknown, owner: Explained): unknown {
  if (typeof message !== 'string') return message
  const { rule, params, details } = owner.extensions ?? owner
  if (isReason({ rule, params })) return capitalAs(message, textIn(TURKISH, { rule, params } as Reason))
  // The message of a request with invalid fields is its first problem.
  const first: unknown = Array.isArray(details) ? details[0] : undefined
  if (isReason(first)) {
    const { field, rule, params } = first as Problem
    return textIn(TURKISH, { field, rule, params })
  }
  return (MESSAGES as Readonly<Record<string, string>>)[message] ?? message
}

function isReason(value: unknown): value is Reason {
  if (typeof value !== 'object' || value === null) return false
  const { rule, params } = value as Explained
  return typeof rule === 'string' && Object.hasOwn(TURKISH.rules, rule) && typeof params === 'object' && params !== null
}

/** Sentences begin with a capital letter, problems of a field do not. */
function capitalAs(english: string, text: string): string {
  return /^\p{Lu}/u.test(english) ? text.charAt(0).toLocaleUpperCase('tr') + text.slice(1) : text
}
