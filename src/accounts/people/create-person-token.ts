// Creates a token with which a person or a program calls the operator API; it has the roles of the person, and ends with the token
// that created it.
import { ServiceError } from '#core/errors.ts'
import { id, name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { reason } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { change, type WriteCtx } from '#db/change.ts'
import { hashKey, last4, newKey } from '../key-format.ts'
import { selfOrOwner } from './fields.ts'
import { fetchPerson, insertToken, noteChangedPermissions } from './store.ts'
import type { NewPersonToken } from './types.ts'

export const createPersonToken = verb(
  {
    name: 'createPersonToken',
    needs: 'self',
    secret: true,
    input: Type.Object({ id: id('person'), label: name('What uses the token') }, { additionalProperties: false }),
  },
  async (ctx: WriteCtx, { id, label }) => {
    selfOrOwner(ctx, id)
    // A token works without a code, so creating one requires two-factor sign-in.
    const caller = ctx.viewer.kind === 'operator' ? ctx.viewer.person : undefined
    if (caller?.unfinished) throw new ServiceError('FORBIDDEN', reason('two_factor_first'))
    return change(ctx, async (tx, note): Promise<NewPersonToken> => {
      await fetchPerson(tx, id)
      const token = newKey('operator')
      const parent = caller?.tokenId ?? null
      const values = { person_id: id, label: label.trim(), hash: hashKey(token), last4: last4(token), parent_id: parent, created_at: ctx.now() }
      const stored = await insertToken(tx, values)
      note.audit({
        action: 'person-token.create',
        subject: 'person-token',
        id: stored.id,
        after: { person_id: id, ...stored, ...(parent !== null && { created_with: parent }) },
      })
      noteChangedPermissions(note, id)
      return { ...stored, token }
    })
  },
)
