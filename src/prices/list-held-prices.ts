// Held prices as operators see them, those furthest off first.
import { Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { HELD_STATES, type HeldPrice, pageOfHeld } from './held.ts'
import { RULE_NAMES } from './quarantine.ts'

const Id = (of: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, description: `Of this ${of} only` }))

/** By what held prices are chosen. */
export const HeldFields = {
  rule: Type.Optional(Type.Enum([...RULE_NAMES], { description: 'Held by this rule' })),
  market: Type.Optional(Type.Enum([...MARKETS])),
  import_id: Id('import'),
  item_id: Id('item'),
}

export const listHeldPrices = verb(
  {
    name: 'listHeldPrices',
    needs: 'operator',
    input: Type.Object(
      { ...HeldFields, state: Type.Optional(Type.Enum([...HELD_STATES], { default: 'open' })), ...pageParams(20) },
      { additionalProperties: false },
    ),
  },
  async (ctx: ReadCtx, { page = 1, per_page: perPage = 20, ...filter }): Promise<Page<HeldPrice>> => {
    const { rows, total } = await pageOfHeld(ctx.db.kysely, filter, perPage, (page - 1) * perPage)
    return { rows, pagination: pagination(page, perPage, total) }
  },
)
