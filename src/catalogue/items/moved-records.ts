// Ids that a source has given up for others: the record of the newer id also states the older one, so that both become one item.
import { sql } from 'kysely'
import type { Tx } from '#db/schema.ts'
import type { IdMove } from '../records/catalogue-records.ts'
import type { Facts } from '../records/facts.ts'
import type { Statement } from './source-records.ts'

/** The source of a foreign id that is an older id of the record's own source. */
export function formerSource(source: string): string {
  return `${source}-former`
}

interface Row {
  n: number
  finish: string
  /** of the newer record; null if there is none */
  facts: Facts | null
}

/**
 * What an import of these moves states: everything that is known of the newer record, and the older ids.
 * @returns the statements, and the moves whose older id has a record, but whose newer one has none or is absent, by position
 */
export async function statementsOfMoves(tx: Tx, moves: readonly IdMove[]): Promise<{ statements: Statement[]; open: number[] }> {
  const { rows } = await sql<Row>`
    select m.n::int4 - 1 as n, o.finish, t.facts
    from unnest(${moves.map(({ source }) => source)}::text[], ${moves.map(({ from }) => from)}::text[], ${moves.map(({ into }) => into)}::text[])
      with ordinality as m(source, former, newer, n)
    join source_records o on o.source = m.source and o.foreign_id = m.former and o.active
    left join source_records t on t.source = m.source and t.foreign_id = m.newer and t.finish = o.finish and t.active
    order by m.n, o.finish`.execute(tx)
  const statements = new Map<string, Statement>()
  const open = new Set<number>()
  for (const { n, finish, facts } of rows) {
    const { source, from, into } = moves[n]!
    if (into === null || facts === null) {
      open.add(n)
      continue
    }
    const id = { source: formerSource(source), id: from }
    const statement = statements.getOrInsertComputed(`${source}\t${into}\t${finish}`, () => ({ key: { source, id: into, finish }, facts }))
    const ids = statement.facts.foreign_ids ?? []
    if (!ids.some((other) => other.source === id.source && other.id === id.id)) statement.facts = { ...statement.facts, foreign_ids: [...ids, id] }
  }
  return { statements: [...statements.values()], open: [...open] }
}
