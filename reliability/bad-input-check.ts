// Rules that every response must follow, whatever was wrong with the request.
import { ERROR_STATUS } from '#core/errors.ts'
import type { BadRequest } from './bad-input-rest.ts'

export interface Answered {
  status: number
  headers: NodeJS.Dict<string | string[]>
  text: string
  milliseconds: number
}

/** Internals of the program, database or machine that must not appear in messages. */
const INTERNALS =
  /\n\s+at |node_modules|\.ts:\d|\/src\/|violates|relation "|syntax error at or near|invalid input syntax|ECONN|TypeError|RangeError|Cannot read prop|is not a function|undefined is not (?!allowed)|Maximum call stack|invalid byte sequence/

interface Body {
  jsonrpc?: unknown
  result?: { isError?: boolean; structuredContent?: { code?: string; message?: string; details?: { field: string; message: string }[] } }
  success?: unknown
  error?: { code: string; message: string; details?: { field: string; message: string }[] }
  errors?: { message: string; path?: (string | number)[]; extensions?: { code?: string; details?: { field: string }[] } }[]
  data?: unknown
}

export interface Judgement {
  /** the rule that the response broke; null for none */
  breach: string | null
  /** whether anything was done: only such requests may leave an audit row */
  succeeded: boolean
  /** the error code, or `ok` */
  code: string
  /** for a refusal of input, whether it names the field; null for other responses */
  named: boolean | null
}

export function judge(request: BadRequest, { status, headers, text }: Answered): Judgement {
  const ok = (code = 'ok'): Judgement => ({ breach: null, succeeded: status < 300, code, named: null })
  const breach = (what: string): Judgement => ({ ...ok('breach'), breach: what })
  if (status >= 500) return breach(`${status}: ${text.slice(0, 200)}`)
  if (!headers['x-request-id']) return breach('has no X-Request-Id')
  if (request.method === 'HEAD' || status === 304) return text === '' ? ok() : breach('has a body')
  const type = String(headers['content-type'] ?? '')
  if (status < 400 && !/json/.test(type)) return ok()
  // The page of a shared collection is for people: a link that leads nowhere gets a page, too.
  if (status === 404 && /html/.test(type) && request.path.startsWith('/shared/'))
    return INTERNALS.test(text) ? breach('exposes internals') : ok('NOT_FOUND')
  const body = parsed(text)
  if (body === null) return breach(`is not a JSON object: ${text.slice(0, 100)}`)
  if (body.jsonrpc !== undefined) return judgeRpc(request, status, body, breach)
  if (body.errors !== undefined) return judgeErrors(request, status, body, breach)
  if (status < 400)
    return body.success === true || body.data !== undefined || isDocument(request.path) ? ok() : breach('has no success in the envelope')
  const { error } = body
  if (body.success !== false || !error?.message || typeof error.code !== 'string')
    return breach(`has no error in the envelope: ${text.slice(0, 200)}`)
  if (ERROR_STATUS[error.code as keyof typeof ERROR_STATUS] !== status && status !== 431 && status !== 408)
    return breach(`has code ${error.code} with status ${status}`)
  const internals = INTERNALS.exec(messageWithoutEcho(error.message, request))
  if (internals) return breach(`exposes internals: ${error.message.slice(0, 200)}`)
  return { breach: null, succeeded: false, code: error.code, named: isAboutInput(error.code, error.message) ? namesField(error, request) : null }
}

/** Documents and files have no envelope. */
function isDocument(path: string): boolean {
  return path.includes('openapi') || path.includes('/guides/search.json')
}

/** GraphQL: every error has a code in `extensions.code`. */
function judgeErrors(request: BadRequest, status: number, { errors = [], data }: Body, breach: (what: string) => Judgement): Judgement {
  if (errors.length === 0) return breach('has an empty list of errors')
  const first = errors[0]!
  for (const { message, extensions } of errors) {
    if (!message || !extensions?.code) return breach(`has an error without a code: ${message}`)
    if (extensions.code === 'INTERNAL_ERROR' || extensions.code === 'UNAVAILABLE') return breach(`internal error: ${message}`)
    if (INTERNALS.test(messageWithoutEcho(message, request))) return breach(`exposes internals: ${message.slice(0, 200)}`)
  }
  // An error below a field is reported after the field was executed.
  const done = Object.values(data ?? {}).some((value) => value !== null) || errors.some(({ path = [] }) => path.length > 1)
  const details = first.extensions?.details
  return { breach: null, succeeded: status < 300 && done, code: first.extensions!.code!, named: details ? details.length > 0 : null }
}

/** The Model Context Protocol: protocol errors have a number, errors of tools have our code. */
function judgeRpc(request: BadRequest, status: number, { result, error }: Body, breach: (what: string) => Judgement): Judgement {
  const message = error?.message ?? (result?.isError ? result.structuredContent?.message : undefined)
  if (message === undefined) {
    return result === undefined ? breach('has neither a result nor an error') : { breach: null, succeeded: status < 300, code: 'ok', named: null }
  }
  if (INTERNALS.test(messageWithoutEcho(message, request))) return breach(`exposes internals: ${message.slice(0, 200)}`)
  // The JSON-RPC code for an internal error.
  if (String(error?.code) === '-32603') return breach(`internal error: ${message}`)
  if (error !== undefined) return { breach: null, succeeded: false, code: `JSON-RPC ${error.code}`, named: null }
  const { code = '', details = [] } = result!.structuredContent!
  if (code === 'INTERNAL_ERROR' || code === 'UNAVAILABLE' || code === '') return breach(`internal error: ${message}`)
  const named = isAboutInput(code, message) ? namesField({ code, message, details }, request) : null
  return { breach: null, succeeded: false, code, named }
}

/** Messages may quote the request. */
function messageWithoutEcho(message: string, { path }: BadRequest): string {
  return message.replace(path.split('?', 1)[0]!, '').replace(/^\S+ is not a known field/, '')
}

/** Refusals because of a field, not because a record is missing or in the wrong state. */
function isAboutInput(code: string, message: string): boolean {
  return /VALIDATION_ERROR|PLUS_\w+_ERROR/.test(code) && / must | is required|may be given|not a known field|may not/.test(message)
}

function namesField({ message, details = [] }: NonNullable<Body['error']>, { fields }: BadRequest): boolean {
  return details.length > 0 || fields.some((field) => message.includes(field))
}

function parsed(text: string): Body | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Body) : null
  } catch {
    return null
  }
}
