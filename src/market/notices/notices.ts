// Records and lists notices of infringement; each must be decided within the configured time.
import { HOUR_MS } from '#core/duration.ts'
import { invalid } from '#core/errors.ts'
import { id, idForSql, name } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { listVerb } from '#core/paging.ts'
import { verb } from '#core/verb.ts'
import { change } from '#db/changes/change.ts'
import { jsonReady } from '#db/json-ready.ts'
import { pageOf } from '#db/page.ts'
import type { MarketWriteCtx } from '../marketplace-types.ts'
import { fetchNotice, notices } from './notice-store.ts'
import { type Notice, NOTICE_STATES, type NoticeCtx } from './notice-types.ts'

const MAX_EVIDENCE = 4_000

export const receiveNotice = verb(
  {
    name: 'receiveNotice',
    needs: 'market',
    input: Type.Object({
      who: name('Who gives notice, with an address for the answer'),
      listing: Type.Integer({ description: 'Id of the listing' }),
      right: name('The right that is claimed, such as trademark, copyright or privacy'),
      evidence: Type.String({ minLength: 1, maxLength: MAX_EVIDENCE, description: 'What shows the right and its infringement: text and links' }),
    }),
  },
  (ctx: NoticeCtx, { who, listing, right, evidence }) =>
    change(ctx, async (tx, note): Promise<Notice> => {
      const found = await tx.selectFrom('listings').select(['id', 'seller_id']).where('id', '=', idForSql(listing)).forShare().executeTakeFirst()
      if (!found) throw invalid('listing', 'unknown_id', { thing: 'listing', id: listing })
      const now = ctx.now()
      const values = { who: who.trim(), right: right.trim(), evidence: evidence.trim() }
      const times = { received_at: now, due_at: new Date(now.getTime() + ctx.config.noticeHours * HOUR_MS) }
      const row = { listing_id: found.id, seller_id: found.seller_id, ...values, ...times }
      const { id } = await tx.insertInto('notices').values(row).returning('id').executeTakeFirstOrThrow()
      // Without the texts, which are deleted with the notice.
      note.audit({
        action: 'notice.receive',
        subject: 'notice',
        id,
        after: { listing_id: found.id, seller_id: found.seller_id, due_at: times.due_at },
      })
      return fetchNotice(tx, id, now)
    }),
)

export const getNotice = verb({ name: 'getNotice', needs: 'operator', input: Type.Object({ id: id('notice') }) }, (ctx: MarketWriteCtx, input) =>
  fetchNotice(ctx.db.kysely, input.id, ctx.now()),
)

/** Open notices first, the most urgent one first; then those decided, latest first. */
export const listNotices = listVerb(
  {
    name: 'listNotices',
    needs: 'operator',
    filters: {
      state: Type.Optional(Type.Enum([...NOTICE_STATES])),
      overdue: Type.Optional(Type.Boolean({ description: 'Only open notices whose time is over' })),
      listing: Type.Optional(Type.Integer({ description: 'Only notices about this listing' })),
      seller_id: Type.Optional(Type.Integer({ description: "Only notices about this seller's listings" })),
    },
  },
  ({ db, now }: MarketWriteCtx, { state, overdue, listing, seller_id: sellerId }, range) => {
    let rows = notices(db.kysely, now())
      .orderBy('n.decided_at', (order) => order.desc().nullsFirst())
      .orderBy('n.due_at')
      .orderBy('n.id')
    if (state !== undefined) rows = rows.where('n.state', '=', state)
    if (overdue) rows = rows.where('n.state', '=', 'received').where('n.due_at', '<', now())
    if (listing !== undefined) rows = rows.where('n.listing_id', '=', idForSql(listing))
    if (sellerId !== undefined) rows = rows.where('n.seller_id', '=', idForSql(sellerId))
    return pageOf(rows, range, (row) => jsonReady(row) as Notice)
  },
)
