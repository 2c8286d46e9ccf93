// Lists the evaluations of an approval rule, newest first.
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { fetchRule, pageOfLog, type RuleLogEntry } from './approval/rule-store.ts'

export const listApprovalRuleLog = verb(
  {
    name: 'listApprovalRuleLog',
    needs: 'operator',
    input: Type.Object(
      {
        id: id('approval rule'),
        approves: Type.Optional(Type.Boolean({ description: '`1`: only listings it approves; `0`: only the others' })),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: ReadCtx, input): Promise<Page<RuleLogEntry>> => {
    const { id } = await fetchRule(ctx.db.kysely, input.id)
    return readPage(input, (filter, limit, offset) => pageOfLog(ctx.db.kysely, { ...filter, id }, limit, offset))
  },
)
