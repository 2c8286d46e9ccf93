// Takes one highlight credit of an account, with its ledger entry, in the transaction of the write that it pays for.
import { sql } from 'kysely'
import type { Tx } from '#db/schema.ts'
import { insertCreditEntry } from './account-store.ts'

/** The remaining balance; null if there was no credit. */
export async function spendCredit(tx: Tx, accountId: number, reason: string, now: Date): Promise<number | null> {
  const spent = await tx
    .updateTable('accounts')
    .set({ highlight_credits: sql<number>`highlight_credits - 1`, updated_at: now })
    .where('id', '=', accountId)
    .where('highlight_credits', '>', 0)
    .returning('highlight_credits')
    .executeTakeFirst()
  if (!spent) return null
  await insertCreditEntry(tx, { account_id: accountId, amount: -1, balance: spent.highlight_credits, reason, created_at: now })
  return spent.highlight_credits
}
