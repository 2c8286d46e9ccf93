// The queue of source records pending a decision, and the set mappings of the last assignment.
import { sql } from 'kysely'
import type { Tx } from '#db/schema.ts'
import type { Assignment } from '#matching/matcher-types.ts'
import type { GameRecord, World } from './game-records.ts'
import type { Neighbourhood } from './neighbourhood.ts'

/**
 * Writes the pending records of a world of a game, or of some of its records and sets. Records that were already pending keep their place
 * and id.
 */
export async function writeQueue(
  tx: Tx,
  { game, world }: World,
  { waiting, setMaps }: Assignment,
  byKey: ReadonlyMap<string, GameRecord>,
  among: Neighbourhood | null,
  at: Date,
): Promise<void> {
  const rows = waiting.map(({ key, keys, postponed, reasons, candidates }) => ({
    record_id: byKey.get(key)!.id,
    record_ids: keys.map((one) => byKey.get(one)!.id),
    set_ref: byKey.get(key)!.category,
    postponed,
    reasons,
    candidates: candidates.map(({ key: candidate, score, reasons: why }) => ({ record_id: byKey.get(candidate)!.id, score, reasons: why })),
  }))
  const gone = sql`record_id <> all(${rows.map((row) => row.record_id)}::int4[])`
  const records = among ? sql`and record_id = any(${among.recordIds}::int4[])` : sql``
  await sql`delete from match_queue where game = ${game} and world = ${world} and ${gone} ${records}`.execute(tx)
  await sql`
    insert into match_queue (record_id, record_ids, game, world, set_ref, postponed, reasons, candidates, waiting_since)
    select record_id, array(select jsonb_array_elements_text(record_ids)::int4), ${game}, ${world}, set_ref, postponed, reasons, candidates,
      ${at}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as r(record_id int4, record_ids jsonb, set_ref text, postponed boolean, reasons jsonb, candidates jsonb)
    on conflict (record_id) do update set record_ids = excluded.record_ids, game = excluded.game, world = excluded.world, set_ref = excluded.set_ref,
      postponed = excluded.postponed, reasons = excluded.reasons, candidates = excluded.candidates`.execute(tx)
  const sets = among ? sql`and (from_ref = any(${among.setRefs}::text[]) or to_ref = any(${among.setRefs}::text[]))` : sql``
  await sql`delete from match_set_maps where game = ${game} and world = ${world} ${sets}`.execute(tx)
  const maps = setMaps.map(({ from, to, agree, of, decided, by }) => ({ from_ref: from, to_ref: to, agree, cards: of, decided, decided_by: by }))
  await sql`
    insert into match_set_maps (from_ref, to_ref, game, world, agree, cards, decided, decided_by)
    select from_ref, to_ref, ${game}, ${world}, agree, cards, decided, decided_by
    from jsonb_to_recordset(${JSON.stringify(maps)}::jsonb)
      as m(from_ref text, to_ref text, agree int4, cards int4, decided boolean, decided_by text)
    on conflict do nothing`.execute(tx)
}
