// Sources of the facts of an item, for operators.
import { sql } from 'kysely'
import type { Queryable } from '#db/schema.ts'
import { type Facts, factsOf, type Provenance, rankOf } from '../records/facts.ts'
import type { ItemSource, StatedItemSource } from '../stored-schemas.ts'

interface Row {
  id: number
  source: string
  foreign_id: string
  finish: string
  whole: boolean
  merged: boolean
  facts: Facts
  method: string
  confidence: number
  decided_by: string | null
  decided_at: Date
}

/** The item's records in order of precedence, and the source of each fact. */
export async function sourcesOf(on: Queryable, itemId: number): Promise<{ sources: ItemSource[]; provenance: Provenance }> {
  const rows = await recordsOf(on, itemId)
  return { sources: rows.map(sourceOf), provenance: factsOf(rows).provenance }
}

/** The item's records in order of precedence, each with all facts it states. */
export async function statedSourcesOf(on: Queryable, itemId: number): Promise<StatedItemSource[]> {
  return (await recordsOf(on, itemId)).map((row) => ({ ...sourceOf(row), facts: row.facts as Record<string, unknown> }))
}

async function recordsOf(on: Queryable, itemId: number): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select r.id, r.source, r.foreign_id, r.finish, s.whole, r.source = 'operator' and r.foreign_id <> s.item_id::text as merged, r.facts, s.method, s.confidence, s.decided_by, s.decided_at
    from item_sources s join source_records r on r.id = s.record_id
    where s.item_id = ${itemId}::int4 and r.active order by r.source, r.foreign_id, r.finish`.execute(on)
  return rows.toSorted((a, b) => Number(a.merged) - Number(b.merged) || rankOf(a.source) - rankOf(b.source))
}

function sourceOf({ id, finish, facts, decided_at, source, foreign_id, method, confidence, decided_by }: Row): ItemSource {
  return {
    record_id: id,
    source,
    foreign_id,
    finish: finish || null,
    name: facts.name ?? null,
    method,
    confidence,
    decided_by,
    at: decided_at.toISOString(),
  }
}
