// The process of the kill test that sells: one order after another, each committed with a row that says so.
import { sql } from 'kysely'
import { openPool } from '#db/pool.ts'
import type { Schema } from '#db/schema.ts'
import { inTransaction } from '#db/transaction.ts'
import { emitSales } from '#webhooks/emit.ts'
import { pause } from './scene.ts'

const [url, accountId, count, everyMs] = process.argv.slice(2)
const db = openPool<Schema>({ url: url!, max: 1, applicationName: 'mintmark seller' })
console.log('running')
for (;;) {
  const { rows } = await sql<{
    next: number
  }>`select coalesce(max(order_id), 0) + 1 as next from committed_sales`.execute(db.kysely)
  const orderId = rows[0]!.next
  if (orderId > Number(count)) break
  const now = new Date()
  await inTransaction(db, async (tx) => {
    await sql`insert into committed_sales values (${orderId})`.execute(tx)
    const sale = {
      orderId,
      listingId: 1,
      itemName: 'Charizard',
      quantity: 1,
      unitPriceKurus: 10_000,
      payoutKurus: 9_000,
      soldAt: now,
    }
    await emitSales(tx, { now, zone: 'Europe/Istanbul' }, [{ ...sale, accountId: Number(accountId) }])
  })
  await pause(Number(everyMs))
}
await db.close()
