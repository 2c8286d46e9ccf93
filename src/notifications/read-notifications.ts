// Lists the notifications of the caller's audience, and marks them as read for the caller.
import { sql } from 'kysely'
import { idForSql } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb, type Range } from '#core/paging.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { ownAccount, type Viewer, verb } from '#core/verb.ts'
import { actorOf, change, type ReadCtx, type WriteCtx } from '#db/changes/change.ts'
import { writeVerb } from '#db/changes/write-verb.ts'
import { pageOf } from '#db/page.ts'
import { NOTIFICATION_STATES, notificationOf } from './notification-types.ts'

const FILTERS = {
  state: Type.Optional(Type.Enum([...NOTIFICATION_STATES], { description: 'Default: both' })),
  unread: Type.Optional(Type.Boolean({ description: 'Only those that the caller has not read since they changed' })),
  kind: Type.Optional(Type.String({ maxLength: 40, description: 'Only this kind' })),
}
type Filter = Type.Static<Type.TObject<typeof FILTERS>>

const MAX_IDS = 100

const MARK = {
  ids: Type.Optional(Type.Array(Type.Integer(), { minItems: 1, maxItems: MAX_IDS, description: `At most ${MAX_IDS} ids; default: all` })),
}

export const MarkedSchema = Type.Object({ marked: Type.Integer({ description: 'Notifications that were unread' }) }, { title: 'MarkedNotifications' })

export type Marked = Type.Static<typeof MarkedSchema>

/** Notifications of operators, latest change first. */
export const listNotifications = listVerb({ name: 'listNotifications', needs: 'operator', filters: FILTERS }, (ctx: ReadCtx, filter, range) =>
  pageOfNotifications(ctx, null, filter, range),
)

/** Notifications of the caller's account, latest change first. */
export const listOwnNotifications = listVerb(
  { name: 'listOwnNotifications', needs: OPERATION_PLAN.listOwnNotifications, filters: FILTERS },
  (ctx: ReadCtx & { market: { timeZone: string } }, filter, range) =>
    pageOfNotifications({ ...ctx, zone: ctx.market.timeZone }, ownAccount(ctx.viewer), filter, range),
)

/** Each person marks for themselves; the callers of a shared token mark together. */
export const markNotificationsRead = verb({ name: 'markNotificationsRead', needs: 'self', input: Type.Object(MARK) }, (ctx: WriteCtx, { ids }) =>
  mark(ctx, null, ids),
)

export const markOwnNotificationsRead = writeVerb(
  { name: 'markOwnNotificationsRead', needs: OPERATION_PLAN.markOwnNotificationsRead, input: Type.Object(MARK) },
  (ctx: WriteCtx, { ids }) => mark(ctx, ownAccount(ctx.viewer), ids),
)

function pageOfNotifications({ db, viewer, zone }: ReadCtx & { zone?: string }, accountId: number | null, filter: Filter, range: Range) {
  const { state, unread, kind } = filter
  const read = readBy(viewer)
  let rows = db.kysely.selectFrom('notifications as n').where('n.account_id', 'is not distinct from', accountId)
  if (state !== undefined) rows = rows.where('n.resolved_at', state === 'open' ? 'is' : 'is not', null)
  if (unread !== undefined) rows = rows.where(unread ? sql<boolean>`not ${read}` : read)
  if (kind !== undefined) rows = rows.where('n.kind', '=', kind)
  return pageOf(rows.selectAll('n').select(read.as('read')).orderBy('n.changed_at', 'desc').orderBy('n.id', 'desc'), range, (row) =>
    notificationOf(row, zone),
  )
}

/** A resolved notification needs no reading. */
function readBy(viewer: Viewer) {
  return sql<boolean>`(n.resolved_at is not null or exists (
    select from notification_reads r where r.notification_id = n.id and r.reader = ${actorOf(viewer)} and r.version >= n.version))`
}

function mark(ctx: WriteCtx, accountId: number | null, ids: readonly number[] | undefined): Promise<{ marked: number }> {
  return change(ctx, async (tx) => {
    const { rows } = await sql`
      insert into notification_reads as r (notification_id, reader, version)
      select id, ${actorOf(ctx.viewer)}, version from notifications
      where account_id is not distinct from ${accountId}::int and resolved_at is null ${ids ? sql`and id = any(${ids.map(idForSql)}::bigint[])` : sql``}
      on conflict (notification_id, reader) do update set version = excluded.version where r.version < excluded.version
      returning 1`.execute(tx)
    return { marked: rows.length }
  })
}
