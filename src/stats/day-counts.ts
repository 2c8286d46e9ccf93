// Counts whose history is not stored elsewhere, recorded hourly: active listings, items, and items with a price from each source.
import { sql } from 'kysely'
import type { Market } from '#core/markets.ts'
import { localDay } from '#core/time.ts'
import { call } from '#core/verb.ts'
import type { Queryable } from '#db/schema.ts'
import type { SourcesCtx } from '#prices/reviews/list-sources.ts'
import { readStats } from './read-stats.ts'

/** A source's priced items, by group of labels. */
type PricedItems = `priced_items.${Market}.${string}`
type CountName = 'active_listings' | 'items' | PricedItems

/** Records the current counts for today. An empty catalogue is skipped, because the demo requires an untouched database. */
export async function recordDay(ctx: SourcesCtx, timeZone: string): Promise<void> {
  const { items, listings, sources } = await call(readStats, ctx, {})
  if (items === 0) return
  const counts: [CountName, number][] = [
    ['items', items],
    ['active_listings', listings.active!],
    ...sources.map(({ market, group, items: priced }): [CountName, number] => [`priced_items.${market}.${group}`, priced]),
  ]
  const day = localDay(ctx.now(), timeZone)
  await sql`
    insert into day_counts (day, name, count)
    select ${day}::date, name, count from unnest(${counts.map(([name]) => name)}::text[], ${counts.map(([, count]) => count)}::int4[]) as n(name, count)
    on conflict (day, name) do update set count = excluded.count`.execute(ctx.db.kysely)
}

/** Counts by name of each recorded day in a range, inclusive; days are in the time zone of the service. */
export async function recordedDays(on: Queryable, from: string, to: string): Promise<Map<string, Map<string, number>>> {
  const { rows } = await sql<{ day: string; name: string; count: number }>`
    select to_char(day, 'YYYY-MM-DD') as day, name, count from day_counts where day between ${from}::date and ${to}::date`.execute(on)
  const days = new Map<string, Map<string, number>>()
  for (const { day, name, count } of rows) {
    const ofDay = days.get(day)
    if (ofDay) ofDay.set(name, count)
    else days.set(day, new Map([[name, count]]))
  }
  return days
}
