// Sends the listings that an approval rule approved back to approval, in one transaction.
import { sql } from 'kysely'
import { id, idForSql } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change } from '#db/changes/change.ts'
import { recordUndo, replacedBy } from './decisions.ts'
import { fetchRule } from './rule-store.ts'
import { expireIfDue } from '../listings/expire-listings.ts'
import { COLUMNS, updateListingRow } from '../listing-store.ts'
import { auditedListing } from '../listing-content.ts'
import { decisionOn } from '../listings/transition.ts'
import type { MarketWriteCtx } from '../marketplace-types.ts'

export const ReopenedSchema = Type.Object(
  {
    reopened: Type.Integer(),
    kept: Type.Record(Type.String(), Type.Integer(), {
      description:
        'Listings left unchanged, by reason: `decided_since` (a person has decided about them since), `reopen` (neither published nor paused), `listing_sold`',
    }),
  },
  { title: 'ReopenedDecisions' },
)
export type Reopened = Static<typeof ReopenedSchema>

export const reopenRuleDecisions = verb(
  {
    name: 'reopenRuleDecisions',
    needs: 'market',
    input: Type.Object({
      id: id('approval rule'),
      version: Type.Optional(Type.Integer({ minimum: 1, description: 'Only listings approved by this version of the rule' })),
    }),
  },
  (ctx: MarketWriteCtx, { id, version }): Promise<Reopened> =>
    change(ctx, async (tx, note) => {
      const rule = await fetchRule(tx, id)
      const now = ctx.now()
      const listings = await tx
        .selectFrom('listings')
        .select(COLUMNS)
        .where(
          sql<boolean>`id in (select listing_id from listing_decisions where rule_id = ${rule.id} and undone_at is null
            ${version === undefined ? sql`` : sql`and rule_version = ${idForSql(version)}`})`,
        )
        .orderBy('id')
        .forUpdate()
        .execute()
      const lasts = await lastDecisions(
        tx,
        listings.map((row) => row.id),
      )
      const kept: Reopened['kept'] = {}
      const reopened: number[] = []
      for (const locked of listings) {
        const last = lasts.get(locked.id)!
        const before = await expireIfDue(tx, note, ctx, locked)
        const decision = decisionOn(before, 'reopen', now)
        const isOurs = last.rule_id === rule.id && (version === undefined || last.rule_version === version)
        const why = !isOurs ? 'decided_since' : 'refused' in decision ? decision.refused.rule : null
        if (why !== null || 'refused' in decision) {
          kept[why!] = (kept[why!] ?? 0) + 1
          continue
        }
        const { status: _, waiting_since: __, rejection_reason: ___, ...values } = replacedBy(last.before!)
        const after = await updateListingRow(tx, before.id, decision.to, values, now)
        await recordUndo(tx, last.id, after, actorOf(ctx.viewer), now)
        note.audit({
          action: 'listing.reopen',
          subject: 'listing',
          id: before.id,
          before: auditedListing(before, now),
          after: auditedListing(after, now),
        })
        reopened.push(before.id)
      }
      if (reopened.length > 0) note.changed('listings', reopened)
      const result = { reopened: reopened.length, kept }
      note.audit({ action: 'approval-rule.reopen', subject: 'approval-rule', id, after: { ...result, version: version ?? null } })
      return result
    }),
)

async function lastDecisions(tx: Parameters<typeof fetchRule>[0], ids: number[]) {
  const rows = await tx
    .selectFrom('listing_decisions')
    .select(['id', 'listing_id', 'rule_id', 'rule_version', 'before'])
    .distinctOn('listing_id')
    .where('listing_id', '=', sql<number>`any(${ids}::int4[])`)
    .where('decision', 'is not', null)
    .where('undone_at', 'is', null)
    .orderBy('listing_id')
    .orderBy('id', 'desc')
    .execute()
  return new Map(rows.map((row) => [row.listing_id, row]))
}
