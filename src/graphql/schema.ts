// GraphQL schema v3, assembled from its types.
import type { GraphQLSchema } from 'graphql'
import { MARKETS } from '#core/markets.ts'
import { newBuilder, newRefs } from './building/builder.ts'
import { implementCollections } from './collections/collection-queries.ts'
import { implementCategory } from './types/category-type.ts'
import { addDryRuns } from './building/dry-run.ts'
import { implementEvents } from './types/event-query.ts'
import { gateItemFields } from './building/gating.ts'
import { implementItem } from './types/item-type.ts'
import { implementMutations } from './types/mutations.ts'
import { implementLots } from './collections/lots.ts'
import { implementOffers } from './types/offers.ts'
import { implementPages } from './building/pages.ts'
import { implementPriceJobs } from './types/price-job-fields.ts'
import { implementQuery } from './types/query.ts'
import { implementRepricing } from './types/repricing.ts'
import { implementSandboxes } from './sandbox/sandbox-fields.ts'
import { implementSales } from './types/sales-queries.ts'
import { implementSellerQueries } from './types/seller-query.ts'
import { implementVacation } from './types/vacation.ts'
import { implementWatches } from './collections/watches.ts'
import { implementWorthHistory } from './types/worth-history.ts'

let schema: GraphQLSchema | null = null

/** The schema; all nodes of a process share it. */
export function graphqlSchema(): GraphQLSchema {
  return (schema ??= buildSchema())
}

function buildSchema(): GraphQLSchema {
  const builder = newBuilder()
  const refs = newRefs(builder)
  implementQuery(builder, refs)
  implementPages(refs)
  implementCategory(refs)
  implementItem(builder, refs)
  implementEvents(builder)
  implementSales(builder, refs)
  implementSellerQueries(builder)
  implementMutations(builder)
  implementPriceJobs(builder, refs)
  implementVacation(builder)
  implementSandboxes(builder)
  implementRepricing(builder)
  implementOffers(builder)
  implementLots(builder)
  implementWatches(builder)
  implementWorthHistory(builder)
  implementCollections(builder)
  builder.enumType('Market', {
    description: 'Markets that provide prices. Arguments named `market` take these names as strings, or the lower-case codes.',
    values: Object.fromEntries(MARKETS.map((market) => [market.toUpperCase(), { value: market, description: MARKET_TEXTS[market] }])),
  })
  const built = builder.toSchema({ sortSchema: false })
  gateItemFields(built)
  addDryRuns(built)
  return built
}

const MARKET_TEXTS = {
  service: "The service's own market: prices from its own sales.",
  source_a: 'First external price source.',
  source_b: 'Second external price source.',
  source_c: 'Third external price source.',
} as const
