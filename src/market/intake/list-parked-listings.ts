// Lists the caller's parked rows, oldest first.
import type { Selectable } from 'kysely'
import { candidateIds, currentCandidates } from '#collections/import/parked.ts'
import type { Candidate } from '#collections/import/match.ts'
import { listVerb } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Reason, textOf } from '#core/problems.ts'
import { localTime } from '#core/time.ts'
import { ownAccount } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { resolveAliases } from '#db/live-item.ts'
import { pageOf } from '#db/page.ts'
import type { Schema } from '#db/schema.ts'
import type { MarketCtx } from '../marketplace-types.ts'
import type { IntakeEntry } from './read-rows.ts'
import type { ParkedListing } from './types.ts'

const COLUMNS = ['id', 'line', 'entry', 'rule', 'params', 'candidates', 'parked_at'] as const

export const listParkedListings = listVerb(
  { name: 'listParkedListings', needs: OPERATION_PLAN.listParkedListings },
  async ({ db, viewer, market: { timeZone } }: ReadCtx & Pick<MarketCtx, 'market'>, _all, range) => {
    const own = db.kysely.selectFrom('parked_listings').where('account_id', '=', ownAccount(viewer))
    const { rows, total } = await pageOf(own.select(COLUMNS).orderBy('id'), range, (row) => row)
    const survivors = await resolveAliases(
      db.kysely,
      rows.flatMap((row) => candidateIds(row.candidates)),
    )
    return { rows: rows.map((row) => toResponse(row, survivors, timeZone)), total }
  },
)

type ParkedRow = Pick<Selectable<Schema['parked_listings']>, (typeof COLUMNS)[number]>

function toResponse(row: ParkedRow, survivors: ReadonlyMap<number, number>, timeZone: string): ParkedListing {
  const { item, sku, grade, fields } = row.entry as IntakeEntry
  const { name, number, set, finish } = item
  const why = { rule: row.rule, params: row.params } as Reason
  return {
    id: row.id,
    line: row.line,
    sku,
    name,
    number,
    set,
    finish,
    grade,
    title: fields.title ?? null,
    price: fields.price,
    quantity: fields.quantity ?? 1,
    why: { message: textOf(why), rule: row.rule, params: row.params as Record<string, unknown> },
    candidates: currentCandidates(row.candidates as Candidate[], survivors) as ParkedListing['candidates'],
    parked_at: localTime(row.parked_at, timeZone),
  }
}
