// Decides about a set, and thereby about all its cards: maps it to a set of another source or keeps it separate, and withdraws that decision.
import { sql } from 'kysely'
import { lockIdentity } from '#catalogue/records/identity-lock.ts'
import { conflict, invalid } from '#core/errors.ts'
import { boundedId, id } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { verb } from '#core/verb.ts'
import { actorOf, change, type Note } from '#db/changes/change.ts'
import type { Tx } from '#db/schema.ts'
import type { PriceWriteCtx } from '#prices/records/price-types.ts'
import { applyDecisions } from './decide-match.ts'
import type { World } from '../records/game-records.ts'
import { fetchSet, fetchSetMatch, findSet, type SetMatch, type StoredSet } from './set-matches.ts'
import { undoInEffect } from './withdraw-match.ts'

export const acceptSetMatch = verb(
  {
    name: 'acceptSetMatch',
    needs: 'catalogue',
    input: Type.Object({ id: id('set'), set_id: boundedId('Matching set; optional if there is only one candidate') }),
  },
  (ctx: PriceWriteCtx, { id, set_id: setId }) =>
    decideSet(ctx, id, async (tx, set) => (setId === undefined ? onlyCandidate(tx, set) : chosenSet(tx, set, setId))),
)

export const separateSetMatch = verb(
  { name: 'separateSetMatch', needs: 'catalogue', input: Type.Object({ id: id('set') }) },
  (ctx: PriceWriteCtx, { id }) => decideSet(ctx, id, async () => null),
)

export const withdrawSetMatch = verb(
  { name: 'withdrawSetMatch', needs: 'catalogue', input: Type.Object({ id: id('set') }) },
  (ctx: PriceWriteCtx, { id }) =>
    change(ctx, async (tx, note): Promise<SetMatch> => {
      await lockIdentity(tx)
      const set = await fetchSet(tx, id)
      const { rows: ended } = await sql<{ b: string }>`delete from match_decisions where kind = 'set' and a = ${set.ref} returning b`.execute(tx)
      if (ended.length === 0) throw conflict('set_undecided', { id })
      const { rows: merges } = await sql<{
        merge_id: number
      }>`delete from set_decision_merges where from_ref = ${set.ref} returning merge_id`.execute(tx)
      await undoInEffect(
        ctx,
        tx,
        note,
        merges.map((row) => row.merge_id),
      )
      await settleSet(ctx, tx, note, set)
      note.audit({ action: 'set-match.withdraw', subject: 'category', id, before: { set: set.ref, is: ended.map(({ b }) => b || null) } })
      return fetchSetMatch(tx, id)
    }),
)

/** @param choose returns the set to map to, or null for none */
function decideSet(ctx: PriceWriteCtx, id: number, choose: (tx: Tx, set: StoredSet) => Promise<StoredSet | null>): Promise<SetMatch> {
  return change(ctx, async (tx, note) => {
    await lockIdentity(tx)
    const set = await fetchSet(tx, id)
    const other = await choose(tx, set)
    await decideOnce(tx, set, other, actorOf(ctx.viewer), note.at)
    const merged = await settleSet(ctx, tx, note, set)
    if (merged.length > 0)
      await tx
        .insertInto('set_decision_merges')
        .values(merged.map((merge_id) => ({ from_ref: set.ref, merge_id })))
        .execute()
    note.audit({ action: `set-match.${other ? 'accept' : 'separate'}`, subject: 'category', id, after: { set: set.ref, is: other?.ref ?? null } })
    return fetchSetMatch(tx, id)
  })
}

/** Writes only the first of several concurrent decisions. A set can be decided again while a mapping is still pending. */
async function decideOnce(tx: Tx, { id, ref }: StoredSet, other: StoredSet | null, author: string, at: Date): Promise<void> {
  const { rows } = await sql`
    insert into match_decisions (kind, a, b, author, decided_at)
    select 'set', ${ref}, ${other?.ref ?? ''}, ${author}, ${at}::timestamptz
    where not exists (select from match_decisions where kind = 'set' and a = ${ref})
      or exists (select from match_set_maps where from_ref = ${ref} and not decided and (to_ref = ${other?.ref ?? null} or ${other === null}))
    on conflict do nothing returning id`.execute(tx)
  if (rows.length > 0) return
  const decided = await tx
    .selectFrom('match_decisions')
    .select('author')
    .where('kind', '=', 'set')
    .where('a', '=', ref)
    .orderBy('id', 'desc')
    .executeTakeFirst()
  throw conflict('set_decided', { id, by: decided!.author })
}

async function onlyCandidate(tx: Tx, { id, ref, game }: StoredSet): Promise<StoredSet> {
  const { rows } = await sql<StoredSet>`
    select c.id, c.ref, c.market, c.game from match_set_maps m join categories c on c.ref = m.to_ref and c.game = m.game
    where m.from_ref = ${ref} and m.game = ${game} and not m.decided`.execute(tx)
  if (rows.length === 1) return rows[0]!
  if (rows.length === 0) {
    const decided = await tx.selectFrom('match_decisions').select('author').where('kind', '=', 'set').where('a', '=', ref).executeTakeFirst()
    if (decided) throw conflict('set_decided', { id, by: decided.author })
  }
  throw invalid('set_id', 'which_set', { count: rows.length })
}

async function chosenSet(tx: Tx, set: StoredSet, setId: number): Promise<StoredSet> {
  const other = await findSet(tx, setId)
  if (!other) throw invalid('set_id', 'unknown_id', { thing: 'set', id: setId })
  if (other.id === set.id) throw invalid('set_id', 'same_set')
  if (other.game !== set.game) throw invalid('set_id', 'other_game')
  return other
}

/** Applies the decisions about the set to every world that its cards belong to, and returns the ids of the resulting merges. */
async function settleSet(ctx: PriceWriteCtx, tx: Tx, note: Note, { ref, market, game }: StoredSet): Promise<number[]> {
  const { rows } = await sql<World>`
    select distinct game, world from source_records
    where active and game = ${game} and facts->>'category' = ${ref} and facts->>'market' = ${market} order by game, world`.execute(tx)
  const merges: number[] = []
  for (const world of rows) merges.push(...(await applyDecisions(ctx, tx, note, world, { refs: [ref] })))
  return merges
}
