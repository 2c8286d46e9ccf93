// Reads an account by its id.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { id } from '#core/fields.ts'
import { fetchAccount } from './account-store.ts'
import type { ReadCtx } from './credentials/credential-types.ts'

export const getAccount = verb({ name: 'getAccount', needs: 'operator', input: Type.Object({ id: id('account') }) }, (ctx: ReadCtx, input) =>
  fetchAccount(ctx.db.kysely, input.id),
)
