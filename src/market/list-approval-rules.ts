// Lists approval rules with their evaluation counts, and the evaluations of a rule.
import { sql } from 'kysely'
import { id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import type { ReadCtx } from '#db/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { countIn } from '#db/page.ts'
import { allRules, type ApprovalRule, fetchRule, type RuleLogEntry } from './approval/rule-store.ts'

export const listApprovalRules = verb(
  { name: 'listApprovalRules', needs: 'operator', input: Type.Object({}, { additionalProperties: false }) },
  (ctx: ReadCtx): Promise<ApprovalRule[]> => allRules(ctx.db.kysely),
)

/** Newest first. */
export const listApprovalRuleLog = listVerb(
  {
    name: 'listApprovalRuleLog',
    needs: 'operator',
    filters: {
      id: id('approval rule'),
      approves: Type.Optional(Type.Boolean({ description: '`1`: only listings it approves; `0`: only the others' })),
    },
  },
  async ({ db }: ReadCtx, { id: wanted, approves }, { limit, offset }) => {
    const { id } = await fetchRule(db.kysely, wanted)
    const from = sql`
      from approval_rule_log r join listing_decisions d on d.id = r.decision_id left join listings l on l.id = d.listing_id
      where r.rule_id = ${id} and d.undone_at is null ${approves === undefined ? sql`` : sql`and r.approves = ${approves}`}`
    const [{ rows }, total] = await Promise.all([
      sql<Omit<RuleLogEntry, 'at'> & { at: Date }>`
        select d.listing_id, l.title, d.at, r.rule_version, r.mode, r.approves, d.decision, d.decided_by ${from}
        order by d.id desc limit ${limit} offset ${offset}`.execute(db.kysely),
      countIn(db.kysely, from),
    ])
    return { rows: rows.map(jsonReady), total }
  },
)
