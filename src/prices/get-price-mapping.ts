// Returns a saved mapping.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { mappingName, type SavedMapping, savedMapping } from './saved-mappings.ts'

export const getPriceMapping = verb(
  { name: 'getPriceMapping', needs: 'operator', input: Type.Object({ name: mappingName() }, { additionalProperties: false }) },
  (ctx: ReadCtx, { name }): Promise<SavedMapping> => savedMapping(ctx.db.kysely, name.trim()),
)
