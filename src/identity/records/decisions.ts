// Operators' decisions about records, stored separately from them so that they also apply to later imports.
import { sql } from 'kysely'
import { rankOf } from '#catalogue/records/facts.ts'
import type { Tx } from '#db/schema.ts'
import { recordKey } from '#matching/matcher-types.ts'

/** Two records that are the same card, or must be kept apart. */
export type Pair = readonly [string, string]

/** Stores that the cards of each pair are the same or different, replacing earlier decisions about the pair. */
export async function decidePairs(tx: Tx, kind: 'same' | 'apart', pairs: readonly Pair[], author: string, at: Date): Promise<void> {
  if (pairs.length === 0) return
  const rows = pairs.map((pair) => pair.toSorted())
  const table = sql`unnest(${rows.map(([a]) => a)}::text[], ${rows.map(([, b]) => b)}::text[]) as p(a, b)`
  await sql`delete from match_decisions d using ${table} where d.kind in ('same', 'apart') and d.a = p.a and d.b = p.b`.execute(tx)
  await sql`insert into match_decisions (kind, a, b, author, decided_at) select distinct ${kind}, p.a, p.b, ${author}, ${at}::timestamptz from ${table}`.execute(
    tx,
  )
}

/** Who joined cards, by the keys of the records named in the decisions. */
export async function authorsOfJoins(tx: Tx): Promise<Map<string, string>> {
  const rows = await tx.selectFrom('match_decisions').select(['a', 'b', 'author']).where('kind', '=', 'same').orderBy('id').execute()
  return new Map(
    rows.flatMap(({ a, b, author }) => [
      [a, author],
      [b, author],
    ]),
  )
}

/** A decision that cards are the same, as it was before it ended. */
export interface EndedJoin {
  a: string
  b: string
  author: string
}

interface Card {
  source: string
  foreign_id: string
}

/** Ends decisions that link this card to any of the others. */
export async function endJoins(tx: Tx, card: Card, others: readonly Card[]): Promise<EndedJoin[]> {
  const prefix = (of: Card) => recordKey(of.source, of.foreign_id, null)
  const { rows } = await sql<EndedJoin>`
    delete from match_decisions d using unnest(${others.map(prefix)}::text[]) as o(prefix)
    where d.kind = 'same' and ((starts_with(d.a, ${prefix(card)}) and starts_with(d.b, o.prefix)) or (starts_with(d.b, ${prefix(card)}) and starts_with(d.a, o.prefix)))
    returning d.a, d.b, d.author`.execute(tx)
  return rows
}

/** Withdraws decisions about pairs, so that the rules apply to them again. */
export async function withdrawPairs(tx: Tx, kind: 'same' | 'apart', pairs: readonly Pair[]): Promise<void> {
  const rows = pairs.map((pair) => pair.toSorted())
  await sql`
    delete from match_decisions d using unnest(${rows.map(([a]) => a)}::text[], ${rows.map(([, b]) => b)}::text[]) as p(a, b)
    where d.kind = ${kind} and d.a = p.a and d.b = p.b`.execute(tx)
}

/** The record that identifies an item in decisions: the highest-ranked one of its own, by item. Items without records are absent. */
export async function decidingRecords(tx: Tx, itemIds: readonly number[]): Promise<Map<number, string>> {
  const { rows } = await sql<{ item_id: number; whole: boolean; source: string; foreign_id: string; finish: string }>`
    select s.item_id, s.whole, r.source, r.foreign_id, r.finish
    from item_sources s join source_records r on r.id = s.record_id
    where s.item_id = any(${itemIds}::int4[]) and r.active and r.facts ? 'name'
    order by s.item_id, r.id`.execute(tx)
  const ordered = rows.toSorted((a, b) => Number(a.whole) - Number(b.whole) || rankOf(a.source) - rankOf(b.source))
  const found = new Map<number, string>()
  for (const { item_id: id, source, foreign_id, finish } of ordered) {
    if (!found.has(id)) found.set(id, recordKey(source, foreign_id, finish || null))
  }
  return found
}
