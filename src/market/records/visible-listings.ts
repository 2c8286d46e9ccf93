// SQL of the listings that buyers can see, for queries of a listing `l`.
import { type RawBuilder, sql } from 'kysely'
import { PUBLISHED } from './rules.ts'

/** Joins that `isVisible` needs, after the listing. */
export function joinSellers(now: Date): RawBuilder<unknown> {
  return sql`
    join accounts a on a.id = l.seller_id
    left join vacations v on v.account_id = l.seller_id and v.starts_at <= ${now} and v.ends_at > ${now}`
}

/** Published, in stock, within its period, and of a seller who is neither suspended nor on vacation. */
export function isVisible(now: Date): RawBuilder<boolean> {
  return sql<boolean>`
    (l.status = ${PUBLISHED} and l.quantity > 0 and l.expires_at > ${now} and not a.suspended and v.account_id is null)`
}
