// Reading of JSON that callers send: what is no JSON, or is nested only to exhaust the stack, is refused.
import { ServiceError } from '#core/errors.ts'

/** More levels than any body has a use for. */
const MOST_LEVELS = 64

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
