// Sets when an account of the demo was created, with its keys and its opening balance; real accounts are created now.
import { sql } from 'kysely'
import { change, type WriteCtx } from '#db/changes/change.ts'

/** Backdates an account that the demo has just created. */
export async function backdateAccount(ctx: WriteCtx, id: number, createdAt: Date): Promise<void> {
  await change(ctx, async (tx, note) => {
    await sql`update accounts set created_at = ${createdAt}, updated_at = ${createdAt} where id = ${id}`.execute(tx)
    await sql`update api_keys set created_at = ${createdAt} where account_id = ${id}`.execute(tx)
    await sql`update credit_entries set created_at = ${createdAt} where account_id = ${id}`.execute(tx)
    note.changed('accounts', [id])
  })
}
