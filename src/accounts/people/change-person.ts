// Changes the name or roles of a person; the last owner must stay an owner.
import { invalid } from '#core/errors.ts'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import type { Role } from '#core/roles.ts'
import { verb } from '#core/verb.ts'
import { change, type Note, type WriteCtx } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
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
        await assignRoles(tx, note, id, [...new Set(roles)], ctx.now())
      }
      const after = await fetchPerson(tx, id)
      note.audit({ action: 'person.change', subject: 'person', id, before, after })
      noteChangedPermissions(note, id)
      return after
    }),
)

/** Sets roles, unless no owner would be left. @throws CONFLICT */
export async function assignRoles(tx: Tx, note: Note, id: number, roles: Role[], now: Date): Promise<void> {
  await setRoles(tx, id, roles)
  // Only owners may create tokens for others.
  if (!roles.includes('owner')) await revokeTokens(tx, note, id, 'of others', now)
}
