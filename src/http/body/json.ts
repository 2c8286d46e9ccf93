// Parses JSON from clients, and rejects text that is not JSON or is nested too deeply.
import { isUtf8 } from 'node:buffer'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { Term } from '#core/problem-texts/terms.ts'

/** Deeper than any valid body. */
const MAX_LEVELS = 64

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i
const BYTE_ORDER_MARK = '\ufeff'

/** The value of a body; undefined for an empty one. @throws as `textOfBody`, and INVALID_JSON for invalid JSON */
export function parseJsonBody(contentType: string, body: Buffer): unknown {
  const text = textOfBody(contentType, body)
  return body.length === 0 ? undefined : parseJson(text, 'body')
}

/**
 * The text of a body. A byte order mark, which Windows programs write, is skipped.
 * @throws INVALID_JSON, and UNSUPPORTED_MEDIA_TYPE for another charset: read as UTF-8, its letters would be wrong
 */
export function textOfBody(contentType: string, body: Buffer): string {
  const charset = CHARSET.exec(contentType)?.[1]?.toLowerCase()
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', reason('body_json'))
  }
  if (!isUtf8(body)) throw new ServiceError('INVALID_JSON', reason('utf8', { part: 'body' }))
  const text = body.toString()
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
}

/** @throws INVALID_JSON, naming `part`; also for duplicate keys of an object, because JSON.parse would keep only the last */
export function parseJson(text: string, part: Term): unknown {
  const value = parsed(text, part)
  const keys = countKeys(value, MAX_LEVELS)
  if (keys === null) throw new ServiceError('INVALID_JSON', reason('at_most', { part, units: 'levels', max: MAX_LEVELS }))
  if (keys !== countColons(text)) throw new ServiceError('INVALID_JSON', reason('json_key', { part, name: duplicateKey(text) }))
  return value
}

function parsed(text: string, part: Term): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ServiceError('INVALID_JSON', reason('json', { part }))
  }
}

/** Number of keys of all objects in a value; null if it is nested deeper than `levels`. */
function countKeys(value: unknown, levels: number): number | null {
  if (typeof value !== 'object' || value === null) return 0
  if (levels === 0) return null
  const inner = Object.values(value)
  let count = Array.isArray(value) ? 0 : inner.length
  for (const each of inner) {
    const more = countKeys(each, levels - 1)
    if (more === null) return null
    count += more
  }
  return count
}

const QUOTE = 34
const COLON = 58
const BACKSLASH = 92
const BRACE = 123
const BRACE_END = 125

/** Number of colons outside of the strings of valid JSON: one for each key in the text. */
function countColons(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i)
    if (unit === COLON) count += 1
    else if (unit === QUOTE) i = endOfText(text, i)
  }
  return count
}

/** The first duplicate key of an object in valid JSON, as written at its second occurrence. */
function duplicateKey(text: string): string {
  const objects: Set<string>[] = []
  let last = ''
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i)
    if (unit === QUOTE) {
      const end = endOfText(text, i)
      last = text.slice(i, end + 1)
      i = end
    } else if (unit === BRACE) objects.push(new Set())
    else if (unit === BRACE_END) objects.pop()
    else if (unit === COLON) {
      const keys = objects.at(-1)!
      const key = JSON.parse(last) as string
      if (keys.has(key)) break
      keys.add(key)
    }
  }
  return last
}

/** Position of the quote that ends a string. */
function endOfText(text: string, start: number): number {
  let end = start
  for (;;) {
    end = text.indexOf('"', end + 1)
    let slashes = end
    while (text.charCodeAt(slashes - 1) === BACKSLASH) slashes -= 1
    if ((end - slashes) % 2 === 0) return end
  }
}
