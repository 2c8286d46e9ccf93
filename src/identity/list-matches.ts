// Lists pending, postponed and decided matches.
import { filter } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { type Match, MATCH_STATES, pageOfMatches } from './matches.ts'
import { REASON_RULES } from './reason-text.ts'

export const listMatches = verb(
  {
    name: 'listMatches',
    needs: 'operator',
    input: Type.Object(
      {
        state: Type.Optional(Type.Enum([...MATCH_STATES], { default: 'waiting' })),
        game: filter('Only this game'),
        source: filter('Only records of this source, such as `pokemontcg`'),
        set: filter("Ref or name of the record's set"),
        reason: Type.Optional(Type.Enum([...REASON_RULES], { description: 'Pending because of this rule' })),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  (ctx: ReadCtx, input): Promise<Page<Match>> => readPage(input, (filter, limit, offset) => pageOfMatches(ctx.db.kysely, filter, limit, offset)),
)
