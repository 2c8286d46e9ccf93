// The error that failed calls throw, with the fields of the service's response.
import type { Error as ErrorBody, ErrorCode, Problem } from './api.ts'
import { secondsToWait } from './retrying.ts'

/** An error response. */
export class MintmarkError extends Error {
  override name = 'MintmarkError'
  readonly status: number
  /** `UNKNOWN` if the response is not from the service, for example from a proxy */
  readonly code: ErrorCode | 'UNKNOWN'
  /** one problem per invalid field */
  readonly details: Problem[]
  /** the rule that rejected the request as a whole, and its parameters */
  readonly rule: string | null
  readonly params: Record<string, unknown>
  /** quote it when you report a problem */
  readonly requestId: string | null
  /** seconds to wait, as requested by the service; null if it did not say */
  readonly retryAfter: number | null

  /** @param body parsed: an error of the service, or anything a proxy sent */
  constructor(response: Response, body: unknown) {
    const { error } = (typeof body === 'object' && body !== null ? body : {}) as Partial<ErrorBody>
    super(error?.message ?? `The service answered ${response.status}`)
    this.status = response.status
    this.code = error?.code ?? 'UNKNOWN'
    this.details = error?.details ?? []
    this.rule = error?.rule ?? null
    this.params = error?.params ?? {}
    this.requestId = response.headers.get('x-request-id')
    this.retryAfter = secondsToWait(response)
  }
}
