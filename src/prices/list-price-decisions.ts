// Lists decisions about prices, newest first.
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { DECISION_STATES, DECISIONS, pageOfDecisions, type PriceDecision } from './price-decisions.ts'

export const listPriceDecisions = verb(
  {
    name: 'listPriceDecisions',
    needs: 'operator',
    input: Type.Object(
      { state: Type.Optional(Type.Enum([...DECISION_STATES])), decision: Type.Optional(Type.Enum([...DECISIONS])), ...pageParams() },
      { additionalProperties: false },
    ),
  },
  (ctx: ReadCtx, input): Promise<Page<PriceDecision>> =>
    readPage(input, (filter, limit, offset) => pageOfDecisions(ctx.db.kysely, filter, limit, offset)),
)
