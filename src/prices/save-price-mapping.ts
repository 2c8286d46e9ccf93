// Creates or replaces a named column mapping.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type WriteCtx } from '#db/change.ts'
import { readMapping } from './mappings.ts'
import { mappingName, PriceMappingSchema, type SavedMapping, saveMapping } from './saved-mappings.ts'

export const savePriceMapping = verb(
  {
    name: 'savePriceMapping',
    needs: 'catalogue',
    input: Type.Object({ name: mappingName(), ...PriceMappingSchema.properties }, { additionalProperties: false }),
  },
  (ctx: WriteCtx, { name: given, ...mapping }): Promise<SavedMapping> => {
    readMapping(mapping, 'columns')
    const name = given.trim()
    return change(ctx, async (tx, note) => {
      const saved = { name, mapping, author: actorOf(ctx.viewer), at: ctx.now() }
      const before = await saveMapping(tx, saved)
      note.audit({ action: 'price-mapping.save', subject: 'price-mapping', id: name, before, after: mapping })
      return { name, mapping, author: saved.author, saved_at: saved.at.toISOString() }
    })
  },
)
