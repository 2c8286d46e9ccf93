// Changes an item; omitted fields stay unchanged.
import { invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change } from '#db/changes/change.ts'
import { judgePrices } from '#prices/judging/judge-prices.ts'
import { itemsSharingWith } from '#prices/judging/shared-ids.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { adoptItems } from './adopt-items.ts'
import { CatalogueNames, recompose } from './compose-items.ts'
import { fieldsOf, ItemBody, type ItemFields, resolveItem } from './item-fields.ts'
import { factsOfChange, stateByOperator } from './operator-facts.ts'
import { lockItem } from '../records/item-store.ts'
import { fetchItem } from './stored-items.ts'
import type { StoredItem } from '../stored-schemas.ts'
import { refuseTakenRef, refuseTaken } from '../records/unique-violations.ts'

const { name, market, category_id, ...optional } = ItemBody

export const changeItem = verb(
  {
    name: 'changeItem',
    needs: 'catalogue',
    input: Type.Object({
      id: id('item'),
      name: Type.Optional(name),
      market: Type.Optional(market),
      category_id: Type.Optional(category_id),
      ...optional,
    }),
  },
  (ctx: PriceWriteCtx, { id, ...fields }) =>
    change(ctx, async (tx, note): Promise<StoredItem> => {
      if (Object.keys(fields).length === 0) {
        throw invalid('body', 'at_least_one', { fields: Object.keys(ItemBody) })
      }
      const liveId = await lockItem(tx, id)
      const before = await fetchItem(tx, liveId)
      const write = await resolveItem(tx, { ...fieldsOf(before), ...fields })
      if (fields.ref !== undefined && fields.ref !== before.ref) await refuseTakenRef(tx, write.record.market, fields.ref)
      await adoptItems(tx, note.at, { ids: [liveId] })
      const sharing = await itemsSharingWith(tx, [liveId])
      const facts = await factsOfChange(tx, liveId, Object.keys(fields) as (keyof ItemFields)[], write)
      await stateByOperator(tx, liveId, facts, { ...write.record, author: actorOf(ctx.viewer), at: note.at })
      await refuseTaken('item', () => recompose(tx, note, new CatalogueNames(tx), [liveId]))
      const after = await fetchItem(tx, liveId)
      if (fields.foreign_ids !== undefined) await judgePrices(ctx, tx, note, [...sharing, ...(await itemsSharingWith(tx, [liveId]))])
      note.audit({ action: 'item.change', subject: 'item', id: liveId, before, after })
      return after
    }),
)
