// Prices that people confirmed. A confirmation counts for judging while the current price is the confirmed one.
import { sql } from 'kysely'
import { minorToText, parseMinor } from '#core/money.ts'
import { actorOf, type WriteCtx } from '#db/changes/change.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import type { PriceChange } from '../records/price-payload.ts'

/** When a person confirmed this price (epoch milliseconds); null if it was not confirmed. */
export type ConfirmedPrices = (itemId: number, market: number, labelId: number, minor: number, updatedAtMs: number) => number | null

/** Whether anyone has confirmed any price. */
export async function hasConfirmedPrices(on: Queryable): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select exists (select from confirmed_prices) as found`.execute(on)
  return rows[0]!.found
}

/** Confirmations for these items, including under ids merged into them; for all items if `itemIds` is null. */
export async function confirmedPrices(on: Queryable, itemIds: readonly number[] | null): Promise<ConfirmedPrices> {
  const { rows } = await sql<{ item_id: number; market: number; label_id: number; price: string; updated_ms: number; at_ms: number }>`
    with recursive named as (
      select id as live, id from ${itemIds === null ? sql`(select id from items) i` : sql`unnest(${itemIds}::int4[]) as i(id)`}
      union all select n.live, a.old_id from named n join item_aliases a on a.item_id = n.id
    )
    select n.live as item_id, c.market, c.label_id, c.price, (extract(epoch from c.updated_at) * 1000)::float8 as updated_ms,
      (extract(epoch from c.at) * 1000)::float8 as at_ms
    from named n join confirmed_prices c on c.item_id = n.id`.execute(on)
  const at = new Map<string, number>()
  for (const row of rows) {
    const key = keyOf(row.item_id, row.market, row.label_id, parseMinor(row.price)!, row.updated_ms)
    at.set(key, Math.max(row.at_ms, at.get(key) ?? 0))
  }
  return at.size === 0 ? () => null : (...price) => at.get(keyOf(...price)) ?? null
}

function keyOf(...parts: Parameters<ConfirmedPrices>): string {
  return parts.join(' ')
}

/** Records that a person has confirmed these prices. @param decisionId batch that can be undone; null for none */
export async function confirmPrices(ctx: WriteCtx, tx: Tx, decisionId: number | null, prices: readonly PriceChange[]): Promise<void> {
  await sql`
    insert into confirmed_prices (item_id, market, label_id, updated_at, price, decision_id, author, at)
    select item_id, market, label_id, to_timestamp(at_ms / 1000), price, ${decisionId}::int4, ${actorOf(ctx.viewer)}, ${ctx.now()}::timestamptz
    from unnest(${prices.map((one) => one.itemId)}::int4[], ${prices.map((one) => one.market)}::int2[], ${prices.map((one) => one.labelId)}::int4[],
      ${prices.map((one) => minorToText(one.minor))}::numeric[], ${prices.map((one) => one.updatedAtMs)}::float8[])
      as q(item_id, market, label_id, price, at_ms)
    on conflict do nothing`.execute(tx)
}
