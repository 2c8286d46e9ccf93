// Lists price sources with feed age, trust, coverage, and whether they are set aside.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { type Market, type MarketNames, MARKETS } from '#core/markets.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import type { Queryable } from '#db/schema.ts'
import { loadFeedIntervals } from '../judging/judging-conditions.ts'
import { staleAfterDays } from '../evidence/age.ts'
import type { PriceRules } from '../evidence/hold.ts'
import type { FeedInterval } from '../evidence/feed-interval.ts'
import { bitsOf, STATES } from '../evidence/evidence-types.ts'
import { loadSourceTerms } from '../records/source-terms.ts'
import { SourceTermsFields } from './change-source.ts'

const Time = Type.String({ format: 'date-time', description: 'UTC' })
const Share = Type.Number({ minimum: 0, maximum: 1 })

/** Counts of current prices and of held prices. */
const COUNTS = {
  prices: Type.Integer({ description: 'Current prices' }),
  confirmed: Type.Integer({ description: 'Prices stated by a feed within its usual interval before the latest one' }),
  trusted: Type.Integer(),
  disputed: Type.Integer(),
  stale: Type.Integer(),
  held: Type.Integer({ description: 'Held prices' }),
  unchecked: Type.Integer({ description: 'Prices that could not be compared because an exchange rate is missing' }),
}

export const SourceHealthSchema = Type.Object(
  {
    market: Type.Enum([...MARKETS]),
    name: Type.String({ description: 'Name from MARKET_NAMES, otherwise the code', examples: ['PriceCharting'] }),
    group: Type.String({ description: 'Group of labels', examples: ['Graded'] }),
    last_price_at: orNull(Type.String({ format: 'date-time', description: 'Time of the latest price' })),
    last_feed_at: orNull(Type.String({ format: 'date-time', description: 'When a batch last set a price' })),
    ages: Type.Object(
      { day: Type.Integer(), week: Type.Integer(), month: Type.Integer(), older: Type.Integer() },
      { description: 'Current prices by age: up to a day, up to 7 days, up to 30 days, older' },
    ),
    items: Type.Integer({ description: 'Items with a price' }),
    coverage: Type.Number({ description: 'Share of the catalogue with a price, 0 to 1' }),
    ...COUNTS,
    held_share: Type.Number({ description: 'Share of held prices among held and current prices, 0 to 1' }),
  },
  { title: 'SourceHealth' },
)
export type SourceHealth = Static<typeof SourceHealthSchema>

export const PriceSourceSchema = Type.Object(
  {
    market: Type.Enum([...MARKETS]),
    name: Type.String({ description: 'Name from MARKET_NAMES, otherwise the code', examples: ['PriceCharting'] }),
    currency: Type.String({ description: 'ISO 4217 code' }),
    set_aside: orNull(
      Type.Object({ by: Type.String(), reason: Type.String(), at: Time }, { title: 'SetAside', description: 'null if it is not set aside' }),
    ),
    ...SourceTermsFields,
    terms_by: orNull(Type.String({ description: 'Operator who set `use` and `licence`; null for the defaults of the import formats' })),
    usual_interval_days: orNull(Type.Number({ description: 'Usual time between its feeds; null if there are fewer than two' })),
    newest_feed_at: orNull(Type.String({ format: 'date-time', description: 'Date of the latest price in its latest feed' })),
    age_days: orNull(Type.Integer({ description: 'Days (UTC) since then' })),
    late: Type.Boolean({ description: 'Whether a feed is overdue, because the latest one has reached the age at which prices become stale' }),
    ...COUNTS,
    shares: Type.Object(
      { confirmed: Share, trusted: Share, disputed: Share, stale: Share, held: Share },
      { title: 'SourceShares', description: 'Shares of its current prices; `held` is a share of held and current prices. 0 if there are no prices' },
    ),
    groups: Type.Array(SourceHealthSchema, { description: 'By group of labels' }),
  },
  { title: 'PriceSource' },
)
export type PriceSource = Static<typeof PriceSourceSchema>
type Counts = Pick<PriceSource, keyof typeof COUNTS>

/** The context of reading the sources. */
export interface SourcesCtx extends Pick<WriteCtx, 'db' | 'viewer' | 'now'> {
  rules: PriceRules
  /** the setting MARKET_NAMES */
  marketNames: MarketNames
}

const NO_RATE = bitsOf(['no_rate'])
/** The interval in days of a source that has no feed interval yet. */
const USUAL_DAYS = 7

/** All sources in the order of markets; reads every current price once. */
export const listSources = verb(
  { name: 'listSources', needs: 'operator', input: Type.Object({}) },
  async ({ db, now, rules, marketNames }: SourcesCtx): Promise<PriceSource[]> => {
    const on = db.kysely
    const at = now()
    const rhythms = await loadFeedIntervals(on, rules)
    const [groups, setAside, terms] = await Promise.all([
      countsOf(on, rhythms, at),
      on.selectFrom('sources_set_aside').selectAll().execute(),
      loadSourceTerms(on),
    ])
    return MARKETS.map((market, position): PriceSource => {
      const name = marketNames[market] ?? market
      const rhythm = rhythms[position]!
      const ofMarket = groups.filter((group) => group.market === position).map((group) => healthOf(group, market, name))
      const aside = setAside.find((one) => one.market === position)
      return {
        market,
        name,
        currency: rules.currencies[market],
        set_aside: aside ? { by: aside.author, reason: aside.reason, at: aside.at.toISOString() } : null,
        use: terms[position]!.use,
        licence: terms[position]!.licence,
        terms_by: terms[position]!.author,
        ...ageOf(rhythm, rules, at),
        ...sharesOf(ofMarket),
        groups: ofMarket,
      }
    })
  },
)

function ageOf(
  rhythm: FeedInterval,
  rules: PriceRules,
  now: Date,
): Pick<PriceSource, 'usual_interval_days' | 'newest_feed_at' | 'age_days' | 'late'> {
  const { intervalMs, newestMs } = rhythm
  const days = newestMs === null ? null : Math.max(0, Math.floor(now.getTime() / DAY_MS) - Math.floor(newestMs / DAY_MS))
  const staleDays = staleAfterDays(rhythm, rules)
  return {
    usual_interval_days: intervalMs === null ? null : intervalMs / DAY_MS,
    newest_feed_at: newestMs === null ? null : new Date(newestMs).toISOString(),
    age_days: days,
    late: days !== null && staleDays !== null && days >= staleDays,
  }
}

function sharesOf(groups: readonly Counts[]): Counts & Pick<PriceSource, 'shares'> {
  const sum = (name: keyof Counts) => groups.reduce((total, group) => total + group[name], 0)
  const [prices, held] = [sum('prices'), sum('held')]
  const [confirmed, trusted, disputed, stale] = [sum('confirmed'), sum('trusted'), sum('disputed'), sum('stale')]
  const shares = {
    confirmed: share(confirmed, prices),
    trusted: share(trusted, prices),
    disputed: share(disputed, prices),
    stale: share(stale, prices),
    held: share(held, held + prices),
  }
  return { prices, confirmed, trusted, disputed, stale, held, unchecked: sum('unchecked'), shares }
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

interface GroupRow extends Counts {
  market: number
  group_name: string
  last_price_at: Date | null
  last_feed_at: Date | null
  day: number
  week: number
  month: number
  items: number
  all_items: number
}

function healthOf(row: GroupRow, market: Market, name: string): SourceHealth {
  const { group_name: group, last_price_at: lastPrice, last_feed_at: lastFeed, day, week, month, items, all_items: allItems, ...counts } = row
  return {
    ...counts,
    market,
    name,
    group,
    last_price_at: lastPrice?.toISOString() ?? null,
    last_feed_at: lastFeed?.toISOString() ?? null,
    ages: { day, week: week - day, month: month - week, older: counts.prices - month },
    items,
    coverage: share(items, allItems),
    held_share: share(counts.held, counts.held + counts.prices),
  }
}

/** A row per market and label group with current or held prices. */
async function countsOf(on: Queryable, rhythms: readonly FeedInterval[], now: Date): Promise<GroupRow[]> {
  const since = rhythms.map(({ newestMs, intervalMs }) => (newestMs === null ? null : newestMs - (intervalMs ?? USUAL_DAYS * DAY_MS)))
  const state = (name: (typeof STATES)[number]) => sql.lit(STATES.indexOf(name))
  const { rows } = await sql<GroupRow>`
    with since as (
      select (n - 1)::int2 as market, to_timestamp(ms / 1000) as at
      from unnest(${`{${since.map((ms) => ms ?? 'NULL').join(',')}}`}::float8[]) with ordinality as u(ms, n)
    ), labels as (
      select l.id as label_id, g.id as group_id from groups l join groups g on g.id = l.parent_id
    ), current as (
      select p.market, l.group_id, max(p.updated_at) as last_price_at, max(p.import_id) as last_import, count(*)::int4 as prices,
        (count(*) filter (where p.updated_at > ${now}::timestamptz - interval '1 day'))::int4 as day,
        (count(*) filter (where p.updated_at > ${now}::timestamptz - interval '7 days'))::int4 as week,
        (count(*) filter (where p.updated_at > ${now}::timestamptz - interval '30 days'))::int4 as month,
        (count(*) filter (where coalesce(p.confirmed_at, p.updated_at) >= since.at))::int4 as confirmed,
        (count(*) filter (where p.state = ${state('trusted')}))::int4 as trusted,
        (count(*) filter (where p.state = ${state('disputed')}))::int4 as disputed,
        (count(*) filter (where p.state = ${state('stale')}))::int4 as stale,
        (count(*) filter (where p.flags & ${sql.lit(NO_RATE)} <> 0))::int4 as unchecked,
        count(distinct p.item_id)::int4 as items
      from prices p join labels l using (label_id) join since using (market) group by p.market, l.group_id
    ), waiting as (
      select h.market, l.group_id, count(*)::int4 as held
      from held_prices h join labels l using (label_id) where h.decision is null group by h.market, l.group_id
    )
    select coalesce(c.market, w.market)::int4 as market, g.name as group_name, c.last_price_at, i.finished_at as last_feed_at,
      coalesce(c.day, 0) as day, coalesce(c.week, 0) as week, coalesce(c.month, 0) as month,
      coalesce(c.prices, 0) as prices, coalesce(c.confirmed, 0) as confirmed, coalesce(c.trusted, 0) as trusted,
      coalesce(c.disputed, 0) as disputed, coalesce(c.stale, 0) as stale, coalesce(w.held, 0) as held, coalesce(c.unchecked, 0) as unchecked,
      coalesce(c.items, 0) as items, (select count(*)::int4 from items) as all_items
    from current c full join waiting w on (w.market, w.group_id) = (c.market, c.group_id)
    join groups g on g.id = coalesce(c.group_id, w.group_id)
    left join imports i on i.id = c.last_import
    order by 1, g.id`.execute(on)
  return rows
}
