// Creates an item manually; feeds create items by import.
import { newId } from '#core/process/time-and-chance.ts'
import { conflict } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change } from '#db/changes/change.ts'
import { judgePrices } from '#prices/judging/judge-prices.ts'
import { itemsSharingWith } from '#prices/judging/shared-ids.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { ItemBody, resolveItem } from './item-fields.ts'
import { factsOfNew, stateByOperator } from './operator-facts.ts'
import { saveItems } from '../records/item-store.ts'
import { fetchItem } from './stored-items.ts'
import type { StoredItem } from '../stored-schemas.ts'
import { refuseTakenRef, refuseTaken } from '../records/unique-violations.ts'

export const createItem = verb(
  { name: 'createItem', needs: 'catalogue', input: Type.Object(ItemBody) },
  (ctx: PriceWriteCtx, { ref = `manual:${newId()}`, ...fields }) =>
    change(ctx, async (tx, note): Promise<StoredItem> => {
      const write = await resolveItem(tx, { ...fields, ref })
      await refuseTakenRef(tx, write.record.market, ref)
      const { ids } = await refuseTaken('item', () => saveItems(tx, note, [write]))
      const id = ids[0]!
      await stateByOperator(tx, id, await factsOfNew(tx, write), { ...write.record, author: actorOf(ctx.viewer), at: note.at })
      const item = await fetchItem(tx, id)
      if (fields.slug !== undefined && item.slug !== fields.slug) throw conflict('taken', { thing: 'item', field: 'slug' })
      await judgePrices(ctx, tx, note, await itemsSharingWith(tx, [id]))
      note.audit({ action: 'item.create', subject: 'item', id, after: item })
      return item
    }),
)
