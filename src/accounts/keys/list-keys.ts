// Lists the keys of an account, including revoked and expired ones, without secrets.
import { filter, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import type { WriteCtx } from '#db/changes/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { contains, pageOf } from '#db/page.ts'
import { apiKeys, fetchAccount, KEY_COLUMNS } from '../account-store.ts'
import { SCOPE } from '../key-holders.ts'
import { KEY_STATES } from '../credentials/credential-types.ts'

export const listKeys = listVerb(
  {
    name: 'listKeys',
    needs: 'operator',
    filters: {
      account_id: id('account'),
      search: filter('Part of the label, case-insensitive, or the last four characters of the key'),
      state: Type.Optional(Type.Enum([...KEY_STATES], { description: 'Current state of the key' })),
    },
  },
  async (ctx: Pick<WriteCtx, 'db' | 'viewer' | 'now'>, { account_id: accountId, search, state }, range) => {
    const on = ctx.db.kysely
    const account = await fetchAccount(on, accountId)
    const now = ctx.now()
    let keys = apiKeys(on).where('account_id', '=', account.id)
    if (search !== undefined) keys = keys.where((e) => e.or([contains('label', search), e('last4', '=', search)]))
    if (state === 'revoked') keys = keys.where('revoked_at', 'is not', null)
    else if (state !== undefined) {
      keys = keys.where('revoked_at', 'is', null)
      if (state === 'expired') keys = keys.where('expires_at', '<=', now)
      else keys = keys.where((e) => e.or([e('expires_at', 'is', null), e('expires_at', '>', now)]))
    }
    return pageOf(keys.select(KEY_COLUMNS).select(SCOPE).orderBy('k.id'), range, jsonReady)
  },
)
