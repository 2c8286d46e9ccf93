// Requests an account may make per minute, by plan, and the rate limit headers.
import { Redis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { ServiceError } from '#core/errors.ts'
import { type Plan, PLAN_NAMES } from '#core/plans.ts'
import { reason } from '#core/problems.ts'
import type { Viewer } from '#core/verb.ts'
import type { Db } from '#db/schema.ts'
import { type Counter, LimitLeases, WINDOW_SECONDS } from './limit-leases.ts'

/** Maximum wait for a silent Redis. */
const REDIS_MS = 250

export interface Allowance {
  limit: number
  remaining: number
  /** until the window ends, at least 1 */
  resetSeconds: number
}

/** The shared counter of several nodes: in Redis, in a shared database, or, without either, on each node alone. */
export type Shared = { redisUrl: string } | { db: Db }

/** One count per account, for all interfaces, keys and nodes. */
export class RateLimits {
  readonly #limits: Record<Plan, number> | null
  readonly #redis: Redis | null
  readonly #count: Counter

  /**
   * @param limits requests a minute by plan; null for none
   * @param shared while it cannot be reached, each node counts alone
   */
  constructor(limits: Record<Plan, number> | null, shared: Shared | null = null) {
    this.#limits = limits
    // It only counts: the limit is compared here, so that a changed plan takes effect at once and in the same window.
    const counting = { points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS }
    const memory = new RateLimiterMemory(counting)
    const alone: Counter = (accountId) => memory.consume(accountId)
    this.#redis = shared && 'redisUrl' in shared ? openRedis(shared.redisUrl) : null
    if (this.#redis) {
      const limiter = new RateLimiterRedis({ ...counting, storeClient: this.#redis, keyPrefix: 'mintmark:limit', insuranceLimiter: memory })
      this.#count = (accountId) => limiter.consume(accountId)
    } else if (shared && 'db' in shared) {
      const leases = new LimitLeases(shared.db, alone)
      this.#count = (accountId, limit) => leases.count(accountId, limit)
    } else this.#count = alone
  }

  close(): void {
    this.#redis?.disconnect()
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

function openRedis(url: string): Redis {
  const redis = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1, connectTimeout: 1_000, commandTimeout: REDIS_MS })
  // Its failures reach each request, which is then counted on this node alone.
  redis.on('error', () => {})
  return redis
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
