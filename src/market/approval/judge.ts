// Evaluates the approval rules for submitted listings: logs every result, and approves a listing if an active rule matches.
import { sql } from 'kysely'
import { change, type WriteCtx } from '#db/changes/change.ts'
import type { Db, Tx } from '#db/schema.ts'
import { QUEUED } from '../records/rules.ts'
import { COLUMNS, type ListingRow, updateListingRow } from '../listing-store.ts'
import { auditedListing } from '../listing-content.ts'
import { allowed, approvalValues, daysAfter, decisionOn } from '../listings/transition.ts'
import type { MarketSettings } from '../marketplace-types.ts'
import { certificateHistories, isOthers } from '../certificates/history.ts'
import { takenCertificates } from '../certificates/taken.ts'
import { endAfterVacation } from '../records/vacation-store.ts'
import { holds } from './rule-conditions.ts'
import { recordFacts, recordDecision, type RecordingCtx } from './decisions.ts'
import { judgingRules, type JudgingRule } from './rule-store.ts'

const BATCH = 200

export type JudgeCtx = WriteCtx & { market: MarketSettings }

/**
 * Records the facts of locked listings, and logs the result of each rule for those that became pending.
 * @returns for each pending listing, the first active rule whose conditions hold; null if there is none
 */
export async function judgeListings(
  tx: Tx,
  listings: readonly ListingRow[],
  recording: RecordingCtx,
): Promise<{ listing: ListingRow; rule: JudgingRule | null }[]> {
  const judgeable = (await recordFacts(tx, listings, recording)).filter(({ facts }) => facts !== null)
  if (judgeable.length === 0) return []
  const rules = await judgingRules(tx)
  const verdicts = judgeable.flatMap(({ id, facts }) =>
    rules.map((rule) => ({
      decision_id: id,
      rule_id: rule.id,
      rule_version: rule.version,
      mode: rule.mode,
      approves: holds(rule.conditions, facts!),
    })),
  )
  if (verdicts.length > 0) await tx.insertInto('approval_rule_log').values(verdicts).execute()
  return judgeable.map(({ listing, facts }) => ({
    listing,
    rule: rules.find(({ mode, conditions }) => mode === 'on' && holds(conditions, facts!)) ?? null,
  }))
}

/**
 * Judges all pending listings whose current version has not been judged, including those that became pending while no worker ran. Skips listings that
 * another write has locked; the next run judges them.
 * @returns number of judged listings
 */
export async function judgeWaiting(ctx: JudgeCtx): Promise<number> {
  let judged = 0
  while (await areUnjudged(ctx.db)) {
    const count = await change(ctx, async (tx, note) => {
      const now = ctx.now()
      const outcomes = await judgeListings(tx, await lockUnjudged(tx), { now, market: ctx.market })
      const histories = await certificateHistories(
        tx,
        outcomes.flatMap(({ listing, rule }) => (rule ? [listing] : [])),
      )
      for (const { listing: before, rule } of outcomes) {
        // A person compares a copy that another seller has offered or sold; nobody else is asked.
        if (!rule || isOthers(histories.get(before.id), before.seller_id)) continue
        const decision = decisionOn(before, 'approve', now, { certificateFree: (await takenCertificates(tx, [before])).size === 0 })
        if ('refused' in decision) continue
        const expiresAt = await endAfterVacation(tx, before.seller_id, daysAfter(now, ctx.market.listingPeriodDays), now)
        const after = await updateListingRow(tx, before.id, allowed(decision), approvalValues(before, now, expiresAt), now)
        const by = `rule:${rule.id}`
        await recordDecision(tx, before, after, { decision: 'approve', note: null, by, now, rule })
        note.audit({
          action: 'listing.approve',
          subject: 'listing',
          id: before.id,
          actor: by,
          before: auditedListing(before, now),
          after: { ...auditedListing(after, now), rule: { id: rule.id, name: rule.name, version: rule.version } },
        })
        note.changed('listings', [before.id])
      }
      return outcomes.length
    })
    judged += count
    if (count === 0) break
  }
  return judged
}

const UNJUDGED = sql<boolean>`listings.status = ${sql.lit(QUEUED)} and not exists (
  select from listing_decisions d where d.listing_id = listings.id and d.listing_version = listings.version)`

/** Whether a pending listing has not been judged. */
export async function areUnjudged({ kysely }: Db): Promise<boolean> {
  return (await kysely.selectFrom('listings').select('id').where(UNJUDGED).limit(1).executeTakeFirst()) !== undefined
}

function lockUnjudged(tx: Tx): Promise<ListingRow[]> {
  return tx
    .selectFrom('listings')
    .select(COLUMNS)
    .where(UNJUDGED)
    .orderBy('waiting_since')
    .orderBy('id')
    .limit(BATCH)
    .forUpdate()
    .skipLocked()
    .execute()
}
