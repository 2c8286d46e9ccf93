// Lists all operator tokens, including revoked ones, without secrets.
import { listVerb } from '#core/paging.ts'
import { jsonReady } from '#db/json-ready.ts'
import { pageOf } from '#db/page.ts'
import { TOKEN_COLUMNS } from './store.ts'
import type { ReadCtx } from './types.ts'

export const listOperatorTokens = listVerb({ name: 'listOperatorTokens', needs: 'owner' }, ({ db }: ReadCtx, _all, range) =>
  pageOf(db.kysely.selectFrom('operator_tokens').select(TOKEN_COLUMNS).orderBy('id'), range, jsonReady),
)
