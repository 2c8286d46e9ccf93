// The console's only way to the service: the operator API, with the session's cookie.
import { signal } from '@preact/signals'
import type { Pagination, Problem } from './api-types.ts'
import type { Body, Data, Method, PathOf } from './operations.ts'
import { nameMarkets, t } from './words.ts'

/** Who is signed in, null for nobody, undefined until it is known. */
export const session = signal<Session | null | undefined>(undefined)

export interface Session {
  operator: string
  /** currency of each price source */
  currencies: Record<string, string>
  /** what the operator calls the markets, by code; not all have a name */
  market_names: Record<string, string>
}

export interface Reply<T> {
  data: T
  message?: string
  pagination?: Pagination
}

export type Query = Record<string, string | number | undefined>

interface Refusal extends Omit<Problem, 'field'> {
  code: string
  details?: Problem[]
}

/** An answer that is not a success, or a missing answer (status 0). */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly details: Problem[]
  readonly rule: string | undefined
  readonly params: object | undefined

  constructor(status: number, { code, message, details = [], rule, params }: Refusal) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
    this.rule = rule
    this.params = params
  }
}

interface Sending<Json> {
  query?: Query
  json?: Json
  idempotencyKey?: string
  /** entity tag of the state that the operator saw: a write of anything else is refused with status 412 */
  ifMatch?: string
  signal?: AbortSignal
}

/** Asks the operator API; an ended session signs the console out. @throws ApiError, or AbortError when it was cancelled */
export function request<M extends Method, P extends PathOf<M>>(method: M, path: P, sending: Sending<Body<M, P>> = {}): Promise<Reply<Data<M, P>>> {
  return ask<Data<M, P>>(method, `/operator/v1${path}${queryText(sending.query)}`, sending).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) session.value = null
    throw error
  })
}

export async function loadSession(): Promise<void> {
  const { data } = await ask<Session | { operator: null }>('GET', '/console/session')
  if (data.operator !== null) nameMarkets(data.market_names)
  session.value = data.operator === null ? null : data
}

/** @throws ApiError with status 401 for a token that is none */
export async function signIn(token: string): Promise<void> {
  await ask('POST', '/console/session', { json: { token } })
  await loadSession()
}

export async function signOut(): Promise<void> {
  await ask('DELETE', '/console/session')
  session.value = null
}

export interface Upload {
  format: string
  market: string
  dryRun: boolean
  /** of a list that is read by a mapping: its parameters */
  mapping?: Record<string, string>
  file: File
  /** share of the file that is sent, 0 to 1 */
  onProgress: (share: number) => void
}

/** Sends a file to import; fetch cannot tell how far it is, so that this is the older way. @throws ApiError */
export function upload({ format, market, dryRun, mapping, file, onProgress }: Upload): Promise<{ id: number }> {
  const query = { file_name: file.name, dry_run: dryRun ? 1 : undefined, market: market || undefined, ...mapping }
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest()
    sending.open('POST', `/operator/v1/imports/${format}${queryText(query)}`)
    sending.setRequestHeader('x-console', '1')
    sending.setRequestHeader('content-type', 'application/octet-stream')
    sending.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
    sending.onerror = () => reject(new ApiError(0, { code: 'OFFLINE', message: t('offline') }))
    sending.onload = () => {
      try {
        resolve(read<{ id: number }>(sending.status, sending.responseText).data)
      } catch (error) {
        reject(error as Error)
      }
    }
    sending.send(file)
  })
}

/** Reads a file of the operator API. @throws ApiError */
export async function readFile(path: string): Promise<Blob> {
  const response = await fetch(`/operator/v1${path}`, { headers: { 'x-console': '1' } }).catch(() => {
    throw new ApiError(0, { code: 'OFFLINE', message: t('offline') })
  })
  return response.ok ? response.blob() : read<Blob>(response.status, await response.text()).data
}

/** A new value for `Idempotency-Key`. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(36)).join('-')
}

async function ask<T>(method: Method, url: string, { json, idempotencyKey, ifMatch, signal }: Sending<unknown> = {}): Promise<Reply<T>> {
  const headers: Record<string, string> = { 'x-console': '1' }
  if (json !== undefined) headers['content-type'] = 'application/json'
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
  if (ifMatch !== undefined) headers['if-match'] = ifMatch
  let response: Response
  try {
    response = await fetch(url, { method, headers, signal, ...(json !== undefined && { body: JSON.stringify(json) }) })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiError(0, { code: 'OFFLINE', message: t('offline') })
  }
  return read<T>(response.status, await response.text())
}

function read<T>(status: number, text: string): Reply<T> {
  let body: { success?: boolean; error?: Refusal }
  try {
    body = JSON.parse(text) as typeof body
  } catch {
    throw new ApiError(status, noAnswer())
  }
  if (body.success) return body as unknown as Reply<T>
  throw new ApiError(status, body.error ?? noAnswer())
}

function noAnswer(): Refusal {
  return { code: 'NO_ANSWER', message: t('noAnswer') }
}

function queryText(query: Query = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString()
  return text ? `?${text}` : ''
}
