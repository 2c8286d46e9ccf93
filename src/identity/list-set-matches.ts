// Lists sets pending a decision, and decided ones.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import type { ReadCtx } from '#db/change.ts'
import { pageOfSetMatches, SET_MATCH_STATES } from './set-matches.ts'

export const listSetMatches = listVerb(
  {
    name: 'listSetMatches',
    needs: 'operator',
    filters: { state: Type.Optional(Type.Enum([...SET_MATCH_STATES], { default: 'waiting' })), game: filter('Only this game') },
  },
  ({ db }: ReadCtx, filter, range) => pageOfSetMatches(db.kysely, filter, range),
)
