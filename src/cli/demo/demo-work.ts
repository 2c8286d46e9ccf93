// Work of operators and sellers in the demo, done through the operations of real use: entries in the queues, and a repricing rule that has run.
import { createReadStream } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { changeAccount } from '#accounts/change-account.ts'
import { Catalogue } from '#catalogue/snapshot/catalogue.ts'
import { addDemoWorth } from '#collections/demo-worth.ts'
import { importCollection } from '#collections/import/run.ts'
import { call, type Viewer } from '#core/verb.ts'
import type { ImportFile } from '#imports/files.ts'
import { importFiles } from '#imports/import-files.ts'
import { importListings } from '#market/intake/import-listings.ts'
import { createRepricingRule } from '#market/repricing/create-repricing-rule.ts'
import { runRepricingRule } from '#market/repricing/run-repricing-rule.ts'
import { simulateRepricingRule } from '#market/repricing/simulate-repricing-rule.ts'
import { ListingSnapshot } from '#market/snapshot/listings.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import type { Config } from '../../config.ts'
import { addDemoCollector } from './demo-collector.ts'

/** Files of `sample/queues`, by format. */
const FILES = { 'mintmark-prices-csv': 'prices.csv', pokemontcg: 'second-source.ndjson' } as const
const INTAKE_QUOTA = 2_000
/** Rows of a seller's file that name no single card of the catalogue. */
const LISTING_ROWS = [
  { sku: 'BOX-17', name: 'Charizard', set: 'Base Set', grade: 'Near Mint', price: 14_500 },
  { sku: 'BOX-18', name: 'Pikachu', price: 320, quantity: 2 },
]

/** A rule that follows the market, for few enough listings to look through. */
const REPRICING_RULE = {
  name: 'One Piece near the market',
  target: { kind: 'market', market: 'source_a', factor: 1.05 },
  scope: { kind: 'items', game: 'onepiece' },
  floor: { price: 25 },
} as const

/** The account that works, and its collections; the first one gets the parked rows. */
interface Seller {
  viewer: Viewer & { kind: 'account' }
  collectionIds: readonly number[]
}

/**
 * Leaves held prices, pending matches, and parked rows of a collection and of listings; the marketplace already has listings that await approval, and
 * the sample disputed prices. Also runs a repricing rule, adds what a collector and buyers do, and records the worth of the collections.
 */
export async function addDemoWork(ctx: PriceWriteCtx, config: Config, { viewer, collectionIds }: Seller): Promise<void> {
  for (const [format, name] of Object.entries(FILES)) await call(importFiles, ctx, { format, files: [sampleFile(name)] })
  const catalogue = new Catalogue(ctx.db, { ...config, readyBytesMb: 1, now: ctx.now })
  await catalogue.load()
  await call(
    importCollection,
    { ...ctx, catalogue },
    { id: collectionIds[0]!, format: 'collectr', file: { path: pathOf('collection.csv'), gzip: false } },
  )
  await call(changeAccount, ctx, { id: viewer.accountId, listing_intake: { quota: INTAKE_QUOTA } })
  const listings = new ListingSnapshot({ ...config, ...ctx, catalogue, readyBytesMb: 1 })
  const seller = { ...ctx, viewer, catalogue, listings, market: config, precondition: null }
  await call(importListings, seller, { rows: LISTING_ROWS })
  const { id } = await call(createRepricingRule, seller, REPRICING_RULE)
  await call(simulateRepricingRule, seller, { id })
  await call(runRepricingRule, seller, { id })
  await addDemoCollector({ ...seller, viewer: ctx.viewer }, { ...seller, currencies: config.sourceCurrencies }, collectionIds[0]!)
  for (const one of collectionIds) await addDemoWorth({ ...ctx, catalogue, currencies: config.sourceCurrencies, market: config }, one)
}

function sampleFile(name: string): ImportFile {
  return { name, size: null, open: () => createReadStream(pathOf(name)) }
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../../../sample/queues/${name}`, import.meta.url))
}
