// Withdraws the decision about a match, or its postponement: the record is pending again, and its merges are undone.
import { sql } from 'kysely'
import { lockIdentity } from '#catalogue/records/identity-lock.ts'
import { conflict } from '#core/errors.ts'
import { existing, id, missing } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { change, type Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { endPostponement, type QueuedMatch, recordsOf, applyDecisions } from './decide-match.ts'
import { fetchMatch, type Match } from './matches.ts'
import { undoMerges } from '../merge/undo.ts'

/** Returns the match, or null if a rule has decided the record since then. */
export const withdrawMatch = verb(
  { name: 'withdrawMatch', needs: 'catalogue', input: Type.Object({ id: id('match') }) },
  (ctx: PriceWriteCtx, { id }) =>
    change(ctx, async (tx, note): Promise<Match | null> => {
      await lockIdentity(tx)
      const withdrawn = (await withdrawPostponement(tx, id)) ?? (await withdrawDecision(ctx, tx, note, id))
      note.audit({ action: 'match.withdraw', subject: 'match', id, before: { decision: withdrawn } })
      const waits = await tx.selectFrom('match_queue').select('id').where('id', '=', id).executeTakeFirst()
      return waits ? fetchMatch(tx, id) : null
    }),
)

async function withdrawPostponement(tx: Tx, id: number): Promise<'postponed' | null> {
  const { rows } = await sql<Pick<QueuedMatch, 'record_ids'>>`
    update match_queue set postponed = false where id = ${existing('match', id)} and postponed returning record_ids`.execute(tx)
  if (!rows[0]) return null
  await endPostponement(tx, rows[0])
  return 'postponed'
}

interface DecidedMatch extends QueuedMatch {
  decision: 'accepted' | 'separated'
  pairs: [kind: string, a: string, b: string][]
  merge_ids: number[]
}

async function withdrawDecision(ctx: PriceWriteCtx, tx: Tx, note: Note, id: number): Promise<DecidedMatch['decision']> {
  const { rows } = await sql<DecidedMatch>`delete from decided_matches where id = ${id} returning *`.execute(tx)
  const [decided] = rows
  if (!decided) {
    const waits = await tx.selectFrom('match_queue').select('id').where('id', '=', id).executeTakeFirst()
    throw waits ? conflict('match_undecided', { id }) : missing('match', id)
  }
  await undoInEffect(ctx, tx, note, decided.merge_ids)
  const [kinds, as, bs] = [0, 1, 2].map((n) => decided.pairs.map((pair) => pair[n]!))
  await sql`
    delete from match_decisions d using unnest(${kinds}::text[], ${as}::text[], ${bs}::text[]) as p(kind, a, b)
    where d.kind = p.kind and d.a = p.a and d.b = p.b`.execute(tx)
  await sql`
    insert into match_queue (id, record_id, record_ids, game, world, set_ref, reasons, candidates, waiting_since) overriding system value
    values (${decided.id}, ${decided.record_id}, ${decided.record_ids}::int4[], ${decided.game}, ${decided.world}, ${decided.set_ref},
      ${JSON.stringify(decided.reasons)}::jsonb, ${JSON.stringify(decided.candidates)}::jsonb, ${decided.waiting_since})
    on conflict do nothing`.execute(tx)
  await applyDecisions(ctx, tx, note, decided, { ids: recordsOf(decided) })
  return decided.decision
}

/** Undoes those of the merges that are still in effect. @throws CONFLICT */
export async function undoInEffect(ctx: PriceWriteCtx, tx: Tx, note: Note, mergeIds: readonly number[]): Promise<void> {
  const { rows } = await sql<{ id: number }>`select id from merges where id = any(${mergeIds}::int4[]) and undone_at is null`.execute(tx)
  await undoMerges(
    ctx,
    tx,
    note,
    rows.map((row) => row.id),
  )
}
