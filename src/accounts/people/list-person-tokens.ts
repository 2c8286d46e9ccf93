// Lists a person's API tokens, including revoked ones, without secrets.
import { id } from '#core/fields.ts'
import { listVerb } from '#core/paging.ts'
import type { ReadCtx } from '#db/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { pageOf } from '#db/page.ts'
import { selfOrOwner } from './fields.ts'
import { fetchPerson, TOKEN_COLUMNS } from './store.ts'

export const listPersonTokens = listVerb(
  { name: 'listPersonTokens', needs: 'self', filters: { id: id('person') } },
  async (ctx: ReadCtx, { id }, range) => {
    selfOrOwner(ctx, id)
    const on = ctx.db.kysely
    await fetchPerson(on, id)
    return pageOf(on.selectFrom('person_tokens').where('person_id', '=', id).select(TOKEN_COLUMNS).orderBy('id'), range, jsonReady)
  },
)
