// Whether everything due happens within its time once nothing fails any more: periods end, and deliveries of lost workers are taken up again.
import { MINUTE_MS } from '#core/duration.ts'
import { expireListings } from '#market/listings/expire-listings.ts'
import { requeueLostAttempts, settleAndClaim } from '#webhooks/delivery/queue.ts'
import type { Simulation } from './simulation.ts'
import { OPERATOR, sqlOf, START_MS } from './world.ts'

/** After the longest lease, and after both delays of a retry with their variation. */
const ROUNDS_MS = [0, 11_000, 11_000 + 36_000, 11_000 + 36_000 + 6 * MINUTE_MS]
const WRITTEN = [
  'listings',
  'simulated_changes',
  'webhook_events',
  'webhook_attempts',
  'webhooks',
  'event_counters',
  'event_positions',
  'audit_log',
  'change_log',
]
const DELIVERED = { success: true, statusCode: 200, error: null, excerpt: '' } as const
const MOST_CLAIMS = 50

/** Lets the workers run for the time that they have. @returns sentences about what is still due */
export async function overdue(simulation: Simulation): Promise<string[]> {
  const { world } = simulation
  const { clock, db, market } = world
  simulation.wrote(WRITTEN)
  try {
    for (const afterMs of ROUNDS_MS) {
      clock.nowMs = START_MS + afterMs
      await expireListings(world.ctx(db, OPERATOR))
      const lost = await sqlOf(db, 'select 1 from webhook_events where lease_until <= $1', [clock.now()])
      if (lost.length > 0) simulation.mark('a delivery is taken up by another worker')
      await requeueLostAttempts(db, clock.now())
      const request = { accountIds: [market.seller, market.other], each: 5, failingToo: true }
      for (let claims = await settleAndClaim(db, clock.now(), [], request), rounds = 0; claims.length > 0 && rounds < MOST_CLAIMS; rounds++) {
        const ended = claims.map((claim) => ({ ...claim, outcome: DELIVERED, retryAt: null }))
        claims = await settleAndClaim(db, clock.now(), ended, request)
      }
    }
    const rows = await sqlOf(db, LEFT, [clock.now()])
    return rows.map(({ what }) => `Within ${ROUNDS_MS.at(-1)! / 1_000} s after the last fault, ${String(what)}`)
  } finally {
    clock.nowMs = START_MS
  }
}

const LEFT = `
  select 'a period has not ended' as what from listings where status = 'active' and expires_at <= $1
  union all select 'an attempt is still under way' from webhook_events where lease_until is not null
  union all select 'an event is still queued' from webhook_events e join webhooks w using (account_id) join accounts a on a.id = e.account_id
    where e.state = 'queued' and e.due_at <= $1 and w.is_active and not a.suspended
  union all select 'an event has more than three attempts' from webhook_attempts group by event_id having count(*) > 3`
