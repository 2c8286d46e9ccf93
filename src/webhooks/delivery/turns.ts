// Limits operations that an account may run once a minute, across all nodes.
import { sql } from 'kysely'
import { MINUTE_MS } from '#core/duration.ts'
import { ServiceError } from '#core/errors.ts'
import { reason } from '#core/problems.ts'
import type { Schema, Tx } from '#db/schema.ts'

/**
 * Records the run of this minute; a rollback undoes it.
 * @throws RATE_LIMITED if the last run was less than a minute ago
 */
export async function takeTurn(tx: Tx, accountId: number, action: Schema['webhook_turns']['action'], now: Date): Promise<void> {
  const { rows } = await sql`
    insert into webhook_turns as t (account_id, action, at) values (${accountId}, ${action}, ${now})
    on conflict (account_id, action) do update set at = excluded.at where t.at <= ${new Date(now.getTime() - MINUTE_MS)}
    returning at`.execute(tx)
  if (rows.length > 0) return
  const { at } = await tx
    .selectFrom('webhook_turns')
    .select('at')
    .where('account_id', '=', accountId)
    .where('action', '=', action)
    .executeTakeFirstOrThrow()
  const seconds = Math.min(60, Math.max(1, Math.ceil((at.getTime() + MINUTE_MS - now.getTime()) / 1_000)))
  throw new ServiceError('RATE_LIMITED', reason('once_a_minute', { seconds }), { headers: { 'retry-after': String(seconds) } })
}
