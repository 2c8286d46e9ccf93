// Adds a person; the one-time link to choose a password is only in the result.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { personName, roles } from './fields.ts'
import { fetchPerson, insertLink, insertPerson } from './people-store.ts'
import type { InvitedPerson } from './people-types.ts'

export const createPerson = verb(
  {
    name: 'createPerson',
    needs: 'owner',
    secret: true,
    input: Type.Object({ name: personName, roles }),
  },
  (ctx: WriteCtx, input) =>
    change(ctx, async (tx, note): Promise<InvitedPerson> => {
      const now = ctx.now()
      const id = await insertPerson(tx, { name: input.name, roles: [...new Set(input.roles)], now })
      const link = await insertLink(tx, { id, name: input.name }, now)
      const after = await fetchPerson(tx, id)
      note.audit({ action: 'person.create', subject: 'person', id, after })
      return { ...after, link_path: link!.path }
    }),
)
