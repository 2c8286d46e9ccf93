// Limits failed authentications by address, against guessed credentials and the load they cause.
import ipaddr from 'ipaddr.js'
import type { Log } from '#core/context.ts'
import { ServiceError, unauthenticated } from '#core/errors.ts'
import { Cache } from '#core/cache.ts'
import { type Reason, reason, textOf } from '#core/problems.ts'

const WINDOW_MS = 60_000
/** Maximum addresses counted at a time; beyond it, the address with the oldest failure is dropped. */
const ADDRESSES = 10_000

/** The sender of a credential; a Fastify request. */
export interface Caller {
  /** the client's address, taken from a proxy if `TRUST_PROXY` allows it */
  readonly ip: string
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly headers: { readonly origin?: string | undefined }
}

export interface FailureRules {
  /** the credential that clients send, such as `API key` */
  credential: string
  /** failures allowed per address and minute */
  limit: number
  log: Log
  now: () => Date
  /** called with the address of each counted failure */
  record?: ((address: string) => void) | undefined
}

interface Window {
  failures: number
  endsMs: number
}

/** Counts on this node only: the limit protects the node's database, and an attacker gains little from further nodes. */
export class FailedAuthentications {
  readonly #rules: FailureRules
  readonly #windows = new Cache<string, Window>({ limit: ADDRESSES })
  /** responses with 401 since the start */
  refused = 0
  /** responses with 429 since the start */
  limited = 0

  constructor(rules: FailureRules) {
    this.#rules = rules
  }

  /** @throws RATE_LIMITED with `Retry-After` while the caller's address is blocked */
  check(caller: Caller): void {
    const refusal = this.#tooMany(this.#windowOf(addressOf(caller)))
    if (refusal) throw refusal
  }

  /**
   * Counts a failure.
   * @returns the error to throw: UNAUTHENTICATED, or RATE_LIMITED while the caller's address is blocked
   */
  refuse(caller: Caller, why: Reason): ServiceError {
    const { credential, limit, log, now, record } = this.#rules
    const address = addressOf(caller)
    const window = this.#windowOf(address) ?? { failures: 0, endsMs: now().getTime() + WINDOW_MS }
    const refusal = this.#tooMany(window)
    if (refusal) return refusal
    window.failures += 1
    this.#windows.set(address, window)
    this.refused += 1
    record?.(address)
    // At most two lines per address and minute, so that an attacker cannot fill the log.
    if (window.failures === 1) log.info({ credential, address, reason: textOf(why) }, 'Authentication failed')
    if (window.failures === limit) log.warn({ credential, address, failures: limit }, 'Too many failed authentications; rejecting the address')
    return unauthenticated(why)
  }

  #windowOf(address: string): Window | undefined {
    const window = this.#windows.get(address)
    return window && window.endsMs > this.#rules.now().getTime() ? window : undefined
  }

  #tooMany(window: Window | undefined): ServiceError | null {
    const { limit, now } = this.#rules
    if (!window || window.failures < limit) return null
    this.limited += 1
    const seconds = Math.max(1, Math.ceil((window.endsMs - now().getTime()) / 1_000))
    return new ServiceError('RATE_LIMITED', reason('too_many_failures', { seconds }), {
      headers: { 'retry-after': String(seconds) },
    })
  }
}

/** The client's address; for IPv6 the /64, the size that providers assign to one customer. */
function addressOf({ ip, socket }: Caller): string {
  // A trusted proxy's value that is not an address counts against the proxy.
  const text = ipaddr.isValid(ip) ? ip : (socket.remoteAddress ?? '')
  if (!ipaddr.isValid(text)) return 'unknown'
  const address = ipaddr.process(text)
  if (!(address instanceof ipaddr.IPv6)) return address.toString()
  return `${new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`
}
