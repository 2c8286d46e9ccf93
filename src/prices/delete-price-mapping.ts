// Deletes a saved mapping; imports that used it are unaffected.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { mappingName, savedMapping } from './saved-mappings.ts'

export const deletePriceMapping = verb(
  { name: 'deletePriceMapping', needs: 'catalogue', input: Type.Object({ name: mappingName() }, { additionalProperties: false }) },
  (ctx: WriteCtx, { name: given }): Promise<void> => {
    const name = given.trim()
    return change(ctx, async (tx, note) => {
      const { mapping } = await savedMapping(tx, name)
      await tx.deleteFrom('price_mappings').where('name', '=', name).execute()
      note.audit({ action: 'price-mapping.delete', subject: 'price-mapping', id: name, before: mapping })
    })
  },
)
