// Finds the records that a decision can affect: those of all sets that the matcher compares, directly or transitively.
import { sql } from 'kysely'
import type { Tx } from '#db/schema.ts'
import type { World } from './game-records.ts'

/** Records and sets that can be matched without the rest of their world. */
export interface Neighbourhood {
  recordIds: number[]
  setRefs: string[]
}

/** Maximum records of a neighbourhood; beyond that, the whole world is matched. */
const MAX_RECORDS = 8_000

/**
 * Finds the sets that are connected to the given records and sets: by mappings between sets, candidates, records of the same item, shared shop ids,
 * operators' decisions, and translations. With all records of these sets, the matcher produces the same result as with the whole world.
 * @returns null if these are most of the world, or if the world is not organised by sets (sealed products)
 */
export async function neighbourhoodOf(
  tx: Tx,
  { game, world }: World,
  around: { ids?: readonly number[]; refs?: readonly string[] },
): Promise<Neighbourhood | null> {
  if (world === 'sealed') return null
  const refs = new Set(around.refs)
  let records = new Set(around.ids)
  for (let size = -1; size !== refs.size; ) {
    size = refs.size
    const ids = await recordsOf(tx, { game, world }, [...refs], [...records])
    if (ids.length > MAX_RECORDS) return null
    records = new Set(ids)
    for (const ref of await neighbouringSets(tx, { game, world }, ids, [...refs])) refs.add(ref)
  }
  return { recordIds: [...records].sort((a, b) => a - b), setRefs: [...refs] }
}

/** Records of the sets and the given ones, with all records that are linked to the same items. */
async function recordsOf(tx: Tx, { game, world }: World, refs: readonly string[], ids: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    with own as (
      select id from source_records where active and game = ${game} and world = ${world} and facts->>'category' = any(${refs}::text[])
      union select unnest(${ids}::int4[])
    )
    select id from own
    union select b.record_id from own join item_sources a on a.record_id = own.id join item_sources b using (item_id)`.execute(tx)
  return rows.map((row) => row.id)
}

async function neighbouringSets(tx: Tx, { game, world }: World, ids: readonly number[], refs: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ ref: string }>`
    with own as materialized (select id, source, foreign_id, finish, facts from source_records where id = any(${ids}::int4[])),
    queued as materialized (
      select record_ids || array(select (c->>'record_id')::int4 from jsonb_array_elements(candidates) c) as records
      from match_queue where game = ${game} and world = ${world}
    ),
    shop_ids as materialized (
      select distinct f->>'source' as source, f->>'id' as foreign_id from own, jsonb_array_elements(own.facts->'foreign_ids') f
    ),
    keys as materialized (select source || e'\\t' || foreign_id || e'\\t' || finish as key from own),
    decided(key) as materialized (
      select d.b from match_decisions d join keys on d.a = key where d.kind in ('same', 'apart')
      union select d.a from match_decisions d join keys on d.b = key where d.kind in ('same', 'apart')
    ),
    reached(id) as (
      select unnest(records) from queued where records && ${ids}::int4[]
      union select s.record_id from shop_ids join item_foreign_ids f using (source, foreign_id) join item_sources s using (item_id)
      union select r.id from queued, unnest(queued.records) q(id) join source_records r using (id), jsonb_array_elements(r.facts->'foreign_ids') f
        where (f->>'source', f->>'id') in (select source, foreign_id from shop_ids)
      union select r.id from decided join source_records r
        on r.source = split_part(key, e'\\t', 1) and r.foreign_id = split_part(key, e'\\t', 2) and r.finish = split_part(key, e'\\t', 3)
      union select r.id from own cross join unnest(array['en:', 'fr:']) language join source_records r
        on own.source = 'punk-records' and r.source = own.source and r.foreign_id = language || substr(own.foreign_id, 4)
    )
    select facts->>'category' as ref from own where facts->>'category' is not null
    union select r.facts->>'category' from reached join source_records r using (id)
      where r.active and r.game = ${game} and r.world = ${world} and r.facts->>'category' is not null
    union select case when from_ref = any(${refs}::text[]) then to_ref else from_ref end from match_set_maps
      where game = ${game} and world = ${world} and (from_ref = any(${refs}::text[]) or to_ref = any(${refs}::text[]))
    union select case when a = any(${refs}::text[]) then b else a end from match_decisions
      where kind = 'set' and b <> '' and (a = any(${refs}::text[]) or b = any(${refs}::text[]))`.execute(tx)
  return rows.map((row) => row.ref)
}
