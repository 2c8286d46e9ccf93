// Lists a person's API tokens, including revoked ones, without secrets.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { selfOrOwner } from './fields.ts'
import { fetchPerson, pageOfTokens } from './store.ts'
import type { PersonToken } from './types.ts'

export const listPersonTokens = verb(
  { name: 'listPersonTokens', needs: 'self', input: Type.Object({ id: id('person'), ...pageParams() }, { additionalProperties: false }) },
  async (ctx: ReadCtx, { id, ...paging }): Promise<Page<PersonToken>> => {
    selfOrOwner(ctx, id)
    await fetchPerson(ctx.db.kysely, id)
    return readPage(paging, (_all, limit, offset) => pageOfTokens(ctx.db.kysely, id, limit, offset))
  },
)
