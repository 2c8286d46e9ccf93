// Limits failed authentications by address, against guessed credentials and the load they cause.
import ipaddr from 'ipaddr.js'
import type { Log } from '#core/context.ts'
import { ServiceError, unauthenticated } from '#core/errors.ts'
import { Cache } from '#core/cache.ts'
import { type Reason, reason, textOf } from '#core/problems.ts'

const WINDOW_MS = 60_000
/** Look-ups a second for a blocked address, so that its valid keys work; those that find a valid key do not count. */
const LOOKUPS = 5
const LOOKUPS_MS = 1_000
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
  /** look-ups since the address was blocked, and when they are forgotten */
  lookups: number
  lookupsEndMs: number
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
   * Admits a look-up of a well-formed credential, which cannot be guessed: also for a blocked address, but only few.
   * @returns a function to call if the credential is valid: the look-up then does not count
   * @throws RATE_LIMITED
   */
  admitLookup(caller: Caller): () => void {
    const window = this.#windowOf(addressOf(caller))
    if (!window || window.failures < this.#rules.limit) return () => {}
    const nowMs = this.#rules.now().getTime()
    if (window.lookupsEndMs <= nowMs) Object.assign(window, { lookups: 0, lookupsEndMs: nowMs + LOOKUPS_MS })
    if (window.lookups >= LOOKUPS) throw this.#tooMany(window)!
    window.lookups += 1
    const { lookupsEndMs } = window
    return () => {
      if (window.lookupsEndMs === lookupsEndMs) window.lookups -= 1
    }
  }

  /**
   * Counts a failure.
   * @param why the error to throw, or the reason for UNAUTHENTICATED
   * @returns that error, or RATE_LIMITED while the caller's address is blocked
   */
  refuse(caller: Caller, why: Reason | ServiceError): ServiceError {
    const { credential, limit, log, now, record } = this.#rules
    const address = addressOf(caller)
    const window = this.#windowOf(address) ?? { failures: 0, endsMs: now().getTime() + WINDOW_MS, lookups: 0, lookupsEndMs: 0 }
    const refusal = this.#tooMany(window)
    if (refusal) return refusal
    const error = why instanceof ServiceError ? why : unauthenticated(why)
    window.failures += 1
    this.#windows.set(address, window)
    this.refused += 1
    record?.(address)
    // At most two lines per address and minute, so that an attacker cannot fill the log.
    if (window.failures === 1)
      log.info({ credential, address, reason: why instanceof ServiceError ? why.message : textOf(why) }, 'Authentication failed')
    if (window.failures === limit) log.warn({ credential, address, failures: limit }, 'Too many failed authentications; rejecting the address')
    return error
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
export function addressOf({ ip, socket }: Caller): string {
  // A trusted proxy's value that is not an address counts against the proxy.
  const text = ipaddr.isValid(ip) ? ip : (socket.remoteAddress ?? '')
  if (!ipaddr.isValid(text)) return 'unknown'
  const address = ipaddr.process(text)
  if (!(address instanceof ipaddr.IPv6)) return address.toString()
  return `${new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`
}
