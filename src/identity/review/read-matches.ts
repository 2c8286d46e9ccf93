// Reads matches of records and of sets: pending, postponed and decided ones.
import { filter, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { fetchMatch, type Match, MATCH_STATES, pageOfMatches } from './matches.ts'
import { REASON_RULES } from './reason-text.ts'
import { pageOfSetMatches, SET_MATCH_STATES } from './set-matches.ts'

/** Lists pending, postponed and decided matches. */
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

/** Returns one match: the source record beside its candidates. */
export const getMatch = verb(
  { name: 'getMatch', needs: 'operator', input: Type.Object({ id: id('match') }) },
  (ctx: ReadCtx, { id }): Promise<Match> => fetchMatch(ctx.db.kysely, id),
)

/** Lists sets pending a decision, and decided ones. */
export const listSetMatches = listVerb(
  {
    name: 'listSetMatches',
    needs: 'operator',
    filters: { state: Type.Optional(Type.Enum([...SET_MATCH_STATES], { default: 'waiting' })), game: filter('Only this game') },
  },
  ({ db }: ReadCtx, filter, range) => pageOfSetMatches(db.kysely, filter, range),
)
