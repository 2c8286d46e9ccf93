// A person's console sessions: list and end them.
import { existing, id, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { pageOf } from '#db/page.ts'
import { selfOrOwner } from './fields.ts'
import { endSessions, fetchPerson, noteChangedPermissions } from './people-store.ts'

const COLUMNS = ['id', 'token_id', 'by_provider', 'address', 'browser', 'created_at', 'last_used_at', 'expires_at'] as const

/** Lists the open console sessions of a person, newest first. */
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

/** Ends one session of a person; every node rejects it within a second. */
export const endPersonSession = verb(
  {
    name: 'endPersonSession',
    needs: 'self',
    input: Type.Object({ id: id('person'), session_id: id('session') }),
  },
  async (ctx: WriteCtx, { id, session_id: sessionId }) => {
    selfOrOwner(ctx, id)
    return change(ctx, async (tx, note): Promise<{ ended: number }> => {
      await fetchPerson(tx, id)
      const ended = await endSessions(tx, id, { only: existing('session', sessionId) })
      if (ended === 0) throw missing('session', sessionId)
      note.audit({ action: 'person.end-session', subject: 'person', id, after: { session_id: sessionId } })
      noteChangedPermissions(note, id)
      return { ended }
    })
  },
)

/** Ends all sessions of a person; every node rejects them within a second. */
export const endPersonSessions = verb(
  { name: 'endPersonSessions', needs: 'self', input: Type.Object({ id: id('person') }) },
  async (ctx: WriteCtx, { id }) => {
    selfOrOwner(ctx, id)
    return change(ctx, async (tx, note): Promise<{ ended: number }> => {
      await fetchPerson(tx, id)
      const ended = await endSessions(tx, id)
      if (ended === 0) return { ended }
      note.audit({ action: 'person.end-sessions', subject: 'person', id, after: { ended } })
      noteChangedPermissions(note, id)
      return { ended }
    })
  },
)
