// Lets a removed person sign in with the identity provider again, as a new person.
import { existing, id, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'

export const readmitPerson = verb({ name: 'readmitPerson', needs: 'owner', input: Type.Object({ id: id('person') }) }, (ctx: WriteCtx, { id }) =>
  change(ctx, async (tx, note): Promise<{ id: number; name: string }> => {
    const update = tx.updateTable('people').set({ provider_issuer: null, provider_subject: null })
    const removed = update.where('id', '=', existing('person', id)).where('removed_at', 'is not', null).where('provider_subject', 'is not', null)
    const person = await removed.returning(['id', 'name']).executeTakeFirst()
    if (!person) throw missing('person', id)
    note.audit({ action: 'person.readmit', subject: 'person', id })
    return person
  }),
)
