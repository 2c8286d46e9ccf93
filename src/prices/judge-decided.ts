// What a decision about prices means for the states of the items' prices.
import { sql } from 'kysely'
import { parseMinor } from '#core/money.ts'
import type { Note, WriteCtx } from '#db/change.ts'
import type { Tx } from '#db/schema.ts'
import { confirmedPrices } from './confirmed-prices.ts'

/** Judges the items' prices anew. */
export async function judgeDecided(_ctx: WriteCtx, tx: Tx, _note: Note, itemIds: readonly number[]): Promise<void> {
  const confirmed = await confirmedPrices(tx, itemIds)
  const { rows } = await sql<{ item_id: number; market: number; label_id: number; price: string; updated_at: Date }>`
    select item_id, market, label_id, price, updated_at from prices where state > 0 and item_id = any(${itemIds}::int4[])`.execute(tx)
  for (const row of rows) {
    if (confirmed(row.item_id, row.market, row.label_id, parseMinor(row.price)!, row.updated_at.getTime()) === null) continue
    await sql`
      update prices set state = 0 where (item_id, market, label_id) = (${row.item_id}::int4, ${row.market}::int2, ${row.label_id}::int4)`.execute(tx)
  }
}
