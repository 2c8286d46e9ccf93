// Removes a person and ends their sessions and tokens; the audit log keeps the name. The last owner cannot be removed.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { forgetAddresses } from './attempts.ts'
import { dropLink, endSessions, fetchPerson, markRemoved, noteChangedPermissions, revokeTokens } from './people-store.ts'

export const removePerson = verb({ name: 'removePerson', needs: 'owner', input: Type.Object({ id: id('person') }) }, (ctx: WriteCtx, { id }) =>
  change(ctx, async (tx, note) => {
    const before = await fetchPerson(tx, id)
    await markRemoved(tx, id, ctx.now())
    await dropLink(tx, id)
    await endSessions(tx, id)
    await forgetAddresses(tx, id)
    await revokeTokens(tx, note, id, 'all', ctx.now())
    note.audit({ action: 'person.remove', subject: 'person', id, before })
    noteChangedPermissions(note, id)
    return before
  }),
)
