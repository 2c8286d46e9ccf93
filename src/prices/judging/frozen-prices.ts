// Finds prices that their source only repeats while another market reports moves, from the stored history.
import { type RawBuilder, sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import { parseMinor } from '#core/money.ts'
import type { Queryable } from '#db/schema.ts'
import type { Conditions } from '../evidence/judge.ts'
import { isFrozen } from '../evidence/frozen.ts'
import { FROZEN } from '../records/current.ts'
import { FIGURE_COLUMNS } from '../records/feed-figures.ts'
import type { PriceChange } from '../records/price-payload.ts'
import type { MarkedPrice } from './price-judge.ts'

const SERVICE = MARKETS.indexOf('service')

interface Repeated {
  item_id: number
  market: number
  label_id: number
  since_ms: number
  confirmed_ms: number
  flagged: boolean
  has_figures: boolean
  /** the other market whose newest price has moved; null if none has */
  other: number | null
  before: string | null
  since: string[] | null
}

export interface JudgedRepeat extends Repeated {
  frozen: boolean
}

export type FrozenRules = Pick<Conditions, 'thresholds' | 'noiseMinor'>

/** When the source of a price last stated another figure of it. */
export interface FigureMove extends Pick<PriceChange, 'itemId' | 'market' | 'labelId'> {
  movedAtMs: number
}

/** Unflagged prices of the items that are frozen, and flagged ones that are not. @param moves from `findFigureMoves` */
export async function findFrozenPrices(
  on: Queryable,
  rules: FrozenRules,
  itemIds: readonly number[],
  moves: readonly FigureMove[],
): Promise<MarkedPrice[]> {
  const ids = new Set(itemIds)
  const ofItems = moves.filter(({ itemId }) => ids.has(itemId))
  const judged = await judgedRepeats(on, rules, ofItems, sql`item_id = any(${`{${itemIds.join(',')}}`}::int4[])`)
  return judged.flatMap(({ item_id: itemId, market, label_id: labelId, frozen, flagged }) =>
    frozen === flagged ? [] : [{ itemId, market, labelId, frozen }],
  )
}

/**
 * Prices that are flagged as frozen or have been repeated for long enough, each once, and whether they are frozen. The rule is `isFrozen`
 * (evidence/frozen.ts); the database only leaves out prices that are not old enough, and other markets whose newest price has not moved.
 */
export async function judgedRepeats(
  on: Queryable,
  { thresholds, noiseMinor }: FrozenRules,
  moves: readonly FigureMove[],
  where: RawBuilder<unknown>,
): Promise<JudgedRepeat[]> {
  const column = (name: keyof FigureMove) => `{${moves.map((move) => move[name]).join(',')}}`
  const { rows } = await sql<Repeated>`
    with moved as (
      select * from unnest(${column('itemId')}::int4[], ${column('market')}::int2[], ${column('labelId')}::int4[], ${column('movedAtMs')}::float8[])
        as m(item_id, market, label_id, at_ms)
    ), repeated as (
      select item_id, market, label_id, confirmed_at, flags & ${sql.lit(FROZEN)} <> 0 as flagged,
        num_nonnulls(${sql.raw(FIGURE_COLUMNS.join(', '))}) > 0 as has_figures, greatest(p.updated_at, to_timestamp(m.at_ms / 1000)) as since
      from prices p left join moved m using (item_id, market, label_id)
      where ${where} and market <> ${sql.lit(SERVICE)}
        and (confirmed_at - p.updated_at >= make_interval(days => ${thresholds.frozenDays}::int4) or flags & ${sql.lit(FROZEN)} <> 0)
    )
    select r.item_id, r.market::int4 as market, r.label_id, r.flagged, r.has_figures, (extract(epoch from r.since) * 1000)::float8 as since_ms,
      (extract(epoch from coalesce(r.confirmed_at, r.since)) * 1000)::float8 as confirmed_ms, m.other::int4 as other, m.before, m.since
    from repeated r left join lateral (
      select o.market as other, b.price as before, array(
        select q.price::text from price_points q
        where q.item_id = o.item_id and q.market = o.market and q.label_id = o.label_id and q.updated_at > r.since order by q.updated_at
      ) as since
      from prices o cross join lateral (
        select q.price from price_points q
        where q.item_id = o.item_id and q.market = o.market and q.label_id = o.label_id and q.updated_at <= r.since
        order by q.updated_at desc limit 1
      ) b
      where o.item_id = r.item_id and o.label_id = r.label_id and o.market not in (${sql.lit(SERVICE)}, r.market) and o.updated_at > r.since
        and greatest(o.price / b.price, b.price / o.price) >= ${thresholds.frozenFactor}::float8
    ) m on true
    where r.flagged or m.other is not null`.execute(on)
  return [...Map.groupBy(rows, (row) => `${row.item_id} ${row.market} ${row.label_id}`).values()].map((ofPrice) => {
    const frozen = ofPrice.some(({ other, before, since, since_ms: sinceMs, confirmed_ms: confirmedAtMs }) => {
      if (other === null) return false
      const amounts = since!.map((text) => parseMinor(text)!)
      return isFrozen({ sinceMs, confirmedAtMs }, parseMinor(before!)!, amounts, thresholds, noiseMinor[other]!)
    })
    return { ...ofPrice[0]!, frozen }
  })
}
