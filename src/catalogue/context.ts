// The context of catalogue reads, and the item shape that a caller gets.
import { planAllows } from '#core/plans.ts'
import type { Caller, PlanViewer } from '#core/verb.ts'
import type { Catalogue } from './snapshot/catalogue.ts'
import type { ItemShape } from './snapshot/item-json.ts'

/** The in-memory data of a node. */
export interface CatalogueNode {
  catalogue: Catalogue
}

/** Which markets a response may show and use, by position in MARKETS. */
export interface MarketUse {
  mayUse: (market: number) => boolean
}

/** The context of catalogue reads whose response depends only on the caller's plan. */
export interface CatalogueCtx extends CatalogueNode {
  viewer: PlanViewer
}

/** Starter gets the reduced item, all other plans the full one (core/plans.ts). */
export function shapeFor(viewer: Caller): Exclude<ItemShape, 'stats'> {
  return viewer.kind === 'operator' || planAllows(viewer.plan, 'professional') ? 'full' : 'starter'
}

/** Like `shapeFor`, with the evidence of prices if `with_stats` is set; Starter's shape never includes it. */
export function shapeWithStats(viewer: Caller, withStats = false): ItemShape {
  const shape = shapeFor(viewer)
  return withStats && shape === 'full' ? 'stats' : shape
}
