// Saved column mappings of price lists: list, read, save and delete them.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type ReadCtx, type WriteCtx } from '#db/changes/change.ts'
import { readMapping } from '../records/mappings.ts'
import { mappingName, PriceMappingSchema, type SavedMapping, savedMapping, savedMappings, saveMapping } from './saved-mappings.ts'

/** Lists the saved mappings of price lists, by name. */
export const listPriceMappings = verb(
  { name: 'listPriceMappings', needs: 'operator', input: Type.Object({}) },
  (ctx: ReadCtx): Promise<SavedMapping[]> => savedMappings(ctx.db.kysely),
)

/** Returns a saved mapping. */
export const getPriceMapping = verb(
  { name: 'getPriceMapping', needs: 'operator', input: Type.Object({ name: mappingName() }) },
  (ctx: ReadCtx, { name }): Promise<SavedMapping> => savedMapping(ctx.db.kysely, name.trim()),
)

/** Creates or replaces a named column mapping. */
export const savePriceMapping = verb(
  {
    name: 'savePriceMapping',
    needs: 'catalogue',
    input: Type.Object({ name: mappingName(), ...PriceMappingSchema.properties }),
  },
  (ctx: WriteCtx, { name: untrimmed, ...mapping }): Promise<SavedMapping> => {
    readMapping(mapping, 'columns')
    const name = untrimmed.trim()
    return change(ctx, async (tx, note) => {
      const saved = { name, mapping, author: actorOf(ctx.viewer), at: ctx.now() }
      const before = await saveMapping(tx, saved)
      note.audit({ action: 'price-mapping.save', subject: 'price-mapping', id: name, before, after: mapping })
      return { name, mapping, author: saved.author, saved_at: saved.at.toISOString() }
    })
  },
)

/** Deletes a saved mapping; imports that used it are unaffected. */
export const deletePriceMapping = verb(
  { name: 'deletePriceMapping', needs: 'catalogue', input: Type.Object({ name: mappingName() }) },
  (ctx: WriteCtx, { name: untrimmed }): Promise<void> => {
    const name = untrimmed.trim()
    return change(ctx, async (tx, note) => {
      const { mapping } = await savedMapping(tx, name)
      await tx.deleteFrom('price_mappings').where('name', '=', name).execute()
      note.audit({ action: 'price-mapping.delete', subject: 'price-mapping', id: name, before: mapping })
    })
  },
)
