// Permanently revokes a person's token and ends the sessions and tokens created with it; revoking it again changes nothing.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { selfOrOwner } from './fields.ts'
import { fetchPerson, fetchToken, revokeTokens } from './store.ts'

export const revokePersonToken = verb(
  {
    name: 'revokePersonToken',
    needs: 'self',
    input: Type.Object({ id: id('person'), token_id: id('token') }, { additionalProperties: false }),
  },
  async (ctx: WriteCtx, { id, token_id: tokenId }) => {
    selfOrOwner(ctx, id)
    return change(ctx, async (tx, note) => {
      await fetchPerson(tx, id)
      const before = await fetchToken(tx, id, tokenId)
      if (before.revoked_at !== null) return before
      await revokeTokens(tx, note, id, { only: tokenId }, ctx.now())
      const after = await fetchToken(tx, id, tokenId)
      note.audit({ action: 'person-token.revoke', subject: 'person-token', id: tokenId, before, after })
      return after
    })
  },
)
