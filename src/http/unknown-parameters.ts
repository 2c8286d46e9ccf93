// Query parameters that an operation does not have: named in the response, or refused for callers who ask for it.
import { hash } from 'node:crypto'
import { type ErrorCode, invalidFields } from '#core/errors.ts'
import { orNull } from '#core/fields.ts'
import { type Shape, Type } from '#core/input.ts'
import { problem } from '#core/problems.ts'
import { withFamilyCode } from '#core/verb.ts'
import type { Failures } from './failures.ts'
import type { RawQuery } from './query.ts'
import type { MaybePromise, Responder } from './respond.ts'
import type { Response } from './response.ts'
import type { Method, ReadyAnswer } from './route.ts'

export const WarningSchema = Type.Object(
  {
    parameter: Type.String({ description: 'Query parameter that the operation does not have; it was ignored', examples: ['serch'] }),
    did_you_mean: orNull(Type.String({ examples: ['search'] }), { description: 'Parameter with a similar name; null if there is none' }),
  },
  { title: 'Warning' },
)
export type Warning = Type.Static<typeof WarningSchema>

const MAX_WARNINGS = 20
const MAX_NAME = 100
const NONE: readonly string[] = []

/** Names of other APIs for a parameter of ours, where the spelling does not lead there. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  per_page: ['limit', 'size', 'pagesize', 'page_size', 'count', 'first'],
  search: ['q', 'query', 'name'],
  q: ['search', 'query', 'name'],
}

interface AnyRoute {
  method: Method
  path: string
  verb: { input: object; familyError: ErrorCode | null }
}

/** Returns the unknown parameters of each query for a route; none for a write. */
export function unknownIn(route: AnyRoute): (query: RawQuery) => readonly string[] {
  if (route.method !== 'GET') return () => NONE
  const known = new Set(namesOf(route))
  return (query) => {
    let unknown: string[] | null = null
    for (const name in query) if (!known.has(name) && (unknown?.length ?? 0) < MAX_WARNINGS) (unknown ??= []).push(name.slice(0, MAX_NAME))
    return unknown ?? NONE
  }
}

/** The names of a route's query parameters. */
function namesOf({ path, verb }: AnyRoute): string[] {
  return Object.keys((verb.input as Shape).properties ?? {}).filter((name) => !path.split('/').includes(`:${name}`))
}

export function warningsOf(route: AnyRoute, unknown: readonly string[]): Warning[] {
  const known = namesOf(route)
  return unknown.map((parameter) => ({ parameter: parameter.toWellFormed(), did_you_mean: similar(parameter.toLowerCase(), known) }))
}

/** The response of a serialised answer with warnings after its other members, under an entity tag of its own. */
export function withWarnings({ tag, bytes, ...rest }: ReadyAnswer, warnings: readonly Warning[]): ReadyAnswer {
  const tail = `,"warnings":${JSON.stringify(warnings)}}`
  return {
    ...rest,
    tag: `${tag.slice(0, -1)}-${hash('sha1', tail, 'base64url').slice(0, 8)}"`,
    bytes: () => Buffer.concat([bytes().subarray(0, -1), Buffer.from(tail)]),
  }
}

/** Tells caches that the response may depend on the `Prefer` header. */
export function warned(response: MaybePromise<Response>): MaybePromise<Response> {
  return withHeaders(response, ['vary', 'prefer'])
}

interface Strictness {
  respond: Responder
  unknown: ReturnType<typeof unknownIn>
  failed: Failures
}

/** Refuses unknown parameters if the caller asks for it, before any cache; other responses are those of `respond`. */
export function strictResponder(route: AnyRoute, { respond, unknown, failed }: Strictness): Responder {
  return (viewer, request) => {
    const { prefer } = request.headers
    const asked = prefer !== undefined && prefersStrict(prefer)
    if (!asked && !(viewer.kind === 'account' && viewer.strict)) return respond(viewer, request)
    const warnings = warningsOf(route, unknown(request.query()))
    if (warnings.length === 0) return withHeaders(respond(viewer, request), APPLIED)
    const problems = warnings.map(({ parameter, did_you_mean: meant }) =>
      problem(parameter, 'unknown_parameter', meant === null ? {} : { value: meant }),
    )
    return withHeaders(failed(withFamilyCode(invalidFields(problems), route.verb), request), APPLIED)
  }
}

const APPLIED = ['preference-applied', 'handling=strict', 'vary', 'prefer']

/** Whether a `Prefer` header (RFC 7240) asks for strict handling; Node joins repeated headers with commas. */
function prefersStrict(prefer: string | string[]): boolean {
  const preferences = String(prefer).toLowerCase().split(',')
  const handling = preferences.map((one) => one.split(';', 1)[0]!.replace(/[\s"]/g, '')).find((one) => one.startsWith('handling='))
  return handling === 'handling=strict'
}

function withHeaders(response: MaybePromise<Response>, more: readonly string[]): MaybePromise<Response> {
  if (response instanceof Promise) return response.then((made) => withHeaders(made, more))
  return { ...response, headers: [...response.headers, ...more] }
}

/** The known name that an unknown one most likely means. */
function similar(name: string, known: readonly string[]): string | null {
  if (name.length > 40) return null
  const meant = known.find((one) => OTHER_NAMES[one]?.includes(name))
  if (meant !== undefined) return meant
  const begins = known.find((one) => name.length > 2 && (one.startsWith(name) || name.startsWith(`${one}_`)))
  if (begins !== undefined) return begins
  const nearest = known.map((one) => ({ one, edits: editsBetween(name, one) })).sort((a, b) => a.edits - b.edits)[0]
  return nearest && nearest.edits <= Math.max(1, Math.floor(Math.min(name.length, nearest.one.length) / 3)) ? nearest.one : null
}

/** The number of letters to add, drop or change, or of adjacent ones to swap, that turns one name into the other. */
function editsBetween(a: string, b: string): number {
  let before: number[] = []
  let above = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      row[j] = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + Number(a[i - 1] !== b[j - 1]))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j]!, before[j - 2]! + 1)
    }
    before = above
    above = row
  }
  return above[b.length]!
}
