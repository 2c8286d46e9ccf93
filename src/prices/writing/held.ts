// Held prices: reading them and applying decisions.
import { type SelectQueryBuilder, sql } from 'kysely'
import { missing, orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { type Market, MARKETS } from '#core/markets.ts'
import { parseMinor } from '#core/money.ts'
import type { Range, Rows } from '#core/paging.ts'
import { actorOf, type Note } from '#db/changes/change.ts'
import { liveItem } from '#db/live-item.ts'
import { countOf, inRange, withTotal } from '#db/page.ts'
import type { Queryable, Schema, Tx } from '#db/schema.ts'
import { confirmPrices } from '../judging/confirmed-prices.ts'
import { PriceBatch } from '../records/price-batch.ts'
import { RULE_NAMES } from '../evidence/hold.ts'
import type { PriceWriteCtx } from '../records/price-types.ts'
import { WITHDRAWN } from './withdrawn-prices.ts'
import { PriceWriter } from './writer.ts'

/** Rules of prices that are not published: those that hold prices, and the withdrawal by a person. */
export const HELD_RULES = [...RULE_NAMES, WITHDRAWN] as const

export const HELD_STATES = ['open', 'accepted', 'discarded', 'reverted'] as const

const Time = Type.String({ format: 'date-time', description: 'UTC' })

export const HeldPriceSchema = Type.Object(
  {
    id: Type.Integer(),
    import_id: Type.Integer(),
    item: Type.Object({ id: Type.Integer(), name: Type.String(), ref: Type.String() }),
    market: Type.Enum([...MARKETS]),
    label: Type.String(),
    price: Type.Number(),
    updated_at: Time,
    rule: Type.Enum([...HELD_RULES]),
    reason: Type.String(),
    params: orNull(Type.Record(Type.String(), Type.Unknown(), { description: 'Parameters of the reason; null for prices held by earlier versions' })),
    compared_price: orNull(Type.Number({ description: 'Price it was compared with, in the same currency' })),
    times_off: orNull(Type.Number({ description: 'Factor between the two prices' })),
    held_at: Time,
    state: Type.Enum([...HELD_STATES]),
    decided_by: orNull(Type.String()),
    decided_at: orNull(Time),
  },
  { title: 'HeldPrice' },
)
export type HeldPrice = Static<typeof HeldPriceSchema>

export interface HeldFilter {
  state?: (typeof HELD_STATES)[number]
  rule?: (typeof HELD_RULES)[number]
  market?: Market
  import_id?: number
  item_id?: number
}

type HeldQuery = SelectQueryBuilder<Schema & { h: Schema['held_prices'] }, 'h', object>

function matching(on: Queryable, { state = 'open', rule, market, import_id: importId, item_id: itemId }: HeldFilter): HeldQuery {
  const position = market && MARKETS.indexOf(market)
  let query: HeldQuery = on.selectFrom('held_prices as h').where((e) => e.and({ 'h.rule': rule, 'h.market': position, 'h.import_id': importId }))
  query = state === 'open' ? query.where('h.decision', 'is', null) : query.where('h.decision', '=', state)
  if (itemId !== undefined) query = query.where('h.item_id', '=', liveItem(itemId))
  return query
}

/** Largest deviation first. */
export function pageOfHeld(on: Queryable, filter: HeldFilter, range: Range): Promise<Rows<HeldPrice>> {
  const query = matching(on, filter)
  return withTotal(viewsOf(inRange(query.orderBy(sql`h.times_off desc nulls last`).orderBy('h.id'), range)), countOf(query))
}

/** @throws NOT_FOUND */
export async function fetchHeld(on: Queryable, id: number): Promise<HeldPrice> {
  const [row] = Number.isSafeInteger(id) ? await viewsOf(on.selectFrom('held_prices as h').where('h.id', '=', id)) : []
  if (!row) throw missing('held price', id)
  return row
}

/** The prices that an import held: their number by rule, and the largest deviations. */
export async function heldReport(on: Queryable, importId: number): Promise<{ byRule: Record<string, number>; worst: HeldPrice[] }> {
  const ofImport = on.selectFrom('held_prices as h').where('h.import_id', '=', importId)
  const counts = await ofImport
    .select(['h.rule', (e) => e.fn.countAll<number>().as('count')])
    .groupBy('h.rule')
    .execute()
  const worst = await viewsOf(ofImport.orderBy(sql`h.times_off desc nulls last`).orderBy('h.id').limit(10))
  return { byRule: Object.fromEntries(counts.map(({ rule, count }) => [rule, count])), worst }
}

async function viewsOf(query: HeldQuery): Promise<HeldPrice[]> {
  const rows = await query
    .innerJoin('items as i', 'i.id', 'h.item_id')
    .innerJoin('groups as g', 'g.id', 'h.label_id')
    .leftJoin('held_price_params as p', 'p.held_price_id', 'h.id')
    .selectAll('h')
    .select(['p.params', 'i.name as item_name', 'i.ref as item_ref', 'g.name as label'])
    .execute()
  return rows.map((row) => ({
    id: row.id,
    import_id: row.import_id,
    item: { id: row.item_id, name: row.item_name, ref: row.item_ref },
    market: MARKETS[row.market]!,
    label: row.label,
    price: Number(row.price),
    updated_at: row.updated_at.toISOString(),
    rule: row.rule as HeldPrice['rule'],
    reason: row.reason,
    params: row.params,
    compared_price: row.compared_price === null ? null : Number(row.compared_price),
    times_off: row.times_off === null ? null : Math.round(row.times_off * 100) / 100,
    held_at: row.held_at.toISOString(),
    state: row.decision ?? 'open',
    decided_by: row.decided_by,
    decided_at: row.decided_at?.toISOString() ?? null,
  }))
}

const BATCH = 10_000

/**
 * Decides open prices. Accepted ones are published as part of the import that brought them, so that reverting it reverts them, too; they count as
 * confirmed by a person.
 * @param which ids, or a filter
 * @param decisionId the batch of the decision; null for none
 * @returns their number
 */
export async function decide(
  ctx: PriceWriteCtx,
  tx: Tx,
  note: Note,
  decision: 'accepted' | 'discarded',
  which: { ids: readonly number[]; itemId?: number } | HeldFilter,
  decisionId: number | null = null,
): Promise<number> {
  const open = 'ids' in which ? matching(tx, {}).where('h.id', '=', (e) => e.fn.any(e.val(which.ids))) : matching(tx, which)
  let decided = 0
  const writers: PriceWriter[] = []
  for (let after = 0; ; ) {
    const rows = await open.selectAll('h').where('h.id', '>', after).orderBy('h.id').limit(BATCH).forUpdate().execute()
    if (rows.length === 0) break
    after = rows.at(-1)!.id
    decided += rows.length
    if (decision === 'accepted') {
      const byImport = Map.groupBy(rows, (row) => row.import_id)
      for (const [importId, held] of byImport) {
        const writer = new PriceWriter({ db: ctx.db, tx, note, importId, rules: ctx.rules, accepted: true, nowMs: ctx.now().getTime() })
        const writes = held.map((row, position) => ({
          row: position,
          itemId: ('itemId' in which ? which.itemId : undefined) ?? row.item_id,
          market: row.market,
          labelId: row.label_id,
          minor: parseMinor(row.price)!,
          updatedAtMs: row.updated_at.getTime(),
        }))
        await writer.write(PriceBatch.of(writes))
        writers.push(writer)
        await confirmPrices(ctx, tx, decisionId, writes)
      }
    }
    await tx
      .updateTable('held_prices')
      .set({ decision, decided_by: actorOf(ctx.viewer), decided_at: ctx.now() })
      .where('id', '=', (eb) => eb.fn.any(eb.val(rows.map((row) => row.id))))
      .execute()
  }
  for (const writer of writers) await writer.finish({ whole: false })
  return decided
}
