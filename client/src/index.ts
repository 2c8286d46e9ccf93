// The Mintmark client: openapi-fetch with the types of the OpenAPI document, iteration over pages, retries that respect `Retry-After`, and
// verification of webhooks. Requires only `fetch` and Web Crypto.
import createClient from 'openapi-fetch'
import type { PathsWithMethod } from 'openapi-typescript-helpers'
import type { paths } from './api.ts'
import type { Answer, Arguments, Call, Method } from './calls.ts'
import { MintmarkError } from './error.ts'
import { pause, retrying, type Send } from './retrying.ts'
import { MintmarkSandbox } from './sandbox.ts'
import { webCrypto } from './web-crypto.ts'

export type * from './api.ts'
export type { Answer, CallOptions } from './calls.ts'
export { MintmarkError } from './error.ts'
export { MintmarkSandbox, type SandboxState } from './sandbox.ts'
export { verifyWebhook, type VerifyOptions, type WebhookEvent, type WebhookHeaders } from './webhook.ts'

interface Page {
  data: unknown[]
  pagination: { has_more: boolean }
}

/** Paths of paginated lists. */
export type PagedPath = { [P in PathsWithMethod<paths, 'get'>]: Answer<P, 'get'> extends Page ? P : never }[PathsWithMethod<paths, 'get'>]

type Entry<P extends PagedPath> = Answer<P, 'get'> extends { data: (infer E)[] } ? E : never

interface FeedPage {
  data: unknown[]
  next: string
  /** whether entries may follow although `data` is empty */
  more?: boolean
}

/** Paths of feeds that are read by cursor: changes of the catalogue, and events of the account. */
export type FeedPath = { [P in PathsWithMethod<paths, 'get'>]: Answer<P, 'get'> extends FeedPage ? P : never }[PathsWithMethod<paths, 'get'>]

type FeedEntry<P extends FeedPath> = Answer<P, 'get'> extends { data: (infer E)[] } ? E : never

export interface ClientOptions {
  apiKey: string
  /** address of the service, such as `https://cards.example` */
  baseUrl: string
  /** how often a repeatable request is retried; default: 2 */
  retries?: number
  /** replaces the global `fetch` */
  fetch?: Send
}

/** Seconds for which a request of `follow` waits for new entries: the maximum of the service. */
const FOLLOW_WAIT = 30
/** A service that is shutting down returns an empty response sooner than this. */
const SHORTEST_WAIT_MS = 1_000

/** A client for one account; every call rejects with `MintmarkError` unless it succeeds. */
export class Mintmark {
  readonly get: Call<'get'>
  readonly post: Call<'post'>
  readonly put: Call<'put'>
  readonly patch: Call<'patch'>
  readonly delete: Call<'delete'>
  readonly #send: Send
  readonly #options: ClientOptions

  constructor(options: ClientOptions) {
    const { apiKey, baseUrl, retries = 2, fetch = (request) => globalThis.fetch(request) } = options
    this.#options = options
    this.#send = fetch
    const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` }, fetch: retrying(fetch, retries) })
    // Unless the caller sets a key, each call gets one, so that a retry cannot repeat its effect.
    client.use({
      async onRequest({ request }) {
        if (request.method !== 'POST' && request.method !== 'PATCH') return
        if (!request.headers.has('idempotency-key')) request.headers.set('idempotency-key', (await webCrypto()).randomUUID())
      },
    })
    const call = (method: Method) => async (path: string, options?: object) => {
      // The types of `Call` have already checked what the general signature cannot.
      const { data, error, response } = await client.request(method, path as never, options as never)
      if (!response.ok) throw new MintmarkError(response, error)
      return data as never
    }
    this.get = call('get')
    this.post = call('post')
    this.put = call('put')
    this.patch = call('patch')
    this.delete = call('delete')
  }

  /** Creates a sandbox: a marketplace with its own key and a clock that you move, for tests. The client must have a live key. */
  async sandbox(start: { at?: string; seed?: number } = {}): Promise<MintmarkSandbox<Mintmark>> {
    const { data } = await this.post('/api/v1/sandbox', { body: start })
    return new MintmarkSandbox(data, new Mintmark({ ...this.#options, apiKey: data.key }), this)
  }

  /** Iterates over all entries of a list, page by page, 100 per page unless `per_page` is set. */
  async *all<P extends PagedPath>(path: P, ...[options]: Arguments<P, 'get'>): AsyncGenerator<Entry<P>, void> {
    const { params } = (options ?? {}) as { params?: { query?: object } }
    const get = this.get as (path: P, options: object) => Promise<unknown>
    for (let page = 1; ; page += 1) {
      const query = { per_page: 100, ...params?.query, page }
      const { data, pagination } = (await get(path, { ...options, params: { ...params, query } })) as Page
      yield* data as Entry<P>[]
      if (!pagination.has_more) return
    }
  }

  /**
   * Iterates over all entries of a feed after the cursor `after`, then over new ones as they arrive, until `signal` is aborted; with `wait: 0`, only
   * to the end of the feed. Store the `cursor` of the last entry that you processed, and pass it as `after` next time. While the service cannot be
   * reached, requests are retried. Other errors throw `MintmarkError`; `CURSOR_EXPIRED` means that the entries after the cursor are no longer stored:
   * restore a copy of the catalogue from the latest dump (`/api/v1/dumps`).
   */
  async *follow<P extends FeedPath>(path: P, ...[options]: Arguments<P, 'get'>): AsyncGenerator<FeedEntry<P>, void> {
    const { params, signal } = (options ?? {}) as { params?: { query?: { after?: string; wait?: number } }; signal?: AbortSignal }
    const get = this.get as (path: P, options: object) => Promise<unknown>
    const never = new AbortController().signal
    const send = retrying(this.#send, Infinity)
    const wait = params?.query?.wait ?? FOLLOW_WAIT
    try {
      for (let after = params?.query?.after; !signal?.aborted; ) {
        const askedMs = Date.now()
        const query = { ...params?.query, wait, ...(after !== undefined && { after }) }
        const { data, next, more } = (await get(path, { ...options, params: { ...params, query }, fetch: send })) as FeedPage
        for (const entry of data as FeedEntry<P>[]) {
          if (signal?.aborted) return
          yield entry
        }
        after = next
        if (data.length > 0 || more) continue
        if (wait === 0) return
        if (Date.now() - askedMs < SHORTEST_WAIT_MS) await pause(SHORTEST_WAIT_MS, signal ?? never)
      }
    } catch (error) {
      if (!signal?.aborted) throw error
    }
  }
}
