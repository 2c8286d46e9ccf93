// The error that calls reject with: what the service answered, as fields.
import type { Error as ErrorBody, ErrorCode, Problem } from './api.ts'
import { secondsToWait } from './retrying.ts'

/** An answer that says what was wrong. */
export class MintmarkError extends Error {
  override name = 'MintmarkError'
  readonly status: number
  /** `UNKNOWN` where the answer is not the service's, such as that of a proxy */
  readonly code: ErrorCode | 'UNKNOWN'
  /** a problem for each wrong field */
  readonly details: Problem[]
  /** the rule that refused the request as a whole, and the values it names */
  readonly rule: string | null
  readonly params: Record<string, unknown>
  /** name it when you report a problem */
  readonly requestId: string | null
  /** seconds that the service asks to wait for, null if it does not */
  readonly retryAfter: number | null

  /** @param body as it was parsed: an error of the service, or whatever a proxy sent */
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
