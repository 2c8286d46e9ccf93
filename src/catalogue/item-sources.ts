// Where the facts of an item come from, as operators see it.
import { sql } from 'kysely'
import type { Queryable } from '#db/schema.ts'
import { type Facts, factsOf, type Provenance, rankOf } from './facts.ts'
import type { ItemSource } from './stored-schemas.ts'

/** The item's records in order of precedence, and the source of each of its facts. */
export async function sourcesOf(on: Queryable, itemId: number): Promise<{ sources: ItemSource[]; provenance: Provenance }> {
  const { rows } = await sql<{
    id: number
    source: string
    foreign_id: string
    finish: string
    whole: boolean
    facts: Facts
    method: string
    confidence: number
    decided_by: string | null
    decided_at: Date
  }>`
    select r.id, r.source, r.foreign_id, r.finish, s.whole, r.facts, s.method, s.confidence, s.decided_by, s.decided_at
    from item_sources s join source_records r on r.id = s.record_id
    where s.item_id = ${itemId}::int4 and r.active order by r.source, r.foreign_id, r.finish`.execute(on)
  const sources = rows
    .toSorted((a, b) => rankOf(a.source) - rankOf(b.source))
    .map(({ id, source, foreign_id, finish, facts, method, confidence, decided_by, decided_at }) => ({
      record_id: id,
      source,
      id: foreign_id,
      finish: finish || null,
      name: facts.name ?? null,
      method,
      confidence,
      decided_by,
      at: decided_at.toISOString(),
    }))
  return { sources, provenance: factsOf(rows).provenance }
}
