// Lists held prices, largest deviation first.
import { boundedId } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { listVerb } from '#core/paging.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { HELD_RULES, HELD_STATES, pageOfHeld } from '../writing/held.ts'

/** The filters of held prices. */
export const HeldFields = {
  rule: Type.Optional(Type.Enum([...HELD_RULES], { description: 'Only prices held by this rule, or `withdrawn` by a person' })),
  market: Type.Optional(Type.Enum([...MARKETS])),
  import_id: boundedId('Only this import'),
  item_id: boundedId('Only this item'),
}

export const listHeldPrices = listVerb(
  {
    name: 'listHeldPrices',
    needs: 'operator',
    filters: { ...HeldFields, state: Type.Optional(Type.Enum([...HELD_STATES], { default: 'open' })) },
  },
  ({ db }: ReadCtx, filter, range) => pageOfHeld(db.kysely, filter, range),
)
