// Reverts an import: restores earlier prices and removes catalogue data that only this import stated.
import { CATALOGUE_FORMATS } from '#catalogue/sources/formats.ts'
import { lockIdentity } from '#catalogue/records/identity-lock.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { judgePrices } from '#prices/judging/judge-prices.ts'
import { reinstateCatalogue, revertCatalogue } from '#identity/revert-catalogue.ts'
import { closeRevert, openRevert, revertPrices, rootOf } from '#prices/reverting/revert-prices.ts'
import { itemsWithOtherSharing } from '#prices/judging/shared-ids.ts'
import type { ImportDetail } from '#prices/imports/stored-imports.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'

export const revertImport = verb(
  { name: 'revertImport', needs: 'catalogue', input: Type.Object({ id: id('import') }) },
  (ctx: PriceWriteCtx, { id }) =>
    change(ctx, async (tx, note): Promise<ImportDetail> => {
      const { format } = await rootOf(tx, id)
      const isCatalogue = CATALOGUE_FORMATS.some(({ name }) => name === format)
      if (isCatalogue) await lockIdentity(tx)
      const opened = await openRevert(ctx, tx, id)
      const { importId, root, restores } = opened
      // Prices need their items: a revert removes prices before items, and a restore restores items before prices.
      const back = isCatalogue && restores ? await reinstateCatalogue(ctx, tx, note, root.id) : null
      const { prices, held, itemIds } = await revertPrices(ctx, tx, note, opened)
      const gone = isCatalogue && !restores ? await revertCatalogue(ctx, tx, note, { importId: root.id, by: importId }) : null
      await judgePrices(ctx, tx, note, isCatalogue ? [...itemIds, ...(await itemsWithOtherSharing(tx))] : itemIds)
      const { records = 0, kept = 0 } = back ?? gone ?? {}
      note.audit({
        action: 'import.revert',
        subject: 'import',
        id,
        after: { batch: importId, prices, held, ...(isCatalogue && { records, kept }) },
      })
      return closeRevert(tx, opened, { prices, items: records }, ctx.now())
    }),
)
