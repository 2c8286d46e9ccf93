// The audit log: who changed what and when, newest first.
import { Type } from '#core/input.ts'
import { type Page, pageParams, pagination } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { filter, moment, momentOf } from '#core/fields.ts'
import { jsonReady } from '#db/json-ready.ts'
import type { AuditRow, ReadCtx } from './types.ts'

const COLUMNS = ['id', 'at', 'actor', 'action', 'subject_type', 'subject_id', 'before', 'after', 'request_id'] as const

export const listAudit = verb(
  {
    needs: 'operator',
    input: Type.Object(
      {
        actor: filter('Such as `operator:bootstrap`'),
        action: filter('Such as `account.create`'),
        subject_type: filter('Such as `account`'),
        subject_id: filter('Id of the thing changed'),
        from: Type.Optional(moment('Earliest moment, itself included')),
        to: Type.Optional(moment('Latest moment, itself not included')),
        ...pageParams(20),
      },
      { additionalProperties: false },
    ),
  },
  async (ctx: ReadCtx, { from, to, page = 1, per_page: perPage = 20, ...equal }): Promise<Page<AuditRow>> => {
    let matching = ctx.db.kysely.selectFrom('audit_log')
    for (const [column, value] of Object.entries(equal))
      matching = matching.where(column as keyof typeof equal, '=', value)
    if (from !== undefined) matching = matching.where('at', '>=', momentOf('from', from))
    if (to !== undefined) matching = matching.where('at', '<', momentOf('to', to))
    const [rows, { total }] = await Promise.all([
      matching
        .select(COLUMNS)
        .orderBy('id', 'desc')
        .limit(perPage)
        .offset((page - 1) * perPage)
        .execute(),
      matching.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow(),
    ])
    return { rows: rows.map(jsonReady), pagination: pagination(page, perPage, total) }
  },
)
