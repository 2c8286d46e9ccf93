// Replaces secrets of webhooks without an overlap, because the previous ones may be known to others.
import { sql } from 'kysely'
import type { Sealing } from '#core/sealing.ts'
import type { Tx } from '#db/schema.ts'
import { newSecret } from './delivery/secrets.ts'

/** Rows per statement. */
const BATCH = 500

/** Replaces the secret of an account's webhook, or of all webhooks. @param accountId null: all @returns the accounts */
export async function replaceSecrets(tx: Tx, accountId: number | null, sealing: Sealing, now: Date): Promise<{ id: number; name: string }[]> {
  let all = tx
    .selectFrom('webhooks as w')
    .innerJoin('accounts as a', 'a.id', 'w.account_id')
    .select(['a.id', 'a.name'])
    .orderBy('a.id')
    .forUpdate('w')
  if (accountId !== null) all = all.where('a.id', '=', accountId)
  const accounts = await all.execute()
  for (let at = 0; at < accounts.length; at += BATCH) {
    const ids = accounts.slice(at, at + BATCH).map(({ id }) => id)
    const sealed = ids.map((id) => sealing.seal(newSecret(), id))
    await sql`
      update webhooks w set sealed_secret = n.sealed, previous_sealed_secret = null, previous_valid_until = null, updated_at = ${now}
      from unnest(${ids}::int4[], ${sealed}::bytea[]) as n(id, sealed) where w.account_id = n.id`.execute(tx)
  }
  return accounts
}
