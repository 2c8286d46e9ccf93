// Price sources as operators see them: how often each sends prices, whether it is set aside, and what its prices are worth.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import type { Queryable } from '#db/schema.ts'
import { loadRhythms } from './conditions.ts'
import type { Rhythm } from './evidence/rhythm.ts'
import { bitsOf, STATES } from './evidence/types.ts'
import type { PriceWriteCtx } from './types.ts'

const Time = Type.String({ format: 'date-time', description: 'UTC' })

export const PriceSourceSchema = Type.Object(
  {
    market: Type.Enum([...MARKETS]),
    currency: Type.String({ description: 'ISO 4217 code' }),
    set_aside: orNull(
      Type.Object({ by: Type.String(), reason: Type.String(), at: Time }, { title: 'SetAside', description: 'Null where it is not set aside' }),
    ),
    usual_interval_days: orNull(Type.Number({ description: 'Usual time between its feeds; null with fewer than two' })),
    newest_feed_at: orNull(Type.String({ format: 'date-time', description: 'Date of the newest price of its newest feed' })),
    prices: Type.Integer({ description: 'Current prices' }),
    confirmed: Type.Integer({ description: 'Those of them that a feed stated within its usual interval before the newest one' }),
    trusted: Type.Integer(),
    disputed: Type.Integer(),
    stale: Type.Integer(),
    held: Type.Integer({ description: 'Prices that wait for a decision' }),
    unchecked: Type.Integer({ description: 'Prices that could not be compared with others for want of an exchange rate' }),
  },
  { title: 'PriceSource' },
)
export type PriceSource = Static<typeof PriceSourceSchema>

const NO_RATE = bitsOf(['no_rate'])
/** Where a source has no rhythm yet. */
const USUAL_DAYS = 7

export const listSources = verb(
  { name: 'listSources', needs: 'operator', input: Type.Object({}, { additionalProperties: false }) },
  (ctx: Pick<WriteCtx, 'db' | 'viewer'> & Pick<PriceWriteCtx, 'rules'>): Promise<PriceSource[]> => priceSources(ctx.db.kysely, ctx.rules),
)

/** All sources in the order of markets; reads every current price once. */
export async function priceSources(on: Queryable, rules: Pick<PriceWriteCtx['rules'], 'currencies' | 'feedPrices'>): Promise<PriceSource[]> {
  const { currencies } = rules
  const rhythms = await loadRhythms(on, rules)
  const since = rhythms.map(({ newestMs, intervalMs }) => (newestMs === null ? null : newestMs - (intervalMs ?? USUAL_DAYS * DAY_MS)))
  const { rows } = await sql<Counts>`
    with since as (
      select (n - 1)::int2 as market, to_timestamp(ms / 1000) as at
      from unnest(${`{${since.map((ms) => ms ?? 'NULL').join(',')}}`}::float8[]) with ordinality as u(ms, n)
    ), current as (
      select p.market, count(*)::int4 as prices,
        (count(*) filter (where coalesce(p.confirmed_at, p.updated_at) >= since.at))::int4 as confirmed,
        (count(*) filter (where p.state = ${sql.lit(STATES.indexOf('trusted'))}))::int4 as trusted,
        (count(*) filter (where p.state = ${sql.lit(STATES.indexOf('disputed'))}))::int4 as disputed,
        (count(*) filter (where p.state = ${sql.lit(STATES.indexOf('stale'))}))::int4 as stale,
        (count(*) filter (where p.flags & ${sql.lit(NO_RATE)} <> 0))::int4 as unchecked
      from prices p join since using (market) group by 1
    ), waiting as (
      select market, count(*)::int4 as held from held_prices where decision is null group by 1
    )
    select m.market::int4 as market, coalesce(c.prices, 0) as prices, coalesce(c.confirmed, 0) as confirmed, coalesce(c.trusted, 0) as trusted,
      coalesce(c.disputed, 0) as disputed, coalesce(c.stale, 0) as stale, coalesce(c.unchecked, 0) as unchecked, coalesce(w.held, 0) as held,
      a.author, a.reason, a.at
    from since m left join current c using (market) left join waiting w using (market) left join sources_set_aside a using (market)
    order by m.market`.execute(on)
  return rows.map((row) => sourceOf(row, rhythms[row.market]!, currencies))
}

interface Counts extends Omit<PriceSource, 'market' | 'currency' | 'set_aside' | 'usual_interval_days' | 'newest_feed_at'> {
  market: number
  author: string | null
  reason: string | null
  at: Date | null
}

function sourceOf({ market, author, reason, at, ...counts }: Counts, rhythm: Rhythm, currencies: PriceWriteCtx['rules']['currencies']): PriceSource {
  return {
    market: MARKETS[market]!,
    currency: currencies[MARKETS[market]!],
    set_aside: author === null ? null : { by: author, reason: reason!, at: at!.toISOString() },
    usual_interval_days: rhythm.intervalMs === null ? null : rhythm.intervalMs / DAY_MS,
    newest_feed_at: rhythm.newestMs === null ? null : new Date(rhythm.newestMs).toISOString(),
    ...counts,
  }
}
