// Changes an item; what is not named stays.
import { invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { closed } from './fields.ts'
import { fieldsOf, ItemBody, resolveItem } from './item-fields.ts'
import { lockItem, renameRef, saveItems } from './store.ts'
import { fetchItem } from './stored-items.ts'
import type { StoredItem } from './stored-schemas.ts'
import { refuseTaken } from './taken.ts'

const { name, market, category_id, ...optional } = ItemBody

export const changeItem = verb(
  {
    name: 'changeItem',
    needs: 'operator',
    input: Type.Object(
      {
        id: id('item'),
        name: Type.Optional(name),
        market: Type.Optional(market),
        category_id: Type.Optional(category_id),
        ...optional,
      },
      closed,
    ),
  },
  (ctx: WriteCtx, { id, ...fields }) =>
    change(ctx, async (tx, note): Promise<StoredItem> => {
      if (Object.keys(fields).length === 0) {
        throw invalid('body', 'at_least_one', { fields: Object.keys(ItemBody) })
      }
      await lockItem(tx, id)
      const before = await fetchItem(tx, id)
      const write = await resolveItem(tx, { ...fieldsOf(before), ...fields })
      const { ref: newRef, market: newMarket } = write.record
      await refuseTaken('item', async () => {
        if (newRef !== before.ref || newMarket !== before.market) await renameRef(tx, note, 'items', id, newRef, newMarket)
        await saveItems(tx, note, [write])
      })
      const after = await fetchItem(tx, id)
      note.audit({ action: 'item.change', subject: 'item', id, before, after })
      return after
    }),
)
