// Context of catalogue reads, and which item shape a caller gets.
import { planAllows } from '#core/plans.ts'
import type { Caller, PlanViewer } from '#core/verb.ts'
import type { Catalogue } from './snapshot/catalogue.ts'
import type { ItemShape } from './snapshot/item-json.ts'

/** What a node holds of the catalogue. */
export interface CatalogueNode {
  catalogue: Catalogue
}

/** What reads of the catalogue need, which answer everyone on a plan alike. */
export interface CatalogueCtx extends CatalogueNode {
  viewer: PlanViewer
}

/** Starter gets the reduced item, everyone else the whole (core/plans.ts). */
export function shapeFor(viewer: Caller): Exclude<ItemShape, 'stats'> {
  return viewer.kind === 'operator' || planAllows(viewer.plan, 'professional') ? 'full' : 'starter'
}

/** The same where `with_stats` may add the evidence of prices; Starter's shape has no room for it. */
export function shapeWithStats(viewer: Caller, withStats = false): ItemShape {
  const shape = shapeFor(viewer)
  return withStats && shape === 'full' ? 'stats' : shape
}
