// Lists approval rules with their evaluation counts.
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { allRules, type ApprovalRule } from './approval/rule-store.ts'

export const listApprovalRules = verb(
  { name: 'listApprovalRules', needs: 'operator', input: Type.Object({}, { additionalProperties: false }) },
  (ctx: ReadCtx): Promise<ApprovalRule[]> => allRules(ctx.db.kysely),
)
