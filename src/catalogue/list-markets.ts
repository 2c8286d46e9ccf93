// Lists markets with name, currency and time of their latest price.
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { SourceTermsFields } from '#prices/reviews/change-source.ts'
import type { CatalogueCtx } from './context.ts'
import { utcTime } from './snapshot/item-json.ts'

export const MarketSchema = Type.Object(
  {
    code: Type.Enum([...MARKETS]),
    name: Type.String({ description: 'Name set by the operator, otherwise the code', examples: ['PriceCharting'] }),
    currency: Type.String({ description: 'ISO 4217 code', examples: ['USD'] }),
    ...SourceTermsFields,
    last_price_at: orNull(Type.String({ format: 'date-time' }), {
      description: 'Time of the latest current price, UTC; null if there are no prices, or none that may be shown',
    }),
  },
  { title: 'Market', description: 'A market that provides prices' },
)
export type MarketEntry = Static<typeof MarketSchema>

export const listMarkets = verb(
  { name: 'listMarkets', needs: OPERATION_PLAN.listMarkets, sharedBy: 'plan', input: Type.Object({}) },
  ({ catalogue: { items, currencies, marketNames, terms } }: CatalogueCtx): MarketEntry[] =>
    MARKETS.map((code, position) => {
      const newestMs = items.prices.newestMs(position)
      return {
        code,
        name: marketNames[code] ?? code,
        currency: currencies[code],
        use: terms[position]!.use,
        licence: terms[position]!.licence,
        last_price_at: newestMs === null ? null : utcTime(newestMs),
      }
    }),
)
