// Keys that expire soon, so that their accounts get new ones in time.
import { DAY_MS } from '#core/duration.ts'
import type { Queryable } from '#db/schema.ts'

/** How many days ahead keys count as expiring. */
export const EXPIRING_DAYS = 7

export interface ExpiringKey {
  id: number
  accountId: number
  label: string
  last4: string
  expiresAt: Date
}

/** Valid keys of accounts that are not suspended and that expire within `EXPIRING_DAYS`, next first. */
export async function expiringKeys(on: Queryable, now: Date): Promise<ExpiringKey[]> {
  const rows = await on
    .selectFrom('api_keys as k')
    .innerJoin('accounts as a', 'a.id', 'k.account_id')
    .select(['k.id', 'k.account_id as accountId', 'k.label', 'k.last4', 'k.expires_at as expiresAt'])
    .where('k.revoked_at', 'is', null)
    .where('k.expires_at', '>', now)
    .where('k.expires_at', '<=', new Date(now.getTime() + EXPIRING_DAYS * DAY_MS))
    .where('a.suspended', '=', false)
    .orderBy('k.expires_at')
    .orderBy('k.id')
    .execute()
  return rows.map(({ expiresAt, ...key }) => ({ ...key, expiresAt: expiresAt! }))
}
