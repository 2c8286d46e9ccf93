// Lists the open console sessions of a person, newest first.
import { id } from '#core/fields.ts'
import { listVerb } from '#core/paging.ts'
import type { WriteCtx } from '#db/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { pageOf } from '#db/page.ts'
import { selfOrOwner } from './fields.ts'
import { fetchPerson } from './store.ts'

const COLUMNS = ['id', 'token_id', 'address', 'browser', 'created_at', 'last_used_at', 'expires_at'] as const

export const listPersonSessions = listVerb(
  { name: 'listPersonSessions', needs: 'self', filters: { id: id('person') } },
  async (ctx: Pick<WriteCtx, 'db' | 'viewer' | 'now'>, { id }, range) => {
    selfOrOwner(ctx, id)
    const on = ctx.db.kysely
    await fetchPerson(on, id)
    const current = ctx.viewer.kind === 'operator' ? ctx.viewer.person?.sessionId : undefined
    const open = on.selectFrom('person_sessions').where('person_id', '=', id).where('expires_at', '>', ctx.now())
    return pageOf(open.select(COLUMNS).orderBy('id', 'desc'), range, ({ token_id: tokenId, ...row }) =>
      jsonReady({ ...row, by_token: tokenId !== null, current: row.id === current }),
    )
  },
)
