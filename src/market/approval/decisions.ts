// Stored decisions about listings: each holds the facts known at the time and the values it replaced, so that it can be undone.
import { sql } from 'kysely'
import { MINUTE_MS } from '#core/duration.ts'
import { orNull } from '#core/fields.ts'
import { type Static, Type } from '#core/input.ts'
import { jsonReady } from '#db/json-ready.ts'
import type { Queryable, Tx } from '#db/schema.ts'
import { QUEUED } from '../records/rules.ts'
import type { ListingRow } from '../listing-store.ts'
import type { MarketSettings } from '../marketplace-types.ts'
import { factsOf, type ListingFacts } from './review.ts'

export const DECISIONS = ['approve', 'reject', 'request_change'] as const
export type ListingDecision = (typeof DECISIONS)[number]

/** How long after a decision it can be undone. */
export const UNDO_MS = MINUTE_MS

const Time = Type.String({ format: 'date-time', description: 'UTC' })

export const StoredDecisionSchema = Type.Object(
  {
    id: Type.Integer(),
    listing_id: Type.Integer(),
    title: orNull(Type.String(), { description: 'Title of the listing; null if it was deleted' }),
    seller_id: Type.Integer(),
    decision: Type.Enum([...DECISIONS]),
    note: orNull(Type.String(), { description: 'Reason shown to the owner for a rejection or requested change' }),
    decided_at: Time,
    decided_by: Type.String({ description: 'Actor as in the audit log; `rule:<id>` for a rule' }),
    rule: orNull(Type.Object({ id: Type.Integer(), version: Type.Integer() }, { title: 'DecidingRule' }), {
      description: 'Approval rule that decided; null if a person did',
    }),
    undo_until: orNull(Time, { description: 'Deadline for undoing it; null if it cannot be undone because the listing has changed' }),
    undone_at: orNull(Time),
    undone_by: orNull(Type.String()),
  },
  { title: 'ListingDecision' },
)
export type StoredDecision = Static<typeof StoredDecisionSchema>

/** The columns that a decision overwrites. */
const REPLACED = [
  'status',
  'approved',
  'approved_price',
  'approved_at',
  'rejection_reason',
  'waiting_since',
  'published_at',
  'expires_at',
] as const satisfies (keyof ListingRow)[]
export type Replaced = Pick<ListingRow, (typeof REPLACED)[number]>

/** The current time, and the markets whose prices listings are compared with. */
export interface RecordingCtx {
  now: Date
  market: Pick<MarketSettings, 'sourceCurrencies' | 'marketOrder'>
}

/** A listing whose facts are recorded; they are null if it is not pending. */
interface RecordedFacts {
  /** id of the row in `listing_decisions` that the decision updates */
  id: number
  listing: ListingRow
  facts: ListingFacts | null
}

/**
 * Records the facts of locked listings at their current versions.
 * @returns the listings whose version had not been recorded yet
 */
export async function recordFacts(tx: Tx, listings: readonly ListingRow[], recording: RecordingCtx): Promise<RecordedFacts[]> {
  if (listings.length === 0) return []
  const { rows: recorded } = await sql<{ listing_id: number }>`
    select listing_id from listing_decisions join unnest(${listings.map(({ id }) => id)}::int4[], ${listings.map(({ version }) => version)}::int4[])
      as l(listing_id, listing_version) using (listing_id, listing_version)`.execute(tx)
  const recordedIds = new Set(recorded.map((row) => row.listing_id))
  const fresh = listings.filter(({ id }) => !recordedIds.has(id))
  if (fresh.length === 0) return []
  const facts = await factsOf(
    tx,
    fresh.filter(({ status }) => status === QUEUED),
    recording,
  )
  const inserted = await tx
    .insertInto('listing_decisions')
    .values(
      fresh.map((row) => ({
        listing_id: row.id,
        listing_version: row.version,
        seller_id: row.seller_id,
        at: recording.now,
        facts: facts.has(row.id) ? JSON.stringify(facts.get(row.id)) : null,
      })),
    )
    .returning(['id', 'listing_id'])
    .execute()
  const idOf = new Map(inserted.map((row) => [row.listing_id, row.id]))
  return fresh.map((listing) => ({ id: idOf.get(listing.id)!, listing, facts: facts.get(listing.id) ?? null }))
}

interface Decided {
  decision: ListingDecision
  note: string | null
  /** as in the audit log */
  by: string
  now: Date
  /** the rule that decided; absent for a person's decision */
  rule?: { id: number; version: number }
}

/** Records the decision about a listing whose facts are recorded. */
export async function recordDecision(tx: Tx, before: ListingRow, after: ListingRow, { decision, note, by, now, rule }: Decided): Promise<void> {
  const replaced = Object.fromEntries(REPLACED.map((name) => [name, before[name]]))
  await tx
    .updateTable('listing_decisions')
    .set({
      decision,
      note,
      decided_at: now,
      decided_by: by,
      before: JSON.stringify(replaced),
      after_version: after.version,
      ...(rule && { rule_id: rule.id, rule_version: rule.version }),
    })
    .where('listing_id', '=', before.id)
    .where('listing_version', '=', before.version)
    .execute()
}

/**
 * Marks a decision as undone. The listing becomes pending again with the facts recorded at first, so that the rules do not judge it as a new
 * submission.
 */
export async function recordUndo(tx: Tx, id: number, after: ListingRow, by: string, now: Date): Promise<void> {
  await tx.updateTable('listing_decisions').set({ undone_at: now, undone_by: by }).where('id', '=', id).execute()
  await sql`
    with copied as (
      insert into listing_decisions (listing_id, listing_version, seller_id, at, facts)
      select listing_id, ${after.version}, seller_id, at, facts from listing_decisions where id = ${id} returning id
    )
    insert into approval_rule_log (decision_id, rule_id, rule_version, mode, approves)
    select copied.id, l.rule_id, l.rule_version, l.mode, l.approves from approval_rule_log l cross join copied where l.decision_id = ${id}`.execute(
    tx,
  )
}

/** The values that a decision replaced, in the form in which an undo writes them. */
export function replacedBy(before: object): Replaced {
  const moment = (value: unknown) => (typeof value === 'string' ? new Date(value) : null)
  const row = before as { [Name in keyof Replaced]: unknown }
  return {
    ...(row as Replaced),
    approved_at: moment(row.approved_at),
    waiting_since: moment(row.waiting_since),
    published_at: moment(row.published_at),
    expires_at: moment(row.expires_at),
  }
}

/** Whether the listing has not changed since the decision. */
export const UNCHANGED = sql`(d.undone_at is null and l.version = d.after_version)`

/** Decisions `d` of listings `l` as operators see them. */
export async function decisionsOf(on: Queryable, from: ReturnType<typeof sql>, now: Date): Promise<StoredDecision[]> {
  const { rows } = await sql<Row>`
    select d.id, d.listing_id, l.title, d.seller_id, d.decision, d.note, d.decided_at, d.decided_by, d.undone_at, d.undone_by,
      d.rule_id, d.rule_version, coalesce(${UNCHANGED}, false) as unchanged ${from}`.execute(on)
  return rows.map(({ unchanged, rule_id: ruleId, rule_version: version, ...row }) => {
    const until = row.decided_at.getTime() + UNDO_MS
    const rule = ruleId === null ? null : { id: ruleId, version: version! }
    return { ...jsonReady(row), rule, undo_until: unchanged && until > now.getTime() ? new Date(until).toISOString() : null }
  })
}

interface Row extends Omit<StoredDecision, 'decided_at' | 'undone_at' | 'undo_until' | 'rule'> {
  rule_id: number | null
  rule_version: number | null
  decided_at: Date
  undone_at: Date | null
  unchanged: boolean
}
