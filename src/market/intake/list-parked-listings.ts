// Lists the caller's parked rows.
import { candidateIds, currentCandidates } from '#collections/import/parked.ts'
import type { Candidate } from '#collections/import/match.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { type Reason, textOf } from '#core/problems.ts'
import { localTime } from '#core/time.ts'
import { ownAccount, verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { resolveAliases } from '#db/live-item.ts'
import type { MarketCtx } from '../types.ts'
import type { IntakeEntry } from './read-rows.ts'
import { pageOfParked } from './store.ts'
import type { ParkedListing } from './types.ts'

export const listParkedListings = verb(
  {
    name: 'listParkedListings',
    needs: OPERATION_PLAN.listParkedListings,
    input: Type.Object({ ...pageParams() }, { additionalProperties: false }),
  },
  ({ db, viewer, market: { timeZone } }: ReadCtx & Pick<MarketCtx, 'market'>, input): Promise<Page<ParkedListing>> =>
    readPage(input, async (_all, limit, offset) => {
      const { rows, total } = await pageOfParked(db.kysely, ownAccount(viewer), limit, offset)
      const survivors = await resolveAliases(
        db.kysely,
        rows.flatMap((row) => candidateIds(row.candidates)),
      )
      return { rows: rows.map((row) => toResponse(row, survivors, timeZone)), total }
    }),
)

function toResponse(
  row: Awaited<ReturnType<typeof pageOfParked>>['rows'][number],
  survivors: ReadonlyMap<number, number>,
  timeZone: string,
): ParkedListing {
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
