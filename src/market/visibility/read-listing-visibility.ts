// Why buyers cannot find an own listing, and what its seller can do.
import { id, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { localTime } from '#core/time.ts'
import { verb } from '#core/verb.ts'
import { sql } from 'kysely'
import type { Db } from '#db/schema.ts'
import { REJECTED } from '../records/rules.ts'
import { findVisibilityRow, type VisibilityRow } from './visibility-rows.ts'
import type { ListingVisibility, MarketCtx } from '../marketplace-types.ts'
import { type HindranceCode, hindrancesOf, whatToDo } from '../records/visibility.ts'

/** Maximum audit entries of a listing that are searched. */
const MAX_ENTRIES = 1_000

export const readListingVisibility = verb(
  {
    name: 'readListingVisibility',
    needs: OPERATION_PLAN.readListingVisibility,
    input: Type.Object({ id: id('listing') }),
  },
  async (ctx: MarketCtx, input): Promise<ListingVisibility> => {
    const { viewer, market } = ctx
    const listing = await findVisibilityRow(ctx.db.kysely, input.id)
    if (!listing || viewer.kind !== 'account' || viewer.accountId !== listing.seller_id) throw missing('listing', input.id)
    const codes = hindrancesOf(listing, ctx.now())
    if (codes.length === 0) return { visible: true, reasons: [] }
    const { change_requested, ...since } = await beginnings(ctx.db, listing)
    return {
      visible: false,
      reasons: codes.map((code) => ({
        code,
        since: since[code] === null ? null : localTime(since[code], market.timeZone),
        what_to_do: whatToDo(code),
        rejection_reason: code === REJECTED ? listing.rejection_reason : null,
        change_requested: code === REJECTED && change_requested,
      })),
    }
  },
)

type Beginnings = Record<HindranceCode, Date | null> & { change_requested: boolean }

/** When each current cause began; null if that is not recorded. And whether the last rejection asks for a change. */
async function beginnings(db: Db, listing: VisibilityRow): Promise<Beginnings> {
  const stored = { pending: listing.waiting_since, vacation: listing.vacation_from, expired: listing.expires_at }
  const { rows } = await sql<Omit<Beginnings, keyof typeof stored>>`
    select
      max(at) filter (where action = 'listing.pause') as paused,
      max(at) filter (where action in ('listing.reject', 'listing.request_change')) as rejected,
      coalesce((array_agg(action order by id desc) filter (where action in ('listing.reject', 'listing.request_change')))[1]
        = 'listing.request_change', false) as change_requested,
      max(at) filter (where after ->> 'quantity' = '0' and before ->> 'quantity' is distinct from '0') as no_stock,
      (select max(sold_at) from sales where listing_id = ${listing.id}) as sold,
      (select at from audit_log where subject_type = 'account' and subject_id = ${String(listing.seller_id)}
        and (after -> 'suspended')::bool and not (before -> 'suspended')::bool order by id desc limit 1) as account_suspended
    from (
      select id, at, action, before, after from audit_log
      where subject_type = 'listing' and subject_id = ${String(listing.id)} order by id desc limit ${MAX_ENTRIES}
    ) entries`.execute(db.kysely)
  return { ...rows[0]!, ...stored }
}
