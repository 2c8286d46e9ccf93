// Lists decisions about prices, newest first.
import { sql } from 'kysely'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import type { ReadCtx } from '#db/changes/change.ts'
import { countIn, where, withTotal } from '#db/page.ts'
import { DECISION_STATES, DECISIONS, decisionsOf } from './price-decisions.ts'

export const listPriceDecisions = listVerb(
  {
    name: 'listPriceDecisions',
    needs: 'operator',
    filters: { state: Type.Optional(Type.Enum([...DECISION_STATES])), decision: Type.Optional(Type.Enum([...DECISIONS])) },
  },
  ({ db }: ReadCtx, { state, decision }, { limit, offset }) => {
    const from = sql`from price_decisions d ${where(
      state !== undefined && sql`d.undone_at is ${state === 'undone' ? sql`not null` : sql`null`}`,
      decision !== undefined && sql`d.decision = ${decision}`,
    )}`
    const rows = decisionsOf(db.kysely, sql`select * ${from} order by d.id desc limit ${limit} offset ${offset}`)
    return withTotal(rows, countIn(db.kysely, from))
  },
)
