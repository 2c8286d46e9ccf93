// Recent health of receivers: the share of successful attempts, without replays and checks, for the operator's statistics and metrics.
import { sql } from 'kysely'
import { HOUR_MS } from '#core/duration.ts'
import { type Static, Type } from '#core/input.ts'
import type { Queryable } from '#db/schema.ts'

const HOURS = 24
/** Only the receivers with the lowest success rates are reported. */
const MAX_RECEIVERS = 500

export const ReceiverHealthSchema = Type.Object({
  account_id: Type.Integer(),
  attempts: Type.Integer({ description: `Finished ones of the last ${HOURS} hours` }),
  success_share: Type.Number({ description: '0 to 1' }),
})
export type ReceiverHealth = Static<typeof ReceiverHealthSchema>

/** Receivers with attempts in the last 24 hours, lowest success rate first. */
export function receiverHealth(on: Queryable, now: Date): Promise<ReceiverHealth[]> {
  return on
    .selectFrom('webhook_attempts')
    .select(['account_id', (e) => e.fn.countAll<number>().as('attempts')])
    .select((e) => e.fn.avg<number>(e.cast<number>(e.cast('success', 'integer'), 'double precision')).as('success_share'))
    .where('mark', 'is', null)
    .where('finished_at', '>', new Date(now.getTime() - HOURS * HOUR_MS))
    .groupBy('account_id')
    .orderBy('success_share')
    .orderBy('account_id')
    .limit(MAX_RECEIVERS)
    .execute()
}

/** Accounts whose webhook is on and failed to get its last event in all attempts. One failed attempt is not enough: the next may succeed. */
export async function failingReceivers(on: Queryable): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select w.account_id as id from webhooks w join accounts a on a.id = w.account_id
    cross join lateral (
      select state from webhook_events e where e.account_id = w.account_id and e.state in ('delivered', 'failed') and not e.test
      order by e.id desc limit 1
    ) last
    where w.failing and w.is_active and not a.suspended and last.state = 'failed' order by 1`.execute(on)
  return rows.map(({ id }) => id)
}
