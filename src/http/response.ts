// The format of a response before an adapter writes it: status, headers and body; and the conversion of errors.
import { pipeline, type Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants, createBrotliCompress, createGzip, gzip, gzipSync } from 'node:zlib'
import Negotiator from 'negotiator'

/** Names and values in turn, names in lower case: the form that `writeHead` of node:http accepts. */
export type Headers = readonly string[]

/** Records by id, with the account that owns each. Compared by identity: one object stands for all responses with the same content. */
export interface Shown {
  ids: Int32Array
  owners: Int32Array
}

export interface Response {
  status: number
  headers: Headers
  /** entity tag, sent as `ETag` */
  etag?: string | null
  /** bytes, or a function that builds them when needed (not for a 304 or HEAD); null for an empty body */
  body: Buffer | Readable | (() => Buffer) | null
  /** builds the same bytes again as long as nothing has changed; null if the response must not be cached */
  again?: (() => Buffer) | null
  /** whether it would be the same now, although something has changed; without it, every change counts */
  isCurrent?: (() => boolean) | undefined
  /** the records that it shows, if showing them is counted */
  shown?: Shown | undefined
  /** what was searched for, if searches are counted */
  term?: string | undefined
}

export const JSON_TYPE = 'application/json; charset=utf-8'
export const JSON_HEADERS: Headers = ['content-type', JSON_TYPE]

/** A response with a JSON body. */
export function jsonResponse(status: number, body: object, headers: Headers = JSON_HEADERS): Response {
  return { status, headers, body: Buffer.from(JSON.stringify(body)) }
}

/** The tags of `If-Match` or `If-None-Match`, to compare weakly: tags identify revisions, and proxies that compress mark them with `W/`. */
export function tagsIn(header: string): string[] {
  return header.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
}

/** Whether `If-None-Match` matches this version. */
export function matchesTag(header: string, tag: string): boolean {
  return header === '*' || tagsIn(header).includes(tag)
}

/** A 304 without a body if the caller has this version. */
export function orNotModified(response: Response, ifNoneMatch: string | undefined): Response {
  if (ifNoneMatch === undefined || response.etag == null || !matchesTag(ifNoneMatch, response.etag)) return response
  return { ...response, status: 304, headers: [], body: null }
}

/** Bodies of at least this size are compressed for clients that accept it. */
const COMPRESS_FROM = 1_024
/** Up to this size, more than a page of 20 items, compressing synchronously is cheaper than a thread. */
const COMPRESS_AT_ONCE = 32 * 1024
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
/** In order: of equally preferred encodings, the first is used. */
const ENCODINGS = ['br', 'gzip', 'identity']
/** Its types omit the argument for the server's preference. */
type EncodingNegotiator = { encodings: (available: readonly string[], options: { preferred: readonly string[] }) => string[] }
const compressInThread = { br: promisify(brotliCompress), gzip: promisify(gzip) }

/** The encoding of ours that an `Accept-Encoding` header prefers. */
export function encodingFor(acceptEncoding: string | undefined): 'br' | 'gzip' | null {
  if (acceptEncoding === undefined) return null
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }) as EncodingNegotiator
  const [best] = negotiator.encodings(ENCODINGS, { preferred: ENCODINGS })
  return best === 'br' || best === 'gzip' ? best : null
}

/** Whether an `Accept` header prefers CSV to JSON; JSON wins if both are equally acceptable. */
export function prefersCsv(accept: string | undefined): boolean {
  return accept !== undefined && new Negotiator({ headers: { accept } }).mediaTypes(['application/json', 'text/csv'])[0] === 'text/csv'
}

/** The response with a compressed body, unless it is small. */
export function compress(response: Response, encoding: 'br' | 'gzip' | null): Response | Promise<Response> {
  // A body with a known length is a file, which is sent unchanged.
  if (encoding === null || response.headers.includes('content-length')) return response
  const body = typeof response.body === 'function' ? response.body() : response.body
  if (body === null) return response
  const headers = [...response.headers, 'vary', 'accept-encoding']
  const done = (compressed: Buffer | Readable): Response => ({ ...response, headers: [...headers, 'content-encoding', encoding], body: compressed })
  if (!Buffer.isBuffer(body)) return done(pipeline(body, encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip(), () => {}))
  if (body.length < COMPRESS_FROM) return { ...response, headers, body }
  if (body.length <= COMPRESS_AT_ONCE) return done(encoding === 'br' ? brotliCompressSync(body, BROTLI) : gzipSync(body))
  return (encoding === 'br' ? compressInThread.br(body, BROTLI) : compressInThread.gzip(body)).then(done)
}
