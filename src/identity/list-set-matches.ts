// Lists sets pending a decision, and decided ones.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { pageOfSetMatches, type SetMatch, SET_MATCH_STATES } from './set-matches.ts'

export const listSetMatches = verb(
  {
    name: 'listSetMatches',
    needs: 'operator',
    input: Type.Object(
      { state: Type.Optional(Type.Enum([...SET_MATCH_STATES], { default: 'waiting' })), game: filter('Only this game'), ...pageParams() },
      { additionalProperties: false },
    ),
  },
  (ctx: ReadCtx, input): Promise<Page<SetMatch>> =>
    readPage(input, (filter, limit, offset) => pageOfSetMatches(ctx.db.kysely, filter, limit, offset)),
)
