// Data for judging besides the prices: rates, the feed interval of each source, excluded sources.
import { sql } from 'kysely'
import { DAY_MS } from '#core/duration.ts'
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
  const { rows } = await sql<{ market: number; newest_ms: number | null; prices: number | null; set_aside: boolean }>`
    select m.market, (extract(epoch from f.newest) * 1000)::float8 as newest_ms, f.prices, a.market is not null as set_aside
    from unnest(${`{${[...MARKETS.keys()].join(',')}}`}::int2[]) as m(market)
    left join sources_set_aside a on a.market = m.market
    left join lateral (
      select newest, prices, import_id from price_feeds where market = m.market ${earlier} order by newest desc limit ${sql.lit(LATEST_FEEDS)}
    ) f on not exists (select from imports where id = f.import_id and reverted_by_import_id is not null)`.execute(on)
  return MARKETS.map((_, market) => {
    const feeds = rows.filter((row) => row.market === market)
    return feedIntervalOf(
      mainFeeds(feeds, feedPrices),
      feeds.some((row) => row.set_aside),
    )
  })
}

/** Dates of the feeds of days on which a source stated a large part of its prices. */
function mainFeeds(feeds: readonly { newest_ms: number | null; prices: number | null }[], feedPrices: number): number[] {
  const byDay = new Map<number, { newestMs: number; prices: number }>()
  for (const { newest_ms: newestMs, prices } of feeds) {
    if (newestMs === null) continue
    const day = Math.floor(newestMs / DAY_MS)
    const ofDay = byDay.get(day)
    byDay.set(day, { newestMs: Math.max(newestMs, ofDay?.newestMs ?? 0), prices: prices! + (ofDay?.prices ?? 0) })
  }
  const days = [...byDay.values()]
  const fullest = days.reduce((most, { prices }) => Math.max(most, prices), 0)
  return days.filter(({ prices }) => prices >= Math.max(feedPrices, fullest * MIN_SHARE)).map(({ newestMs }) => newestMs)
}
