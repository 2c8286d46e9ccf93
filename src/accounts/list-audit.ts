// Lists the audit log: who changed what and when, newest first.
import { Type } from '#core/input.ts'
import { type Page, pageParams, readPage } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { filter, PeriodFields, periodOf } from '#core/fields.ts'
import { sql } from 'kysely'
import { namesOf, orderBy, type Sorting, sortParams } from '#db/sorting.ts'
import { jsonReady } from '#db/json-ready.ts'
import type { AuditRow, ReadCtx } from './types.ts'

const COLUMNS = ['id', 'at', 'actor', 'action', 'subject_type', 'subject_id', 'before', 'after', 'request_id'] as const

const id = sql.ref('id')
const SORTING = { by: { at: id }, id, usual: { by: id, direction: 'desc' } } satisfies Sorting<string>

export const listAudit = verb(
  {
    name: 'listAudit',
    needs: 'operator',
    input: Type.Object(
      {
        actor: filter('Such as `operator:bootstrap`'),
        action: filter('Such as `account.create`'),
        subject_type: filter('Such as `account`'),
        subject_id: filter('Id of the changed object'),
        ...PeriodFields,
        ...sortParams(namesOf(SORTING)),
        ...pageParams(),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: ReadCtx, { from, to, page, per_page, sort_by, sort_order, ...equal }): Promise<Page<AuditRow>> => {
    let matching = ctx.db.kysely.selectFrom('audit_log')
    for (const [column, value] of Object.entries(equal)) matching = matching.where(column as keyof typeof equal, '=', value)
    const period = periodOf({ from, to })
    if (period.from) matching = matching.where('at', '>=', period.from)
    if (period.to) matching = matching.where('at', '<', period.to)
    return readPage({ page, per_page }, async (_all, limit, offset) => {
      const [rows, { total }] = await Promise.all([
        matching.select(COLUMNS).orderBy(orderBy(SORTING, { sort_by, sort_order })).limit(limit).offset(offset).execute(),
        matching.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
      ])
      return { rows: rows.map(jsonReady), total }
    })
  },
)
