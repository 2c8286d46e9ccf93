// Prints, as JSON, what published listings take in memory beside the catalogue, and how long they took to load.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openPool } from '#db/pool.ts'
import type { Schema } from '#db/schema.ts'
import { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { LISTING_SORTS } from '#market/snapshot/queries.ts'
import { ListingSnapshot } from '#market/snapshot/listings.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const db = openPool<Schema>({ url: process.argv[2]!, max: 4, applicationName: 'mintmark bench memory' })
const catalogue = new Catalogue(db, 16)
await catalogue.load()
const before = usedBytes()
const started = performance.now()
const listings = new ListingSnapshot({ db, catalogue, now: () => new Date(), timeZone: 'Europe/Istanbul', readyBytesMb: 16 })
await listings.load()
const loadMs = performance.now() - started
for (const sort of LISTING_SORTS) listings.page({}, undefined, sort, 0, 20)
const bytes = usedBytes() - before
process.stdout.write(JSON.stringify({ listings: listings.size, loadMs, bytesPerListing: bytes / listings.size }))
await db.close()

function usedBytes(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
