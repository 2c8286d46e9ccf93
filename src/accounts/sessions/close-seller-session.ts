// Signs a seller out of the desk; every node rejects the session within a second.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { hashKey } from '../credentials/key-format.ts'
import { DESK_PLAN } from '../key-holders.ts'

export const closeSellerSession = verb(
  { name: 'closeSellerSession', needs: DESK_PLAN, input: Type.Object({ session: Type.String() }) },
  (ctx: WriteCtx, { session }) => {
    const { viewer } = ctx
    if (viewer.kind !== 'account') throw new Error('Only API keys sign in to the desk')
    // Sessions of read-only keys end as well.
    return change({ ...ctx, viewer: { ...viewer, readOnly: false } }, async (tx, note): Promise<void> => {
      const ended = await tx.deleteFrom('seller_sessions').where('hash', '=', hashKey(session)).returning('id').executeTakeFirst()
      if (!ended) return
      note.audit({ action: 'desk.sign-out', subject: 'seller-session', id: ended.id })
      note.changed('accounts', [viewer.accountId])
    })
  },
)
