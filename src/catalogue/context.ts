// What catalogue reads need of their context, and which shape of an item a caller gets.
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
export function shapeFor(viewer: Caller): ItemShape {
  return viewer.kind === 'operator' || planAllows(viewer.plan, 'professional') ? 'full' : 'starter'
}
