// Lists all operator tokens, including revoked ones, without secrets.
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { pageOfTokens } from './store.ts'
import type { OperatorToken, ReadCtx } from './types.ts'

export const listOperatorTokens = verb(
  { name: 'listOperatorTokens', needs: 'owner', input: Type.Object(pageParams(), { additionalProperties: false }) },
  (ctx: ReadCtx, input): Promise<Page<OperatorToken>> => readPage(input, (_all, limit, offset) => pageOfTokens(ctx.db.kysely, limit, offset)),
)
