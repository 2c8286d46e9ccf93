// Decides a match in the queue: applies the decision as an import does, and records it so that it can be withdrawn.
import { sql } from 'kysely'
import { lockIdentity } from '#catalogue/records/identity-lock.ts'
import { conflict } from '#core/errors.ts'
import { existing, missing } from '#core/fields.ts'
import { actorOf, change, type Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import type { Reason } from '#matching/matcher-types.ts'
import { recordKey } from '#matching/matcher-types.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { decidePairs, type Pair } from '../records/decisions.ts'
import type { World } from '../records/game-records.ts'
import { fetchMatch, type Match } from './matches.ts'
import { neighbourhoodOf } from '../records/neighbourhood.ts'
import { settle } from '../merge/settle.ts'

/** A row of the queue. */
export interface QueuedMatch extends World {
  id: number
  record_id: number
  record_ids: number[]
  set_ref: string | null
  reasons: Reason[]
  candidates: { record_id: number; score: number; reasons: Reason[] }[]
  waiting_since: Date
}

/** A source record by its parts, with its key in decisions. */
export interface NamedRecord {
  id: number
  key: string
  source: string
  foreign_id: string
  finish: string
}

/** Pairs of records that a decision joins or keeps apart. */
export interface Verdict {
  kind: 'same' | 'apart'
  pairs: Pair[]
}

interface DecisionInput {
  decision: 'accepted' | 'separated'
  /** returns the pairs to write for the match; called again with the new candidates while the record is still pending */
  verdicts: (tx: Tx, match: QueuedMatch) => Promise<Verdict[]>
}

/** Maximum rounds of a decision: a record that resembles many cards is listed with ten of them at a time, and each round decides those. */
const MAX_ROUNDS = 30

/**
 * Decides a match. If several people decide concurrently, the first takes the queue row and the others get an error.
 * @throws NOT_FOUND, or CONFLICT if the match is already decided or the decision leaves it pending
 */
export function decideMatch(ctx: PriceWriteCtx, id: number, { decision, verdicts }: DecisionInput): Promise<Match> {
  return change(ctx, async (tx, note) => {
    await lockIdentity(tx)
    const match = await takeMatch(tx, id)
    const author = actorOf(ctx.viewer)
    const written: Verdict[] = []
    const merged: number[] = []
    let waiting: QueuedMatch | null = match
    for (let round = 0; waiting !== null; round += 1) {
      const more = await verdicts(tx, waiting)
      const pairs = more.reduce((sum, verdict) => sum + verdict.pairs.length, 0)
      if (round === MAX_ROUNDS || pairs === 0) throw conflict('match_unsettled', { id })
      for (const { kind, pairs } of more) await decidePairs(tx, kind, pairs, author, note.at)
      written.push(...more)
      merged.push(...(await applyDecisions(ctx, tx, note, match, { ids: recordsOf(match) })))
      waiting = await stillPending(tx, match)
      if (decision === 'accepted' && waiting !== null) throw conflict('match_unsettled', { id })
    }
    await endPostponement(tx, match)
    await storeDecision(tx, match, { decision, written, merged, author, at: ctx.now() })
    const decided = await fetchMatch(tx, id)
    note.audit({
      action: `match.${decision === 'accepted' ? 'accept' : 'separate'}`,
      subject: 'match',
      id,
      after: { record: decided.record.ref, ...decided.decision },
    })
    return decided
  })
}

async function takeMatch(tx: Tx, id: number): Promise<QueuedMatch> {
  const { rows } = await sql<QueuedMatch>`delete from match_queue where id = ${existing('match', id)} returning *`.execute(tx)
  if (rows[0]) return rows[0]
  throw await notQueuedError(tx, id)
}

/** The error for a match that is not in the queue because it is already decided or does not exist. */
export async function notQueuedError(tx: Tx, id: number) {
  const decided = await tx.selectFrom('decided_matches').select(['decision', 'author']).where('id', '=', existing('match', id)).executeTakeFirst()
  return decided ? conflict('match_decided', { id, state: decided.decision, by: decided.author }) : missing('match', id)
}

/**
 * Applies decisions to the items that they can affect, and returns the ids of the resulting merges.
 * @param around the records and sets that the decisions are about
 */
export async function applyDecisions(
  ctx: PriceWriteCtx,
  tx: Tx,
  note: Note,
  { game, world }: World,
  around: { ids?: number[]; refs?: string[] },
): Promise<number[]> {
  const among = await neighbourhoodOf(tx, { game, world }, around)
  const { merged } = await settle(ctx, tx, note, { game, world }, { importId: null, touched: new Set(), among })
  if (merged.length === 0) return []
  const { rows } = await sql<{ id: number }>`
    select id from merges where from_item = any(${merged.map(({ from }) => from)}::int4[]) and undone_at is null order by id`.execute(tx)
  return rows.map((row) => row.id)
}

/** The record and its candidates. */
export function recordsOf({ record_ids: ids, candidates }: Pick<QueuedMatch, 'record_ids' | 'candidates'>): number[] {
  return [...ids, ...candidates.map((candidate) => candidate.record_id)]
}

async function stillPending(tx: Tx, { record_ids: ids }: QueuedMatch): Promise<QueuedMatch | null> {
  const { rows } = await sql<QueuedMatch>`select * from match_queue where record_id = any(${ids}::int4[])`.execute(tx)
  return rows[0] ?? null
}

interface DecisionRecord {
  decision: 'accepted' | 'separated'
  written: readonly Verdict[]
  merged: number[]
  author: string
  at: Date
}

async function storeDecision(tx: Tx, match: QueuedMatch, { decision, written, merged, author, at }: DecisionRecord): Promise<void> {
  const { id, record_id, record_ids, game, world, set_ref, reasons, candidates, waiting_since } = match
  const pairs = written.flatMap(({ kind, pairs }) => pairs.map((pair) => [kind, ...pair.toSorted()]))
  await sql`
    insert into decided_matches (id, record_id, record_ids, game, world, set_ref, reasons, candidates, waiting_since, decision, item_id, pairs, merge_ids, author, decided_at)
    select ${id}::int4, ${record_id}::int4, ${record_ids}::int4[], ${game}, ${world}, ${set_ref}, ${JSON.stringify(reasons)}::jsonb, ${JSON.stringify(candidates)}::jsonb,
      ${waiting_since}::timestamptz, ${decision}, min(item_id), ${JSON.stringify(pairs)}::jsonb, ${merged}::int4[], ${author}, ${at}::timestamptz
    from item_sources where record_id = any(${record_ids}::int4[])`.execute(tx)
}

/** Removes the postponement of the match. */
export async function endPostponement(tx: Tx, { record_ids: ids }: Pick<QueuedMatch, 'record_ids'>): Promise<void> {
  const keys = (await namedRecords(tx, ids)).map(({ key }) => key)
  await sql`delete from match_decisions where kind = 'postponed' and a = any(${keys}::text[])`.execute(tx)
}

/** Records with their keys, in the order of `ids`. */
export async function namedRecords(tx: Tx, ids: readonly number[]): Promise<NamedRecord[]> {
  const { rows } = await sql<Omit<NamedRecord, 'key'>>`
    select id, source, foreign_id, finish from source_records where id = any(${ids}::int4[]) order by array_position(${ids}::int4[], id)`.execute(tx)
  return rows.map((row) => ({ ...row, key: recordKey(row.source, row.foreign_id, row.finish || null) }))
}
