// Requests an account may make per minute, by plan, and the rate limit headers.
import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { Log } from '#core/context.ts'
import { ServiceError } from '#core/errors.ts'
import { type Plan, PLAN_NAMES } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import type { Viewer } from '#core/verb.ts'
import type { Db } from '#db/schema.ts'
import { databaseLeases } from './database-leases.ts'
import { type CountResult, LimitLeases, WINDOW_SECONDS } from './limit-leases.ts'

export interface Allowance {
  limit: number
  remaining: number
  /** until the window ends, at least 1 */
  resetSeconds: number
}

/** The database in which nodes share their counts. */
export interface LimitStore {
  db: Db
  log: Log
}

/** One count per account, for all interfaces, keys and nodes. */
export class RateLimits {
  readonly #limits: Record<Plan, number> | null
  readonly #leases: LimitLeases | null = null
  readonly #count: (accountId: number, limit: number) => Promise<CountResult>

  /**
   * @param limits requests a minute by plan; null for none
   * @param shared while it cannot be reached, each node counts alone
   */
  constructor(limits: Record<Plan, number> | null, shared: LimitStore | null = null) {
    this.#limits = limits
    // Only counts: the limit is compared here, so that a changed plan takes effect immediately and in the same window.
    const memory = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS })
    this.#count = (accountId) => memory.consume(accountId)
    if (!shared) return
    const leases = new LimitLeases(databaseLeases(shared.db), shared.log)
    this.#leases = leases
    this.#count = (accountId, limit) => leases.count(accountId, limit)
  }

  /** Requests counted on this node alone since the start, because PostgreSQL did not respond. */
  get countedAlone(): number {
    return this.#leases?.countedAlone ?? 0
  }

  /**
   * Counts a request; null if no limit applies (switched off, or an operator).
   * @throws RATE_LIMITED (rejects with it) with `Retry-After` and both headers
   */
  consume(viewer: Viewer): Promise<Allowance> | null {
    if (!this.#limits || viewer.kind !== 'account') return null
    const limit = this.#limits[viewer.plan]
    return this.#count(viewer.accountId, limit).then(({ consumedPoints, msBeforeNext }) => {
      const remaining = Math.max(0, limit - consumedPoints)
      const allowance = { limit, remaining, resetSeconds: Math.ceil(msBeforeNext / 1000) }
      if (consumedPoints > limit) throw rateLimited(allowance, viewer.plan)
      return allowance
    })
  }
}

/** `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers. */
export function rateLimitHeaders({ limit, remaining, resetSeconds }: Allowance): Record<string, string> {
  return {
    'ratelimit-policy': `"default";q=${limit};w=${WINDOW_SECONDS}`,
    ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
  }
}

function rateLimited(allowance: Allowance, plan: Plan): ServiceError {
  const { limit, resetSeconds } = allowance
  return new ServiceError('RATE_LIMITED', reason('rate_limit', { plan: PLAN_NAMES[plan], limit, seconds: resetSeconds }), {
    headers: { ...rateLimitHeaders(allowance), 'retry-after': String(resetSeconds) },
  })
}
