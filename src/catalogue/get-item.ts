// One item by id (interface.md, "GET /api/v1/items/{id}").
import { itemNotFound } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { verb } from '#core/verb.ts'
import { type CatalogueCtx, shapeFor } from './context.ts'
import { IdParam } from './params.ts'
import type { ItemShape } from './snapshot/item-json.ts'

export const getItem = verb(
  { name: 'getItem', needs: OPERATION_PLAN.getItem, sharedBy: 'plan', input: Type.Object({ id: IdParam }, { additionalProperties: false }) },
  (ctx: CatalogueCtx, { id }): { rows: Int32Array; shape: ItemShape } => {
    const row = ctx.catalogue.items.rowOf(id)
    if (row < 0) throw itemNotFound(id)
    return { rows: Int32Array.of(row), shape: shapeFor(ctx.viewer) }
  },
)
