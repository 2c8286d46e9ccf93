// Limits requests without a key by address, so that one visitor of public pages cannot occupy the service.
import { Cache } from '#core/cache.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import { addressOf, type Caller } from './failed-authentications.ts'

const WINDOW_MS = 60_000
/** Maximum addresses counted at a time; beyond it, the one that was counted first is forgotten. */
const ADDRESSES = 10_000

interface Window {
  requests: number
  endsMs: number
}

/** Counts on this node only: the limit protects the node. */
export class AddressLimits {
  readonly #limit: number
  readonly #now: () => Date
  readonly #windows = new Cache<string, Window>({ limit: ADDRESSES })

  /** @param limit requests per address and minute */
  constructor(limit: number, now: () => Date) {
    this.#limit = limit
    this.#now = now
  }

  /** @throws RATE_LIMITED with `Retry-After` */
  admit(caller: Caller): void {
    const address = addressOf(caller)
    const nowMs = this.#now().getTime()
    const last = this.#windows.get(address)
    const window = last && last.endsMs > nowMs ? last : { requests: 0, endsMs: nowMs + WINDOW_MS }
    if (window !== last) this.#windows.set(address, window)
    window.requests += 1
    if (window.requests <= this.#limit) return
    const seconds = Math.max(1, Math.ceil((window.endsMs - nowMs) / 1_000))
    throw new ServiceError('RATE_LIMITED', reason('too_many_requests', { seconds }), { headers: { 'retry-after': String(seconds) } })
  }
}
