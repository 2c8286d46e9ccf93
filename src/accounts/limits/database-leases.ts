// Takes leases of rate limits from PostgreSQL with one statement.
import { sql } from 'kysely'
import { databaseTime } from '#db/connection/database-time.ts'
import type { Db } from '#db/schema.ts'
import { type LeaseStore, MULTI_NODE_SECONDS, SINGLE_NODE_SHARE, MULTI_NODE_SHARE, WINDOW_SECONDS } from './limit-leases.ts'

export function databaseLeases(db: Db): LeaseStore {
  return async ({ accountId, limit, unused, node }) => {
    const first = Math.ceil(limit / SINGLE_NODE_SHARE)
    const { rows } = await sql<{ granted: number; leased: number; ms_left: number }>`
      insert into rate_limit_leases as l (account_id, ends_at, leased, granted, node, shared_at)
      values (${accountId}, ${databaseTime} + make_interval(secs => ${WINDOW_SECONDS}), ${first}, ${first}, ${node}, '-infinity')
      on conflict (account_id) do update set (ends_at, leased, granted, node, shared_at) = (
        select ends_at, leased + granted, granted, excluded.node, shared_at
        from (select case when l.node = excluded.node then l.shared_at else ${databaseTime} end as shared_at,
                     case when l.ends_at > ${databaseTime} then l.ends_at else excluded.ends_at end as ends_at,
                     case when l.ends_at > ${databaseTime} then greatest(0, l.leased - ${unused}::int) else 0 end as leased) as minute,
             lateral (select greatest(0, ${limit}::int - leased) as free,
                        case when shared_at > ${databaseTime} - make_interval(secs => ${MULTI_NODE_SECONDS})
                          then ${MULTI_NODE_SHARE}::int else ${SINGLE_NODE_SHARE}::int end as share) as room,
             lateral (select (free + share - 1) / share as granted) as part)
      returning granted, leased, extract(epoch from ends_at - ${databaseTime})::float8 * 1000 as ms_left`.execute(db.kysely)
    const { granted, leased, ms_left: msLeft } = rows[0]!
    return { granted, leased, msLeft }
  }
}
