// Lists the operator's search synonyms, ordered by word.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { loadSynonyms, type Synonym } from '../index/synonyms.ts'

export const listSynonyms = verb(
  { name: 'listSynonyms', needs: 'operator', input: Type.Object({}) },
  (ctx: ReadCtx): Promise<Synonym[]> => loadSynonyms(ctx.db.kysely),
)
