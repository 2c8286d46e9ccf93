// What resolvers get besides their source and arguments.
import type { CatalogueCtx } from '#catalogue/context.ts'
import type { Market } from '#core/markets.ts'

export interface GraphqlCtx extends CatalogueCtx {
  currencies: Readonly<Record<Market, string>>
}
