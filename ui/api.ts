// The pages' only way to the service: the API that they were connected to, with the session's cookie.
import { signal, type Signal } from '@preact/signals'
import type { Pagination, Problem } from '../client/src/api.ts'
import { readChoicesOf } from './stored.ts'
import { t } from './words.ts'

export interface Reply<T> {
  data: T
  message?: string
  pagination?: Pagination
}

/** An array is sent as a parameter for each of its values. */
export type Query = Record<string, string | number | readonly number[] | undefined>

export interface Refusal extends Omit<Problem, 'field'> {
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

export interface Sending<Json> {
  query?: Query
  json?: Json
  /** a file as the body, in place of `json` */
  csv?: Blob
  idempotencyKey?: string
  /** entity tag of the state that the reader saw: a write of anything else is refused with status 412 */
  ifMatch?: string
  signal?: AbortSignal
}

interface Service {
  /** address of the API, such as `/api/v1` */
  api: string
  /** header by which it takes the session's cookie */
  header: string
  onSessionEnd: () => void
}

let service: Service | undefined

function connected(): Service {
  if (!service) throw new Error('Not connected to a service')
  return service
}

export interface SessionStore<Session> {
  /** who is signed in; null if nobody is, undefined until the session is loaded */
  session: Signal<Session | null | undefined>
  /** @throws ApiError */
  loadSession: () => Promise<void>
  /** The credential goes to the service once and stays nowhere in the browser. @throws ApiError */
  signIn: (credential: string) => Promise<void>
  /** The same with whatever proves who it is. @throws ApiError */
  signInBy: (proof: object) => Promise<void>
  /** @throws ApiError */
  signOut: () => Promise<void>
}

interface SessionOptions<Session> {
  /** address of the pages, which is the header's name as well */
  app: 'console' | 'desk'
  api: string
  /** name of the credential in the body of a sign-in */
  credential: string
  /** the field of a session that is null if nobody is signed in */
  who: keyof Session
  /** called with each session that was loaded */
  onLoad: (session: Session) => void
}

/** Connects the pages to their service and gives their session; to be called once, before the first request. */
export function connect<Session extends object>({ app, api, credential: field, who, onLoad }: SessionOptions<Session>): SessionStore<Session> {
  const session = signal<Session | null | undefined>(undefined)
  const path = `/${app}/session`
  service = { api, header: `x-${app}`, onSessionEnd: () => void (session.value = null) }
  const loadSession = async () => {
    const { data } = await ask<Session>('GET', path)
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

/** Who a session is of, an operator's name or an account, as a text that stays the same. */
function personIn(who: unknown): string {
  return typeof who === 'string' ? who : String((who as { id: number }).id)
}

/** Asks the API; an ended session signs the pages out. @throws ApiError, or AbortError when it was cancelled */
export function request(method: string, path: string, sending: Sending<unknown> = {}): Promise<Reply<unknown>> {
  return ask(method, apiAddress(path, sending.query), sending).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) connected().onSessionEnd()
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

/** The header that makes a request one of these pages. */
export function ownHeaders(): Record<string, string> {
  return { [connected().header]: '1' }
}

/** Posts to an address of the pages themselves, beside the API. @throws ApiError */
export function postToPages<T>(path: string, json: object): Promise<Reply<T>> {
  return ask('POST', path, { json })
}

async function ask<T>(method: string, url: string, { json, csv, idempotencyKey, ifMatch, signal }: Sending<unknown> = {}): Promise<Reply<T>> {
  const headers = ownHeaders()
  const body = csv ?? (json === undefined ? null : JSON.stringify(json))
  if (json !== undefined) headers['content-type'] = 'application/json'
  if (csv) headers['content-type'] = 'text/csv'
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
  if (ifMatch !== undefined) headers['if-match'] = ifMatch
  let response: Response
  try {
    response = await fetch(url, { method, headers, signal, body })
  } catch (error) {
    if (signal?.aborted) throw error
    throw offline()
  }
  return readReply<T>(response.status, await response.text())
}

/** The envelope of an answer. @throws ApiError if it is not a success */
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
