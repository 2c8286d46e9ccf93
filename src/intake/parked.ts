// Parked rows of users' files, in the table of their kind: as they are stored, and listed with candidates to choose from.
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import { orNull } from '#core/fields.ts'
import { Type } from '#core/input.ts'
import { MARKETS } from '#core/markets.ts'
import type { Range, Rows } from '#core/paging.ts'
import { type Reason, textOf } from '#core/problems.ts'
import { resolveAliases } from '#db/live-item.ts'
import { pageOf } from '#db/page.ts'
import type { Queryable } from '#db/schema.ts'
import type { Candidate } from './match-items.ts'

/** Fields that describe a candidate item. */
export const CandidateFields = {
  item_id: Type.Integer(),
  name: Type.String(),
  code: orNull(Type.String()),
  set: Type.String(),
  market: Type.Enum([...MARKETS]),
  finish: orNull(Type.String()),
}

/** A row to park, with its key and the content that it is placed by later. */
export interface NewParked<Entry extends object> {
  line: number
  key: string
  entry: Entry
  why: Reason
  candidates: Candidate[]
}

/** Rows per statement: serialising the parameters of a larger one would block the event loop. */
const AT_ONCE = 1_000

/** Rows as tables for SQL, a part of them in each. */
export function* parkedTables(rows: readonly NewParked<object>[]): Generator<RawBuilder<unknown>> {
  for (let from = 0; from < rows.length; from += AT_ONCE) {
    const json = rows.slice(from, from + AT_ONCE).map(({ why, ...row }) => ({ ...row, ...why, reason: textOf(why) }))
    yield sql`jsonb_to_recordset(${JSON.stringify(json)}::jsonb)
      as r (line int4, key text, reason text, rule text, params jsonb, entry jsonb, candidates jsonb)`
  }
}

/**
 * A page of parked rows. An item that a candidate was merged into replaces it.
 * @param show converts a row with its current candidates, without duplicates, to its response
 */
export async function parkedPage<DB, Tables extends keyof DB, Row extends { candidates: object[] }, Shown>(
  on: Queryable,
  query: SelectQueryBuilder<DB, Tables, Row>,
  range: Range,
  show: (row: Omit<Row, 'candidates'> & { candidates: Candidate[] }) => Shown,
): Promise<Rows<Shown>> {
  const { rows, total } = await pageOf(query, range, (row) => ({ row, candidates: row.candidates as Candidate[] }))
  const ids = rows.flatMap(({ candidates }) => candidates.map(({ item_id }) => item_id))
  const survivors = await resolveAliases(on, ids)
  return { rows: rows.map(({ row, candidates }) => show({ ...row, candidates: currentCandidates(candidates, survivors) })), total }
}

function currentCandidates(candidates: readonly Candidate[], survivors: ReadonlyMap<number, number>): Candidate[] {
  const byId = new Map<number, Candidate>()
  for (const candidate of candidates) {
    const item_id = survivors.get(candidate.item_id) ?? candidate.item_id
    if (item_id === candidate.item_id || !byId.has(item_id)) byId.set(item_id, { ...candidate, item_id })
  }
  return [...byId.values()]
}
