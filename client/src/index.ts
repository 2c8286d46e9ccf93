// The Mintmark client: calls typed by the OpenAPI document, pages as an iteration, retries that wait as told, and
// verification of webhooks. It needs `fetch` and Web Crypto only.
import type { Error as ErrorBody, Problem, paths } from './api.ts'
import { webCrypto } from './web-crypto.ts'

export type * from './api.ts'
export { verifyWebhook, type WebhookEvent } from './webhook.ts'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** Paths that have a method. */
type PathsWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: { responses: unknown } } ? P : never
}[keyof paths]

type Operation<P extends keyof paths, M extends Method> = paths[P] extends { [K in M]: infer O } ? O : never

type Success<O> = O extends { responses: infer R }
  ? R extends { 200: { content: { 'application/json': infer B } } }
    ? B
    : R extends { 201: { content: { 'application/json': infer B } } }
      ? B
      : never
  : never

type Given<O> = O extends { parameters: infer Q } ? Q : never
type Section<G, S extends string> = G extends { [K in S]: infer V } ? { [K in S]: BareNames<V> } : { [K in S]?: Optional<G, S> }
type Optional<G, S extends string> = G extends { [K in S]?: infer V } ? BareNames<V> : never
type Body<O> = O extends { requestBody?: never }
  ? { body?: never }
  : O extends { requestBody: { content: { 'application/json': infer B } } }
    ? { body: B }
    : O extends { requestBody?: { content: { 'application/json': infer B } } }
      ? { body?: B }
      : { body?: never }

/** Lists by their bare name: `game` for the parameter `game[]`. */
type BareNames<Q> = { [K in keyof Q as K extends `${infer N}[]` ? N : K]: Q[K] }

/** What a call takes: `path` and `query` parameters, the `body`, and on writes a key that makes repeating it safe. */
export type CallOptions<P extends keyof paths, M extends Method> = Section<Given<Operation<P, M>>, 'path'> &
  Section<Given<Operation<P, M>>, 'query'> &
  Body<Operation<P, M>> & { idempotencyKey?: string; ifMatch?: string; signal?: AbortSignal }

type Arguments<P extends keyof paths, M extends Method> =
  Record<string, never> extends CallOptions<P, M> ? [options?: CallOptions<P, M>] : [options: CallOptions<P, M>]

/** The entries of a paged answer. */
type Entry<B> = B extends { data: (infer E)[]; pagination: unknown } ? E : never

export interface ClientOptions {
  apiKey: string
  /** address of the service, such as `https://cards.example` */
  baseUrl: string
  /** how often a refused or failed request is sent again, 2 unless told */
  retries?: number
  fetch?: typeof fetch
}

/** An answer that says what was wrong. */
export class MintmarkError extends Error {
  override name = 'MintmarkError'
  readonly status: number
  readonly code: string
  readonly details: Problem[]
  /** the rule that refused the request as a whole, and the values it names */
  readonly rule: string | null
  readonly params: Record<string, unknown>
  /** name it when you report a problem */
  readonly requestId: string | null

  constructor(response: Response, body: Partial<ErrorBody> | null) {
    super(body?.error?.message ?? `The service answered ${response.status}`)
    this.status = response.status
    this.code = body?.error?.code ?? 'UNKNOWN'
    this.details = body?.error?.details ?? []
    this.rule = body?.error?.rule ?? null
    this.params = body?.error?.params ?? {}
    this.requestId = response.headers.get('x-request-id')
  }
}

type Scalar = string | number | boolean

interface LooseOptions {
  path?: Record<string, Scalar>
  query?: Record<string, Scalar | Scalar[] | null | undefined>
  body?: unknown
  idempotencyKey?: string
  ifMatch?: string
  signal?: AbortSignal
}

const LONGEST_WAIT_MS = 60_000

export class Mintmark {
  readonly #options: Required<ClientOptions>

  constructor(options: ClientOptions) {
    this.#options = { retries: 2, fetch: globalThis.fetch, ...options, baseUrl: options.baseUrl.replace(/\/$/, '') }
  }

  get<P extends PathsWith<'get'>>(path: P, ...[options]: Arguments<P, 'get'>): Promise<Success<Operation<P, 'get'>>> {
    return this.#call('GET', path, options)
  }

  async post<P extends PathsWith<'post'>>(path: P, ...[options]: Arguments<P, 'post'>): Promise<Success<Operation<P, 'post'>>> {
    // Without a key of the caller's own, one per call: a retry of ours must not do it twice.
    const idempotencyKey = (await webCrypto()).randomUUID()
    return this.#call('POST', path, { idempotencyKey, ...(options as LooseOptions) })
  }

  put<P extends PathsWith<'put'>>(path: P, ...[options]: Arguments<P, 'put'>): Promise<Success<Operation<P, 'put'>>> {
    return this.#call('PUT', path, options)
  }

  patch<P extends PathsWith<'patch'>>(path: P, ...[options]: Arguments<P, 'patch'>): Promise<Success<Operation<P, 'patch'>>> {
    return this.#call('PATCH', path, options)
  }

  delete<P extends PathsWith<'delete'>>(path: P, ...[options]: Arguments<P, 'delete'>): Promise<Success<Operation<P, 'delete'>>> {
    return this.#call('DELETE', path, options)
  }

  /** Every entry of a paged list, page after page. */
  async *all<P extends PathsWith<'get'>>(
    path: P,
    ...[options]: Arguments<P, 'get'>
  ): AsyncGenerator<Entry<Success<Operation<P, 'get'>>>, void> {
    const loose = options as LooseOptions | undefined
    for (let page = 1; ; page += 1) {
      const query = { per_page: 100, ...loose?.query, page }
      const answer = await this.#call<{ data: never[]; pagination: { has_more: boolean } }>('GET', path, { ...loose, query })
      yield* answer.data
      if (!answer.pagination.has_more) return
    }
  }

  async #call<B>(method: string, path: string, options: unknown): Promise<B> {
    const { body, idempotencyKey, ifMatch, signal, ...address } = (options ?? {}) as LooseOptions
    const headers: Record<string, string> = {
      authorization: `Bearer ${this.#options.apiKey}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    }
    const request: RequestInit = { method, headers, ...(signal && { signal }), ...(body !== undefined && { body: JSON.stringify(body) }) }
    const url = this.#options.baseUrl + addressOf(path, address)
    for (let attempt = 0; ; attempt += 1) {
      const response = await this.#options.fetch(url, request)
      const text = await response.text()
      const parsed = text === '' ? null : (JSON.parse(text) as unknown)
      if (response.ok) return parsed as B
      const again = response.status === 429 || response.status === 503
      if (!again || attempt >= this.#options.retries) throw new MintmarkError(response, parsed as Partial<ErrorBody> | null)
      await pause(waitOf(response, attempt), signal)
    }
  }
}

function addressOf(path: string, { path: names = {}, query = {} }: LooseOptions): string {
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(names[name])))
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) for (const each of value as Scalar[]) params.append(`${name}[]`, String(each))
    else if (value !== undefined && value !== null) params.append(name, String(value as Scalar))
  }
  const text = params.toString()
  return text === '' ? filled : `${filled}?${text}`
}

/** As long as the service asks for, else 0.5, 1, 2... seconds. */
function waitOf(response: Response, attempt: number): number {
  const seconds = Number(response.headers.get('retry-after'))
  return Math.min(LONGEST_WAIT_MS, seconds > 0 ? seconds * 1_000 : 500 * 2 ** attempt)
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}
