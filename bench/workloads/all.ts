// All workloads in the order in which they are measured: writes after the reads that are compared with the database.
import type { Workload } from '../workload.ts'
import { collectionWorkloads } from './collections.ts'
import { graphqlWorkloads } from './graphql.ts'
import { itemWorkloads } from './items.ts'
import { listingWorkloads } from './listings.ts'
import { ownPriceWorkload } from './own-price.ts'
import { priceImportWorkload } from './price-import.ts'
import { startWorkload } from './start.ts'
import { webhookWorkload } from './webhooks.ts'

export const WORKLOADS: Workload[] = [
  ...itemWorkloads,
  ...graphqlWorkloads,
  ...listingWorkloads,
  ownPriceWorkload,
  ...collectionWorkloads,
  startWorkload,
  webhookWorkload,
  priceImportWorkload,
]

/**
 * The workloads of a list such as `1,6w`; null for all.
 * @param exact otherwise `6` includes all its variants
 */
export function chosenWorkloads(ids: string[] | null, exact = false): Workload[] {
  return WORKLOADS.filter(({ id }) => !ids || ids.includes(id) || (!exact && ids.includes(id.replace(/[a-z]+$/, ''))))
}
