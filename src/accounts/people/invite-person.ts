// Resets the credentials of a person and creates a new one-time link.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { forgetAddresses } from './attempts.ts'
import { clearSecrets, endSessions, fetchPerson, insertLink, noteChangedPermissions, revokeTokens } from './people-store.ts'
import type { InvitedPerson } from './people-types.ts'

export const invitePerson = verb(
  {
    name: 'invitePerson',
    needs: 'owner',
    secret: true,
    input: Type.Object({ id: id('person') }),
  },
  (ctx: WriteCtx, { id }) =>
    change(ctx, async (tx, note): Promise<InvitedPerson> => {
      const before = await fetchPerson(tx, id)
      await clearSecrets(tx, id)
      await endSessions(tx, id)
      await forgetAddresses(tx, id)
      await revokeTokens(tx, note, id, 'all', ctx.now())
      const link = await insertLink(tx, before, ctx.now())
      const after = await fetchPerson(tx, id)
      note.audit({ action: 'person.invite', subject: 'person', id, before, after })
      noteChangedPermissions(note, id)
      return { ...after, link_path: link!.path }
    }),
)
