// Creates the one-time link for the first owner; fails once there is an owner.
import { ServiceError } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { reason } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { insertLink } from './people-store.ts'

export const makeOwnerLink = verb({ name: 'makeOwnerLink', needs: 'owner', secret: true, input: Type.Object({}) }, (ctx: WriteCtx) =>
  change(ctx, async (tx, note): Promise<{ link_path: string; expires_at: string }> => {
    const link = await insertLink(tx, null, ctx.now())
    if (!link) throw new ServiceError('CONFLICT', reason('has_owner'))
    note.audit({ action: 'owner-link.create', subject: 'owner-link', id: 'first' })
    return { link_path: link.path, expires_at: link.expiresAt.toISOString() }
  }),
)
