// A person's API tokens: list, create and revoke them.
import { ServiceError } from '#core/errors.ts'
import { id, name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { reason } from '#core/problems.ts'
import { verb } from '#core/verb.ts'
import { change, type ReadCtx, type WriteCtx } from '#db/changes/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { pageOf } from '#db/page.ts'
import { hashKey, last4, newKey } from '../credentials/key-format.ts'
import { selfOrOwner } from './fields.ts'
import { fetchPerson, fetchToken, insertToken, noteChangedPermissions, revokeTokens, TOKEN_COLUMNS } from './people-store.ts'
import type { NewPersonToken } from './people-types.ts'

/** Lists a person's API tokens, including revoked ones, without secrets. */
export const listPersonTokens = listVerb(
  { name: 'listPersonTokens', needs: 'self', filters: { id: id('person') } },
  async (ctx: ReadCtx, { id }, range) => {
    selfOrOwner(ctx, id)
    const on = ctx.db.kysely
    await fetchPerson(on, id)
    return pageOf(on.selectFrom('person_tokens').where('person_id', '=', id).select(TOKEN_COLUMNS).orderBy('id'), range, jsonReady)
  },
)

/**
 * Creates a token with which a person or a program calls the operator API; it has the roles of the person, and ends with the token
 * that created it.
 */
export const createPersonToken = verb(
  {
    name: 'createPersonToken',
    needs: 'self',
    secret: true,
    input: Type.Object({ id: id('person'), label: name('What uses the token') }),
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

/** Permanently revokes a person's token and ends the sessions and tokens created with it; revoking it again changes nothing. */
export const revokePersonToken = verb(
  {
    name: 'revokePersonToken',
    needs: 'self',
    input: Type.Object({ id: id('person'), token_id: id('token') }),
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
