// The listings of records: those of all visible rows are read together.
import type { OwnListing } from '../../../client/src/api.ts'
import { request } from '../api.ts'

/** The most that the service returns at once. */
const PER_PAGE = 100

type ListingsByRecord = Map<number, OwnListing[]>

let batch: { ids: Set<number>; reading: Promise<ListingsByRecord> } | null = null

/** The listings of a record that are not sold out, newest first. Calls of the same rendering share a request. @throws ApiError */
export async function listingsOf(recordId: number): Promise<OwnListing[]> {
  batch ??= startBatch()
  batch.ids.add(recordId)
  return (await batch.reading).get(recordId) ?? []
}

function startBatch(): NonNullable<typeof batch> {
  const ids = new Set<number>()
  const reading = new Promise((resolve) => setTimeout(resolve, 0)).then(() => {
    batch = null
    return readListings([...ids])
  })
  return { ids, reading }
}

async function readListings(recordIds: readonly number[]): Promise<ListingsByRecord> {
  const found: OwnListing[] = []
  for (let page = 1; ; page += 1) {
    const { data, pagination } = await request('GET', '/plus/my-listings', { query: { 'record_id[]': recordIds, page, per_page: PER_PAGE } })
    found.push(...data)
    if (!pagination?.has_more) break
  }
  return Map.groupBy(
    found.filter(({ status }) => status !== 'sold'),
    ({ record_id: id }) => id!,
  )
}
