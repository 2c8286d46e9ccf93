// Returns one match: the source record beside its candidates.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { fetchMatch, type Match } from './matches.ts'

export const getMatch = verb(
  { name: 'getMatch', needs: 'operator', input: Type.Object({ id: id('match') }, { additionalProperties: false }) },
  (ctx: ReadCtx, { id }): Promise<Match> => fetchMatch(ctx.db.kysely, id),
)
