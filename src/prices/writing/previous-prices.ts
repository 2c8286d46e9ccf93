// The prices that new ones are compared with: those already written of the batch, the current ones, and points of the history.
import { sql } from 'kysely'
import { parseMinor } from '#core/money.ts'
import type { Tx } from '#db/schema.ts'
import { type CurrentPrices, flagsIn, stateIn } from '../records/current.ts'
import type { LastPrice } from '../evidence/jumps.ts'
import { STATES } from '../evidence/evidence-types.ts'
import type { PriceBatch } from '../records/price-batch.ts'
import { batchTable } from './batch-table.ts'

/** The price that a new one is compared with. */
export interface PreviousPrice extends LastPrice {
  updatedAtMs: number
}

/** For prices older than the current one: the preceding point of the history, by position. */
export async function readEarlier(
  tx: Tx,
  batch: PriceBatch,
  sorted: readonly number[],
  currents: CurrentPrices,
): Promise<Map<number, PreviousPrice>> {
  const { itemId, market, labelId, updatedAtMs } = batch
  const old = sorted.filter((i) => {
    const current = currents.find(currents.first(itemId[i]!), market[i]!, labelId[i]!)
    return current >= 0 && currents.updatedAtMs[current]! > updatedAtMs[i]!
  })
  const earlier = new Map<number, PreviousPrice>()
  if (old.length === 0) return earlier
  const { rows } = await sql<{ n: number; price: string; at_ms: number }>`
    select g.n::int as n, h.price, (extract(epoch from h.updated_at) * 1000)::float8 as at_ms
    from ${batchTable(batch, old)} cross join lateral (
      select price, updated_at from price_points p
      where p.item_id = g.item_id and p.market = g.market and p.label_id = g.label_id
        and p.updated_at <= to_timestamp(g.at_ms / 1000)
      order by updated_at desc limit 1
    ) h`.execute(tx)
  for (const row of rows) {
    const point = {
      minor: parseMinor(row.price)!,
      updatedAtMs: row.at_ms,
      confirmedAtMs: row.at_ms,
      state: 'trusted' as const,
      flags: 0,
      figures: null,
    }
    earlier.set(old[row.n - 1]!, point)
  }
  return earlier
}

/** The current price at a position. */
export function currentPrice(currents: CurrentPrices, at: number): PreviousPrice {
  return {
    minor: currents.minor[at]!,
    updatedAtMs: currents.updatedAtMs[at]!,
    confirmedAtMs: currents.confirmedAtMs[at]!,
    state: STATES[stateIn(currents.verdict[at]!)]!,
    flags: flagsIn(currents.verdict[at]!),
    figures: currents.figures.at(at),
  }
}

/** The later of two prices. */
export function later(a: PreviousPrice | null, b: PreviousPrice | null): PreviousPrice | null {
  if (!a || !b) return a ?? b
  return b.updatedAtMs > a.updatedAtMs ? b : a
}
