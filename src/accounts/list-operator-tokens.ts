// All operator tokens, revoked ones too, without the tokens themselves.
import { Type } from '#core/input.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { pageOfTokens } from './store.ts'
import type { OperatorToken, ReadCtx } from './types.ts'

export const listOperatorTokens = verb(
  { name: 'listOperatorTokens', needs: 'operator', input: Type.Object(pageParams(20), { additionalProperties: false }) },
  async (ctx: ReadCtx, { page = 1, per_page: perPage = 20 }): Promise<Page<OperatorToken>> => {
    const { rows, total } = await pageOfTokens(ctx.db.kysely, perPage, (page - 1) * perPage)
    return { rows, pagination: pagination(page, perPage, total) }
  },
)
