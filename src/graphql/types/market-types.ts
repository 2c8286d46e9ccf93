// Markets and grades in queries, as under /markets and /groups over REST.
import type { Group } from '#catalogue/categories/list-groups.ts'
import type { MarketEntry } from '#catalogue/list-markets.ts'
import { type Builder, cost } from '../building/builder.ts'

export function addMarketType(builder: Builder) {
  return builder.objectRef<MarketEntry>('PriceMarket').implement({
    description: 'A market that provides prices.',
    fields: (t) => ({
      code: t.exposeString('code', { nullable: false, description: '`service`, `source_a`, `source_b` or `source_c`.' }),
      name: t.exposeString('name', { nullable: false, description: 'Name set by the operator, otherwise the code.' }),
      currency: t.exposeString('currency', { nullable: false, description: 'ISO 4217 code.' }),
      lastPriceAt: t.exposeString('last_price_at', {
        nullable: true,
        description: 'Time of the latest current price, UTC; null if there are no prices.',
      }),
    }),
  })
}

export function addGradeGroupType(builder: Builder) {
  const grade = builder.objectRef<Group['types'][number]>('Grade').implement({
    description: 'A condition or grade.',
    fields: (t) => ({
      id: t.exposeID('id', { nullable: false, description: 'Unique among groups and grades.' }),
      label: t.exposeString('label', { nullable: false, description: 'Such as `Near Mint` or `PSA 10`.' }),
      slug: t.exposeString('slug', { nullable: false, description: 'URL-friendly name.' }),
    }),
  })
  return builder.objectRef<Group>('GradeGroup').implement({
    description: 'A group of conditions or grades.',
    fields: (t) => ({
      id: t.exposeID('id', { nullable: false, description: 'Unique among groups and grades.' }),
      name: t.exposeString('name', { nullable: false, description: '`Ungraded` or `Graded`.' }),
      slug: t.exposeString('slug', { nullable: false, description: 'URL-friendly name.' }),
      types: t.field({
        type: [grade],
        nullable: false,
        description: 'Conditions or grades below the group.',
        extensions: cost({ entries: 15 }),
        resolve: (group) => group.types,
      }),
    }),
  })
}
