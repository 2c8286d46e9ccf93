// The pages' only access to the service: requests to the connected API with the session's cookie.
import { signal, type Signal } from '@preact/signals'
import type { Pagination, Problem } from '../client/src/api.ts'
import { readChoicesOf } from './stored.ts'
import { locale, t } from './words.ts'

export interface Reply<T> {
  data: T
  message?: string
  pagination?: Pagination
  /** version of the written resource; null if the response names none */
  etag?: string | null
}

/** An array is sent as one parameter for each of its values. */
export type Query = Record<string, string | number | readonly (string | number)[] | undefined>

export interface Refusal extends Omit<Problem, 'field'> {
  code: string
  details?: Problem[]
}

/** An error response, or a missing response (status 0). */
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

export interface Sending<Json> {
  query?: Query
  json?: Json
  /** a file as the body, instead of `json` */
  csv?: Blob
  /** the same, for an image with its type */
  image?: Blob
  idempotencyKey?: string
  /** entity tag of the version that the reader saw: a write to any other version is rejected with status 412 */
  ifMatch?: string
  signal?: AbortSignal
  /** sends the request even if the page is closed meanwhile; its body must be small */
  keepalive?: boolean
}

interface Service {
  /** address of the API, such as `/api/v1` */
  api: string
  /** name of the header that the API requires with the session's cookie */
  header: string
  onSessionEnd: () => void
}

let service: Service | undefined

/** A key with which requests are sent instead of the session: that of a sandbox. */
let apiKey: { key: () => string | null; onRefused: () => void } = { key: () => null, onRefused: () => {} }

/** @param onRefused called when the service rejects the key */
export function sendAs(key: () => string | null, onRefused: () => void): void {
  apiKey = { key, onRefused }
}

function connected(): Service {
  if (!service) throw new Error('Not connected to a service')
  return service
}

export interface SessionStore<Session> {
  /** the current session; null if nobody is signed in, undefined until it is loaded */
  session: Signal<Session | null | undefined>
  /** @throws ApiError */
  loadSession: () => Promise<void>
  /** Sends the credential to the service, once; the browser never stores it. @throws ApiError */
  signIn: (credential: string) => Promise<void>
  /** Signs in with any other proof of identity. @throws ApiError */
  signInBy: (proof: object) => Promise<void>
  /** @throws ApiError */
  signOut: () => Promise<void>
}

interface SessionOptions<Session> {
  /** path prefix of the pages, which also names the header */
  app: 'console' | 'desk'
  api: string
  /** field of the credential in the body of a sign-in */
  credential: string
  /** field of a session that is null if nobody is signed in */
  who: keyof Session
  /** called with each loaded session */
  onLoad: (session: Session) => void
  /** called with each response, signed in or not */
  onAnswer?: (answer: Partial<Session>) => void
}

/** Connects the pages to their service and returns the session store; call it once, before the first request. */
export function connect<Session extends object>({
  app,
  api,
  credential: field,
  who,
  onLoad,
  onAnswer,
}: SessionOptions<Session>): SessionStore<Session> {
  const session = signal<Session | null | undefined>(undefined)
  const path = `/${app}/session`
  service = { api, header: `x-${app}`, onSessionEnd: () => void (session.value = null) }
  const loadSession = async () => {
    const { data } = await ask<Session>('GET', path)
    onAnswer?.(data)
    const signedIn = data[who] === null ? null : data
    if (signedIn) {
      readChoicesOf(personIn(signedIn[who]))
      onLoad(signedIn)
    }
    session.value = signedIn
  }
  const signInBy = async (proof: object) => {
    await ask('POST', path, { json: proof })
    await loadSession()
  }
  return {
    session,
    loadSession,
    signIn: (credential) => signInBy({ [field]: credential }),
    signInBy,
    signOut: async () => {
      await ask('DELETE', path)
      session.value = null
    },
  }
}

/** Stable identifier of the signed-in operator (name) or account (id), as text. */
function personIn(who: unknown): string {
  return typeof who === 'string' ? who : String((who as { id: number }).id)
}

/** Sends a request to the API; if the session has ended, the pages sign out. @throws ApiError, or AbortError if the request was cancelled */
export function request(method: string, path: string, sending: Sending<unknown> = {}): Promise<Reply<unknown>> {
  return ask(method, apiAddress(path, sending.query), sending).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) {
      if (apiKey.key() === null) connected().onSessionEnd()
      else if (error.code === 'UNAUTHENTICATED') apiKey.onRefused()
    }
    throw error
  })
}

/** The address of a path of the API. */
export function apiAddress(path: string, query?: Query): string {
  return `${connected().api}${path}${queryText(query)}`
}

/** Reads a file of the API. @throws ApiError */
export async function readFile(path: string, headers: Record<string, string> = {}, query?: Query): Promise<Blob> {
  const response = await fetch(apiAddress(path, query), { headers: { ...ownHeaders(), ...headers } }).catch(() => {
    throw offline()
  })
  return response.ok ? response.blob() : readReply<Blob>(response.status, await response.text()).data
}

/** A new value for `Idempotency-Key`. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(36)).join('-')
}

/** The header that identifies a request as coming from these pages. */
export function ownHeaders(): Record<string, string> {
  const key = apiKey.key()
  return { [connected().header]: '1', 'accept-language': locale.value, ...(key !== null && { authorization: `Bearer ${key}` }) }
}

/** Posts to an address of the pages themselves, outside the API. @throws ApiError */
export function postToPages<T>(path: string, json: object): Promise<Reply<T>> {
  return ask('POST', path, { json })
}

async function ask<T>(method: string, url: string, sending: Sending<unknown> = {}): Promise<Reply<T>> {
  const { json, csv, image, idempotencyKey, ifMatch, signal, keepalive = false } = sending
  const headers = ownHeaders()
  const body = csv ?? image ?? (json === undefined ? null : JSON.stringify(json))
  if (json !== undefined) headers['content-type'] = 'application/json'
  if (csv) headers['content-type'] = 'text/csv'
  if (image) headers['content-type'] = image.type
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
  if (ifMatch !== undefined) headers['if-match'] = ifMatch
  let response: Response
  try {
    response = await fetch(url, { method, headers, signal, body, keepalive })
  } catch (error) {
    if (signal?.aborted) throw error
    throw offline()
  }
  return { ...readReply<T>(response.status, await response.text()), etag: response.headers.get('etag') }
}

/** The envelope of a response. @throws ApiError unless it is a success */
export function readReply<T>(status: number, text: string): Reply<T> {
  let body: { success?: boolean; error?: Refusal }
  try {
    body = JSON.parse(text) as typeof body
  } catch {
    throw new ApiError(status, noAnswer())
  }
  if (body.success) return body as unknown as Reply<T>
  throw new ApiError(status, body.error ?? noAnswer())
}

/** The error of a request that did not reach the service. */
export function offline(): ApiError {
  return new ApiError(0, { code: 'OFFLINE', message: t('offline') })
}

function noAnswer(): Refusal {
  return { code: 'NO_ANSWER', message: t('noAnswer') }
}

function queryText(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [value].flat().map((one) => [name, String(one)]),
  )
  const text = new URLSearchParams(pairs).toString()
  return text ? `?${text}` : ''
}
