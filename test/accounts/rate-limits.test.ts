// Rate limits: one count per minute and account, compared with its plan's limit, and reported in headers.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { rateLimitHeaders, RateLimits } from '#accounts/limits/rate-limits.ts'
import type { Plan } from '#core/plans.ts'
import type { Viewer } from '#core/verb.ts'

const LIMITS: Record<Plan, number> = { starter: 3, professional: 5, plus: 10, enterprise: 20 }
const viewer = (accountId: number, plan: Plan, keyId = 1): Viewer => ({ kind: 'account', accountId, keyId, plan })

// The limiter reads the system's clock: stop it, so that only the test advances it.
beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

test("allows the plan's requests, then rejects until the minute is over", async () => {
  const limits = new RateLimits(LIMITS)
  expect(await limits.consume(viewer(1, 'starter'))).toEqual({ limit: 3, remaining: 2, resetSeconds: 60 })
  vi.advanceTimersByTime(17_500)
  expect(await limits.consume(viewer(1, 'starter', 2))).toEqual({ limit: 3, remaining: 1, resetSeconds: 43 })
  expect(await limits.consume(viewer(1, 'starter'))).toEqual({ limit: 3, remaining: 0, resetSeconds: 43 })
  await expect(limits.consume(viewer(1, 'starter'))).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    status: 429,
    headers: { 'retry-after': '43', 'ratelimit-policy': '"default";q=3;w=60', ratelimit: '"default";r=0;t=43' },
  })
  expect(await limits.consume(viewer(2, 'starter'))).toMatchObject({ remaining: 2 })
  vi.advanceTimersByTime(42_500)
  expect(await limits.consume(viewer(1, 'starter'))).toEqual({ limit: 3, remaining: 2, resetSeconds: 60 })
})

test('a plan change applies at once, within the same minute', async () => {
  const limits = new RateLimits(LIMITS)
  for (let i = 0; i < 3; i++) await limits.consume(viewer(1, 'starter'))
  await expect(limits.consume(viewer(1, 'starter'))).rejects.toThrow('The Starter plan allows 3 requests a minute')
  expect(await limits.consume(viewer(1, 'professional'))).toMatchObject({ limit: 5, remaining: 0 })
  await expect(limits.consume(viewer(1, 'professional'))).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  expect(await limits.consume(viewer(1, 'plus'))).toMatchObject({ limit: 10, remaining: 3 })
  await expect(limits.consume(viewer(1, 'starter'))).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})

test('operators are not counted, and nobody is counted if limits are off', () => {
  expect(new RateLimits(LIMITS).consume({ kind: 'operator', name: 'x' })).toBeNull()
  expect(new RateLimits(null).consume(viewer(1, 'starter'))).toBeNull()
})

test('headers are those of the IETF draft', () => {
  expect(rateLimitHeaders({ limit: 60, remaining: 59, resetSeconds: 43 })).toEqual({
    'ratelimit-policy': '"default";q=60;w=60',
    ratelimit: '"default";r=59;t=43',
  })
})
