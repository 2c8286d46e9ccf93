// The number of active listings that buyers see.
import { type RawBuilder, sql } from 'kysely'
import type { Queryable } from '#db/schema.ts'
import { PUBLISHED } from '#market/records/rules.ts'

/** The number of active listings that are hidden because their seller is suspended or on vacation. */
export function hiddenListings(now: Date): RawBuilder<number> {
  return sql`(select count(*)::int from accounts a join listings l on l.seller_id = a.id and l.status = ${sql.lit(PUBLISHED)}
    left join vacations v on v.account_id = a.id where a.suspended or (v.starts_at <= ${now} and v.ends_at > ${now}))`
}

/** The number of active listings, excluding hidden ones. */
export async function activeListings(on: Queryable, now: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (select count(*)::int from listings where status = ${sql.lit(PUBLISHED)}) - ${hiddenListings(now)} as count`.execute(on)
  return rows[0]!.count
}
