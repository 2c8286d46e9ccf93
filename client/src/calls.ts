// The types of calls: paths, options and responses of the OpenAPI document.
import type { FetchResponse, MaybeOptionalInit } from 'openapi-fetch'
import type { PathsWithMethod } from 'openapi-typescript-helpers'
import type { paths } from './api.ts'

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** Options of a call: `params` (`path`, `query`, `header`), `body` and options of `fetch`, such as `signal`. */
export type CallOptions<P extends PathsWithMethod<paths, M>, M extends Method> = MaybeOptionalInit<paths[P], M>

/** The envelope of a successful response. */
export type Answer<P extends PathsWithMethod<paths, M>, M extends Method> = NonNullable<
  FetchResponse<Extract<paths[P][M], Record<string, unknown>>, object, 'application/json'>['data']
>

/** Options may be left out if none are required. */
export type Arguments<P extends PathsWithMethod<paths, M>, M extends Method> =
  undefined extends CallOptions<P, M> ? [options?: CallOptions<P, M>] : [options: CallOptions<P, M>]

/** A call by path. */
export type Call<M extends Method> = <P extends PathsWithMethod<paths, M>>(path: P, ...options: Arguments<P, M>) => Promise<Answer<P, M>>
