// How healthy the price sources are: when each last delivered, how old its prices are, what it covers, what is held.
import { sql } from 'kysely'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { type MarketNames, MARKETS } from '#core/markets.ts'
import type { Queryable } from '#db/schema.ts'

export const SourceHealthSchema = Type.Object(
  {
    market: Type.Enum([...MARKETS]),
    name: Type.String({ description: 'As the setting MARKET_NAMES says, else the code', examples: ['PriceCharting'] }),
    group: Type.String({ description: 'Group of labels', examples: ['Graded'] }),
    last_price_at: orNull(Type.String({ format: 'date-time', description: 'Time of the newest price' })),
    last_feed_at: orNull(Type.String({ format: 'date-time', description: 'When a batch last set a price' })),
    prices: Type.Integer({ description: 'Current prices' }),
    ages: Type.Object(
      { day: Type.Integer(), week: Type.Integer(), month: Type.Integer(), older: Type.Integer() },
      { description: 'Current prices by age: up to a day, up to 7 days, up to 30 days, older' },
    ),
    items: Type.Integer({ description: 'Items with a price' }),
    coverage: Type.Number({ description: 'Share of the catalogue with a price, 0 to 1' }),
    held: Type.Integer({ description: 'Prices that wait for a decision' }),
    held_share: Type.Number({ description: 'Held ones among held and current prices, 0 to 1' }),
  },
  { title: 'SourceHealth' },
)
export type SourceHealth = Static<typeof SourceHealthSchema>

/** One entry per market and label group that has prices, current or held; reads every current price once. */
export async function sourceHealth(on: Queryable, now: Date, names: MarketNames): Promise<SourceHealth[]> {
  const { rows } = await sql<{
    market: number
    group_name: string
    last_price_at: Date | null
    last_feed_at: Date | null
    prices: number
    day: number
    week: number
    month: number
    items: number
    held: number
    all_items: number
  }>`
    with labels as (
      select l.id as label_id, g.id as group_id, g.name from groups l join groups g on g.id = l.parent_id
    ), current as (
      select p.market, l.group_id, max(p.updated_at) as last_price_at, max(p.import_id) as last_import, count(*)::int as prices,
        count(*) filter (where p.updated_at > ${now}::timestamptz - interval '1 day')::int as day,
        count(*) filter (where p.updated_at > ${now}::timestamptz - interval '7 days')::int as week,
        count(*) filter (where p.updated_at > ${now}::timestamptz - interval '30 days')::int as month,
        count(distinct p.item_id)::int as items
      from prices p join labels l using (label_id) group by p.market, l.group_id
    ), waiting as (
      select h.market, l.group_id, count(*)::int as held
      from held_prices h join labels l using (label_id) where h.decision is null group by h.market, l.group_id
    )
    select coalesce(c.market, w.market)::int as market, g.name as group_name, c.last_price_at, i.finished_at as last_feed_at,
      coalesce(c.prices, 0) as prices, coalesce(c.day, 0) as day, coalesce(c.week, 0) as week, coalesce(c.month, 0) as month,
      coalesce(c.items, 0) as items, coalesce(w.held, 0) as held, (select count(*)::int from items) as all_items
    from current c full join waiting w on (w.market, w.group_id) = (c.market, c.group_id)
    join groups g on g.id = coalesce(c.group_id, w.group_id)
    left join imports i on i.id = c.last_import
    order by 1, g.id`.execute(on)
  return rows.map(({ day, week, month, prices, held, items, all_items: allItems, ...row }) => ({
    market: MARKETS[row.market]!,
    name: names[MARKETS[row.market]!] ?? MARKETS[row.market]!,
    group: row.group_name,
    last_price_at: row.last_price_at?.toISOString() ?? null,
    last_feed_at: row.last_feed_at?.toISOString() ?? null,
    prices,
    ages: { day, week: week - day, month: month - week, older: prices - month },
    items,
    coverage: allItems === 0 ? 0 : items / allItems,
    held,
    held_share: held === 0 ? 0 : held / (held + prices),
  }))
}
