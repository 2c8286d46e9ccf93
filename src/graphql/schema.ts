// GraphQL schema v3, assembled from its types.
import type { GraphQLSchema } from 'graphql'
import { MARKETS } from '#core/markets.ts'
import { newBuilder, newRefs } from './builder.ts'
import { implementCategory } from './category-type.ts'
import { addDryRuns } from './dry-run.ts'
import { implementEvents } from './event-query.ts'
import { gateItemFields } from './gating.ts'
import { implementItem } from './item-type.ts'
import { implementMutations } from './mutations.ts'
import { implementPages } from './pages.ts'
import { implementPriceJobs } from './price-job-fields.ts'
import { implementQuery } from './query.ts'
import { implementRepricing } from './repricing.ts'
import { implementSales } from './sales-queries.ts'
import { implementSellerQueries } from './seller-query.ts'
import { implementVacation } from './vacation.ts'
import { implementWorthHistory } from './worth-history.ts'

export function buildSchema(): GraphQLSchema {
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
  implementRepricing(builder)
  implementWorthHistory(builder)
  builder.enumType('Market', {
    description: 'Markets that provide prices. Arguments named `market` take these names as strings, or the lower-case codes.',
    values: Object.fromEntries(MARKETS.map((market) => [market.toUpperCase(), { value: market, description: MARKET_TEXTS[market] }])),
  })
  const schema = builder.toSchema({ sortSchema: false })
  gateItemFields(schema)
  addDryRuns(schema)
  return schema
}

const MARKET_TEXTS = {
  service: "The service's own market: prices from its own sales.",
  source_a: 'First external price source.',
  source_b: 'Second external price source.',
  source_c: 'Third external price source.',
} as const
