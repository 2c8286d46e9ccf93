// The context that writing verbs of every module need.
import type { MarketWriteCtx } from '#market/types.ts'
import type { PriceWriteCtx } from '#prices/records/types.ts'

export type NodeCtx = MarketWriteCtx & PriceWriteCtx
