// Reading of JSON that callers send: what is no JSON, or is nested only to exhaust the stack, is refused.
import { isUtf8 } from 'node:buffer'
import { ServiceError } from '#core/errors.ts'

/** More levels than any body has a use for. */
const MOST_LEVELS = 64

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i
const BYTE_ORDER_MARK = '\ufeff'

/** The value of a body, undefined for an empty one. @throws as `textOfBody` does, and INVALID_JSON for what is none */
export function parseJsonBody(contentType: string, body: Buffer): unknown {
  const text = textOfBody(contentType, body)
  return body.length === 0 ? undefined : parseJson(text, 'The body')
}

/**
 * The text of a body. A byte order mark, which Windows programs write, is passed over.
 * @throws INVALID_JSON, and UNSUPPORTED_MEDIA_TYPE for another charset: read as UTF-8, its letters would be stored as others
 */
export function textOfBody(contentType: string, body: Buffer): string {
  const charset = CHARSET.exec(contentType)?.[1]?.toLowerCase()
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON in UTF-8, sent with Content-Type: application/json')
  }
  if (!isUtf8(body)) throw new ServiceError('INVALID_JSON', 'The body is no valid UTF-8')
  const text = body.toString()
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
}

/** @throws INVALID_JSON, told of `what` */
export function parseJson(text: string, what: string): unknown {
  const value = parsed(text, what)
  if (isDeeper(value, MOST_LEVELS)) throw new ServiceError('INVALID_JSON', `${what} is nested deeper than ${MOST_LEVELS} levels`)
  return value
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ServiceError('INVALID_JSON', `${what} is no valid JSON`)
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1))
}
