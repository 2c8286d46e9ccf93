// Finds when sources last stated other figures of prices that look frozen, from the stored statements of imports.
import { sql } from 'kysely'
import type { Queryable } from '#db/schema.ts'
import { type FigureMove, type FrozenRules, judgedRepeats, type JudgedRepeat } from '../judging/frozen-prices.ts'
import { type StatedAgain, Statements } from '../writing/statements.ts'

/**
 * When the sources last stated other figures of the prices that are frozen by their amounts alone, so that reports of figures need to be read for few
 * prices; call it once before all prices are judged.
 */
export async function findFigureMoves(on: Queryable, rules: FrozenRules): Promise<FigureMove[]> {
  const suspects = (await judgedRepeats(on, rules, [], sql`true`)).filter(({ frozen, has_figures: hasFigures }) => frozen && hasFigures)
  if (suspects.length === 0) return []
  const missing = new Map(suspects.map((row) => [keyOf({ itemId: row.item_id, market: row.market, labelId: row.label_id }), row.since_ms]))
  const items = new Set(suspects.map((row) => row.item_id))
  const moves: FigureMove[] = []
  for (const { id } of await statementsOf(on, suspects)) {
    if (missing.size === 0) break
    const { payload } = await on.selectFrom('price_statements').select('payload').where('id', '=', id).executeTakeFirstOrThrow()
    for (const stated of Statements.unpack(payload).withOtherFigures(items)) {
      const sinceMs = missing.get(keyOf(stated))
      if (sinceMs === undefined) continue
      missing.delete(keyOf(stated))
      if (stated.updatedAtMs > sinceMs)
        moves.push({ itemId: stated.itemId, market: stated.market, labelId: stated.labelId, movedAtMs: stated.updatedAtMs })
    }
  }
  return moves
}

/** The stored statements in effect that can be about the prices, newest first. */
async function statementsOf(on: Queryable, prices: readonly JudgedRepeat[]): Promise<{ id: number }[]> {
  const markets = [...new Set(prices.map(({ market }) => market))]
  const firstMs = prices.reduce((first, { since_ms: sinceMs }) => Math.min(first, sinceMs), Number.POSITIVE_INFINITY)
  const { rows } = await sql<{ id: number }>`
    select s.id from price_statements s join imports i on i.id = s.import_id
    where i.reverted_by_import_id is null and s.at >= to_timestamp(${firstMs}::float8 / 1000)
      and s.import_id in (select import_id from price_feeds where market = any(${`{${markets.join(',')}}`}::int2[]))
    order by s.id desc`.execute(on)
  return rows
}

function keyOf({ itemId, market, labelId }: Pick<StatedAgain, 'itemId' | 'market' | 'labelId'>): string {
  return `${itemId} ${market} ${labelId}`
}
