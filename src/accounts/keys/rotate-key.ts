// Replaces an API key: creates one with the same label, expiry and restrictions, while the old one stays valid for the overlap.
import { HOUR_MS } from '#core/duration.ts'
import { conflict } from '#core/errors.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/changes/change.ts'
import { issueKey } from './create-key.ts'
import { id } from '#core/fields.ts'
import { lockKey, updateKey } from '../account-store.ts'
import type { ApiKey } from '../credentials/credential-types.ts'

export const rotateKey = verb(
  {
    name: 'rotateKey',
    needs: 'support',
    secret: true,
    input: Type.Object({
      id: id('key'),
      overlap_hours: Type.Optional(Type.Number({ minimum: 0, maximum: 720, default: 24, description: 'How long the old key stays valid' })),
    }),
  },
  (ctx: WriteCtx, { id, overlap_hours: overlapHours = 24 }) =>
    change(ctx, async (tx, note) => {
      const old = await lockKey(tx, id)
      const now = ctx.now()
      const ends = old.expires_at === null ? null : new Date(old.expires_at)
      const state = endedState(old, now)
      if (state) throw conflict('key_ended', { state })
      const overlapEnds = new Date(now.getTime() + overlapHours * HOUR_MS)
      if (!ends || overlapEnds < ends) {
        const shortened = await updateKey(tx, id, { expires_at: overlapEnds })
        note.audit({ action: 'key.rotate', subject: 'key', id, before: old, after: shortened })
      }
      return issueKey(tx, note, 'key.create', { account_id: old.account_id, label: old.label, expires_at: ends }, old)
    }),
)

/** Why a key cannot be changed any more; null while it is valid. */
export function endedState({ revoked_at, expires_at }: ApiKey, now: Date): 'revoked' | 'expired' | null {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && new Date(expires_at) <= now ? 'expired' : null
}
