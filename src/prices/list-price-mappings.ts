// Lists the saved mappings of price lists, by name.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { type SavedMapping, savedMappings } from './saved-mappings.ts'

export const listPriceMappings = verb(
  { name: 'listPriceMappings', needs: 'operator', input: Type.Object({}, { additionalProperties: false }) },
  (ctx: ReadCtx): Promise<SavedMapping[]> => savedMappings(ctx.db.kysely),
)
