// Data for judging besides the prices: rates, the feed interval of each source, excluded sources.
import { sql } from 'kysely'
import { MARKETS } from '#core/markets.ts'
import type { Queryable } from '#db/schema.ts'
import type { PriceRules } from '../evidence/hold.ts'
import { type Conditions, noiseOf } from '../evidence/judge.ts'
import { type FeedInterval, feedIntervalOf } from '../evidence/feed-interval.ts'
import { Rates } from '../rates/rates.ts'

/** Maximum number of a source's latest feeds that are considered: a source may post many small feeds of a few prices each. */
const LATEST_FEEDS = 1_000
/** Days on which a source stated less than this share of the prices of its largest day do not count for its interval. */
const MIN_SHARE = 0.1

/**
 * The conditions at a given time.
 * @param before an import: only feeds before it count; null for all
 */
export async function loadConditions(on: Queryable, rules: PriceRules, nowMs: number, before: number | null = null): Promise<Conditions> {
  const rates = await Rates.load(on)
  const currency = (market: number) => rules.currencies[MARKETS[market]!]
  return {
    nowMs,
    thresholds: rules,
    convert: (minor, from, to, atMs) => rates.convert(minor, currency(from), currency(to), atMs),
    noiseMinor: noiseOf(rules.noise, (minor, from, market) => rates.convert(minor, from, currency(market), nowMs)),
    rhythms: await loadFeedIntervals(on, rules, before),
  }
}

/**
 * The feed interval of each market, by position in MARKETS: from the dates of its feeds in effect.
 * @param before an import: only feeds before it count; null for all
 */
export async function loadFeedIntervals(
  on: Queryable,
  { feedPrices }: Pick<PriceRules, 'feedPrices'>,
  before: number | null = null,
): Promise<FeedInterval[]> {
  const earlier = before === null ? sql`` : sql`and import_id < ${before}::int4`
  // A row for each market and day (UTC), or one without a feed.
  const { rows } = await sql<{ market: number; newest_ms: number | null; prices: number | null; set_aside: boolean }>`
    select m.market, (extract(epoch from f.newest) * 1000)::float8 as newest_ms, f.prices, a.market is not null as set_aside
    from unnest(${`{${[...MARKETS.keys()].join(',')}}`}::int2[]) as m(market)
    left join sources_set_aside a on a.market = m.market
    left join lateral (
      select max(newest) as newest, sum(prices)::float8 as prices
      from (
        select newest, prices, import_id from price_feeds where market = m.market ${earlier} order by newest desc limit ${sql.lit(LATEST_FEEDS)}
      ) latest
      where import_id <> all (array(select id from imports where reverted_by_import_id is not null))
      group by date_bin('1 day', newest, 'epoch')
    ) f on true`.execute(on)
  return MARKETS.map((_, market) => {
    const days = rows.filter((row) => row.market === market)
    return feedIntervalOf(
      mainFeeds(days, feedPrices),
      days.some((row) => row.set_aside),
    )
  })
}

/** Dates of the feeds of days on which a source stated a large part of its prices. */
function mainFeeds(days: readonly { newest_ms: number | null; prices: number | null }[], feedPrices: number): number[] {
  const fullest = days.reduce((most, { prices }) => Math.max(most, prices ?? 0), 0)
  return days.flatMap(({ newest_ms: newestMs, prices }) =>
    newestMs !== null && prices! >= Math.max(feedPrices, fullest * MIN_SHARE) ? [newestMs] : [],
  )
}
