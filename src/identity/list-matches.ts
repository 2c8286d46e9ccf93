// Lists pending, postponed and decided matches.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import type { ReadCtx } from '#db/change.ts'
import { MATCH_STATES, pageOfMatches } from './matches.ts'
import { REASON_RULES } from './reason-text.ts'

export const listMatches = listVerb(
  {
    name: 'listMatches',
    needs: 'operator',
    filters: {
      state: Type.Optional(Type.Enum([...MATCH_STATES], { default: 'waiting' })),
      game: filter('Only this game'),
      source: filter('Only records of this source, such as `pokemontcg`'),
      set: filter("Ref or name of the record's set"),
      reason: Type.Optional(Type.Enum([...REASON_RULES], { description: 'Pending because of this rule' })),
    },
  },
  ({ db }: ReadCtx, filter, range) => pageOfMatches(db.kysely, filter, range),
)
