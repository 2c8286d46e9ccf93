// Operator: returns an account's webhook configuration and whether it works, without its secret.
import { existing, id, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { fetchAccountWebhook } from './webhook-store.ts'
import type { AccountWebhook } from './webhook-types.ts'

export const getAccountWebhook = verb(
  { name: 'getAccountWebhook', needs: 'operator', input: Type.Object({ account_id: id('account') }) },
  async ({ db }: ReadCtx, { account_id: accountId }): Promise<AccountWebhook | null> => {
    const found = await fetchAccountWebhook(db.kysely, existing('account', accountId))
    if (!found) throw missing('account', accountId)
    return found.webhook
  },
)
