// Ends all sessions of a person; every node rejects them within a second.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { selfOrOwner } from './fields.ts'
import { endSessions, fetchPerson, noteChangedPermissions } from './store.ts'

export const endPersonSessions = verb(
  { name: 'endPersonSessions', needs: 'self', input: Type.Object({ id: id('person') }, { additionalProperties: false }) },
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
