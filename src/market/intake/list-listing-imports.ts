// Lists the caller's imports of listings, newest first, without their rows.
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { localTime } from '#core/time.ts'
import { ownAccount, verb } from '#core/verb.ts'
import { pageOfImports } from './import-store.ts'
import type { IntakeCtx, ListingImportSummary } from './types.ts'

export const listListingImports = verb(
  {
    name: 'listListingImports',
    needs: OPERATION_PLAN.listListingImports,
    input: Type.Object({ ...pageParams() }, { additionalProperties: false }),
  },
  async ({ db, viewer, market }: IntakeCtx, input): Promise<Page<ListingImportSummary>> => {
    const local = (at: Date) => localTime(at, market.timeZone)
    const { rows, pagination } = await readPage(input, (_all, limit, offset) => pageOfImports(db.kysely, ownAccount(viewer), limit, offset))
    const shown = rows.map(({ account_id: _account, created_at: at, undone_at: undoneAt, ...row }) => ({
      ...row,
      created_at: local(at),
      undone_at: undoneAt && local(undoneAt),
    }))
    return { rows: shown, pagination }
  },
)
