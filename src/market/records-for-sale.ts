// What the copies of collection records that listings sell cost.
import type { CatalogueNode } from '#catalogue/context.ts'
import { unitCosts } from '#collections/lots/unit-costs.ts'
import type { Queryable } from '#db/schema.ts'
import type { ListingRow } from './listing-store.ts'
import type { MarketWriteCtx } from './marketplace-types.ts'

/** In kuruş, by listing: the mean cost of a copy of its record; missing for listings without a record and for unknown costs. */
export async function costsOf(
  on: Queryable,
  ctx: CatalogueNode & Pick<MarketWriteCtx, 'market' | 'now'>,
  listings: readonly Pick<ListingRow, 'id' | 'record_id'>[],
): Promise<Map<number, number>> {
  const selling = listings.flatMap(({ id, record_id: recordId }) => (recordId === null ? [] : [{ id, recordId }]))
  if (selling.length === 0) return new Map()
  const costs = await unitCosts(
    on,
    ctx,
    selling.map(({ recordId }) => recordId),
  )
  return new Map(
    selling.flatMap(({ id, recordId }): [number, number][] => {
      const cost = costs.get(recordId)
      return cost === undefined ? [] : [[id, cost]]
    }),
  )
}
