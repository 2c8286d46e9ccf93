// Ends one session of a person; every node rejects it within a second.
import { existing, id, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { selfOrOwner } from './fields.ts'
import { endSessions, fetchPerson, noteChangedPermissions } from './store.ts'

export const endPersonSession = verb(
  {
    name: 'endPersonSession',
    needs: 'self',
    input: Type.Object({ id: id('person'), session_id: id('session') }, { additionalProperties: false }),
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
