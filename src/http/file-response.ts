// Responses with a file: whole, or the range that the request asks for, so that an interrupted download can be resumed.
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { ApiRequest } from './respond.ts'
import { matchesTag, type Response } from './response.ts'
import type { StoredFileAnswer } from './route.ts'

/**
 * Opens only what is sent. Several ranges in one request get the whole file.
 * @throws RANGE_NOT_SATISFIABLE (rejects with it)
 */
export async function fileResponse({ headers: own, file }: StoredFileAnswer, { headers, method }: ApiRequest): Promise<Response> {
  const etag = `"${file.tag}"`
  const common = [...own, 'accept-ranges', 'bytes']
  if (headers['if-none-match'] !== undefined && matchesTag(headers['if-none-match'], etag)) return { status: 304, headers: [], etag, body: null }
  const condition = headers['if-range']
  const range = method === 'GET' && (condition === undefined || condition === etag) ? rangeOf(headers.range, file.bytes) : null
  const [from, to] = range ?? [0, file.bytes]
  const part = range ? ['content-range', `bytes ${from}-${to - 1}/${file.bytes}`] : []
  const body = method === 'HEAD' ? null : await file.read(from, to)
  return { status: range ? 206 : 200, headers: [...common, 'content-length', String(to - from), ...part], etag, body }
}

/** The bytes [from, to) of a single range; null for none, or for a header that is to be ignored. @throws RANGE_NOT_SATISFIABLE */
function rangeOf(header: string | undefined, bytes: number): [number, number] | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return null
  const from = first === '' ? Math.max(0, bytes - Number(last)) : Number(first)
  const to = first === '' || last === '' ? bytes : Math.min(bytes, Number(last) + 1)
  if (first !== '' && last !== '' && Number(last) < from) return null
  if (from >= to) throw new ServiceError('RANGE_NOT_SATISFIABLE', reason('range', { bytes }), { headers: { 'content-range': `bytes */${bytes}` } })
  return [from, to]
}
