// Markets and grades in queries, as under /markets and /groups over REST.
import { GroupSchema } from '#catalogue/categories/list-groups.ts'
import { MarketSchema } from '#catalogue/list-markets.ts'
import type { Builder } from '../building/builder.ts'
import { objectFrom } from '../building/from-schema.ts'

export function addMarketType(builder: Builder) {
  return objectFrom(builder, MarketSchema, { name: 'PriceMarket' })
}

export function addGradeGroupType(builder: Builder) {
  return objectFrom(builder, GroupSchema, { entries: { types: 15 } })
}
