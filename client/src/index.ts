// The Mintmark client: openapi-fetch over the types of the OpenAPI document, with pages as an iteration, retries that wait as
// told, and verification of webhooks. It needs `fetch` and Web Crypto only.
import createClient, { type FetchResponse, type MaybeOptionalInit } from 'openapi-fetch'
import type { PathsWithMethod } from 'openapi-typescript-helpers'
import type { paths } from './api.ts'
import { MintmarkError } from './error.ts'
import { pause, retrying, type Send } from './retrying.ts'
import { webCrypto } from './web-crypto.ts'

export type * from './api.ts'
export { MintmarkError } from './error.ts'
export { verifyWebhook, type VerifyOptions, type WebhookEvent, type WebhookHeaders } from './webhook.ts'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** What a call takes: `params` (`path`, `query`, `header`), `body` and what `fetch` takes, such as `signal`. */
export type CallOptions<P extends PathsWithMethod<paths, M>, M extends Method> = MaybeOptionalInit<paths[P], M>

/** What a call resolves to: the envelope of a successful answer. */
export type Answer<P extends PathsWithMethod<paths, M>, M extends Method> = NonNullable<
  FetchResponse<Extract<paths[P][M], Record<string, unknown>>, object, 'application/json'>['data']
>

type Arguments<P extends PathsWithMethod<paths, M>, M extends Method> =
  undefined extends CallOptions<P, M> ? [options?: CallOptions<P, M>] : [options: CallOptions<P, M>]

type Call<M extends Method> = <P extends PathsWithMethod<paths, M>>(path: P, ...options: Arguments<P, M>) => Promise<Answer<P, M>>

interface Page {
  data: unknown[]
  pagination: { has_more: boolean }
}

/** Paths of lists with pages. */
export type PagedPath = { [P in PathsWithMethod<paths, 'get'>]: Answer<P, 'get'> extends Page ? P : never }[PathsWithMethod<paths, 'get'>]

type Entry<P extends PagedPath> = Answer<P, 'get'> extends { data: (infer E)[] } ? E : never

interface FeedPage {
  data: unknown[]
  next: string
}

/** Paths of feeds that are read by cursor: the changes of the catalogue, and the events of the account. */
export type FeedPath = { [P in PathsWithMethod<paths, 'get'>]: Answer<P, 'get'> extends FeedPage ? P : never }[PathsWithMethod<paths, 'get'>]

type Told<P extends FeedPath> = Answer<P, 'get'> extends { data: (infer E)[] } ? E : never

export interface ClientOptions {
  apiKey: string
  /** address of the service, such as `https://cards.example` */
  baseUrl: string
  /** how often a request that may be repeated is sent again, 2 unless told */
  retries?: number
  /** in place of the global `fetch` */
  fetch?: Send
}

/** Seconds that a request of `follow` waits for something new, the most that the service allows. */
const FOLLOW_WAIT = 30
/** An empty answer that came at once is of a service that stops. */
const SHORTEST_WAIT_MS = 1_000

/** A client of one account; every call rejects with `MintmarkError` unless the service answers with success. */
export class Mintmark {
  readonly get: Call<'get'>
  readonly post: Call<'post'>
  readonly put: Call<'put'>
  readonly patch: Call<'patch'>
  readonly delete: Call<'delete'>
  readonly #send: Send

  constructor({ apiKey, baseUrl, retries = 2, fetch = (request) => globalThis.fetch(request) }: ClientOptions) {
    this.#send = fetch
    const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` }, fetch: retrying(fetch, retries) })
    // Without a key of the caller's own, one per call: a retry must not do it twice.
    client.use({
      async onRequest({ request }) {
        if (request.method !== 'POST' && request.method !== 'PATCH') return
        if (!request.headers.has('idempotency-key')) request.headers.set('idempotency-key', (await webCrypto()).randomUUID())
      },
    })
    const call = (method: Method) => async (path: string, options?: object) => {
      // The types of `Call` have checked what the general form cannot.
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

  /** Every entry of a list, page after page; of 100 unless `per_page` says otherwise. */
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
   * Every entry of a feed after the cursor `after`, then each new one as it comes, until `signal` is aborted; with `wait: 0` to
   * the end of the feed only. Keep the `cursor` of the last entry that you have dealt with, and begin with it next time.
   * While the service cannot be reached it goes on asking. Throws `MintmarkError` otherwise: with `CURSOR_EXPIRED` what
   * follows the cursor is no longer kept, so that a copy of the catalogue begins again with the newest dump (`/api/v1/dumps`).
   */
  async *follow<P extends FeedPath>(path: P, ...[options]: Arguments<P, 'get'>): AsyncGenerator<Told<P>, void> {
    const { params, signal } = (options ?? {}) as { params?: { query?: { after?: string; wait?: number } }; signal?: AbortSignal }
    const get = this.get as (path: P, options: object) => Promise<unknown>
    const never = new AbortController().signal
    const send = retrying(this.#send, Infinity)
    const wait = params?.query?.wait ?? FOLLOW_WAIT
    try {
      for (let after = params?.query?.after; !signal?.aborted; ) {
        const askedMs = Date.now()
        const query = { ...params?.query, wait, ...(after !== undefined && { after }) }
        const { data, next } = (await get(path, { ...options, params: { ...params, query }, fetch: send })) as FeedPage
        for (const entry of data as Told<P>[]) {
          if (signal?.aborted) return
          yield entry
        }
        after = next
        if (data.length > 0) continue
        if (wait === 0) return
        if (Date.now() - askedMs < SHORTEST_WAIT_MS) await pause(SHORTEST_WAIT_MS, signal ?? never)
      }
    } catch (error) {
      if (!signal?.aborted) throw error
    }
  }
}
