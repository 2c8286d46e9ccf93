// Writes the prices of a batch that are held for review.
import { sql } from 'kysely'
import { minorToText } from '#core/money.ts'
import { textOf } from '#core/problems.ts'
import type { Hold } from '../evidence/hold.ts'
import type { PriceBatch } from '../records/price-batch.ts'
import { batchTable, type Write } from './batch-table.ts'

/** Deletes held prices of the import that no longer need to be held. */
export async function dropHeld(write: Write, batch: PriceBatch, sorted: readonly number[], held: readonly number[]): Promise<void> {
  const waits = new Set(held)
  const free = sorted.filter((i) => !waits.has(i))
  if (free.length === 0) return
  await sql`
    delete from held_prices h using ${batchTable(batch, free)}
    where (h.item_id, h.market, h.label_id) = (g.item_id, g.market, g.label_id) and h.updated_at = to_timestamp(g.at_ms / 1000)
      and h.import_id = ${write.importId}::int4 and h.decision is null and h.rule <> 'foreign_id'`.execute(write.tx)
}

/** Inserts held prices, except those already open or discarded. @returns number of new ones */
export async function insertHeld(write: Write, batch: PriceBatch, held: readonly number[], holds: readonly Hold[]): Promise<number> {
  if (held.length === 0) return 0
  // In a replay, the price may be held for a different reason, or replace a held price of a later import, which is replayed after it.
  const known = write.replay
    ? sql`(item_id, market, label_id, updated_at) where decision is null do update
        set (price, import_id, rule, reason, compared_price, times_off) =
          (excluded.price, excluded.import_id, excluded.rule, excluded.reason, excluded.compared_price, excluded.times_off)
        where held_prices.import_id = excluded.import_id
          or (held_prices.import_id > excluded.import_id and held_prices.rule <> 'foreign_id')`
    : sql`do nothing`
  const { rows } = await sql<{ count: number }>`
    with given as (
      select g.item_id, g.market, g.label_id, to_timestamp(g.at_ms / 1000) as updated_at, g.price, n,
             (${holds.map((h) => h.rule)}::text[])[n] as rule, (${holds.map((h) => JSON.stringify(h.params))}::jsonb[])[n] as params,
             (${holds.map(textOf)}::text[])[n] as reason,
             (${holds.map((h) => (h.compared === null ? null : minorToText(h.compared)))}::numeric[])[n] as compared_price,
             (${holds.map((h) => h.timesOff)}::real[])[n] as times_off
      from ${batchTable(batch, held)}
    ), added as (
      insert into held_prices (item_id, market, label_id, updated_at, price, import_id, rule, reason, compared_price, times_off, held_at)
      select item_id, market, label_id, updated_at, price, ${write.importId}::int4, rule, reason, compared_price, times_off, ${write.note.at}::timestamptz
      from given
      where not exists (
        select from held_prices h
        where h.item_id = given.item_id and h.market = given.market and h.label_id = given.label_id
          and h.updated_at = given.updated_at and h.price = given.price and h.decision = 'discarded'
      )
      on conflict ${known}
      returning id, item_id, market, label_id, updated_at, price
    ), explained as (
      insert into held_price_params (held_price_id, params)
      select id, params from added join given using (item_id, market, label_id, updated_at, price)
      on conflict (held_price_id) do update set params = excluded.params
    )
    select count(*)::int as count from added`.execute(write.tx)
  return rows[0]!.count
}
