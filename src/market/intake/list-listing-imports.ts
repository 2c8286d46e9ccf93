// Lists the caller's imports of listings, newest first, without their rows.
import { listVerb } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { localTime } from '#core/time.ts'
import { ownAccount } from '#core/verb.ts'
import { pageOf } from '#db/page.ts'
import type { IntakeCtx } from './types.ts'

export const listListingImports = listVerb(
  { name: 'listListingImports', needs: OPERATION_PLAN.listListingImports },
  ({ db, viewer, market: { timeZone } }: IntakeCtx, _all, range) => {
    const own = db.kysely.selectFrom('listing_imports').where('account_id', '=', ownAccount(viewer))
    return pageOf(own.selectAll().orderBy('id', 'desc'), range, ({ account_id: _account, created_at: at, undone_at: undoneAt, ...row }) => ({
      ...row,
      created_at: localTime(at, timeZone),
      undone_at: undoneAt && localTime(undoneAt, timeZone),
    }))
  },
)
