// Context of resolvers: the same as for REST, so that mutations call the same verbs.
import type { CatalogueNode } from '#catalogue/context.ts'
import type { HasViewer } from '#core/verb.ts'
import type { PublicCtx } from '#public-context.ts'

export interface GraphqlCtx extends PublicCtx {
  /** as in QueryCtx */
  reads?: (() => boolean)[]
  /** set in the resolver of a mutation that is a dry run */
  dryRun?: boolean
}

/** The part of the context that resolvers of queries use. */
export type QueryCtx = HasViewer &
  CatalogueNode &
  Pick<PublicCtx, 'currencies'> & {
    /** where resolvers add, for each page or item of the catalogue that they read, whether it would be the same now */
    reads?: (() => boolean)[]
  }
