// Lists the open console sessions of a person, newest first.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { WriteCtx } from '#db/change.ts'
import { selfOrOwner } from './fields.ts'
import { fetchPerson, pageOfSessions } from './store.ts'
import type { PersonSession } from './types.ts'

export const listPersonSessions = verb(
  { name: 'listPersonSessions', needs: 'self', input: Type.Object({ id: id('person'), ...pageParams() }, { additionalProperties: false }) },
  async (ctx: Pick<WriteCtx, 'db' | 'viewer' | 'now'>, { id, ...paging }): Promise<Page<PersonSession>> => {
    selfOrOwner(ctx, id)
    await fetchPerson(ctx.db.kysely, id)
    const current = ctx.viewer.kind === 'operator' ? ctx.viewer.person?.sessionId : undefined
    return readPage(paging, (_all, limit, offset) => pageOfSessions(ctx.db.kysely, id, { current, now: ctx.now(), limit, offset }))
  },
)
