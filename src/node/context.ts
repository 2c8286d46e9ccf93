// The context that writing verbs of every module need.
import type { MarketWriteCtx } from '#market/marketplace-types.ts'
import type { Config } from '#config.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'

export type NodeCtx = MarketWriteCtx & PriceWriteCtx & { config: Config }
