// Changes the name or roles of a person; the last owner must stay an owner.
import { invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { personName, roles } from './fields.ts'
import { fetchPerson, noteChangedPermissions, renamePerson, revokeTokens, setRoles } from './people-store.ts'

export const changePerson = verb(
  {
    name: 'changePerson',
    needs: 'owner',
    input: Type.Object({ id: id('person'), name: Type.Optional(personName), roles: Type.Optional(roles) }),
  },
  (ctx: WriteCtx, { id, name, roles }) =>
    change(ctx, async (tx, note) => {
      if (name === undefined && roles === undefined) throw invalid('body', 'at_least_one', { fields: ['name', 'roles'] })
      const before = await fetchPerson(tx, id)
      if (name !== undefined) await renamePerson(tx, id, name)
      if (roles !== undefined) {
        await setRoles(tx, id, [...new Set(roles)])
        // Only owners may create tokens for others.
        if (!roles.includes('owner')) await revokeTokens(tx, note, id, 'of others', ctx.now())
      }
      const after = await fetchPerson(tx, id)
      note.audit({ action: 'person.change', subject: 'person', id, before, after })
      noteChangedPermissions(note, id)
      return after
    }),
)
