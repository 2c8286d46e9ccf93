// Fills the queues of the demo through the operations that fill them in real use: imports of files with something to decide.
import { createReadStream } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { changeAccount } from '#accounts/change-account.ts'
import { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { importCollection } from '#collections/import/run.ts'
import { call, type Viewer } from '#core/verb.ts'
import type { ImportFile } from '#imports/files.ts'
import { importFiles } from '#imports/import-files.ts'
import { importListings } from '#market/intake/import-listings.ts'
import type { PriceWriteCtx } from '#prices/types.ts'
import type { Config } from '../config.ts'

/** Files of `sample/queues`, by format. */
const FILES = { 'mintmark-prices-csv': 'prices.csv', pokemontcg: 'second-source.ndjson' } as const
const INTAKE_QUOTA = 2_000
/** Rows of a seller's file that name no single card of the catalogue. */
const LISTING_ROWS = [
  { sku: 'BOX-17', name: 'Charizard', set: 'Base Set', grade: 'Near Mint', price: 14_500 },
  { sku: 'BOX-18', name: 'Pikachu', price: 320, quantity: 2 },
]

/** The account that gets the parked rows, and its collection. */
interface Seller {
  viewer: Viewer & { kind: 'account' }
  collectionId: number
}

/** Leaves held prices, pending matches, and parked rows of a collection and of listings; the other queues have entries of the marketplace. */
export async function addDemoQueues(ctx: PriceWriteCtx, config: Config, { viewer, collectionId }: Seller): Promise<void> {
  for (const [format, name] of Object.entries(FILES)) await call(importFiles, ctx, { format, files: [sampleFile(name)] })
  const catalogue = new Catalogue(ctx.db, { ...config, readyBytesMb: 1, now: ctx.now })
  await catalogue.load()
  await call(importCollection, { ...ctx, catalogue }, { id: collectionId, format: 'collectr', file: { path: pathOf('collection.csv'), gzip: false } })
  await call(changeAccount, ctx, { id: viewer.accountId, listing_intake: { quota: INTAKE_QUOTA } })
  await call(importListings, { ...ctx, viewer, catalogue, market: config }, { rows: LISTING_ROWS })
}

function sampleFile(name: string): ImportFile {
  return { name, size: null, open: () => createReadStream(pathOf(name)) }
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../../sample/queues/${name}`, import.meta.url))
}
