// What catalogue reads need of their context, and which shape of an item a caller gets.
import { planAllows } from '#core/plans.ts'
import type { Viewer } from '#core/verb.ts'
import type { Catalogue } from './snapshot/catalogue.ts'
import type { ItemShape } from './snapshot/item-json.ts'

export interface CatalogueCtx {
  viewer: Viewer
  catalogue: Catalogue
}

/** Starter gets the reduced item, everyone else the whole (core/plans.ts). */
export function shapeFor(viewer: Viewer): ItemShape {
  return viewer.kind === 'operator' || planAllows(viewer.plan, 'professional') ? 'full' : 'starter'
}
